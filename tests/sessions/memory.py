"""Sessions over rows in memory, with steps in memory, without an engine and a ledger."""

from contextlib import ExitStack

import numpy as np

from discreet.measurement.replay import Run
from discreet.measurement.runs import OpenRun
from discreet.mechanisms import Adaptive
from discreet.noise import SYSTEM_BITS
from discreet.sessions.modes import FromRelease
from discreet.sessions.session_progress import Progress
from tests.support.memory_tables import MemoryJournal, measuring

BUDGET = Adaptive(rho=50)


class Flat:
    """A model in which every cell has the same number of rows."""

    def __init__(self, domain, total):
        self._domain, self.total = domain, total

    def table(self, columns):
        shape = self._domain.shape(columns)
        return np.full(shape, self.total / self._domain.cells(columns))


def progress_of(
    rows,
    domain,
    *,
    store=None,
    alarms=2,
    queries=100,
    total=0.0,
    bits=SYSTEM_BITS,
    run=Run,
    made=measuring,
    mode=None,
    budget=BUDGET,
):
    """A session whose hypothesis has the same number of rows in every cell; or of another mode."""
    measurer = made(rows, domain, budget=budget, bits=bits, store=store or MemoryJournal(), run=run)
    mode = mode or FromRelease(Flat(domain, total), alarms)
    return Progress(OpenRun(measurer, measurer._run, ExitStack()), mode, budget, queries)

"""Sessions over rows in memory, with steps in memory: what the engine and the books do, without either."""

from contextlib import ExitStack

import numpy as np

from discreet.measurement.replay import Run
from discreet.measurement.runs import Underway
from discreet.mechanisms import Adaptive
from discreet.noise import SYSTEM_BITS
from discreet.sessions.modes import Given
from discreet.sessions.progress import Course
from tests.support.memory_tables import MemoryJournal, measuring

BUDGET = Adaptive(rho=50)


class Flat:
    """A model that takes every cell to have the same number of rows."""

    def __init__(self, domain, total):
        self._domain, self.total = domain, total

    def table(self, columns):
        shape = self._domain.shape(columns)
        return np.full(shape, self.total / self._domain.cells(columns))


def course(
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
    """A session that begins with the belief that rows are spread evenly, or with none; or as a mode says."""
    measurer = made(rows, domain, budget=budget, bits=bits, store=store or MemoryJournal(), run=run)
    begun = mode or Given(Flat(domain, total), alarms)
    return Course(Underway(measurer, measurer._run, ExitStack()), begun, budget, queries)

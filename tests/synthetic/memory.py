"""A measurer over rows in memory: the one of the house, without an engine and books. For tests and benchmarks of methods."""

from discreet.core.loss import Neighbours
from discreet.measurement.domain import Column, Domain
from discreet.measurement.measuring import Measuring
from discreet.measurement.replay import Run
from discreet.measurement.transcript import Earlier, reusing
from discreet.mechanisms import Adaptive, PureAdaptive
from discreet.mechanisms.adaptive_budget import Meter
from discreet.noise import SYSTEM_BITS
from discreet.synthetic.methods.reused_tables import fitting_tables
from tests.support.memory_tables import MemoryJournal, tables_of


def domain_of(sizes, *, ordered=(), rows_per_person=1, neighbours=Neighbours.ADD_REMOVE):
    """Columns a, b, … (or the names of a mapping) with so many codes."""
    named = sizes if isinstance(sizes, dict) else dict(zip("abcdefghijklmnop", sizes, strict=False))
    columns = tuple(Column(name, tuple(range(size)), name in ordered) for name, size in named.items())
    return Domain(columns, rows_per_person, neighbours)


class InMemory(Measuring):
    """It remembers by which estimates, weights and penalties choices were asked for."""

    def __init__(self, domain, rows, *, rho=None, epsilon=None, bits=SYSTEM_BITS, reused=()):
        budget = Adaptive(rho=rho) if epsilon is None else PureAdaptive(epsilon=epsilon)
        run = Run(Meter(budget, bits), MemoryJournal())
        if reused:
            run.begin_with(reusing(reused))
        self._begin(domain, tables_of(rows, domain.shape(domain.names)), run, {}, [])

    def _begin(self, domain, tables, run, groups, asked):
        Measuring.__init__(self, domain, tables, run, groups)
        object.__setattr__(self, "asked", asked)

    def as_earlier(self, name, method, marginals, budget=None):
        """What was measured, as another run that a method makes would reuse it."""
        steps = tuple(step for step in self._run.steps if step.kind == "table")
        return fitting_tables(
            [Earlier(name, name, steps)], method, self.domain, marginals, budget or self._run.meter.budget
        )

    def exact(self, columns):
        return self._exact(columns)

    def worst(self, estimates, weights, penalties, mechanism):
        self.asked.append((estimates, weights, penalties))
        return super().worst(estimates, weights, penalties, mechanism)

    def merged(self, groups):
        coarser, same = super().merged(groups), object.__new__(InMemory)
        same._begin(coarser.domain, coarser._tables, self._run, coarser._groups, self.asked)
        return same

"""Exact tables of rows in memory, steps in memory, and measurers over both: what the engine and the books do, without either."""

import numpy as np

from discreet.core.loss import Neighbours
from discreet.engines.tables.array_tables import CodedArray
from discreet.measurement.domain import Column, Domain
from discreet.measurement.replay import Run
from discreet.measurement.summing import Summing
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive_budget import Meter
from discreet.noise import SYSTEM_BITS


def domain_of(*sizes, rows_per_person=1, neighbours=Neighbours.ADD_REMOVE):
    columns = [Column(name, tuple(range(size))) for name, size in zip("abcdefgh", sizes, strict=False)]
    return Domain(tuple(columns), rows_per_person, neighbours)


def tables_of(rows, sizes):
    """Rows of codes, counted by numpy."""
    return CodedArray(np.asarray(rows, np.int64).reshape(-1, len(sizes)), tuple(sizes)).tables()


class MemoryJournal:
    """Keeps steps in a list by the rule of the books."""

    def __init__(self, steps=()):
        self.steps = list(steps)

    def stored(self):
        return list(self.steps)

    def store(self, number, body, *, mechanism):
        if number < len(self.steps):
            return self.steps[number]
        assert number == len(self.steps)
        self.steps.append(body)
        return body


def measuring(rows, domain, *, budget=None, bits=SYSTEM_BITS, store=None, run=Run):
    """A measurer as the pipeline makes one."""
    tables = tables_of(rows, domain.shape(domain.names))
    return Summing(domain, tables, run(Meter(budget or Adaptive(rho=1), bits), store or MemoryJournal()))

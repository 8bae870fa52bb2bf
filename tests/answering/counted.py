"""Exact tables of rows in memory, steps in memory, and measurers over both: what the engine and the books do, without either."""

import math

import numpy as np

from discreet.answering.domain import Column, Domain
from discreet.answering.looking import Run
from discreet.answering.measuring import Measuring
from discreet.engines.exact_tables import ExactTables
from discreet.loss import Neighbours
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive import Meter
from discreet.noise import SYSTEM_BITS


def domain_of(*sizes, rows_per_person=1, neighbours=Neighbours.ADD_REMOVE):
    columns = [Column(name, tuple(range(size))) for name, size in zip("abcdefgh", sizes, strict=False)]
    return Domain(tuple(columns), rows_per_person, neighbours)


def tables_of(rows, sizes):
    """Rows of codes, counted by numpy."""
    codes = np.asarray(rows, np.int64).reshape(-1, len(sizes))

    def count(columns):
        shape = tuple(sizes[at] for at in columns)
        cells = (
            np.ravel_multi_index(tuple(codes[:, at] for at in columns), shape) if columns else np.zeros(len(codes), int)
        )
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

    def merge(new):
        fewer = [size if part is None else max(part) + 1 for size, part in zip(sizes, new, strict=True)]
        merged = [codes[:, at] if part is None else np.array(part)[codes[:, at]] for at, part in enumerate(new)]
        return tables_of(np.stack(merged, axis=1), tuple(fewer))

    return ExactTables(tuple(sizes), count=count, merge=merge)


class MemorySteps:
    """Keeps steps in a list by the rule of the books."""

    def __init__(self, steps=()):
        self.steps = list(steps)

    def stored(self):
        return list(self.steps)

    def store(self, number, body, *, paid):
        if number < len(self.steps):
            return self.steps[number]
        assert number == len(self.steps)
        self.steps.append(body)
        return body


def measuring(rows, domain, *, budget=None, bits=SYSTEM_BITS, store=None, run=Run):
    """A measurer as the pipeline makes one."""
    tables = tables_of(rows, domain.shape(domain.names))
    return Measuring(domain, tables, run(Meter(budget or Adaptive(rho=1), bits), store or MemorySteps()))

"""What a session answers from: a hypothesis about the rows, made only of released numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from discreet.concurrency.lru_cache import LruCache
from discreet.measurement.domain import MOST_COUNTED, Columns, Domain
from discreet.measurement.measurer import Cells, Conjunction, CountQuery
from discreet.synthetic.methods.method import Model
from discreet.synthetic.models.beliefs import Table

_MOST_CACHED = 16_000_000
"""Cells of cached tables: 128 MB."""


class Hypothesis(Protocol):
    """Expected counts."""

    def expected(self, query: CountQuery) -> float:
        """Return the expected number of rows that a query counts."""

    def learn(self, query: CountQuery, counted: int) -> None:
        """Use a measured count, after the hypothesis answered the query badly."""


class _TableCache:
    """Tables by their columns. The least recently used ones are dropped."""

    def __init__(self, compute: Callable[[Columns], Table]) -> None:
        self._compute = compute
        self._tables: LruCache[Columns, Table] = LruCache(_MOST_CACHED, weigh=lambda table: int(table.size))

    def get(self, columns: Columns) -> Table:
        table = self._tables.get(columns)
        if table is None:
            table = self._compute(columns)
            self._tables.put(columns, table)
        return table

    def clear(self) -> None:
        self._tables.clear()


class ModelHypothesis:
    """A model that was fitted once. It does not learn: one count says less than the tables that it was fitted to.

    Args:
        model: Model of synthetic data.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._tables = model, _TableCache(model.table)

    def expected(self, query: CountQuery) -> float:
        """Return the count in the model."""
        if not query.columns:
            return self._model.total
        return float(query.added_up(self._tables.get(query.columns)))

    def learn(self, query: CountQuery, counted: int) -> None:
        """Do nothing."""


class Weights:
    """A weight for every cell of the table over all columns, changed by multiplicative updates.

    If a query was answered too high, the weights of its cells are multiplied by exp(-rate). If it was answered too
    low, they are multiplied by exp(rate): because the weights sum to 1, this equals exp(-rate) on all other cells.
    Citation: Hardt, Rothblum 2010; Dwork, Roth 2014, algorithm 5.

    Args:
        domain: Domain of at most 2**26 cells.
        rows: Measured number of rows.
        rate: Learning rate.
    """

    def __init__(self, domain: Domain, rows: float, rate: float) -> None:
        columns = domain.check(domain.names, most=MOST_COUNTED)
        self._names, self._rows, self._rate = columns, rows, rate
        self._weights = np.full(domain.shape(columns), 1 / domain.cells(columns))
        self._tables = _TableCache(self._marginal)

    def expected(self, query: CountQuery) -> float:
        """Return the weight of the query's cells, times the number of rows."""
        return self._rows * float(query.added_up(self._tables.get(query.columns)))

    def learn(self, query: CountQuery, counted: int) -> None:
        """Update the weights once."""
        factor = math.exp(self._rate if counted > self.expected(query) else -self._rate)
        if isinstance(query, Cells):
            sizes = zip(self._names, self._weights.shape, strict=True)
            mask = query.mask(tuple(size if name in query.columns else 1 for name, size in sizes))
            self._weights *= np.where(mask, factor, 1.0)
        else:
            self._multiply(query, factor)
        self._weights /= self._weights.sum()
        self._tables.clear()

    def _marginal(self, columns: Columns) -> Table:
        others = tuple(axis for axis, name in enumerate(self._names) if name not in columns)
        return np.asarray(self._weights.sum(axis=others)) if others else self._weights

    def _multiply(self, query: Conjunction, factor: float) -> None:
        """Multiply box by box, which needs no second array of all cells."""
        by_column = dict(zip(query.columns, query.codes, strict=True))
        sizes = zip(self._names, self._weights.shape, strict=True)
        runs = [by_column.get(name, ((0, size - 1),)) for name, size in sizes]
        for box in itertools.product(*runs):
            self._weights[tuple(slice(first, last + 1) for first, last in box)] *= factor

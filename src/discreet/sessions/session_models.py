"""What a session believes about the rows: it answers every query, and is made of released numbers only."""

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

_MOST_KEPT = 16_000_000
"""Cells of tables that are kept because they will be asked for again: 128 MB."""


class Hypothesis(Protocol):
    """Expected counts."""

    def expected(self, query: CountQuery) -> float:
        """How many rows a conjunction counts, as it is believed.

        Args:
            query: In codes of the domain.
        """

    def learn(self, query: CountQuery, counted: int) -> None:
        """Take in that a query was answered badly.

        Args:
            query: Which one.
            counted: What was measured instead.
        """


class _Tables:
    """Tables by their columns, the last used of them: as many as there is room for."""

    def __init__(self, make: Callable[[Columns], Table]) -> None:
        self._make = make
        self._kept: LruCache[Columns, Table] = LruCache(_MOST_KEPT, weigh=lambda table: int(table.size))

    def over(self, columns: Columns) -> Table:
        """The table over columns, made unless it is kept."""
        table = self._kept.get(columns)
        if table is None:
            table = self._make(columns)
            self._kept.put(columns, table)
        return table

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()


class OfModel:
    """A model that was fitted once. It does not change: one count says less than the tables that it was fitted to.

    Args:
        model: Of synthetic data.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._tables = model, _Tables(model.table)

    def expected(self, query: CountQuery) -> float:
        """As the model has it.

        Args:
            query: In codes of the domain.
        """
        if not query.columns:
            return self._model.total
        return float(query.added_up(self._tables.over(query.columns)))

    def learn(self, query: CountQuery, counted: int) -> None:
        """Nothing is learned.

        Args:
            query: Which one.
            counted: What was measured instead.
        """


class Weights:
    """A weight for every cell of all columns together, even at first, changed by multiplicative updates.

    A query that was answered too high has its cells' weights multiplied by exp(-rate), one that was answered too low all others, which is the same
    as its own by exp(rate), since weights add up to 1.
    Citation: Hardt, Rothblum 2010; Dwork, Roth 2014, algorithm 5.

    Args:
        domain: Of at most 2**26 cells.
        rows: How many there are, about.
        rate: Of learning.
    """

    def __init__(self, domain: Domain, rows: float, rate: float) -> None:
        columns = domain.check(domain.names, most=MOST_COUNTED)
        self._names, self._rows, self._rate = columns, rows, rate
        self._weights = np.full(domain.shape(columns), 1 / domain.cells(columns))
        self._tables = _Tables(self._added_up)

    def expected(self, query: CountQuery) -> float:
        """As the weights have it.

        Args:
            query: In codes of the domain.
        """
        return self._rows * float(query.added_up(self._tables.over(query.columns)))

    def _added_up(self, columns: Columns) -> Table:
        others = tuple(axis for axis, name in enumerate(self._names) if name not in columns)
        return np.asarray(self._weights.sum(axis=others)) if others else self._weights

    def learn(self, query: CountQuery, counted: int) -> None:
        """One multiplicative update.

        Args:
            query: That was answered badly.
            counted: What was measured instead.
        """
        factor = math.exp(self._rate if counted > self.expected(query) else -self._rate)
        if isinstance(query, Cells):
            sizes = zip(self._names, self._weights.shape, strict=True)
            mask = query.mask(tuple(size if name in query.columns else 1 for name, size in sizes))
            self._weights *= np.where(mask, factor, 1.0)
        else:
            self._multiply(query, factor)
        self._weights /= self._weights.sum()
        self._tables.clear()

    def _multiply(self, query: Conjunction, factor: float) -> None:
        """Box by box, without a further array of all cells."""
        named = dict(zip(query.columns, query.codes, strict=True))
        runs = [named.get(name, ((0, size - 1),)) for name, size in zip(self._names, self._weights.shape, strict=True)]
        for box in itertools.product(*runs):
            self._weights[tuple(slice(first, last + 1) for first, last in box)] *= factor

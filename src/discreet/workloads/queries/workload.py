"""Workloads: weighted sums of counting queries that are answered together, and their form over given columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from discreet.core.exact import finite, read_count
from discreet.errors import BadInput, TooLarge
from discreet.workloads.queries.families import Family, Floats, Listed, Points, Ranges, Thresholds, Total

LARGEST_GRAM = 4096
"""Largest number of cells of a dense Gram matrix: 128 MB."""
MOST_TABLES = 10_000
_MOST_NUMBERS = 1 << 27
"""Of a dense query matrix."""


@dataclass(frozen=True, slots=True)
class Term:
    """All products of the queries of one family per column. Columns that are not named are summed over."""

    families: tuple[tuple[str, Family], ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Tables:
    """The marginals over every choice of `columns` columns."""

    columns: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries that are answered together. `a + b` has the queries of both, `a * b` every product of a query of each.

    Args:
        terms: The sum of these terms is the workload.
    """

    terms: tuple[Term | Tables, ...]

    def __add__(self, other: Workload) -> Workload:
        return Workload(self.terms + other.terms)

    def __mul__(self, other: Workload) -> Workload:
        return Workload(tuple(_product(a, b) for a in self.terms for b in other.terms))

    def weighted(self, weight: float) -> Workload:
        """Return the same queries with their squared errors counted `weight` times.

        Args:
            weight: A positive number.
        """
        factor = finite(weight)
        if factor is None or factor <= 0:
            raise BadInput("A weight must be a positive number.", next_step="Leave out queries of no weight.")
        return Workload(tuple(replace(term, weight=term.weight * float(factor)) for term in self.terms))

    def columns_among(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that the workload needs, in the order of `names`."""
        named = {name for term in self.terms if isinstance(term, Term) for name, _ in term.families}
        if any(isinstance(term, Tables) for term in self.terms):
            named |= set(names)
        return tuple(sorted(named, key=lambda name: names.index(name) if name in names else len(names)))

    def on(self, columns: Mapping[str, int]) -> Queries:
        """Return the queries over given columns.

        Args:
            columns: Number of cells of each column, by name. The last column varies fastest.
        """
        sizes = {name: read_count(size, name=f"the cells of {name}") for name, size in columns.items()}
        if not sizes:
            raise BadInput("A workload needs at least one column.", next_step="Give a column with its number of cells.")
        terms = [whole for term in self.terms for whole in _bind_term(term, sizes)]
        return Queries(tuple(sizes), tuple(sizes.values()), tuple(terms))


@dataclass(frozen=True, slots=True)
class BoundTerm:
    """A family for every column, in the order of the columns."""

    families: tuple[Family, ...]
    weight: float

    @property
    def columns(self) -> tuple[int, ...]:
        """Positions of the columns that are not summed over."""
        return tuple(i for i, family in enumerate(self.families) if not isinstance(family, Total))

    @property
    def is_table(self) -> bool:
        """Whether its queries are the cells of a marginal."""
        return all(isinstance(family, Points | Total) for family in self.families)


@dataclass(frozen=True)
class Queries:
    """A workload over given columns: linear queries of the counts of all cells. The last column varies fastest."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    terms: tuple[BoundTerm, ...]

    @property
    def cells(self) -> int:
        """Number of cells of the table over all columns."""
        return math.prod(self.sizes)

    @property
    def count(self) -> int:
        """Number of queries."""
        return sum(self.count_of(term) for term in self.terms)

    @property
    def weight(self) -> float:
        """Sum of the weights of all queries."""
        return sum(term.weight * self.count_of(term) for term in self.terms)

    def count_of(self, term: BoundTerm) -> int:
        """Number of queries of a term."""
        return math.prod(family.count(size) for family, size in zip(term.families, self.sizes, strict=True))

    def shapes(self) -> Iterator[tuple[int, ...]]:
        """The shape of each term's answers: one axis for each column that is not summed over."""
        for term in self.terms:
            yield tuple(term.families[column].count(self.sizes[column]) for column in term.columns)

    @cached_property
    def gram(self) -> Floats:
        """The sum of the Gram matrices of all terms. That of a term is the Kronecker product of its families'."""
        if self.cells > LARGEST_GRAM:
            raise TooLarge(
                f"A matrix over {self.cells:,} cells is too large; the limit is {LARGEST_GRAM:,}.",
                next_step="Use marginals, a single column, or coarser cells.",
            )
        total = np.zeros((self.cells, self.cells))
        for term in self.terms:
            pairs = zip(term.families, self.sizes, strict=True)
            total += term.weight * _kronecker(family.gram(size) for family, size in pairs)
        return total

    def block_sums(self, size: int) -> float:
        """The sum of the Gram matrix over all pairs of cells that share a block of `size` consecutive cells."""
        if len(self.sizes) == 1:
            return sum(term.weight * term.families[0].block_sums(self.cells, size) for term in self.terms)
        gram = self.gram
        starts = range(0, self.cells, size)
        return float(sum(gram[start : start + size, start : start + size].sum() for start in starts))

    def answers(self, counts: Floats) -> list[Floats]:
        """Return the answers of each term: one axis for each column that is not summed over.

        Args:
            counts: Counts of all cells, or estimates of them.
        """
        tables = []
        for term in self.terms:
            kept = term.columns
            table = counts.reshape(self.sizes).sum(axis=tuple(i for i in range(len(self.sizes)) if i not in kept))
            for axis, column in enumerate(kept):
                table = np.moveaxis(term.families[column].answers(np.moveaxis(table, axis, -1)), -1, axis)
            tables.append(np.asarray(table, np.float64))
        return tables

    def matrices(self) -> Iterator[Floats]:
        """The query matrix of each term: a row per query, a column per cell."""
        for term in self.terms:
            if self.count_of(term) * self.cells > _MOST_NUMBERS:
                raise TooLarge("The query matrix is too large.", next_step="Use a part of the workload.")
            yield _kronecker(family.matrix(size) for family, size in zip(term.families, self.sizes, strict=True))


def _kronecker(parts: Iterable[Floats]) -> Floats:
    product = np.ones((1, 1))
    for part in parts:
        product = np.kron(product, part).astype(np.float64, copy=False)
    return product


def _product(a: Term | Tables, b: Term | Tables) -> Term:
    if isinstance(a, Tables) or isinstance(b, Tables):
        raise BadInput("marginals(k) cannot be multiplied.", next_step="Name columns: points('sex') * ranges('age').")
    if {name for name, _ in a.families} & {name for name, _ in b.families}:
        raise BadInput("A product has two families for one column.", next_step="Name each column once.")
    return Term(a.families + b.families, a.weight * b.weight)


def _bind_term(term: Term | Tables, sizes: dict[str, int]) -> list[BoundTerm]:
    if isinstance(term, Tables):
        if term.columns > len(sizes):
            raise BadInput(
                f"A marginal over {term.columns} columns needs more than {len(sizes)} columns.",
                next_step="Use marginals over fewer columns.",
            )
        if math.comb(len(sizes), term.columns) > MOST_TABLES:
            raise TooLarge(
                f"The workload has more than {MOST_TABLES:,} marginals.", next_step="Use marginals over fewer columns."
            )
        chosen = combinations(sizes, term.columns)
        return [b for names in chosen for b in _bind_term(Term(_points(names), term.weight), sizes)]
    families = dict(term.families)
    if missing := sorted(set(families) - set(sizes)):
        raise BadInput(f"There is no column {missing[0]}.", next_step=f"Use one of {', '.join(sizes)}.")
    for name, family in term.families:
        family.check(sizes[name])
    return [BoundTerm(tuple(families.get(name, Total()) for name in sizes), term.weight)]


def _points(names: Sequence[str]) -> tuple[tuple[str, Family], ...]:
    return tuple((name, Points()) for name in names)


def total() -> Workload:
    """The count of all rows."""
    return Workload((Term(()),))


def points(*columns: str) -> Workload:
    """The count of every cell of a column, or of the table over several columns.

    Args:
        *columns: Names of the columns.
    """
    return Workload((Term(_points(columns)),))


def thresholds(column: str) -> Workload:
    """For each cell of a column, the number of rows in that cell or a lower one.

    Args:
        column: Name of a column whose cells are ordered.
    """
    return Workload((Term(((column, Thresholds()),)),))


def ranges(column: str) -> Workload:
    """The number of rows in every range of cells of a column.

    Args:
        column: Name of a column whose cells are ordered.
    """
    return Workload((Term(((column, Ranges()),)),))


def means(column: str, values: Sequence[float]) -> Workload:
    """The sum of a value per cell, and the count: their quotient is the mean.

    Args:
        column: Name of the column.
        values: The value of each cell, such as the middle of its bin.
    """
    numbers = _numbers([values])
    return predicates(column, [*numbers.tolist(), [1.0] * numbers.shape[1]])


def predicates(column: str, rows: Sequence[Sequence[float]]) -> Workload:
    """Queries given as a matrix.

    Args:
        column: Name of the column.
        rows: For each query a number per cell: 1 if the cell counts, 0 if not, or any number for a weighted sum.
    """
    return Workload((Term(((column, Listed(_numbers(rows))),)),))


def marginals(columns: int) -> Workload:
    """The marginals over every choice of `columns` columns.

    Args:
        columns: Number of columns of each marginal: 2 for all pairs.
    """
    return Workload((Tables(read_count(columns, name="columns")),))


def _numbers(rows: Sequence[Any]) -> Floats:
    try:
        numbers = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full((0, 0), np.nan)
    if numbers.ndim != 2 or not numbers.size or not np.isfinite(numbers).all():
        raise BadInput(
            "Queries must be rows of finite numbers, all of the same length.", next_step="Give a list of lists."
        )
    return numbers

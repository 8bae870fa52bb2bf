"""Workloads: which queries are to be answered together, weighted and added up, and what they are over given columns."""

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
"""Cells up to which a Gram matrix is written out: 128 MB."""
MOST_TABLES = 10_000
_MOST_NUMBERS = 1 << 27
"""Of queries that are written out."""


@dataclass(frozen=True, slots=True)
class Term:
    """One family a column, and all products of their queries; columns that are not named are added up."""

    families: tuple[tuple[str, Family], ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables over every choice of so many columns."""

    columns: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries that are answered together. `a + b` has the queries of both, `a * b` every product of a query of each.

    Args:
        terms: What it is made of.
    """

    terms: tuple[Term | Tables, ...]

    def __add__(self, other: Workload) -> Workload:
        return Workload(self.terms + other.terms)

    def __mul__(self, other: Workload) -> Workload:
        return Workload(tuple(_product(a, b) for a in self.terms for b in other.terms))

    def weighted(self, weight: float) -> Workload:
        """The same queries, whose squared errors count `weight` times.

        Args:
            weight: A positive number.
        """
        factor = finite(weight)
        if factor is None or factor <= 0:
            raise BadInput("A weight must be a positive number.", next_step="Leave out what counts for nothing.")
        return Workload(tuple(replace(term, weight=term.weight * float(factor)) for term in self.terms))

    def columns_among(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that it asks about, in order.

        Args:
            names: Of all columns.
        """
        named = {name for term in self.terms if isinstance(term, Term) for name, _ in term.families}
        if any(isinstance(term, Tables) for term in self.terms):
            named |= set(names)
        return tuple(sorted(named, key=lambda name: names.index(name) if name in names else len(names)))

    def on(self, columns: Mapping[str, int]) -> Queries:
        """The queries over given columns.

        Args:
            columns: How many cells each column has, by name; the last one varies fastest.
        """
        sizes = {name: read_count(size, name=f"the cells of {name}") for name, size in columns.items()}
        if not sizes:
            raise BadInput("There are no columns.", next_step="Name at least one, with its number of cells.")
        terms = [whole for term in self.terms for whole in _spelt_out(term, sizes)]
        return Queries(tuple(sizes), tuple(sizes.values()), tuple(terms))


@dataclass(frozen=True, slots=True)
class BoundTerm:
    """A family for every column, in the order of the columns."""

    families: tuple[Family, ...]
    weight: float

    @property
    def columns(self) -> tuple[int, ...]:
        """The places of those that are not just added up."""
        return tuple(i for i, family in enumerate(self.families) if not isinstance(family, Total))

    @property
    def is_table(self) -> bool:
        """Whether it asks for the cells of a table."""
        return all(isinstance(family, Points | Total) for family in self.families)


@dataclass(frozen=True)
class Queries:
    """A workload over given columns: linear queries of the counts of all their cells, the last column varying fastest."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    terms: tuple[BoundTerm, ...]

    @property
    def cells(self) -> int:
        """Of all columns together."""
        return math.prod(self.sizes)

    @property
    def count(self) -> int:
        """How many queries there are."""
        return sum(self.count_of(term) for term in self.terms)

    @property
    def weight(self) -> float:
        """How many queries there are, each as often as it counts."""
        return sum(term.weight * self.count_of(term) for term in self.terms)

    def count_of(self, term: BoundTerm) -> int:
        """How many queries a term has."""
        return math.prod(family.count(size) for family, size in zip(term.families, self.sizes, strict=True))

    def shapes(self) -> Iterator[tuple[int, ...]]:
        """Of each term's answers: an axis a column that is not just added up."""
        for term in self.terms:
            yield tuple(term.families[column].count(self.sizes[column]) for column in term.columns)

    @cached_property
    def gram(self) -> Floats:
        """The sum of the terms' Gram matrices, each the Kronecker product of its families'."""
        if self.cells > LARGEST_GRAM:
            raise TooLarge(
                f"A matrix over {self.cells:,} cells is not written out; the limit is {LARGEST_GRAM:,}.",
                next_step="Ask for tables, for one column alone, or for coarser cells.",
            )
        total = np.zeros((self.cells, self.cells))
        for term in self.terms:
            pairs = zip(term.families, self.sizes, strict=True)
            total += term.weight * _kronecker(family.gram(size) for family, size in pairs)
        return total

    def within_blocks(self, size: int) -> float:
        """The sum of the Gram matrix over pairs of cells in one block of `size` neighbours."""
        if len(self.sizes) == 1:
            return sum(term.weight * term.families[0].within_blocks(self.cells, size) for term in self.terms)
        gram = self.gram
        starts = range(0, self.cells, size)
        return float(sum(gram[start : start + size, start : start + size].sum() for start in starts))

    def answers(self, counts: Floats) -> list[Floats]:
        """What each term's queries are of given counts: an axis a column, without those that are added up.

        Args:
            counts: Of all cells, or estimates of them.
        """
        tables = []
        for term in self.terms:
            kept = term.columns
            table = counts.reshape(self.sizes).sum(axis=tuple(i for i in range(len(self.sizes)) if i not in kept))
            for place, column in enumerate(kept):
                table = np.moveaxis(term.families[column].answers(np.moveaxis(table, place, -1)), -1, place)
            tables.append(np.asarray(table, np.float64))
        return tables

    def matrices(self) -> Iterator[Floats]:
        """The queries of each term, a row a query, a column a cell."""
        for term in self.terms:
            if self.count_of(term) * self.cells > _MOST_NUMBERS:
                raise TooLarge("There are too many queries to be listed.", next_step="List a part of the workload.")
            yield _kronecker(family.matrix(size) for family, size in zip(term.families, self.sizes, strict=True))


def _kronecker(parts: Iterable[Floats]) -> Floats:
    product = np.ones((1, 1))
    for part in parts:
        product = np.kron(product, part).astype(np.float64, copy=False)
    return product


def _product(a: Term | Tables, b: Term | Tables) -> Term:
    if isinstance(a, Tables) or isinstance(b, Tables):
        raise BadInput(
            "All tables of a size have no products.", next_step="Name columns: points('sex') * ranges('age')."
        )
    if {name for name, _ in a.families} & {name for name, _ in b.families}:
        raise BadInput("A product has two families for one column.", next_step="Name each column once.")
    return Term(a.families + b.families, a.weight * b.weight)


def _spelt_out(term: Term | Tables, sizes: dict[str, int]) -> list[BoundTerm]:
    if isinstance(term, Tables):
        if term.columns > len(sizes):
            raise BadInput(
                f"There are no tables of {term.columns} columns among {len(sizes)}.",
                next_step="Ask for tables of fewer columns.",
            )
        if math.comb(len(sizes), term.columns) > MOST_TABLES:
            raise TooLarge(f"These are more than {MOST_TABLES:,} tables.", next_step="Ask for tables of fewer columns.")
        chosen = combinations(sizes, term.columns)
        return [b for names in chosen for b in _spelt_out(Term(_points(names), term.weight), sizes)]
    families = dict(term.families)
    if missing := sorted(set(families) - set(sizes)):
        raise BadInput(f"There is no column {missing[0]}.", next_step=f"Ask about {', '.join(sizes)}.")
    for name, family in term.families:
        family.check(sizes[name])
    return [BoundTerm(tuple(families.get(name, Total()) for name in sizes), term.weight)]


def _points(names: Sequence[str]) -> tuple[tuple[str, Family], ...]:
    return tuple((name, Points()) for name in names)


def total() -> Workload:
    """The count of all rows."""
    return Workload((Term(()),))


def points(*columns: str) -> Workload:
    """Every cell of a column, or of the table over several.

    Args:
        *columns: Their names.
    """
    return Workload((Term(_points(columns)),))


def thresholds(column: str) -> Workload:
    """For each cell of a column, how many rows lie there or below.

    Args:
        column: Its name; its cells have an order.
    """
    return Workload((Term(((column, Thresholds()),)),))


def ranges(column: str) -> Workload:
    """For every two cells of a column, how many rows lie from one to the other.

    Args:
        column: Its name; its cells have an order.
    """
    return Workload((Term(((column, Ranges()),)),))


def means(column: str, values: Sequence[float]) -> Workload:
    """The sum of a value a cell, and the count: their quotient is the mean.

    Args:
        column: Its name.
        values: What each of its cells counts as, such as the middle of its bin.
    """
    numbers = _numbers([values])
    return predicates(column, [*numbers.tolist(), [1.0] * numbers.shape[1]])


def predicates(column: str, rows: Sequence[Sequence[float]]) -> Workload:
    """Queries that are written out.

    Args:
        column: The name of the column that they are over.
        rows: For each query a number for every cell: 1 where it counts, 0 where it does not; any number for weighted sums.
    """
    return Workload((Term(((column, Listed(_numbers(rows))),)),))


def marginals(columns: int) -> Workload:
    """The tables over every choice of so many columns.

    Args:
        columns: How many: 2 for every pair.
    """
    return Workload((Tables(read_count(columns, name="columns")),))


def _numbers(rows: Sequence[Any]) -> Floats:
    try:
        numbers = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full((0, 0), np.nan)
    if numbers.ndim != 2 or not numbers.size or not np.isfinite(numbers).all():
        raise BadInput("Queries are rows of finite numbers, as long as each other.", next_step="Give a list of lists.")
    return numbers

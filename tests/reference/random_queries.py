"""Random questions: a relation, keys with and without declared values, every kind of measure, limits and grouping sets."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

from discreet.algebra.expressions import Expression
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.relations import Relation
from discreet.algebra.value_properties import every_value
from discreet.catalog import Catalog, Type
from tests.reference.random_expressions import Expressions
from tests.reference.random_relations import REFUSALS, Relations, fields
from tests.reference.worlds import EXTREMES

_TYPES = list(Type)


class Queries:
    """Draws questions over a catalog; `sizes` are the rows of its public tables."""

    def __init__(
        self, seed: int, catalog: Catalog, sizes: Mapping[str, int], *, without: frozenset[str] = frozenset()
    ) -> None:
        self.rng = random.Random(seed)
        self.expressions = Expressions(self.rng, without=without)
        self.relations = Relations(self.rng, catalog, sizes, self.expressions)

    def draw(self) -> Query:
        """One question; shallow ones are as many as deep ones."""
        while True:
            rows = self.relations.draw(self.rng.choice([0, 0, 1, 1, 1, 2, 2, 3]))
            try:
                return self._about(rows)
            except REFUSALS:
                continue

    def _about(self, rows: Relation) -> Query:
        keys = tuple(self._key(rows) for _ in range(self.rng.choice([0, 1, 1, 2])))
        measures = tuple(self.measure(rows) for _ in range(self.rng.randint(1, 4)))
        every = tuple(range(len(keys)))
        sets = self.rng.choice([*[(every,)] * 6, (every, ()), ((), *((key,) for key in every))])
        return Query(rows=rows, keys=keys, measures=measures, limits=self._limits(rows), sets=sets)

    def _limits(self, rows: Relation) -> ContributionBounds:
        most = self.rng.choice([1, 2, 3, 5, rows.shape.most_rows, rows.shape.most_rows + 1])
        if self.rng.random() < 0.6:
            return ContributionBounds(rows=max(most, 1))
        groups, each = self.rng.choice([1, 1, 2, 3]), self.rng.choice([1, 1, 2, 4])
        return ContributionBounds(rows=max(1, min(most, groups * each)), groups=groups, rows_per_group=each)

    def _key(self, rows: Relation) -> Key:
        columns = fields(rows)
        kind = self.rng.choice(_TYPES)
        if self.rng.random() < 0.15 and kind is not Type.BOOLEAN:
            expression = self.expressions.label(kind, columns, 2)
        else:
            expression = self.expressions.draw(kind, columns, self.rng.choice([0, 0, 0, 2, 3]))
        known = every_value(expression.properties)
        if known is not None and len(known) <= 2_000 and self.rng.random() < 0.7:
            return Key(expression, known)
        if self.rng.random() < 0.3:
            pool = EXTREMES[expression.properties.type]
            some = self.rng.sample(pool, min(len(pool), 6))
            return Key(expression, (*some, None) if self.rng.random() < 0.5 else tuple(some))
        return Key(expression, None)

    def measure(self, rows: Relation) -> Measure:
        columns, kind = (
            fields(rows),
            self.rng.choice([*MeasureKind, *(kind for kind in MeasureKind if kind is not MeasureKind.QUANTILE)]),
        )
        where = self.expressions.condition(columns, 2) if self.rng.random() < 0.25 else None
        if kind in (MeasureKind.ROWS, MeasureKind.PEOPLE):
            return Measure(kind=kind, where=where)
        if kind in (MeasureKind.PRESENT, MeasureKind.DISTINCT):
            count = self.rng.choice([1, 1, 2]) if kind is MeasureKind.DISTINCT else 1
            values = tuple(
                self.expressions.draw(self.rng.choice(_TYPES), columns, self.rng.choice([0, 2])) for _ in range(count)
            )
            return Measure(kind=kind, values=values, where=where)
        values = tuple(self._number(rows) for _ in range(2 if kind is MeasureKind.PRODUCTS else 1))
        steps = tuple(self.relations.grid(value) for value in values)
        if kind is MeasureKind.QUANTILE:
            return Measure(
                kind=kind, values=values, where=where, steps=steps, centres=(0,), q=Fraction(self.rng.randint(0, 4), 4)
            )
        centres = tuple(self.rng.choice([0, (grid.low + grid.high) // 2]) for grid in steps)
        coarser = 0 if kind is MeasureKind.TOTAL else self.rng.choice([0, 1, 3, 20])
        return Measure(kind=kind, values=values, where=where, steps=steps, centres=centres, coarser=coarser)

    def _number(self, rows: Relation) -> Expression:
        return self.expressions.number(fields(rows), 3)

"""Random relations: every node over every other, within what its constructor accepts."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from discreet.algebra.aggregates import Aggregate, Fold, Frame, Order, RowFunction, Window
from discreet.algebra.expressions import Expression, Field
from discreet.algebra.grids import Grid, grid_for
from discreet.algebra.relations import Filter, Join, JoinKind, Mark, PerPerson, Project, Relation, UnionAll, Windowed
from discreet.algebra.table_scan import scan
from discreet.catalog import Catalog, Type
from discreet.errors import NeedsBounds, NotAllowed, TooLarge
from tests.reference.random_expressions import Expressions

REFUSALS = (NotAllowed, TooLarge, NeedsBounds)
_TYPES = list(Type)
_MOST_COLUMNS = 14


def fields(relation: Relation) -> list[Field]:
    return [relation.field(at) for at in range(len(relation.columns))]


class Relations:
    """Draws relations over the tables of a catalog."""

    def __init__(
        self, rng: random.Random, catalog: Catalog, sizes: Mapping[str, int], expressions: Expressions
    ) -> None:
        self.rng, self.catalog, self.sizes, self.expressions = rng, catalog, sizes, expressions
        self.protected = [table for table in catalog.tables.values() if not table.is_public]
        self.public = [table for table in catalog.tables.values() if table.is_public]

    def draw(self, depth: int, *, public: bool = False) -> Relation:
        """A relation of people, or a public one."""
        if depth <= 0:
            return self._scan(public=public)
        nodes: list[Callable[..., Relation]] = [self._keep, self._compute, self._per_person, self._stack]
        nodes += [self._join, self._join, self._mark, self._windowed]
        if not public:
            nodes += [self._public_join, self._public_mark]
        while True:
            try:
                drawn = self.rng.choice(nodes)(depth - 1, public=public)
            except REFUSALS:
                continue
            return drawn if len(drawn.columns) <= _MOST_COLUMNS else self._narrowed(drawn)

    def _narrowed(self, relation: Relation) -> Relation:
        kept = sorted(self.rng.sample(range(len(relation.columns)), _MOST_COLUMNS // 2))
        return Project(relation, tuple(relation.field(at) for at in kept))

    def _scan(self, *, public: bool) -> Relation:
        table = self.rng.choice(self.public if public else self.protected)
        drawn = scan(table, self.catalog, size=self.sizes.get(table.name, 0))
        if public:
            return drawn
        fewer = min(drawn.most or 0, self.rng.choice([1, 2, 3, 8]))
        return replace(drawn, most=fewer) if self.rng.random() < (0.2 if table.is_bounded_once else 0.7) else drawn

    def _keep(self, depth: int, *, public: bool) -> Relation:
        rows = self.draw(depth, public=public)
        return Filter(rows, self.expressions.condition(fields(rows), 3))

    def _compute(self, depth: int, *, public: bool) -> Relation:
        rows = self.draw(depth, public=public)
        columns = fields(rows)
        kept = [column for column in columns if self.rng.random() < 0.5]
        new = [self.expressions.draw(self.rng.choice(_TYPES), columns, 4) for _ in range(self.rng.randint(1, 3))]
        return Project(rows, tuple(self.rng.sample([*kept, *new], len(kept) + len(new))))

    def _keys(self, left: Relation, right: Relation, *, plain: str = "") -> tuple[tuple[Expression, Expression], ...]:
        """Pairs of one type; the side named by `plain` has columns only."""
        keys = []
        for _ in range(self.rng.choice([0, 1, 1, 1, 2])):
            kinds = {column.properties.type for column in fields(left)} & {
                column.properties.type for column in fields(right)
            }
            if not kinds:
                break
            kind = self.rng.choice(sorted(kinds, key=lambda kind: kind.value))
            sides = {
                name: [column for column in fields(side) if column.properties.type is kind]
                for name, side in (("left", left), ("right", right))
            }
            alike = [
                (a, b)
                for a in sides["left"]
                for b in sides["right"]
                if a.properties.longest == b.properties.longest and a.properties.person == b.properties.person
            ]
            pair = (
                list(self.rng.choice(alike))
                if alike and self.rng.random() < 0.7
                else [self.rng.choice(sides["left"]), self.rng.choice(sides["right"])]
            )
            for place, (name, side) in enumerate((("left", left), ("right", right))):
                if name != plain and self.rng.random() < 0.25:
                    pair[place] = self.expressions.draw(kind, fields(side), 2)  # type: ignore[call-overload]
            keys.append((pair[0], pair[1]))
        return tuple(keys)

    def _with_condition(self, joined: Join | Mark, width: int) -> Relation:
        """The same with a condition over both sides, now and then."""
        if self.rng.random() < 0.6:
            return joined
        sides = (joined.left, joined.right) if isinstance(joined, Join) else (joined.rows, joined.others)
        columns = [*fields(sides[0]), *(Field(width + column.at, column.properties) for column in fields(sides[1]))]
        return replace(joined, on=self.expressions.condition(columns, 2))

    def _join(self, depth: int, *, public: bool) -> Relation:
        left, right = self.draw(depth, public=public), self.draw(self.rng.randint(0, depth), public=public)
        if self.rng.random() < 0.15:
            right = left
        how = self.rng.choice(list(JoinKind))
        return self._with_condition(Join(left, right, how, self._keys(left, right), None, 1), len(left.columns))

    def _public_join(self, depth: int, *, public: bool) -> Relation:
        rows, others = self.draw(depth), self.draw(self.rng.randint(0, depth), public=True)
        fan_out = self.rng.choice([1, 1, 2, 3])
        if self.rng.random() < 0.25:
            joined = Join(others, rows, JoinKind.INNER, self._keys(others, rows, plain="left"), None, fan_out)
            return self._with_condition(joined, len(others.columns))
        how = self.rng.choice([JoinKind.INNER, JoinKind.LEFT])
        return self._with_condition(
            Join(rows, others, how, self._keys(rows, others, plain="right"), None, fan_out), len(rows.columns)
        )

    def _mark(self, depth: int, *, public: bool) -> Relation:
        rows, others = self.draw(depth, public=public), self.draw(self.rng.randint(0, depth), public=public)
        keys = self._keys(rows, others, plain="right" if public else "")
        return self._used(self._with_condition(Mark(rows, others, keys, None), len(rows.columns)))

    def _public_mark(self, depth: int, *, public: bool) -> Relation:
        rows, others = self.draw(depth), self.draw(self.rng.randint(0, depth), public=True)
        mark = Mark(rows, others, self._keys(rows, others, plain="right"), None, self.rng.choice([1, 2, 3]))
        return self._used(self._with_condition(mark, len(rows.columns)))

    def _used(self, marked: Relation) -> Relation:
        """The mark inside a condition, now and then."""
        if self.rng.random() < 0.5:
            return marked
        mark = marked.field(len(marked.columns) - 1)
        return Filter(marked, self.expressions.condition([mark, *fields(marked)[:3]], 3))

    def aggregate(self, columns: list[Field], *, windowed: bool = False) -> Aggregate:
        folds = [fold for fold in Fold if not (windowed and fold is Fold.DISTINCT)]
        fold = self.rng.choice(folds)
        where = self.expressions.condition(columns, 2) if self.rng.random() < 0.25 else None
        if fold is Fold.ROWS:
            return Aggregate(fold, None, where)
        if fold in (Fold.ANY, Fold.EVERY):
            return Aggregate(fold, self.expressions.draw(Type.BOOLEAN, columns, 2), where)
        if fold not in (Fold.SUM, Fold.AVERAGE):
            return Aggregate(fold, self.expressions.draw(self.rng.choice(_TYPES), columns, 2), where)
        if self.rng.random() < 0.4:
            return Aggregate(fold, self.expressions.draw(Type.INTEGER, columns, 2), where)
        value = self.expressions.number(columns, 2)
        return Aggregate(fold, value, where, self.grid(value) if value.properties.type is Type.REAL else None)

    def grid(self, value: Expression) -> Grid:
        """The grid of a number; a coarser one, now and then."""
        grid = grid_for(value.properties)
        if self.rng.random() < 0.3 and value.properties.type is Type.REAL:
            return grid_for(value.properties, grid.step * self.rng.choice([2, 2**10, 2**20]))
        return grid

    def _per_person(self, depth: int, *, public: bool) -> Relation:
        rows = self.draw(depth, public=public)
        columns = fields(rows)
        keys = [
            self.expressions.draw(self.rng.choice(_TYPES), columns, self.rng.choice([0, 0, 2]))
            for _ in range(self.rng.choice([0, 1, 1, 2]))
        ]
        return PerPerson(
            rows, tuple(keys), tuple(self.aggregate(columns) for _ in range(self.rng.randint(0 if keys else 1, 3)))
        )

    def window(self, columns: list[Field]) -> Window:
        """Any window; with and without partition, order and frame."""
        draw = self.expressions.draw
        partition = tuple(
            draw(self.rng.choice(_TYPES), columns, self.rng.choice([0, 1])) for _ in range(self.rng.choice([0, 0, 1]))
        )
        order = tuple(
            Order(draw(self.rng.choice(_TYPES), columns, self.rng.choice([0, 0, 1])), self.rng.random() < 0.5)
            for _ in range(self.rng.choice([0, 1, 1, 2]))
        )
        if self.rng.random() < 0.5:
            start, end = self.rng.choice(
                [(None, 0), (-1, 1), (0, None), (None, None), (-2, -1), (1, 2), (0, 0), (None, -1)]
            )
            frame = Frame(start, end) if self.rng.random() < 0.5 else None
            return Window(self.aggregate(columns, windowed=True), None, 0, partition, order, frame)
        place = self.rng.choice(list(RowFunction))
        valued = place in (RowFunction.LAG, RowFunction.LEAD, RowFunction.FIRST, RowFunction.LAST)
        value = draw(self.rng.choice(_TYPES), columns, 1) if valued else None
        offset = (
            self.rng.choice([1, 2, 3])
            if place is RowFunction.NTILE
            else self.rng.choice([0, 1, 1, 2])
            if place in (RowFunction.LAG, RowFunction.LEAD)
            else 0
        )
        return Window(place, value, offset, partition, order, None)

    def _windowed(self, depth: int, *, public: bool) -> Relation:
        rows = self.draw(depth, public=public)
        return Windowed(rows, tuple(self.window(fields(rows)) for _ in range(self.rng.randint(1, 2))))

    def _stack(self, depth: int, *, public: bool) -> Relation:
        first = self.draw(depth, public=public)
        if len(first.columns) > 6:
            first = Project(first, tuple(self.rng.sample(fields(first), 5)))
        parts: list[Relation] = [first]
        for _ in range(self.rng.choice([1, 1, 2])):
            other = self.draw(self.rng.randint(0, depth), public=public)
            wanted = [column.properties.type for column in first.columns]
            parts.append(
                Project(
                    other,
                    tuple(self.expressions.draw(kind, fields(other), self.rng.choice([0, 0, 2])) for kind in wanted),
                )
            )
        return UnionAll(tuple(parts))

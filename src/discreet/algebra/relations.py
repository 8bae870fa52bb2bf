"""Relations: trees whose constructors cannot build anything that combines rows of two people.

Each row of a protected relation belongs to one person, whose id is a hidden column. Hidden `ids` identify the rows of
a person. Whether a row exists, and its contents, depend only on that person's rows and on public tables: joins and
marks of two protected relations always compare the person, and groups and windows are always per person. A caller
cannot switch this off.

The size bounds derived here (`most_rows`) are enforced by the SQL itself: by a stored rank, by a row number within a
public key, or by GROUP BY.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

from discreet.algebra.aggregates import Aggregate, Fold, Window, check_distinct
from discreet.algebra.expressions import Expression, Field, conjuncts, fields_of
from discreet.algebra.relation_checks import (
    check_keys,
    check_reads,
    check_same_people,
    is_unique,
    joined_columns,
    misplaced_expression,
    row_number_bound,
)
from discreet.algebra.relation_shape import Column, Shape, declared_column, hull
from discreet.algebra.value_properties import ValueProperties
from discreet.catalog import Table, Type
from discreet.errors import NotAllowed


@dataclass(frozen=True, slots=True)
class _Relation:
    shape: Shape = field(init=False, compare=False, repr=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.shape.columns

    @property
    def is_public(self) -> bool:
        return self.shape.person is None

    def field(self, at: int) -> Field:
        """Return the column at a position as an expression over this relation."""
        return Field(at, self.shape.columns[at].properties)

    def _set(self, shape: Shape, *parts: Relation) -> None:
        nodes, depth = (
            1 + sum(part.shape.nodes for part in parts),
            1 + max((part.shape.depth for part in parts), default=0),
        )
        object.__setattr__(self, "shape", replace(shape, nodes=nodes, depth=depth))


@dataclass(frozen=True, slots=True)
class Scan(_Relation):
    """The rows of a table.

    A protected table is read from the snapshot, at most `most` rows per person by their stored rank. A public table
    has `size` rows.
    """

    table: Table
    person: ValueProperties | None = field(compare=False)
    most: int | None
    unique: frozenset[str]
    """Columns that other tables refer to. The snapshot numbers a person's rows with the same value."""
    size: int = field(compare=False)
    each_once: bool = False
    """Whether each person has exactly one row and the number of people is public."""

    def __post_init__(self) -> None:
        declared = self.table.columns.values()
        columns = tuple(declared_column(column, self.table, unique=column.name in self.unique) for column in declared)
        each_once = self.each_once and self.person is not None and self.most == 1
        self._set(
            Shape(
                columns=columns, person=self.person, ids=(Type.INTEGER,), most_rows=self.most or 0, size=self.size,
                each_once=each_once, row_people=self.table.name if self.table.has_row_people else "",
            )
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filter(_Relation):
    """The rows that fulfil a condition."""

    rows: Relation
    condition: Expression

    def __post_init__(self) -> None:
        check_reads(self.rows, self.condition)
        if self.condition.properties.type is not Type.BOOLEAN:
            raise NotAllowed("A condition must be a BOOLEAN.", next_step="Write a comparison, for example x > 0.")
        inner = self.rows.shape
        numbered = [n for n in map(row_number_bound, conjuncts(self.condition)) if n is not None]
        most = min([inner.most_rows, *numbered])
        self._set(replace(inner, most_rows=most, each_once=False), self.rows)


@dataclass(frozen=True, slots=True)
class Project(_Relation):
    """Columns computed from each row."""

    rows: Relation
    expressions: tuple[Expression, ...]

    def __post_init__(self) -> None:
        check_reads(self.rows, *self.expressions)
        self._set(replace(self.rows.shape, columns=tuple(map(self._column, self.expressions))), self.rows)

    def _column(self, expression: Expression) -> Column:
        return self.rows.columns[expression.at] if isinstance(expression, Field) else Column(expression.properties)


class JoinKind(Enum):
    """Kinds of joins."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Join(_Relation):
    """A join. Columns of the left side come before those of the right.

    Two protected relations are always joined on the person too. `keys` are pairs of expressions, one of each side, that
    must be equal; `on` is a further condition over both sides. A row matches at most `fan_out` rows of a public side:
    these are numbered within the key columns, and the SQL compares the number. The last id of a full join tells which
    sides exist (1 both, 2 left, 3 right), because the ids of a side may be NULL themselves.
    """

    left: Relation
    right: Relation
    how: JoinKind
    keys: tuple[tuple[Expression, Expression], ...]
    on: Expression | None
    fan_out: int = 1

    def __post_init__(self) -> None:
        a, b = self.left.shape, self.right.shape
        check_keys(self.left, self.right, self.keys)
        left_outer, right_outer = self.how is JoinKind.FULL, self.how is not JoinKind.INNER
        single = b.most_rows == 1 or _is_grouped_by(self.right, [key for _, key in self.keys])
        meets_one = (single if b.person is not None else self.fan_out == 1) and a.person is not None
        meets_one_left = a.person is not None and a.most_rows == 1 and b.person is not None
        columns = (
            *joined_columns(self.left, outer=left_outer, meets_people=b.person is not None, meets_one=meets_one),
            *joined_columns(self.right, outer=right_outer, meets_people=a.person is not None, meets_one=meets_one_left),
        )
        if self.on is not None and any(column.at >= len(columns) for column in fields_of(self.on)):
            raise misplaced_expression()
        if a.person is not None and b.person is not None:
            shape = self._of_people(a, b, columns)
        elif a.person is None and b.person is None:
            shape = self._of_public(a, b, columns)
        else:
            shape = self._with_public(a, b, columns)
        self._set(shape, self.left, self.right)

    def _of_people(self, a: Shape, b: Shape, columns: tuple[Column, ...]) -> Shape:
        check_same_people(self.left, self.right)
        # An outer join keeps a row without a match.
        ours, theirs = a.most_rows, b.most_rows
        most, met_by_left, met_by_right = ours * theirs, theirs, ours
        if self.is_unique_right or (
            self.how is not JoinKind.FULL and _is_grouped_by(self.right, [key for _, key in self.keys])
        ):
            most, met_by_left = ours, 1
        elif self.is_unique_left:
            most, met_by_right = theirs, 1
        elif self.how is JoinKind.FULL:
            most = max(most, ours + theirs)
        copies = min(most, max(a.copies * met_by_left, b.copies * met_by_right))
        each_once = self.how is JoinKind.LEFT and a.each_once and theirs == 1
        ids = (*a.ids, *b.ids, Type.INTEGER) if self.how is JoinKind.FULL else (*a.ids, *b.ids)
        return Shape(
            columns=columns, person=a.person, ids=ids, most_rows=most, fan_out=a.fan_out * b.fan_out,
            copies=max(a.copies, b.copies, copies), each_once=each_once, row_people=a.row_people,
        )  # fmt: skip

    @property
    def is_unique_right(self) -> bool:
        """Whether a key of the right side is unique within a person's rows, so that a row matches at most one."""
        return self.how is not JoinKind.FULL and any(is_unique(self.right, key) for _, key in self.keys)

    @property
    def is_unique_left(self) -> bool:
        return (
            self.how is JoinKind.INNER
            and not self.is_unique_right
            and any(is_unique(self.left, key) for key, _ in self.keys)
        )

    def _of_public(self, a: Shape, b: Shape, columns: tuple[Column, ...]) -> Shape:
        if self.how is JoinKind.FULL:
            raise NotAllowed(
                "FULL JOIN of public tables is not supported.", next_step="Use LEFT JOIN, or UNION ALL of two queries."
            )
        size = a.size * max(1, self.fan_out)
        return Shape(columns=columns, person=None, ids=(*a.ids, *b.ids), most_rows=0, size=size)

    def _with_public(self, a: Shape, b: Shape, columns: tuple[Column, ...]) -> Shape:
        if self.how is JoinKind.FULL or (self.how is JoinKind.LEFT and a.person is None):
            raise NotAllowed(
                "This join would keep public rows that belong to no person.",
                next_step="Use a LEFT JOIN that starts from the protected table.",
            )
        if any(not isinstance(key[0 if a.person is None else 1], Field) for key in self.keys):
            raise misplaced_expression()
        owned = a if a.person is not None else b
        return Shape(
            columns=columns, person=owned.person, ids=(*a.ids, *b.ids), most_rows=owned.most_rows * self.fan_out, fan_out=owned.fan_out * self.fan_out, copies=owned.copies * self.fan_out,
            each_once=owned.each_once and self.how is JoinKind.LEFT and self.fan_out == 1, row_people=owned.row_people,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mark(_Relation):
    """The same rows with one more column at the end: whether another relation has a matching row of the same person.

    The column is true or false, never NULL. `keys` and `on` are as in a join.
    """

    rows: Relation
    others: Relation
    keys: tuple[tuple[Expression, Expression], ...]
    on: Expression | None
    fan_out: int = 1

    def __post_init__(self) -> None:
        a, b = self.rows.shape, self.others.shape
        check_keys(self.rows, self.others, self.keys)
        if self.on is not None and any(column.at >= len(a.columns) + len(b.columns) for column in fields_of(self.on)):
            raise misplaced_expression()
        if b.person is not None:
            if a.person is None:
                raise NotAllowed(
                    "A condition on a public table cannot use protected rows.",
                    next_step="Start FROM the protected table instead.",
                )
            check_same_people(self.rows, self.others)
        elif any(not isinstance(key, Field) for _, key in self.keys):
            raise misplaced_expression()
        mark = Column(ValueProperties(type=Type.BOOLEAN, nullable=False))
        fan_out, tried = 1, 1
        if a.person is not None and b.person is None:
            fan_out = tried = self.fan_out
        elif a.person is not None and self.on is not None:
            # The condition is evaluated for every pair of rows with equal person and keys.
            tried = b.most_rows
        columns = (*a.columns, mark)
        copies = max(a.copies * tried, b.copies)
        self._set(
            replace(a, columns=columns, fan_out=a.fan_out * fan_out * b.fan_out, copies=copies), self.rows, self.others
        )


@dataclass(frozen=True, slots=True)
class PerPerson(_Relation):
    """GROUP BY person and keys. Columns are the person, the keys, then the aggregates.

    Over a public relation there is no person column.
    """

    rows: Relation
    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        inner = self.rows.shape
        check_distinct(sum(aggregate.fold is Fold.DISTINCT for aggregate in self.aggregates))
        check_reads(self.rows, *self.keys, *(part for aggregate in self.aggregates for part in aggregate.parts))
        owner = () if inner.person is None else (Column(replace(inner.person, person=True, nullable=False)),)
        keys = tuple(Column(replace(key.properties, unique_per_person=False)) for key in self.keys)
        grouped = bool(self.keys) or inner.person is not None
        most = inner.most_rows if inner.person is not None else inner.size
        values = tuple(Column(aggregate.properties(most, grouped=grouped)) for aggregate in self.aggregates)
        self._set(
            replace(
                inner,
                columns=(*owner, *keys, *values),
                ids=tuple(key.properties.type for key in self.keys),
                most_rows=inner.most_rows if self.keys or inner.person is None else 1,
                size=inner.size if self.keys else 1,
                each_once=False,
            ),
            self.rows,
        )


@dataclass(frozen=True, slots=True)
class Windowed(_Relation):
    """The same rows with one more column for each window function. Windows never span two people."""

    rows: Relation
    windows: tuple[Window, ...]

    def __post_init__(self) -> None:
        inner = self.rows.shape
        check_reads(self.rows, *(part for window in self.windows for part in window.parts))
        most = inner.most_rows if inner.person is not None else inner.size
        new = tuple(Column(window.properties(most, owned=inner.person is not None)) for window in self.windows)
        self._set(replace(inner, columns=(*inner.columns, *new)), self.rows)


@dataclass(frozen=True, slots=True)
class UnionAll(_Relation):
    """UNION ALL."""

    parts: tuple[Relation, ...]

    def __post_init__(self) -> None:
        first, *others = shapes = [part.shape for part in self.parts]
        if any((shape.person is None) != (first.person is None) for shape in others):
            raise NotAllowed(
                "Public and protected rows cannot be combined.",
                next_step="Combine public tables with public ones, and protected with protected.",
            )
        check_same_people(*self.parts)
        kinds = [[column.properties.type for column in shape.columns] for shape in shapes]
        if any(kind != kinds[0] for kind in kinds):
            raise NotAllowed(
                "Both sides of UNION ALL need the same number of columns, of the same types.",
                next_step="Select matching columns on both sides.",
            )
        columns = tuple(
            Column(hull([column.properties for column in several]))
            for several in zip(*(shape.columns for shape in shapes), strict=True)
        )
        most = sum(shape.most_rows for shape in shapes)
        ids = (Type.INTEGER, *(kind for shape in shapes for kind in shape.ids))
        self._set(
            Shape(
                columns=columns, person=first.person, ids=ids, most_rows=most, fan_out=max(shape.fan_out for shape in shapes),
                copies=sum(shape.copies for shape in shapes), size=sum(shape.size for shape in shapes), row_people=first.row_people,
            ),
            *self.parts,
        )  # fmt: skip


def _is_grouped_by(relation: Relation, keys: Sequence[Expression]) -> bool:
    """Whether a relation was grouped by a subset of these keys, so that they identify a row of a person."""
    positions = {key.at for key in keys if isinstance(key, Field)}
    return (
        isinstance(relation, PerPerson)
        and not relation.is_public
        and positions >= set(range(1, 1 + len(relation.keys)))
    )


Relation: TypeAlias = Scan | Filter | Project | Join | Mark | PerPerson | Windowed | UnionAll

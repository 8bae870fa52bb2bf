"""Relations: trees whose constructors cannot build anything that mixes two people.

Each row of a protected relation has one owner, who travels along unseen, and hidden `ids` that with the owner tell rows apart. Whether a
row exists and what is in it depends on the owner's own rows and on public tables only: scans give rows to their owners, joins and marks of
two protected relations equate the owners, groups and windows are of one owner, and that is not for a caller to choose.

What is derived here about sizes (`most_rows`) is enforced by the statement itself: a stored rank, a number within a public key, a GROUP BY.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from discreet.algebra.aggregates import Aggregate, Window
from discreet.algebra.expressions import Call, Expression, Field, Literal, conjuncts, fields_of
from discreet.algebra.facts import AS_READ, Facts, Origin
from discreet.catalog import Catalog, Table, Type
from discreet.catalog import Column as Declared
from discreet.errors import NotAllowed, TooLarge
from discreet.loss import Neighbours

MOST_ROWS = 10**6
"""The most rows of one person in any relation."""
MOST_FAN_OUT = 1_000
"""The most public rows that one row may meet, all joins and subqueries together: it must not be heard in the time."""
MOST_PUBLIC_ROWS = 10**7
MOST_NODES = 200
CAP = 1_000
"""The rows of a person that a table bounded by each question brings to joins and windows."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation. `step` is the grid whose stored steps come along; `unique` that a stored number of its repeats does."""

    facts: Facts
    step: Fraction | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is derived of a relation: its columns, whose its rows are, what tells them apart, and how many there can be.

    `person` is what is known of the owner, None for public relations. `most_rows` is the most that one person can have, None where nothing
    bounds them yet; `fan_out` the most public rows that one row has met. `size` is the most rows of a public relation. `each_once` says that
    every person has exactly one row.
    """

    columns: tuple[Column, ...]
    person: Facts | None
    ids: tuple[Type, ...]
    most_rows: int | None
    fan_out: int = 1
    size: int = 0
    each_once: bool = False
    nodes: int = 1
    """How many relations it is made of, one that is read twice counted twice."""

    def __post_init__(self) -> None:
        if self.nodes > MOST_NODES:
            raise TooLarge(
                "The question grows too long when its parts are put together.", next_step="Use fewer references to one part."
            )
        if self.most_rows is not None and self.most_rows > MOST_ROWS:
            raise TooLarge("One person could have too many rows.", next_step="Join on a key with fewer repeats.")
        if self.fan_out > MOST_FAN_OUT:
            raise TooLarge(
                "One row could meet too many rows of public tables.", next_step="Join public tables on keys with fewer repeats."
            )
        if self.person is None and self.size > MOST_PUBLIC_ROWS:
            raise TooLarge("A join of public tables would be too large.", next_step="Join them on a key.")


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
        """The column at a position, as an expression over this relation."""
        return Field(at, self.shape.columns[at].facts)

    def _set(self, shape: Shape, *parts: Relation) -> None:
        nodes = 1 + sum(part.shape.nodes for part in parts)
        object.__setattr__(self, "shape", replace(shape, nodes=nodes))


@dataclass(frozen=True, slots=True)
class Scan(_Relation):
    """The rows of a table: of the snapshot, where a person's rows are ranked and at most `most` are read; or of a public table of `size` rows."""

    table: Table
    person: Facts | None = field(compare=False)
    most: int | None
    unique: frozenset[str]
    """Columns that other tables refer to: a stored number tells a person's rows with one value apart."""
    size: int = field(compare=False)
    each_once: bool = False
    """Whether everybody has exactly one row, and how many they are is public."""

    def __post_init__(self) -> None:
        declared = self.table.columns.values()
        columns = tuple(_declared(column, self.table, unique=column.name in self.unique) for column in declared)
        ids = (Type.INTEGER,)
        each_once = self.each_once and self.person is not None and self.most == 1
        self._set(
            Shape(columns=columns, person=self.person, ids=ids, most_rows=self.most, size=self.size, each_once=each_once)
        )


@dataclass(frozen=True, slots=True)
class Keep(_Relation):
    """The rows for which a condition is true."""

    rows: Relation
    condition: Expression

    def __post_init__(self) -> None:
        _check(self.rows, self.condition)
        if self.condition.facts.type is not Type.BOOLEAN:
            raise NotAllowed("A condition must be true or false.", next_step="Compare something: x > 0.")
        inner = self.rows.shape
        numbered = [n for n in map(_most_by_number, conjuncts(self.condition)) if n is not None]
        most = min((n for n in (*numbered, inner.most_rows) if n is not None), default=None)
        self._set(replace(inner, most_rows=most if inner.person is not None else inner.most_rows, each_once=False), self.rows)


@dataclass(frozen=True, slots=True)
class Compute(_Relation):
    """New columns from those of each row."""

    rows: Relation
    expressions: tuple[Expression, ...]

    def __post_init__(self) -> None:
        _check(self.rows, *self.expressions)
        self._set(replace(self.rows.shape, columns=tuple(map(self._column, self.expressions))), self.rows)

    def _column(self, expression: Expression) -> Column:
        return self.rows.columns[expression.at] if isinstance(expression, Field) else Column(expression.facts)


class How(Enum):
    """How two relations are joined."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Join(_Relation):
    """Pairs of rows, the columns of the left before those of the right.

    Two protected relations are joined within the same owner, whatever else is asked. `keys` are pairs of expressions, of the left alone and
    of the right alone, that must be equal; `on` is a further condition over both. Of a public side at most `fan_out` rows are met: its rows
    are numbered within its key columns, and the statement compares the number.
    """

    left: Relation
    right: Relation
    how: How
    keys: tuple[tuple[Expression, Expression], ...]
    on: Expression | None
    fan_out: int = 1

    def __post_init__(self) -> None:
        a, b = self.left.shape, self.right.shape
        _check_keys(self.left, self.right, self.keys)
        left_outer, right_outer = self.how is How.FULL, self.how is not How.INNER
        meets_one = (b.most_rows == 1 if b.person is not None else self.fan_out == 1) and a.person is not None
        columns = (
            *_joined(self.left, outer=left_outer, meets_people=b.person is not None, meets_one=meets_one),
            *_joined(self.right, outer=right_outer, meets_people=a.person is not None, meets_one=False),
        )
        if self.on is not None and any(column.at >= len(columns) for column in fields_of(self.on)):
            raise _out_of_place()
        if a.person is not None and b.person is not None:
            shape = self._of_people(a, b, columns)
        elif a.person is None and b.person is None:
            shape = self._of_public(a, b, columns)
        else:
            shape = self._with_public(a, b, columns)
        self._set(shape, self.left, self.right)

    def _of_people(self, a: Shape, b: Shape, columns: tuple[Column, ...]) -> Shape:
        _check_capped(self.left, self.right)
        ours, theirs = a.most_rows or 0, b.most_rows or 0
        most = ours * theirs
        if self.is_unique_right:
            most = ours
        elif self.is_unique_left:
            most = theirs
        elif self.how is How.FULL:
            most = max(most, ours + theirs)
        each_once = self.how is How.LEFT and a.each_once and theirs == 1
        return Shape(columns=columns, person=a.person, ids=(*a.ids, *b.ids), most_rows=most, fan_out=a.fan_out * b.fan_out, each_once=each_once)

    @property
    def is_unique_right(self) -> bool:
        """Whether a key of the right side stands once in a person's rows, so that a row meets at most one."""
        return self.how is not How.FULL and any(_is_unique(self.right, key) for _, key in self.keys)

    @property
    def is_unique_left(self) -> bool:
        return self.how is How.INNER and not self.is_unique_right and any(_is_unique(self.left, key) for key, _ in self.keys)

    def _of_public(self, a: Shape, b: Shape, columns: tuple[Column, ...]) -> Shape:
        size = a.size * max(1, self.fan_out) + (b.size if self.how is How.FULL else 0)
        return Shape(columns=columns, person=None, ids=(*a.ids, *b.ids), most_rows=None, size=size)

    def _with_public(self, a: Shape, b: Shape, columns: tuple[Column, ...]) -> Shape:
        if self.how is How.FULL or (self.how is How.LEFT and a.person is None):
            raise NotAllowed(
                "This join keeps public rows that belong to nobody.", next_step="Use a left join from the protected table."
            )
        if any(not isinstance(key[0 if a.person is None else 1], Field) for key in self.keys):
            raise _out_of_place()
        owned = a if a.person is not None else b
        most = None if owned.most_rows is None else owned.most_rows * self.fan_out
        return Shape(
            columns=columns, person=owned.person, ids=(*a.ids, *b.ids), most_rows=most, fan_out=owned.fan_out * self.fan_out,
            each_once=owned.each_once and self.how is How.LEFT and self.fan_out == 1,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mark(_Relation):
    """The same rows with one column more, the last: whether another relation has a row, of the same owner, that fits.

    It is true or false, never NULL: NOT IN is NOT EXISTS. `keys` and `on` are as in a join.
    """

    rows: Relation
    others: Relation
    keys: tuple[tuple[Expression, Expression], ...]
    on: Expression | None
    fan_out: int = 1

    def __post_init__(self) -> None:
        a, b = self.rows.shape, self.others.shape
        _check_keys(self.rows, self.others, self.keys)
        if self.on is not None and any(column.at >= len(a.columns) + len(b.columns) for column in fields_of(self.on)):
            raise _out_of_place()
        if b.person is not None:
            if a.person is None:
                raise NotAllowed("A public row cannot look at people.", next_step="Start from the protected table.")
            _check_capped(self.rows, self.others)
        elif any(not isinstance(key, Field) for _, key in self.keys):
            raise _out_of_place()
        mark = Column(Facts(type=Type.BOOLEAN, nullable=False))
        work = self.fan_out if b.person is None and a.person is not None else 1
        self._set(replace(a, columns=(*a.columns, mark), fan_out=a.fan_out * work * b.fan_out), self.rows, self.others)


@dataclass(frozen=True, slots=True)
class PerPerson(_Relation):
    """One row for each owner and each combination of keys: the owner first, then the keys, then the aggregates.

    Over a public relation there is no owner, and none among the columns.
    """

    rows: Relation
    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        inner = self.rows.shape
        _check(self.rows, *self.keys, *(part for aggregate in self.aggregates for part in aggregate.parts))
        owner = () if inner.person is None else (Column(replace(inner.person, person=True, nullable=False)),)
        keys = tuple(Column(replace(key.facts, numbering=False)) for key in self.keys)
        grouped = bool(self.keys) or inner.person is not None
        most = inner.most_rows if inner.person is not None else inner.size
        values = tuple(Column(aggregate.facts(most, grouped=grouped)) for aggregate in self.aggregates)
        self._set(
            replace(
                inner,
                columns=(*owner, *keys, *values),
                ids=tuple(key.facts.type for key in self.keys),
                most_rows=inner.most_rows if self.keys or inner.person is None else 1,
                size=inner.size if self.keys else 1,
                each_once=False,
            ),
            self.rows,
        )


@dataclass(frozen=True, slots=True)
class Windowed(_Relation):
    """The same rows with one column more for each window; windows are of one owner's rows, always."""

    rows: Relation
    windows: tuple[Window, ...]

    def __post_init__(self) -> None:
        inner = self.rows.shape
        _check(self.rows, *(part for window in self.windows for part in window.parts))
        if inner.person is not None:
            _check_capped(self.rows)
        most = inner.most_rows if inner.person is not None else inner.size
        new = tuple(Column(window.facts(most, owned=inner.person is not None)) for window in self.windows)
        self._set(replace(inner, columns=(*inner.columns, *new)), self.rows)


@dataclass(frozen=True, slots=True)
class Stack(_Relation):
    """All rows of all parts."""

    parts: tuple[Relation, ...]

    def __post_init__(self) -> None:
        first, *others = shapes = [part.shape for part in self.parts]
        if any((shape.person is None) != (first.person is None) for shape in others):
            raise NotAllowed(
                "Public and protected rows cannot be put together.", next_step="Union tables of the same kind."
            )
        kinds = [[column.facts.type for column in shape.columns] for shape in shapes]
        if any(kind != kinds[0] for kind in kinds):
            raise NotAllowed("Both sides of UNION ALL need the same columns, of the same types.", next_step="Select the same columns.")
        columns = tuple(Column(hull([column.facts for column in several])) for several in zip(*(shape.columns for shape in shapes), strict=True))
        counts = [shape.most_rows for shape in shapes]
        most = None if None in counts else sum(count or 0 for count in counts)
        ids = (Type.INTEGER, *(kind for shape in shapes for kind in shape.ids))
        self._set(
            Shape(
                columns=columns, person=first.person, ids=ids, most_rows=most, fan_out=max(shape.fan_out for shape in shapes),
                size=sum(shape.size for shape in shapes),
            ),
            *self.parts,
        )  # fmt: skip


Relation: TypeAlias = Scan | Keep | Compute | Join | Mark | PerPerson | Windowed | Stack


def scan(table: Table, catalog: Catalog, *, size: int = 0) -> Scan:
    """A table of the catalog; one whose rows are bounded by each question is not bounded yet. `size` is of a public one."""
    if table.unit is None:
        return Scan(table, None, None, frozenset(), size)
    last = catalog.tables[table.unit.path[-1].table] if table.unit.path else table
    declared = last.columns[table.unit.column]
    person = Facts(
        type=declared.type, nullable=False, person=True, longest=declared.max_length if declared.type is Type.TEXT else None,
        reach=AS_READ if declared.type is Type.REAL else None,
    )  # fmt: skip
    units = [other.unit for other in catalog.tables.values() if other.unit is not None]
    unique = frozenset(step.key for unit in units for step in unit.path if step.table == table.name)
    each_once = table.lists_people and catalog.neighbours is Neighbours.REPLACE_ONE
    return Scan(table, person, table.max_rows if table.is_bounded_once else None, unique, 0, each_once)


def hull(several: Sequence[Facts]) -> Facts:
    """What holds for all of them."""
    lows, highs = [facts.low for facts in several], [facts.high for facts in several]
    lengths = [facts.longest for facts in several if facts.longest is not None]
    reaches = [facts.reach for facts in several if facts.reach is not None]
    known = [facts.values for facts in several]
    values = None if any(part is None for part in known) else tuple(dict.fromkeys(value for part in known for value in part or ()))
    return Facts(
        type=several[0].type,
        low=None if None in lows else min(low for low in lows if low is not None),
        high=None if None in highs else max(high for high in highs if high is not None),
        values=values,
        nullable=any(facts.nullable for facts in several),
        longest=max(lengths) if lengths else None,
        reach=replace(reaches[0], large=max(r.large for r in reaches), fine=max(r.fine for r in reaches)) if reaches else None,
        person=all(facts.person for facts in several),
    )


def _declared(column: Declared, table: Table, *, unique: bool) -> Column:
    """A column of the snapshot. The person's own column is never NULL, because a row of nobody is dropped."""
    low = high = None
    if isinstance(column.lower, Fraction) and isinstance(column.upper, Fraction):
        low, high = column.lower, column.upper
        if column.type is Type.REAL:  # clamped to doubles, and 0.1 lies above a tenth
            low, high = Fraction(float(low)), Fraction(float(high))
    elif isinstance(column.lower, date) and isinstance(column.upper, date):
        low, high = Fraction(column.lower.toordinal()), Fraction(column.upper.toordinal())
    person = table.unit is not None and not table.unit.path and table.unit.column == column.name
    values = column.values
    facts = Facts(
        type=column.type,
        low=low,
        high=high,
        values=None if values is None else (*values, *([None] if column.nullable and None not in values else [])),
        nullable=not person,
        longest=column.max_length if column.type is Type.TEXT else None,
        reach=AS_READ if column.type is Type.REAL else None,
        person=person,
    )
    step = column.grid_step if column.is_bounded_number and not table.is_public else None
    return Column(facts, step, unique)


def _check(rows: Relation, *expressions: Expression) -> None:
    """Expressions read columns that are there, as they are there."""
    for expression in expressions:
        for part in fields_of(expression):
            if part.at >= len(rows.columns) or part.facts != rows.columns[part.at].facts:
                raise _out_of_place()


def _out_of_place() -> ValueError:
    return ValueError("an expression does not belong to the relation that it is put on")


def _check_keys(left: Relation, right: Relation, keys: Sequence[tuple[Expression, Expression]]) -> None:
    for ours, theirs in keys:
        _check(left, ours)
        _check(right, theirs)
        if ours.facts.type is not theirs.facts.type:
            raise NotAllowed("The types of the question do not fit together.", next_step="Compare like with like.")


def _check_capped(*relations: Relation) -> None:
    if any(relation.shape.person is not None and relation.shape.most_rows is None for relation in relations):
        message = "a relation whose rows nothing bounds must be capped first"
        raise ValueError(message)


def _joined(relation: Relation, *, outer: bool, meets_people: bool, meets_one: bool) -> tuple[Column, ...]:
    """The columns of one side of a join: NULL where the side is missing, public if they are, and numbering rows no longer.

    A side whose rows meet one row at most keeps its facts, so that columns can be joined to it while expressions over it are read.
    """
    columns = []
    for at, column in enumerate(relation.columns):
        facts = replace(column.facts, numbering=column.facts.numbering and meets_one and not outer)
        if relation.is_public and meets_people:
            facts = replace(facts, origin=Origin(relation, relation.field(at), outer=False))
        if outer:
            values = facts.values if facts.values is None or None in facts.values else (*facts.values, None)
            origin = None if facts.origin is None else replace(facts.origin, outer=True)
            facts = replace(facts, nullable=True, values=values, origin=origin)
        columns.append(Column(facts, column.step, column.unique and meets_one and not outer))
    return tuple(columns)


def _is_unique(relation: Relation, key: Expression) -> bool:
    return isinstance(key, Field) and relation.columns[key.at].unique


def _most_by_number(condition: Expression) -> int | None:
    """The n of a condition `number = n`, `number <= n` or `number < n` on a column that numbers a person's rows."""
    if not isinstance(condition, Call) or condition.function.name not in ("eq", "le", "lt", "ge", "gt"):
        return None
    name, (left, right) = condition.function.name, condition.args
    if isinstance(left, Literal):
        left, right, name = right, left, {"ge": "le", "gt": "lt"}.get(name, "eq" if name == "eq" else "")
    if not isinstance(left, Field) or not left.facts.numbering or not isinstance(right, Literal) or right.value is None:
        return None
    if name not in ("eq", "le", "lt") or type(right.value) is not int:
        return None
    return 1 if name == "eq" else max(0, right.value - (name == "lt"))


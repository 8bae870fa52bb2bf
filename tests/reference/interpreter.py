"""What a question means, one person at a time, over plain Python values.

It shares no code with an engine: it reads the tree's nodes and the snapshot's rows, and never sees two people at once. `answer` puts the
contributions of all people together by addition, and distinct values by union.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from discreet.algebra.expressions import Call, Expression, Field, Literal
from discreet.algebra.query import Bins, Measure, MeasureKind, Query
from discreet.algebra.relations import (
    Filter,
    Join,
    JoinKind,
    Mark,
    PerPerson,
    Project,
    Relation,
    Scan,
    UnionAll,
    Windowed,
)
from discreet.catalog import Type
from tests.reference import text_functions
from tests.reference.folds import fold, steps_of, window
from tests.reference.functions import Ask, meanings
from tests.reference.stored import Snapshot, all_in_order

Key = tuple[Any, ...]
Cell = list[Any]
"""For each measure an integer, a set of distinct combinations, or a Counter of bins."""
Part = list[dict[Key, Cell]]
"""For each grouping set the cells that one person has rows in."""


@dataclass(frozen=True, slots=True)
class Row:
    """What tells the row apart, its columns, and the stored numbers of those that are unique keys."""

    ids: tuple[Any, ...]
    values: tuple[Any, ...]
    nth: tuple[int | None, ...]


class Interpreter:
    """A snapshot and the meanings of functions; public relations are computed once."""

    def __init__(self, snapshot: Snapshot, *, salt: str, ask: Ask | None = None) -> None:
        self.snapshot = snapshot
        self.salt = salt
        self._meanings = meanings(ask)
        self._public: dict[int, tuple[Relation, list[Row]]] = {}

    def value(self, expression: Expression, values: Sequence[Any]) -> Any:
        """An expression over the columns of one row."""
        if isinstance(expression, Field):
            return values[expression.at]
        if isinstance(expression, Literal):
            return expression.value
        assert isinstance(expression, Call)
        return self._meanings[expression.function.name](*(self.value(arg, values) for arg in expression.args))

    def rows_of(self, relation: Relation, person: Any) -> list[Row]:
        """The rows of one person; of a public relation all, whoever asks."""
        if not relation.is_public:
            return self._rows(relation, person)
        if id(relation) not in self._public:
            self._public[id(relation)] = relation, self._rows(relation, None)
        return self._public[id(relation)][1]

    def _rows(self, relation: Relation, person: Any) -> list[Row]:
        match relation:
            case Scan():
                return self._scan(relation, person)
            case Filter():
                inner = self.rows_of(relation.rows, person)
                return [row for row in inner if self.value(relation.condition, row.values) is True]
            case Project():
                return [self._computed(relation, row) for row in self.rows_of(relation.rows, person)]
            case Join():
                return self._join(relation, person)
            case Mark():
                return self._mark(relation, person)
            case PerPerson():
                return self._per_person(relation, person)
            case Windowed():
                return self._windowed(relation, person)
            case UnionAll():
                return self._stack(relation, person)
        raise TypeError(relation)

    def _scan(self, relation: Scan, person: Any) -> list[Row]:
        name = relation.table.name
        if relation.is_public:
            return [Row((row.rank,), row.values, row.nth) for row in self.snapshot.public[name]]
        stored = self.snapshot.protected[name].get(person, ())
        return [Row((row.rank,), row.values, row.nth) for row in stored if row.rank <= relation.most]

    def _computed(self, relation: Project, row: Row) -> Row:
        values = tuple(self.value(expression, row.values) for expression in relation.expressions)
        nth = tuple(row.nth[part.at] if isinstance(part, Field) else None for part in relation.expressions)
        return Row(row.ids, values, nth)

    def _fits(self, a: Row, b: Row, relation: Join | Mark) -> bool:
        """Whether the keys of two rows are equal, NULL with nothing, and the further condition holds."""
        for ours, theirs in relation.keys:
            one, other = self.value(ours, a.values), self.value(theirs, b.values)
            if one is None or other is None or one != other:
                return False
        return relation.on is None or self.value(relation.on, (*a.values, *b.values)) is True

    def _first_of_public(self, rows: list[Row], keys: Sequence[Expression], most: int) -> list[Row]:
        """The first rows, by ids, of each combination of keys."""
        numbers: Counter[Key] = Counter()
        kept = []
        for row in sorted(rows, key=lambda row: all_in_order(row.ids)):
            key = tuple(self.value(part, row.values) for part in keys)
            numbers[key] += 1
            if numbers[key] <= most:
                kept.append(row)
        return kept

    def _first_of_unique(self, rows: list[Row], relation: Relation, keys: Sequence[Expression]) -> list[Row]:
        """The rows whose unique key stands there for the first time."""
        at = next(key.at for key in keys if isinstance(key, Field) and relation.columns[key.at].unique)
        return [row for row in rows if row.nth[at] == 1]

    def _join(self, relation: Join, person: Any) -> list[Row]:
        left, right = self.rows_of(relation.left, person), self.rows_of(relation.right, person)
        ours, theirs = [key for key, _ in relation.keys], [key for _, key in relation.keys]
        meeting_left, meeting_right = left, right
        if relation.left.is_public != relation.right.is_public:
            if relation.left.is_public:
                meeting_left = self._first_of_public(left, ours, relation.fan_out)
            else:
                meeting_right = self._first_of_public(right, theirs, relation.fan_out)
        elif not relation.left.is_public:
            if relation.is_unique_right:
                meeting_right = self._first_of_unique(right, relation.right, theirs)
            elif relation.is_unique_left:
                meeting_left = self._first_of_unique(left, relation.left, ours)
        pairs = [(a, b) for a in meeting_left for b in meeting_right if self._fits(a, b, relation)]
        rows = [(_beside(a, b), 1) for a, b in pairs]
        nobody = _nulls(relation.left), _nulls(relation.right)
        if relation.how is not JoinKind.INNER:
            met = {id(a) for a, _ in pairs}
            rows += [(_beside(a, nobody[1]), 2) for a in left if id(a) not in met]
        if relation.how is not JoinKind.FULL:
            return [row for row, _ in rows]
        met = {id(b) for _, b in pairs}
        rows += [(_beside(nobody[0], b), 3) for b in right if id(b) not in met]
        return [Row((*row.ids, side), row.values, row.nth) for row, side in rows]

    def _mark(self, relation: Mark, person: Any) -> list[Row]:
        rows, others = self.rows_of(relation.rows, person), self.rows_of(relation.others, person)
        if relation.others.is_public and not relation.rows.is_public:
            others = self._first_of_public(others, [key for _, key in relation.keys], relation.fan_out)
        return [
            Row(row.ids, (*row.values, any(self._fits(row, other, relation) for other in others)), (*row.nth, None))
            for row in rows
        ]

    def _per_person(self, relation: PerPerson, person: Any) -> list[Row]:
        groups: dict[Key, list[tuple[Any, ...]]] = {}
        for row in self.rows_of(relation.rows, person):
            groups.setdefault(tuple(self.value(key, row.values) for key in relation.keys), []).append(row.values)
        if relation.is_public and not relation.keys:
            groups.setdefault((), [])
        owner = () if relation.is_public else (person,)
        rows = []
        for key, members in groups.items():
            folded = tuple(fold(aggregate, members, self.value) for aggregate in relation.aggregates)
            values = (*owner, *key, *folded)
            rows.append(Row(key, values, (None,) * len(values)))
        return rows

    def _windowed(self, relation: Windowed, person: Any) -> list[Row]:
        rows = self.rows_of(relation.rows, person)
        plain = [(row.ids, row.values) for row in rows]
        columns = [window(asked, plain, self.value) for asked in relation.windows]
        return [
            Row(row.ids, (*row.values, *(column[at] for column in columns)), (*row.nth, *(None for _ in columns)))
            for at, row in enumerate(rows)
        ]

    def _stack(self, relation: UnionAll, person: Any) -> list[Row]:
        widths = [len(part.shape.ids) for part in relation.parts]
        stacked = []
        for number, part in enumerate(relation.parts):
            before, behind = (None,) * sum(widths[:number]), (None,) * sum(widths[number + 1 :])
            stacked += [
                Row((number, *before, *row.ids, *behind), row.values, (None,) * len(row.values))
                for row in self.rows_of(part, person)
            ]
        return stacked

    def contribution(self, query: Query, person: Any) -> Part:
        """What one person adds to each cell of each grouping set; cells in which they have no row are absent."""
        rows = [(row, self._keys(query, row)) for row in self.rows_of(query.rows, person)]
        if query.needs_bounding or any(len(numbers) < len(query.keys) for numbers in query.sets):
            rows = [(row, keys) for row, keys in rows if _are_declared(query, keys)]
        if query.needs_bounding:
            rows = self._cut(query, rows)
        parts: Part = []
        for numbers in query.sets:
            groups: dict[Key, list[Row]] = {}
            for row, keys in rows:
                groups.setdefault(tuple(keys[number] for number in numbers), []).append(row)
            parts.append(
                {
                    key: [self._measured(measure, members) for measure in query.measures]
                    for key, members in groups.items()
                }
            )
        return parts

    def _keys(self, query: Query, row: Row) -> Key:
        return tuple(self.value(key.expression, row.values) for key in query.keys)

    def _cut(self, query: Query, rows: list[tuple[Row, Key]]) -> list[tuple[Row, Key]]:
        """The rows that count: the first ones, or the first of the first groups."""
        whole = all(kind is Type.INTEGER for kind in query.rows.shape.ids)
        ordered = sorted(rows, key=lambda pair: ("" if whole else self.salted(pair[0].ids), all_in_order(pair[0].ids)))
        limits = query.limits
        if limits.groups is not None:
            most = math.inf if limits.rows_per_group is None else limits.rows_per_group
            numbers: dict[Key, int] = {}
            kept = []
            for row, keys in ordered:
                if keys not in numbers and len(numbers) >= limits.groups:
                    continue
                numbers[keys] = numbers.get(keys, 0) + 1
                if numbers[keys] <= most:
                    kept.append((row, keys))
            ordered = kept
        return ordered[: limits.rows]

    def salted(self, ids: tuple[Any, ...]) -> str:
        """The md5 that orders rows whose ids are values."""
        text = "|".join((self.salt, *(id_text(part) for part in ids)))
        return hashlib.md5(text.encode()).hexdigest()

    def _measured(self, measure: Measure, rows: list[Row]) -> Any:
        kept = [
            tuple(self.value(part, row.values) for part in measure.values)
            for row in rows
            if measure.where is None or self.value(measure.where, row.values) is True
        ]
        if measure.kind is MeasureKind.ROWS:
            return len(kept)
        if measure.kind is MeasureKind.PEOPLE:
            return int(bool(kept))
        present = [values for values in kept if None not in values]
        if measure.kind is MeasureKind.PRESENT:
            return len(present)
        if measure.kind is MeasureKind.DISTINCT:
            return set(present)
        steps = [tuple(map(steps_of, values, measure.steps)) for values in present]
        if measure.kind is MeasureKind.QUANTILE:
            bins = measure.bins if steps else None
            return Counter(_bin(bins, whole) for (whole,) in steps)
        return sum(_added(measure, whole) for whole in steps)

    def answer(self, query: Query) -> list[dict[Key, Cell]]:
        """All people together: for each set the cells, each with its measures and, last, how many people it has."""
        totals: Part = [{} if numbers else {(): self._empty(query)} for numbers in query.sets]
        for person in self.snapshot.persons:
            for total, part in zip(totals, self.contribution(query, person), strict=True):
                for key, cell in part.items():
                    total[key] = _both(total.get(key) or self._empty(query), [*cell, 1])
        return [{key: _counted(cell) for key, cell in total.items()} for total in totals]

    def _empty(self, query: Query) -> Cell:
        return [*(self._measured(measure, []) for measure in query.measures), 0]


def _nulls(relation: Relation) -> Row:
    width = len(relation.columns)
    return Row((None,) * len(relation.shape.ids), (None,) * width, (None,) * width)


def _beside(a: Row, b: Row) -> Row:
    return Row(a.ids + b.ids, a.values + b.values, a.nth + b.nth)


def _are_declared(query: Query, keys: Key) -> bool:
    """Whether every key is a group: one of its values; for private keys anything but NULL."""
    return all(
        value is not None if key.values is None else value in key.values
        for key, value in zip(query.keys, keys, strict=True)
    )


def id_text(value: Any) -> str:
    """One id as it is hashed."""
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(math.floor(value * 1024.0)) if abs(value) < 2.0**50 else "x"
    if isinstance(value, datetime):
        return text_functions.text_of_timestamp(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _added(measure: Measure, steps: tuple[int, ...]) -> int:
    """What one row adds: steps from the centre, their square or product in the coarser unit."""
    away = [whole - centre for whole, centre in zip(steps, measure.centres, strict=True)]
    if measure.kind is MeasureKind.TOTAL:
        return away[0]
    product = away[0] * away[0] if measure.kind is MeasureKind.SQUARES else away[0] * away[1]
    return (product + 2**measure.coarser // 2) // 2**measure.coarser


def _bin(bins: Bins, steps: int) -> int:
    return min(max((steps + bins.factor // 2) // bins.factor, bins.first), bins.last) - bins.first


def _both(a: Cell, b: Cell) -> Cell:
    return [one | other if isinstance(one, set) else one + other for one, other in zip(a, b, strict=True)]


def _counted(cell: Cell) -> Cell:
    return [len(part) if isinstance(part, set) else part for part in cell]

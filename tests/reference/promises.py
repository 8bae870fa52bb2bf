"""What the algebra says about a person's rows and values, held against the rows and values themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from itertools import combinations
from typing import Any

from discreet.algebra.expressions import Expression
from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.algebra.relations import Relation
from discreet.algebra.value_properties import ValueProperties
from discreet.catalog import Type
from tests.reference.comparing import relations_in, written
from tests.reference.date_functions import microseconds
from tests.reference.interpreter import Interpreter, Part

_PYTHON = {
    Type.INTEGER: int,
    Type.REAL: float,
    Type.TEXT: str,
    Type.DATE: date,
    Type.TIMESTAMP: datetime,
    Type.BOOLEAN: bool,
}


def broken_properties(properties: ValueProperties, value: Any, person: Any) -> str | None:
    """The fact that a value breaks, if any."""
    if value is None:
        return None if properties.nullable else "NULL where none can be"
    if type(value) is not _PYTHON[properties.type]:
        return "another type"
    if properties.person and value != person:
        return "not the owner"
    if isinstance(value, str):
        return "too long" if len(value) > (properties.longest or 0) or "\0" in value else None
    number = value
    if isinstance(value, date):
        number = microseconds(value) if isinstance(value, datetime) else value.toordinal()
    if not isinstance(value, bool) and (
        (properties.low is not None and number < properties.low)
        or (properties.high is not None and number > properties.high)
    ):
        return "out of bounds"
    if isinstance(value, float):
        return _broken_real(properties, value)
    return "no canonical integer" if type(value) is int and abs(value) > 2**63 - 1 else None


def _broken_real(properties: ValueProperties, value: float) -> str | None:
    if math.isnan(value) or math.isinf(value) or str(value) == "-0.0":
        return "not canonical"
    magnitudes = properties.magnitudes
    assert magnitudes is not None
    return None if value == 0 or 2.0**-magnitudes.fine <= abs(value) <= 2.0**magnitudes.large else "out of reach"


def broken_relations(oracle: Interpreter, top: Relation) -> Iterator[str]:
    """Ids that repeat, more rows than `most_rows`, numbers that repeat, and values outside of their properties."""
    for relation in relations_in(top):
        persons = [None] if relation.is_public else oracle.snapshot.persons
        for person in persons:
            rows = oracle.rows_of(relation, person)
            most = relation.shape.size if relation.is_public else relation.shape.most_rows
            if len({row.ids for row in rows}) != len(rows):
                yield f"ids repeat in {written(relation)}"
            if not relation.is_public and len(rows) > most:
                yield f"{len(rows)} rows where {most} are the most: {written(relation)}"
            if relation.shape.each_once and len(rows) != 1:
                yield f"{len(rows)} rows where everybody has one: {written(relation)}"
            for at, column in enumerate(relation.columns):
                values = [row.values[at] for row in rows]
                if column.properties.unique_per_person and len(set(values)) != len(values):
                    yield f"column {at} numbers nothing: {written(relation)}"
                for value in values:
                    if wrong := broken_properties(column.properties, value, person):
                        yield f"column {at} is {value!r}, {wrong} {column.properties}: {written(relation)}"


def broken_expressions(oracle: Interpreter, relation: Relation, expression: Expression) -> Iterator[str]:
    """Values of an expression outside of its properties, innermost first."""
    for arg in getattr(expression, "args", ()):
        yield from broken_expressions(oracle, relation, arg)
    for person in oracle.snapshot.persons:
        for row in oracle.rows_of(relation, person):
            value = oracle.value(expression, row.values)
            if wrong := broken_properties(expression.properties, value, person):
                yield f"{written(expression)} is {value!r}, {wrong} {expression.properties}, for {row.values}"


def broken_limits(oracle: Interpreter, query: Query) -> Iterator[str]:
    """People who count for more than the limits say, alone or in exchange for another."""
    parts = {person: oracle.contribution(query, person) for person in oracle.snapshot.persons}
    for person, part in parts.items():
        for numbers, cells in zip(query.sets, part, strict=True):
            yield from (f"{person} {wrong}: {written(query)}" for wrong in _too_much(query, numbers, cells))
    for a, b in combinations(parts, 2):
        yield from (f"{a} for {b}: {wrong}: {written(query)}" for wrong in _too_far(query, parts[a], parts[b]))


def _groups(query: Query) -> int:
    limits = query.limits
    return limits.rows if limits.groups is None else min(limits.rows, limits.groups)


def _in_group(query: Query, numbers: tuple[int, ...]) -> int:
    limits, whole = query.limits, len(numbers) == len(query.keys)
    return min(limits.rows, limits.rows_per_group or limits.rows) if whole else limits.rows


def _size(value: Any) -> int:
    return len(value) if isinstance(value, set) else sum(value.values()) if isinstance(value, Counter) else abs(value)


def _too_much(query: Query, numbers: tuple[int, ...], cells: dict[Any, list[Any]]) -> Iterator[str]:
    """Per measure: at most the limit's rows in all and in a cell, each at most the measure's largest."""
    if len(cells) > _groups(query):
        yield f"is in {len(cells)} groups"
    for place, measure in enumerate(query.measures):
        sizes, largest = [_size(cell[place]) for cell in cells.values()], measure.largest
        if sum(sizes) > query.limits.rows * largest:
            yield f"adds {sum(sizes)} to measure {place} in all"
        if max(sizes, default=0) > _in_group(query, numbers) * largest:
            yield f"adds {max(sizes)} to measure {place} in a group"
        if measure.kind is MeasureKind.PEOPLE and max(sizes, default=0) > 1:
            yield "is more than one"
        low, high = measure.ends
        if any(
            isinstance(cell[place], int)
            and not query.limits.rows * min(low, 0) <= cell[place] <= query.limits.rows * max(high, 0)
            for cell in cells.values()
        ):
            yield f"lies outside of the ends of measure {place}"


def _too_far(query: Query, a: Part, b: Part) -> Iterator[str]:
    """Replace-one: 2 L1 over all cells; without keys the width of one cell; sqrt 2 L2 where nothing is negative."""
    rows = query.limits.rows
    for numbers, ours, theirs in zip(query.sets, a, b, strict=True):
        for place, measure in enumerate(query.measures):
            if measure.kind in (MeasureKind.DISTINCT, MeasureKind.QUANTILE):
                continue
            apart = [
                ours.get(key, _nothing(query))[place] - theirs.get(key, _nothing(query))[place]
                for key in {*ours, *theirs}
            ]
            if sum(map(abs, apart)) > 2 * rows * measure.largest:
                yield f"measure {place} moves by {sum(map(abs, apart))} in all"
            if not numbers and any(abs(part) > _width(measure, rows) for part in apart):
                yield f"measure {place} moves by {apart}"
            if measure.is_one_signed and sum(part**2 for part in apart) > 2 * (rows * measure.largest) ** 2:
                yield f"measure {place} moves by more than sqrt 2 of its length"


def _nothing(query: Query) -> list[int]:
    return [0] * len(query.measures)


def _width(measure: Measure, rows: int) -> int:
    if measure.kind is MeasureKind.PEOPLE:
        return 1
    low, high = measure.ends
    return rows * (max(high, 0) - min(low, 0))

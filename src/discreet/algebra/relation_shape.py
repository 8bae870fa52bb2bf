"""Derived properties of a relation: columns, person, and maximum sizes. Too large relations are refused here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from discreet.algebra.value_properties import AS_READ, ValueProperties, every_value
from discreet.catalog import Column as Declared
from discreet.catalog import Table, Type
from discreet.catalog.timestamps import ordinal_of
from discreet.errors import TooLarge

MOST_ROWS = 10**6
"""Maximum number of rows of one person in any relation."""
MOST_FAN_OUT = 1_000
"""Maximum number of public rows that one row may match, over all joins and subqueries.

More would show in the timing.
"""
MOST_COPIES = 10_000
"""Maximum number of rows, public or of the same person, that one row may match or become."""
MOST_PUBLIC_ROWS = 10**7
MOST_NODES = 200
DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation.

    `step` is the grid of a column whose grid steps are stored in the snapshot. `unique` means that the snapshot numbers
    the repeated values within a person's rows.
    """

    properties: ValueProperties
    step: Fraction | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Derived properties of a relation.

    `person`: properties of the person's id; None for public relations.
    `row_people`: the table whose rows are the people; empty if people have ids.
    `ids`: types of the hidden columns that, with the person, identify a row.
    `most_rows`: maximum number of rows of one person; 0 for public relations.
    `fan_out`: maximum number of public rows that one row has matched.
    `copies`: maximum number of rows of any kind that one row has matched or become.
    `size`: maximum number of rows of a public relation.
    `each_once`: every person has exactly one row.
    """

    columns: tuple[Column, ...]
    person: ValueProperties | None
    ids: tuple[Type, ...]
    most_rows: int
    fan_out: int = 1
    copies: int = 1
    size: int = 0
    each_once: bool = False
    row_people: str = ""
    nodes: int = 1
    """Number of relations in the tree; a shared part counts each time."""
    depth: int = 1

    def __post_init__(self) -> None:
        if self.person is not None and self.most_rows < 1:
            message = "a protected relation needs a bound on the rows of one person"
            raise ValueError(message)
        if self.nodes > MOST_NODES or self.depth > DEEPEST:
            raise TooLarge(
                "The query becomes too large when its WITH names are expanded.",
                next_step="Refer to each WITH name fewer times.",
            )
        if self.most_rows > MOST_ROWS:
            raise TooLarge(
                "After the joins, one person could have more than a million rows.",
                next_step="Join on a column with fewer repeated values.",
            )
        if self.fan_out > MOST_FAN_OUT or self.copies > MOST_COPIES:
            raise TooLarge(
                "In this query's joins, one row could match too many rows.",
                next_step="Join on columns with fewer repeated values, or use fewer joins.",
            )
        if self.person is None and self.size > MOST_PUBLIC_ROWS:
            raise TooLarge(
                "The join of public tables would be too large.",
                next_step="Add a condition to the join, such as ON a.x = b.x.",
            )


def hull(several: Sequence[ValueProperties]) -> ValueProperties:
    """Return properties that hold for each of several values, as in a UNION."""
    bounded = [
        properties for properties in several if properties.values != (None,)
    ]  # a written NULL bounds nothing, and needs no bound
    lows, highs = (
        [properties.low for properties in bounded] or [None],
        [properties.high for properties in bounded] or [None],
    )
    lengths = [properties.longest for properties in several if properties.longest is not None]
    reaches = [properties.magnitudes for properties in several if properties.magnitudes is not None]
    values = None
    if any(properties.values is not None for properties in several):
        known = [every_value(properties) for properties in several]
        if not any(part is None for part in known):
            values = tuple(dict.fromkeys(value for part in known for value in part or ()))
    return ValueProperties(
        type=several[0].type,
        low=None if None in lows else min(low for low in lows if low is not None),
        high=None if None in highs else max(high for high in highs if high is not None),
        values=values,
        nullable=any(properties.nullable for properties in several),
        longest=max(lengths) if lengths else None,
        magnitudes=replace(reaches[0], large=max(r.large for r in reaches), fine=max(r.fine for r in reaches))
        if reaches
        else None,
        person=all(properties.person for properties in several),
    )


def declared_column(column: Declared, table: Table, *, unique: bool) -> Column:
    """Return the column of a scan. The person's id is never NULL: the snapshot drops rows without a person."""
    low = high = None
    if isinstance(column.lower, Fraction) and isinstance(column.upper, Fraction):
        low, high = column.lower, column.upper
        if column.type is Type.REAL:  # clamped to doubles, and 0.1 lies above a tenth
            low, high = Fraction(float(low)), Fraction(float(high))
    elif isinstance(column.lower, date) and isinstance(column.upper, date):
        low, high = Fraction(ordinal_of(column.lower)), Fraction(ordinal_of(column.upper))
    person = table.unit is not None and not table.unit.path and table.own_column == column.name
    values = column.values
    properties = ValueProperties(
        type=column.type,
        low=low,
        high=high,
        values=None if values is None else (*values, *([None] if column.nullable and None not in values else [])),
        nullable=not person,
        longest=column.max_length if column.type is Type.TEXT else None,
        magnitudes=AS_READ if column.type is Type.REAL else None,
        person=person,
    )
    listed = every_value(properties) if column.nullable and properties.values is None else None
    if listed is not None:
        properties = replace(properties, values=(*listed, None))
    step = column.grid_step if column.is_bounded_number and not table.is_public else None
    return Column(properties, step, unique)

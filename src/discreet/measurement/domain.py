"""What is public about people's rows that are counted in tables: their columns, code by code, and what one person can do to a count.

Every column has a finite domain that is known without the data: `size` codes 0, 1, …, each with its label. A table over some columns has
a cell for every combination of their codes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.core.exact import read_count
from discreet.core.loss import Neighbours
from discreet.errors import BadInput, TooLarge, UnknownName

Columns: TypeAlias = tuple[str, ...]
"""Names of columns in the order of the domain, each once: what a table is over."""
MOST_CELLS, MOST_COLUMNS = 1_000_000, 32
"""Of one table."""
MOST_COUNTED = 2**26
"""Cells of a table that single counts are taken from, and that is neither measured nor stored."""
_ROOT_OF_TWO = Fraction(math.isqrt(2 * 10**24) + 1, 10**12)
"""Rounded up."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The numbers or days from `lower` up to, and without, `upper`; of the last bin of reals with it."""

    lower: Fraction | date
    upper: Fraction | date
    is_whole: bool = False
    """Whether only whole numbers are in it."""

    def __post_init__(self) -> None:
        ends = (self.lower, self.upper)
        kinds = [all(isinstance(end, kind) for end in ends) for kind in (Fraction, date)]
        if not any(kinds) or not self.lower < self.upper:  # type: ignore[operator]
            raise BadInput("A bin goes from one end up to a larger one.", next_step="Give numbers, or days.")


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its labels, one a code: a declared value, a `Bin`, or None for NULL.

    `is_ordered` says that neighbouring codes are neighbouring values, NULL apart, which is the last code if there is one.
    """

    name: str
    labels: tuple[Any, ...]
    is_ordered: bool = False

    def __post_init__(self) -> None:
        read_count(len(self.labels), name=f"The number of values of {self.name}")

    @property
    def size(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Domain:
    """Public columns, and whose rows are counted: at most `rows_per_person` of a person, hidden under a relation."""

    columns: tuple[Column, ...]
    rows_per_person: int
    neighbours: Neighbours

    def __post_init__(self) -> None:
        read_count(self.rows_per_person, name="rows_per_person")
        if not self.columns or len(set(self.names)) < len(self.columns):
            raise BadInput("Tables need columns of different names.", next_step="Name each column once.")

    @property
    def names(self) -> Columns:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """One of them by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName(f"There is no column {name} here.", next_step=f"Use one of: {', '.join(self.names)}.")

    def ordered(self, names: Iterable[str]) -> Columns:
        """Columns in the order of the domain, as every table has them."""
        wanted = {self.column(name).name for name in names}
        return tuple(name for name in self.names if name in wanted)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Of the table over some columns; a table over none has one cell, how many rows there are."""
        return tuple(self.column(name).size for name in columns)

    def cells(self, columns: Columns) -> int:
        """How many cells that table has."""
        return math.prod(self.shape(columns))

    def check(self, columns: Columns, *, most: int = MOST_CELLS) -> Columns:
        """Columns that a table can be over, or a refusal; of more than `most` cells."""
        if type(columns) is not tuple or columns != self.ordered(columns):
            raise BadInput(
                "A table is over a tuple of columns in order.", next_step="Put them in order with `ordered`."
            )
        if len(columns) > MOST_COLUMNS:
            raise TooLarge(
                f"A table over {len(columns):,} columns is one over more than {MOST_COLUMNS}.",
                next_step="Ask for tables over fewer columns.",
            )
        if self.cells(columns) > most:
            raise TooLarge(
                f"The table over {', '.join(columns)} has more than {most:,} cells.",
                next_step="Ask for tables over fewer columns, or declare fewer values or wider bins.",
            )
        return columns

    # What one person can do: `u >= 0` rows are added to the cells of every table, `rows_per_person` of them at most

    @property
    def l1(self) -> int:
        """How far one person can move a table, added up over its cells."""
        return self.rows_per_person * (1 if self.neighbours is Neighbours.ADD_REMOVE else 2)

    @property
    def l2(self) -> Fraction:
        """The length of that move: all rows of a person may share a cell. Of two people, u and v, |u - v|² is at most |u|² + |v|²; rounded up."""
        return self.rows_per_person * (Fraction(1) if self.neighbours is Neighbours.ADD_REMOVE else _ROOT_OF_TWO)

    @property
    def count(self) -> int:
        """How far one person can move how many rows there are of some kind. Of two people, each adds at least nothing: so not twice that."""
        return self.rows_per_person

    def merged(self, groups: Mapping[str, tuple[int, ...]]) -> Domain:
        """The same rows with fewer codes: `groups` has, for some columns, the new code of each code.

        New codes are 0, 1, … without a gap. A label is then the tuple of the labels that were merged.
        """
        return Domain(
            tuple(_merged(column, groups.get(column.name)) for column in self.columns),
            self.rows_per_person,
            self.neighbours,
        )


def _merged(column: Column, codes: tuple[int, ...] | None) -> Column:
    if codes is None:
        return column
    if len(codes) != column.size or set(codes) != set(range(max(codes) + 1)):
        raise BadInput(
            f"Merging {column.name} needs a new code for each code, without gaps.", next_step="Number groups from 0 on."
        )
    labels = [
        tuple(label for label, code in zip(column.labels, codes, strict=True) if code == new)
        for new in range(max(codes) + 1)
    ]
    return Column(column.name, tuple(labels), column.is_ordered)


def label_text(label: Any) -> str:
    """A label as people read it.

    Args:
        label: Of a code.
    """
    match label:
        case None:
            return "NULL"
        case Bin():
            return f"{label_text(label.lower)} … {label_text(label.upper)}"
        case Fraction():
            return str(label) if label.denominator == 1 else f"{float(label):g}"
        case tuple():
            return ", ".join(map(label_text, label))
    return str(label)


def range_text(first: Any, last: Any) -> str:
    """Neighbouring labels, as people read them: by their ends.

    Args:
        first: The label of the first code.
        last: The label of the last one, which may be the same.
    """
    if isinstance(first, Bin) and isinstance(last, Bin):
        return label_text(Bin(first.lower, last.upper))
    texts = (label_text(first), label_text(last))
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


# As JSON, and back


def domain_to_json(domain: Domain) -> dict[str, Any]:
    """A domain as JSON that says all of it."""
    columns = [
        {"name": column.name, "ordered": column.is_ordered, "labels": [plain(label) for label in column.labels]}
        for column in domain.columns
    ]
    return {"columns": columns, "rows_per_person": domain.rows_per_person, "neighbours": domain.neighbours.value}


def domain_from_json(facts: Mapping[str, Any]) -> Domain:
    """The domain that was described."""
    columns = tuple(
        Column(column["name"], tuple(_label(label) for label in column["labels"]), column["ordered"])
        for column in facts["columns"]
    )
    return Domain(columns, facts["rows_per_person"], Neighbours(facts["neighbours"]))


def plain(label: Any) -> Any:
    """A label as JSON has it. Values of JSON's own stand for themselves; others are a list of what they are and their text."""
    match label:
        case None | bool() | int() | str():
            return label
        case float():
            return ["real", label.hex()]
        case Bin():
            return ["bin", plain(label.lower), plain(label.upper), label.is_whole]
        case datetime():
            return ["timestamp", label.isoformat()]
        case date():
            return ["date", label.isoformat()]
    return ["number", str(label)]


def _label(plain: Any) -> Any:
    match plain:
        case ["real", text]:
            return float.fromhex(text)
        case ["bin", lower, upper, is_whole]:
            return Bin(_label(lower), _label(upper), is_whole)
        case ["date", text]:
            return date.fromisoformat(text)
        case ["timestamp", text]:
            return datetime.fromisoformat(text)
        case ["number", text]:
            return Fraction(text)
    return plain

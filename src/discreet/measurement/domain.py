"""The public domain of protected rows that are counted in tables: columns with their codes, and how far one person changes a count.

Every column has finitely many codes 0, 1, …, `size` - 1, known without the data, each with a label. A table over some columns has a cell for
every combination of their codes.
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
"""Names of columns in the order of the domain, each once."""
MOST_CELLS, MOST_COLUMNS = 1_000_000, 32
"""The most cells and columns of one table."""
MOST_COUNTED = 2**26
"""The most cells of a table that only single counts are read from, and that is neither measured nor stored."""
_ROOT_OF_TWO = Fraction(math.isqrt(2 * 10**24) + 1, 10**12)
"""Rounded up."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The numbers or days from `lower` to `upper`, without `upper`; the last bin of a real column includes it."""

    lower: Fraction | date
    upper: Fraction | date
    is_whole: bool = False
    """Whether it has integers only."""

    def __post_init__(self) -> None:
        ends = (self.lower, self.upper)
        kinds = [all(isinstance(end, kind) for end in ends) for kind in (Fraction, date)]
        if not any(kinds) or not self.lower < self.upper:  # type: ignore[operator]
            raise BadInput("A bin goes from a lower to a larger upper end.", next_step="Give numbers, or days.")


@dataclass(frozen=True, slots=True)
class Column:
    """A column with one label for each code: a declared value, a `Bin`, or None for NULL.

    `is_ordered`: neighbouring codes are neighbouring values. NULL, if it is a label, is the last code.
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
    """Public columns, the most rows of one person, and the relation of neighbouring datasets."""

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
        """Return the column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName(f"There is no column {name} here.", next_step=f"Use one of: {', '.join(self.names)}.")

    def ordered(self, names: Iterable[str]) -> Columns:
        """Return columns in the order of the domain, which is the order of every table."""
        chosen = {self.column(name).name for name in names}
        return tuple(name for name in self.names if name in chosen)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Return the shape of the table over some columns. A table over no column has one cell, the number of rows."""
        return tuple(self.column(name).size for name in columns)

    def cells(self, columns: Columns) -> int:
        """Return the number of cells of that table."""
        return math.prod(self.shape(columns))

    def check(self, columns: Columns, *, most: int = MOST_CELLS) -> Columns:
        """Return the columns, or refuse a table over them; it may have at most `most` cells."""
        if type(columns) is not tuple or columns != self.ordered(columns):
            raise BadInput(
                "The columns of a table must be a tuple in the order of the domain.",
                next_step="Sort them with `ordered`.",
            )
        if len(columns) > MOST_COLUMNS:
            raise TooLarge(
                f"A table over {len(columns):,} columns has more than {MOST_COLUMNS}.",
                next_step="Use tables over fewer columns.",
            )
        if self.cells(columns) > most:
            raise TooLarge(
                f"The table over {', '.join(columns)} has more than {most:,} cells.",
                next_step="Use tables over fewer columns, or declare fewer values or wider bins.",
            )
        return columns

    # Sensitivity: one person adds u >= 0 rows to the cells of every table, at most `rows_per_person` in all

    @property
    def l1(self) -> int:
        """L1 sensitivity of a table."""
        return self.rows_per_person * (1 if self.neighbours is Neighbours.ADD_REMOVE else 2)

    @property
    def l2(self) -> Fraction:
        """L2 sensitivity of a table, rounded up. All rows of a person may be in one cell; for two people, |u - v|² <= |u|² + |v|²."""
        return self.rows_per_person * (Fraction(1) if self.neighbours is Neighbours.ADD_REMOVE else _ROOT_OF_TWO)

    @property
    def count(self) -> int:
        """Sensitivity of one count. Replacing a person does not double it, since both add at least 0 rows."""
        return self.rows_per_person

    def merged(self, groups: Mapping[str, tuple[int, ...]]) -> Domain:
        """Return the domain with fewer codes: `groups` has, for some columns, the new code of each code.

        New codes are 0, 1, … without a gap. A new label is the tuple of the merged labels.
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
    """Return a label as text for people."""
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
    """Return a range of neighbouring labels as text for people. `first` and `last` may be equal."""
    if isinstance(first, Bin) and isinstance(last, Bin):
        return label_text(Bin(first.lower, last.upper))
    texts = (label_text(first), label_text(last))
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


# As JSON, and back


def domain_to_json(domain: Domain) -> dict[str, Any]:
    """Return the JSON form of a domain."""
    columns = [
        {"name": column.name, "ordered": column.is_ordered, "labels": [plain(label) for label in column.labels]}
        for column in domain.columns
    ]
    return {"columns": columns, "rows_per_person": domain.rows_per_person, "neighbours": domain.neighbours.value}


def domain_from_json(stored: Mapping[str, Any]) -> Domain:
    """Read a domain from its JSON form."""
    columns = tuple(
        Column(column["name"], tuple(_label(label) for label in column["labels"]), column["ordered"])
        for column in stored["columns"]
    )
    return Domain(columns, stored["rows_per_person"], Neighbours(stored["neighbours"]))


def plain(label: Any) -> Any:
    """Return the JSON form of a label: JSON's own values as they are, others as a list of their type and text."""
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

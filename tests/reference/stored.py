"""The snapshot as the interpreter sees it: each person's rows by themselves, and public tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row of a table: its rank among its owner's rows (or its place in a public table), its values, and for each column that other
    tables refer to its number among the owner's rows with the same value."""

    rank: int
    values: tuple[Any, ...]
    nth: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`protected` maps a table's name to the rows of each person; `public` to rows."""

    protected: Mapping[str, Mapping[Any, tuple[StoredRow, ...]]]
    public: Mapping[str, tuple[StoredRow, ...]]

    @property
    def persons(self) -> list[Any]:
        return sorted({person for table in self.protected.values() for person in table})

    def only(self, persons: Iterable[Any]) -> Snapshot:
        """The same data with these people alone."""
        kept = set(persons)
        return replace(
            self,
            protected={
                name: {person: rows for person, rows in table.items() if person in kept}
                for name, table in self.protected.items()
            },
        )


def in_order(value: Any) -> tuple[bool, Any]:
    """NULLS LAST; false before true; text by code points."""
    return (True, 0) if value is None else (False, value)


def all_in_order(values: Iterable[Any]) -> tuple[tuple[bool, Any], ...]:
    return tuple(in_order(value) for value in values)


class Falling:
    """Turns an order around; NULLs still come last, because `in_order` says so before."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Falling) -> bool:
        return other.value < self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Falling) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]

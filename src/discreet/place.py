"""Where something stands in a text that somebody wrote."""

from __future__ import annotations

from typing import NamedTuple, Self


class Place(NamedTuple):
    """Where something stands in a text: characters from `start` up to `end`; lines and columns begin at 1."""

    start: int
    end: int
    line: int
    column: int

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Self:
        """The place of some characters of a text."""
        before = text[:start]
        return cls(start, end, before.count("\n") + 1, start - before.rfind("\n"))

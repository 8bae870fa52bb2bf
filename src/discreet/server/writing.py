"""Answers that are being written: so many bytes of them in all and of one analyst, until the last piece has left or the client is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import TooMany

_CELL = 64
"""Bytes that a cell takes as JSON, about; Parquet takes less."""
_SMALLEST = 2**16


class Writing:
    """At most `most` bytes at the same time, and `each` of one analyst; what is larger than that is written when nothing else is."""

    def __init__(self, most: int = 2**26, each: int = 2**24) -> None:
        self._most, self._each = most, each
        self._sizes: Counter[str] = Counter()

    def check_room(self, analyst: str) -> None:
        """Refuse who has not read what they asked for before."""
        if self._sizes[analyst] >= self._each or self._sizes.total() >= self._most:
            raise _too_many()

    @contextmanager
    def held(self, analyst: str, cells: int) -> Iterator[None]:
        """While an answer of so many cells is written and leaves; or a refusal."""
        size = max(_SMALLEST, _CELL * cells)
        for others, limit in ((self._sizes[analyst], self._each), (self._sizes.total(), self._most)):
            if others and others + size > limit:
                raise _too_many()
        self._sizes[analyst] += size
        try:
            yield
        finally:
            self._sizes[analyst] -= size
            self._sizes += Counter()  # forgets who has none


def _too_many() -> TooMany:
    return TooMany(
        "Too many large answers are on their way.",
        next_step="Read those that you asked for, and ask again: what was paid for costs nothing more.",
    )

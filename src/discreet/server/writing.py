"""Long answers on their way: so many bytes of one analyst wait in files, until the last piece has left or the client is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import TooMany


class Writing:
    """At most `each` bytes of one analyst at the same time; an answer that is longer when nothing else of theirs is.

    Nobody's answers use up what others have, and short ones, which wait nowhere, are not counted.
    """

    def __init__(self, each: int = 2**28) -> None:
        self._each = each
        self._sizes: Counter[str] = Counter()

    def check_room(self, analyst: str) -> None:
        """Refuse who has not read what they asked for before."""
        if self._sizes[analyst] >= self._each:
            raise no_room()

    @contextmanager
    def held(self, analyst: str, size: int) -> Iterator[None]:
        """While an answer of so many bytes leaves; or a refusal."""
        if self._sizes[analyst] and self._sizes[analyst] + size > self._each:
            raise no_room()
        self._sizes[analyst] += size
        try:
            yield
        finally:
            self._sizes[analyst] -= size
            self._sizes += Counter()  # forgets who has none


def no_room() -> TooMany:
    """The refusal of a long answer that has no room to wait in."""
    return TooMany(
        "Too many long answers are on their way.",
        next_step="Read those that you asked for, and ask again: what was paid for costs nothing more.",
    )

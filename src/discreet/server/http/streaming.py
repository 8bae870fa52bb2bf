"""Long answers on their way: they wait in files without a name, which are counted while they are written and until they have left."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from io import BufferedIOBase
from typing import Any

from discreet.errors import TooLarge, TooMany

PIECE = 2**16
"""Bytes that leave together; an answer that is longer waits in a file."""


class Writing:
    """At most `each` bytes of one analyst at the same time, and `together` of all; of these `reserve` bytes of each analyst are never refused because of others.

    Short answers, which wait in memory, are not counted.
    """

    def __init__(self, each: int = 2**28, together: int = 2**30, reserve: int = 2**22) -> None:
        self.each = each
        self._together, self._reserve = together, reserve
        self._sizes: Counter[str] = Counter()
        self._lock = threading.Lock()

    def check_room(self, analyst: str) -> None:
        """Refuse who has not read what they asked for before."""
        if self._sizes[analyst] >= self.each:
            raise no_room()

    def take(self, analyst: str, size: int) -> None:
        """So many bytes more; or a refusal."""
        with self._lock:
            mine = self._sizes[analyst] + size
            if mine > self.each:
                raise no_room()
            if mine > self._reserve and self._sizes.total() + size > self._together:
                raise TooMany(
                    "Too many long answers of others are on their way.",
                    next_step="Ask again in a minute: what was paid for costs nothing more. Or ask for less: LIMIT, fewer columns, Parquet.",
                )
            self._sizes[analyst] = mine

    def give_back(self, analyst: str, size: int) -> None:
        """They have left."""
        with self._lock:
            self._sizes[analyst] -= size
            self._sizes += Counter()  # forgets who has none


class WaitingAnswer(BufferedIOBase):
    """The bytes of one answer: written once, read once, and given back when it is closed."""

    def __init__(self, writing: Writing, analyst: str) -> None:
        self._writing, self._analyst = writing, analyst
        self._file = tempfile.SpooledTemporaryFile(PIECE)  # noqa: SIM115  closed with this one
        self.size = self._counted = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Add bytes, if there is room for them: what is refused was not written."""
        size = memoryview(data).nbytes
        if self.size + size > self._writing.each:
            raise _too_long(self._writing.each)
        if self.size + size > PIECE:
            self._writing.take(self._analyst, self.size + size - self._counted)
            self._counted = self.size + size
        self._file.write(bytes(data))
        self.size += size
        return size

    def rewind(self) -> None:
        """It is written, and will be read."""
        self._file.seek(0)

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        return self._file.read(-1 if size is None else size)

    @property
    def is_in_memory(self) -> bool:
        """Whether it fits into one piece."""
        return self.size <= PIECE

    def close(self) -> None:
        """Nobody reads it any more; also where nobody says so."""
        if not self.closed:
            self._file.close()
            if self._counted:
                self._writing.give_back(self._analyst, self._counted)
        super().close()


def no_room() -> TooMany:
    """The refusal of a long answer that has no room to wait in."""
    return TooMany(
        "Too many long answers are on their way.",
        next_step="Read those that you asked for, and ask again: what was paid for costs nothing more.",
    )


def _too_long(most: int) -> TooLarge:
    return TooLarge(
        f"This answer has more than {most >> 20} MiB. It is paid for and kept: asking again costs nothing more.",
        next_step="Ask for it as application/vnd.apache.parquet (Accept), which is shorter, or for less: LIMIT, HAVING, fewer columns.",
    )

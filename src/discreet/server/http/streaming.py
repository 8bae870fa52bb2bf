"""Long answers: they wait in unnamed temporary files, which count against quotas until the answer is sent."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from io import BufferedIOBase
from typing import Any

from discreet.errors import TooLarge, TooMany

PIECE = 2**16
"""Bytes that are sent at once. A longer answer waits in a file."""


class LongAnswerQuota:
    """Quota for the bytes of long answers: `each` for one analyst, `together` for all.

    The first `reserve` bytes of an analyst are never refused because of others. Short answers, which stay in memory, are not counted.
    """

    def __init__(self, each: int = 2**28, together: int = 2**30, reserve: int = 2**22) -> None:
        self.each = each
        self._together, self._reserve = together, reserve
        self._sizes: Counter[str] = Counter()
        self._lock = threading.Lock()

    def check(self, analyst: str) -> None:
        """Refuse an analyst whose unread answers fill the quota."""
        if self._sizes[analyst] >= self.each:
            raise too_many_long_answers()

    def take(self, analyst: str, size: int) -> None:
        """Reserve bytes, or refuse."""
        with self._lock:
            mine = self._sizes[analyst] + size
            if mine > self.each:
                raise too_many_long_answers()
            if mine > self._reserve and self._sizes.total() + size > self._together:
                raise TooMany(
                    "The server has too many long answers waiting to be read.",
                    next_step="Send the query again in a minute; it is not charged twice. Or request less: LIMIT, fewer columns, Parquet.",
                )
            self._sizes[analyst] = mine

    def release(self, analyst: str, size: int) -> None:
        """Release bytes that were sent or discarded."""
        with self._lock:
            self._sizes[analyst] -= size
            self._sizes += Counter()  # removes analysts with zero bytes


class SpooledAnswer(BufferedIOBase):
    """The bytes of one answer: written once, read once, and released from the quota on close."""

    def __init__(self, quota: LongAnswerQuota, analyst: str) -> None:
        self._quota, self._analyst = quota, analyst
        self._file = tempfile.SpooledTemporaryFile(PIECE)  # noqa: SIM115  closed by `close`
        self.size = self._counted = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Append bytes, or refuse and write nothing."""
        size = memoryview(data).nbytes
        if self.size + size > self._quota.each:
            raise _too_long(self._quota.each)
        if self.size + size > PIECE:
            self._quota.take(self._analyst, self.size + size - self._counted)
            self._counted = self.size + size
        self._file.write(bytes(data))
        self.size += size
        return size

    def rewind(self) -> None:
        """Go back to the start, to read what was written."""
        self._file.seek(0)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        return self._file.read(-1 if size is None else size)

    @property
    def is_in_memory(self) -> bool:
        """Whether it fits into one piece."""
        return self.size <= PIECE

    def close(self) -> None:
        """Close the file and release its bytes. The destructor calls it too."""
        if not self.closed:
            self._file.close()
            if self._counted:
                self._quota.release(self._analyst, self._counted)
        super().close()


def too_many_long_answers() -> TooMany:
    """Return the error for an answer that does not fit into the quota."""
    return TooMany(
        "You have too many long answers that were not read yet.",
        next_step="Read or close them, then send the query again; it is not charged twice.",
    )


def _too_long(most: int) -> TooLarge:
    return TooLarge(
        f"This answer is larger than {most >> 20} MiB. It was charged and stored; sending the query again costs nothing.",
        next_step="Request Parquet (Accept: application/vnd.apache.parquet), which is smaller, or less: LIMIT, HAVING, fewer columns.",
    )

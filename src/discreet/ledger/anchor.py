"""The head of the chain, noted in a file outside the database, so that a restored backup is noticed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import LedgerDamaged, StoreUnavailable
from discreet.ledger.entries import Entry


class Anchor:
    """A file with the number and the hash of the last entry that was committed; without a path, nothing.

    The note may lag behind the books, never run ahead of them, and never goes back: it is replaced under a file lock,
    by a later entry only. Books that do not hold the entry that was noted are refused, at opening and before every
    change.
    """

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else Path(path)

    def check(self, entry_at: Callable[[int], Entry | None]) -> None:
        """Refuse books that do not hold the entry that was noted."""
        noted = self._read()
        if noted is None:
            return
        entry = entry_at(noted[0])
        if entry is None or entry.hash != noted[1]:
            raise LedgerDamaged(
                "The books are not the ones that were seen before: entries are missing or changed.",
                next_step="Restore the newest copy of the ledger; if it is lost, treat the budget as spent.",
            )

    def note(self, head: Entry | None) -> None:
        """Replace the note by a later one, atomically."""
        if self._path is None or head is None:
            return
        try:
            with self._locked():
                noted = self._read()
                if noted is not None and noted[0] >= head.seq:
                    return
                fresh = self._path.with_name(self._path.name + ".new")
                with fresh.open("w") as file:
                    file.write(f"{head.seq} {head.hash}\n")
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self._path)
        except OSError:
            raise StoreUnavailable(
                "The head of the books cannot be noted. The charge was made.",
                next_step="Check the anchor's folder, then ask again with the same request id.",
            ) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        assert self._path is not None  # noqa: S101  asked of real anchors only
        with self._path.with_name(self._path.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> tuple[int, str] | None:
        if self._path is None or not self._path.exists():
            return None
        try:
            seq, noted = self._path.read_text().split()
            return int(seq), noted
        except (OSError, ValueError):
            raise LedgerDamaged(
                "The note of the head of the books cannot be read.", next_step="Restore the anchor file, or remove it."
            ) from None

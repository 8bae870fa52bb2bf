"""The head of the chain, noted in a file outside the database, so that a restored backup is noticed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from discreet.errors import LedgerDamaged
from discreet.ledger.entries import Entry


class Anchor:
    """A file with the number and the hash of the last entry that was committed; without a path, nothing."""

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else Path(path)

    def check(self, entry_at: Callable[[int], Entry | None]) -> None:
        """Refuse books that do not hold the entry that was noted."""
        if self._path is None or not self._path.exists():
            return
        seq, noted = self._path.read_text().split()
        entry = entry_at(int(seq))
        if entry is None or entry.hash != noted:
            raise LedgerDamaged(
                "The books are not the ones that were seen before: entries are missing or changed.",
                next_step="Restore the newest copy of the ledger; if it is lost, treat the budget as spent.",
            )

    def note(self, head: Entry | None) -> None:
        """Replace the note, atomically. It may lag behind the books, never run ahead of them."""
        if self._path is None or head is None:
            return
        handle, name = tempfile.mkstemp(dir=self._path.parent)
        with os.fdopen(handle, "w") as file:
            file.write(f"{head.seq} {head.hash}\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self._path)

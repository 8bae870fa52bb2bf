"""The anchor: the head of the chain in a file outside the database, so that a restored backup is noticed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import LedgerDamaged, NoAnchor, StoreUnavailable
from discreet.ledger.chain.entries import GENESIS, Entry

_LONGEST = 200
_SEALED = "sealed"
"""The last word of the file: the entries have seals."""


class Anchor:
    """A file with the number and hash of the last committed entry. Without a path, all methods do nothing.

    The anchor may be older than the ledger, but never newer, and it never goes back: it is written in place under a
    file lock, by a later entry only. A ledger without the anchored entry is refused, at opening and before every
    change. So is a ledger whose anchor file is missing; otherwise removing the file would avoid the check.
    """

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else Path(path)

    def begin(self) -> None:
        """Write the anchor of an empty ledger; refuse if the file belongs to another ledger."""
        if self._path is None:
            return
        with self._locked(create=True) as file:
            if os.fstat(file).st_size and _read(file)[0]:
                raise LedgerDamaged(
                    "The anchor file belongs to a ledger that no longer exists.",
                    next_step="Restore the ledger, or move the anchor file away to create a new ledger.",
                )
            _write(file, 0, GENESIS, lasting=True)

    def check(self, hash_at: Callable[[int], str | None]) -> None:
        """Refuse a ledger without the anchored entry."""
        if self._path is None:
            return
        with self._locked() as file:
            seq, noted = _read(file)
        if seq and hash_at(seq) != noted:
            raise LedgerDamaged(
                "The ledger does not match its anchor: entries are missing or changed.",
                next_step="Restore the newest copy of the ledger; if it is lost, treat the budget as spent.",
            )

    def note(self, head: Entry | None) -> None:
        """Move the anchor to a later entry. No wait for the disk: a lost write only leaves an older anchor."""
        if self._path is None or head is None:
            return
        with self._locked() as file:
            if _read(file)[0] < head.seq:
                _write(file, head.seq, head.hash, lasting=False)

    def recreate(self, head: Entry | None) -> None:
        """Write the anchor of a verified ledger if the file is missing."""
        if self._path is None:
            return
        with self._locked(create=True) as file:
            if not os.fstat(file).st_size:
                _write(file, 0, GENESIS, lasting=True)
        self.note(head)

    @property
    def noted(self) -> str | None:
        """The anchored head as number:hash; `None` without an anchor file."""
        if self._path is None or not self._path.exists():
            return None
        with self._locked() as file:
            seq, noted = _read(file)
        return f"{seq}:{noted}"

    @contextmanager
    def _locked(self, *, create: bool = False) -> Iterator[int]:
        """Open and lock the file for reading and writing. A new file is readable by its owner only."""
        assert self._path is not None  # noqa: S101  callers check the path
        try:
            file = os.open(self._path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield file
            finally:
                os.close(file)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not create:
                raise missing_anchor() from None
            raise StoreUnavailable(
                "The anchor file cannot be written.",
                next_step="Check the anchor's folder, then repeat the query with the same request id.",
            ) from None


def missing_anchor() -> NoAnchor:
    """Return the error for a missing anchor file."""
    return NoAnchor(
        "The anchor file is missing.",
        next_step="Ask the data owner to find out why, and then to run `discreet ledger anchor`.",
    )


def _read(file: int) -> tuple[int, str]:
    """Return number and hash."""
    words = os.pread(file, _LONGEST, 0).decode("ascii", "replace").split()
    if len(words) != 3 or not words[0].isdecimal() or words[2] != _SEALED:
        raise LedgerDamaged(
            "The anchor file cannot be read.",
            next_step="Restore it, or move it away and run `discreet ledger anchor`.",
        )
    return int(words[0]), words[1]


def _write(file: int, seq: int, noted: str, *, lasting: bool) -> None:
    """Overwrite the same number of bytes in place: neither a full disk nor a crash leaves half an anchor."""
    os.pwrite(file, f"{seq:020d} {noted} {_SEALED}\n".encode(), 0)
    if lasting:
        os.fsync(file)

"""The head of the chain, noted in a file outside the database, so that a restored backup is noticed."""

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
"""The last word of a note: the entries have seals."""


class Anchor:
    """A file with the number and the hash of the last entry that was committed; without a path, nothing.

    The note may lag behind the books, never run ahead of them, and never goes back: it is written in place under a
    file lock, by a later entry only. Books that do not hold the entry that was noted are refused, at opening and before
    every change; and so are books whose note is gone, or removing it would be a way around.
    """

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else Path(path)

    def begin(self) -> None:
        """Note that there are books with nothing in them yet, unless others were noted here."""
        if self._path is None:
            return
        with self._locked(create=True) as file:
            if os.fstat(file).st_size and _read(file)[0]:
                raise LedgerDamaged(
                    "Books were noted here that are not there any more.",
                    next_step="Restore the ledger; or move the anchor file away, if new books are to be begun.",
                )
            _write(file, 0, GENESIS, lasting=True)

    def check(self, hash_at: Callable[[int], str | None]) -> None:
        """Refuse books that do not hold the entry that was noted."""
        if self._path is None:
            return
        with self._locked() as file:
            seq, noted = _read(file)
        if seq and hash_at(seq) != noted:
            raise LedgerDamaged(
                "The books are not the ones that were seen before: entries are missing or changed.",
                next_step="Restore the newest copy of the ledger; if it is lost, treat the budget as spent.",
            )

    def note(self, head: Entry | None) -> None:
        """Replace the note by a later one. It need not wait for the disk: a note that is lost only lags behind."""
        if self._path is None or head is None:
            return
        with self._locked() as file:
            if _read(file)[0] < head.seq:
                _write(file, head.seq, head.hash, lasting=False)

    def recreate(self, head: Entry | None) -> None:
        """Note the head of books that were verified, where the note is gone or was never made."""
        if self._path is None:
            return
        with self._locked(create=True) as file:
            if not os.fstat(file).st_size:
                _write(file, 0, GENESIS, lasting=True)
        self.note(head)

    @property
    def noted(self) -> str | None:
        """The head that was noted, number:hash; None where there is no note."""
        if self._path is None or not self._path.exists():
            return None
        with self._locked() as file:
            seq, noted = _read(file)
        return f"{seq}:{noted}"

    @contextmanager
    def _locked(self, *, create: bool = False) -> Iterator[int]:
        """The file, open for reading and writing and locked; its owner's alone from the moment it is made."""
        assert self._path is not None  # noqa: S101  asked of real anchors only
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
                "The head of the books cannot be noted.",
                next_step="Check the anchor's folder, then ask again with the same request id.",
            ) from None


def missing_anchor() -> NoAnchor:
    """One text for every reader of a note that is not there."""
    return NoAnchor(
        "The note of the head of the books is gone, or was never made.",
        next_step="Ask the owner to find out why, and then to run `discreet ledger anchor`.",
    )


def _read(file: int) -> tuple[int, str]:
    """Number and hash."""
    words = os.pread(file, _LONGEST, 0).decode("ascii", "replace").split()
    if len(words) != 3 or not words[0].isdecimal() or words[2] != _SEALED:
        raise LedgerDamaged(
            "The note of the head of the books cannot be read.",
            next_step="Restore the anchor file; or move it away and run `discreet ledger anchor`.",
        )
    return int(words[0]), words[1]


def _write(file: int, seq: int, noted: str, *, lasting: bool) -> None:
    """Always as many bytes, in place: neither a full disk nor a crash leaves half a note."""
    os.pwrite(file, f"{seq:020d} {noted} {_SEALED}\n".encode(), 0)
    if lasting:
        os.fsync(file)

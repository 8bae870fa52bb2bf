"""The source of each data version as a keyed hash, so that a reader of the chain cannot test guesses about the data."""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING

from discreet.errors import SourceChanged, SourceUnsteady
from discreet.store import Transaction

if TYPE_CHECKING:
    from discreet.ledger.charges.unit_of_work import UnitOfWork

KIND = "source"
_FORMAT = "3:"
"""Format of the hash of a source's tables."""


def check(work: UnitOfWork, content: str) -> int:
    """Return the data version; refuse another source than the one it was created from."""
    noted = work.totals.source
    if noted is not None and noted != _keyed(work.t, content):
        raise SourceChanged(
            "The source is not the one that this data version was created from.",
            next_step="Ask the data owner to run `discreet refresh`, which creates a new data version.",
        )
    return work.totals.version


def record(work: UnitOfWork, content: str, *, version: int) -> None:
    """Record the source of a data version once; refuse if another version or source was recorded in the meantime."""
    noted, keyed = work.totals.source, _keyed(work.t, content)
    if work.totals.version != version or noted not in (None, keyed):
        raise SourceUnsteady(
            "Another process created a data version while this one was read.",
            next_step="Try again with the newest version.",
        )
    if noted != keyed:
        work.append(KIND, {"version": version, "source": keyed})


def _keyed(t: Transaction, content: str) -> str:
    """Hash a source under this ledger's own secret, which is in the database but not in the chain."""
    rows = t.run("SELECT value FROM ledger_secret")
    if not rows:
        t.run("INSERT INTO ledger_secret VALUES (?)", os.urandom(32).hex())
        rows = t.run("SELECT value FROM ledger_secret")
    return _FORMAT + hmac.new(bytes.fromhex(rows[0][0]), content.encode(), hashlib.sha256).hexdigest()

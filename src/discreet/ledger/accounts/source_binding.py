"""Which source a data version was begun with, as a keyed hash: whoever reads the chain can test no guess about it."""

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
"""Before a hash of what is in the source, by table."""


def check(work: UnitOfWork, content: str) -> int:
    """The number of the data version; or a refusal where it was begun with another source."""
    noted = work.totals.source
    if noted is not None and noted != _keyed(work.t, content):
        raise SourceChanged(
            "The source is not the one that this data version was begun with.",
            next_step="Ask the owner to run `discreet refresh`, which begins a new data version.",
        )
    return work.totals.version


def record(work: UnitOfWork, content: str, *, version: int) -> None:
    """Note what a data version was read from, if that is news; refused where another one was begun, or read from something else, meanwhile."""
    noted, keyed = work.totals.source, _keyed(work.t, content)
    if work.totals.version != version or noted not in (None, keyed):
        raise SourceUnsteady(
            "Somebody else began a data version while this one was read.",
            next_step="Try again: the newest one is read.",
        )
    if noted != keyed:
        work.append(KIND, {"version": version, "source": keyed})


def _keyed(t: Transaction, content: str) -> str:
    """What is in a source, under this ledger's own secret, which is in the database and not in the chain."""
    rows = t.run("SELECT value FROM ledger_secret")
    if not rows:
        t.run("INSERT INTO ledger_secret VALUES (?)", os.urandom(32).hex())
        rows = t.run("SELECT value FROM ledger_secret")
    return _FORMAT + hmac.new(bytes.fromhex(rows[0][0]), content.encode(), hashlib.sha256).hexdigest()

"""Which source a data version was begun with, as a keyed hash: whoever reads the chain can test no guess about it."""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING

from discreet.errors import SourceChanged
from discreet.store import Transaction

if TYPE_CHECKING:
    from discreet.ledger.draft import Draft

KIND = "source"


def keep(draft: Draft, fingerprint: str) -> None:
    """Note the source of the data version, the first time; from then on refuse any other."""
    version, keyed = draft.running.version, _keyed(draft.t, fingerprint)
    if draft.running.source is None:
        draft.append(KIND, {"version": version, "source": keyed})
    elif draft.running.source != keyed:
        raise SourceChanged(
            "The source is not the one that this data version was begun with.",
            next_step="Ask the owner to run `discreet refresh`, which begins a new data version.",
        )


def _keyed(t: Transaction, fingerprint: str) -> str:
    """A fingerprint under this ledger's own secret, which is in the database and not in the chain."""
    rows = t.run("SELECT value FROM ledger_secret")
    if not rows:
        t.run("INSERT INTO ledger_secret VALUES (?)", os.urandom(32).hex())
        rows = t.run("SELECT value FROM ledger_secret")
    return hmac.new(bytes.fromhex(rows[0][0]), fingerprint.encode(), hashlib.sha256).hexdigest()

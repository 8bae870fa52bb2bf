"""Which source a data version was begun with, as a keyed hash: whoever reads the chain can test no guess about it."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.errors import SourceChanged, SourceUnsteady
from discreet.store import Transaction

if TYPE_CHECKING:
    from discreet.ledger.charges.unit_of_work import Draft

KIND = "source"
_TODAY = "3:"
"""Before hashes of what is in a source, by table; before those of an earlier release, which did not say which file is which table, stands `2:`;
those of the first releases, of names, sizes and times of its files, have nothing before them."""


def check(draft: Draft, content: str, *, earlier: Mapping[str, str]) -> int:
    """The number of the data version; or a refusal where it was begun with another source.

    `earlier` is what earlier releases noted of it, by what they put before it.
    """
    noted = draft.running.source
    if noted is not None:
        same = {**earlier, _TODAY: content}.get(_form(noted))
        if same is None or noted != _form(noted) + _hash(draft.t, same):
            raise SourceChanged(
                "The source is not the one that this data version was begun with.",
                next_step="Ask the owner to run `discreet refresh`, which begins a new data version.",
            )
    return draft.running.version


def keep(draft: Draft, content: str, *, version: int) -> None:
    """Note what a data version was read from, if that is news; refused where another one was begun, or read from something else, meanwhile."""
    noted, keyed = draft.running.source, _keyed(draft.t, content)
    if draft.running.version != version or (noted is not None and is_of_today(noted) and noted != keyed):
        raise SourceUnsteady(
            "Somebody else began a data version while this one was read.",
            next_step="Try again: the newest one is read.",
        )
    if noted != keyed:
        draft.append(KIND, {"version": version, "source": keyed})


def is_of_today(noted: str) -> bool:
    """Whether what is noted is about the content of a source, by table."""
    return noted.startswith(_TODAY)


def is_better(source: str, noted: str | None) -> bool:
    """Whether an entry tells more of a source than is noted: the first to say so counts, and then only a later release."""
    return noted is None or _form(source) > _form(noted)


def _form(noted: str) -> str:
    """What stands before the hash."""
    return "".join(noted.rpartition(":")[:2])


def _keyed(t: Transaction, content: str) -> str:
    return _TODAY + _hash(t, content)


def _hash(t: Transaction, known: str) -> str:
    """What is known of a source, under this ledger's own secret, which is in the database and not in the chain."""
    rows = t.run("SELECT value FROM ledger_secret")
    if not rows:
        t.run("INSERT INTO ledger_secret VALUES (?)", os.urandom(32).hex())
        rows = t.run("SELECT value FROM ledger_secret")
    return hmac.new(bytes.fromhex(rows[0][0]), known.encode(), hashlib.sha256).hexdigest()

"""Caps: who set one last, and when the catalog's word counts. Starting a service again is no statement about a cap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.accounting.filters import Filter, open_filter
from discreet.exact import exact
from discreet.ledger import chain
from discreet.ledger.accounts import DATASET, Account
from discreet.ledger.entries import Entry
from discreet.ledger.releases import fraction
from discreet.store import Transaction

KIND = "cap"
CATALOG = "catalog"
"""Who sets a cap that is written in the catalog."""


def facts_of(account: str, cap: Filter) -> dict[str, Any]:
    """What the entry says of a cap."""
    return {
        "account": account,
        "kind": cap.kind,
        "epsilon": str(exact(cap.cap.epsilon)),
        "delta": str(exact(cap.cap.delta)),
    }


def cap_in(entry: Entry) -> Filter:
    """The cap that an entry set."""
    body = entry.body
    return open_filter(fraction(body["epsilon"]), fraction(body["delta"]), kind=body["kind"])


def is_news(t: Transaction, account: Account, cap: Filter, *, by: str) -> bool:
    """Whether a cap that somebody states for an open account is to be set."""
    if by != CATALOG:
        return account.filter != cap
    return catalog_sets(cap, chain.entries_of(t, KIND, account=account.name))


def catalog_sets(declared: Filter, entries: Sequence[Entry]) -> bool:
    """Whether a cap that the catalog declares is to be set, given the entries about that account's cap so far.

    It is, for a new account; where the catalog set the cap that holds, and declares another now; and where somebody
    else set it, if the catalog declares another than it did last and a lower one than holds.
    """
    if not entries:
        return True
    holds = cap_in(entries[-1])
    if _by(entries[-1]) == CATALOG:
        return holds != declared
    if _by(entries[-1]) is None and holds == declared:
        return True  # of an earlier release, which did not say who set it: from here on it is the catalog's
    stated = [cap_in(entry) for entry in entries if _by(entry) == CATALOG]
    lower = declared.cap.epsilon <= holds.cap.epsilon and declared.cap.delta <= holds.cap.delta
    return lower and declared != holds and (not stated or stated[-1] != declared)


def _by(entry: Entry) -> str | None:
    """Earlier releases did not say; the dataset's cap could come from nowhere but the catalog."""
    earlier = CATALOG if entry.body["account"] == DATASET else None
    return entry.body.get("by", earlier)

"""Caps: who set one last, and when the catalog's word counts. Starting a service again is no statement about a cap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def facts_of(account: str, cap: Filter, *, stated: Filter) -> dict[str, Any]:
    """What the entry says of a cap, and of what the catalog stated where that is another one."""
    facts = {"account": account, **_facts(cap)}
    return facts if stated == cap else {**facts, "declared": _facts(stated)}


def cap_in(entry: Entry) -> Filter:
    """The cap that an entry set."""
    return _cap(entry.body)


def cap_to_set(t: Transaction, account: Account, stated: Filter, *, by: str) -> Filter | None:
    """The cap that an open account gets when somebody, or the catalog, states one; None where that is no news.

    The catalog's word is news where it declares another cap than it did, and never goes above what somebody set last.
    """
    if by != CATALOG:
        return None if stated == account.filter else stated
    entries = chain.entries_of(t, KIND, account=account.name)
    said = [_cap(entry.body.get("declared", entry.body)) for entry in entries if _by(entry) == CATALOG]
    if said and said[-1] == stated:
        return None
    others = [cap_in(entry) for entry in _known(entries) if _by(entry) != CATALOG]
    agreed = _by(entries[-1]) is None and account.filter == stated
    return _lower(stated, others[-1]) if others and not agreed else stated


def _known(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Without those of which an earlier release did not say who set them; but for the last, unless the catalog agreed with it."""
    silent = [at for at, entry in enumerate(entries) if _by(entry) is None]
    if not silent:
        return entries
    following = entries[silent[-1] + 1 :]
    agreed = bool(following) and _by(following[0]) == CATALOG and "declared" not in following[0].body
    return following if agreed else entries[silent[-1] :]


def _lower(one: Filter, other: Filter) -> Filter:
    """The lower epsilon of two caps, and the lower delta."""
    epsilon, delta = min(one.cap.epsilon, other.cap.epsilon), min(one.cap.delta, other.cap.delta)
    return open_filter(epsilon, delta, kind=one.kind if delta == one.cap.delta else other.kind)


def _facts(cap: Filter) -> dict[str, str]:
    return {"kind": cap.kind, "epsilon": str(exact(cap.cap.epsilon)), "delta": str(exact(cap.cap.delta))}


def _cap(facts: Mapping[str, Any]) -> Filter:
    return open_filter(fraction(facts["epsilon"]), fraction(facts["delta"]), kind=facts["kind"])


def _by(entry: Entry) -> str | None:
    """Earlier releases did not say; the dataset's cap could come from nowhere but the catalog."""
    earlier = CATALOG if entry.body["account"] == DATASET else None
    return entry.body.get("by", earlier)

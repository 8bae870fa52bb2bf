"""Formats of stored queries: what was paid for under an earlier one is found by its words, not by its digest."""

from __future__ import annotations

import hashlib

from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import Entry
from discreet.store import Transaction

FIRST = 1
"""Of entries that name no format."""


def format_of(charge: Entry) -> int:
    """The format that a query was digested in when it was charged for."""
    return int(charge.body.get("format", FIRST))


def digest_of(label: str) -> bytes:
    """What is remembered of a label: it may be long, and there may be many."""
    return hashlib.sha256(label.encode()).digest()


def paid_before(t: Transaction, *, query_format: int, data_version: int) -> frozenset[bytes]:
    """Digests of the labels that were charged for under an earlier format, while the data had this version."""
    begun = [0, *entry_chain.refreshes(t)]
    if data_version > len(begun):
        return frozenset()
    labels = set()
    for entry in entry_chain.entries_after(t, begun[data_version - 1]):
        if entry.kind == "refresh":
            break
        if entry.kind == "charge" and format_of(entry) < query_format:
            labels.add(digest_of(entry.body.get("label", "")))
    return frozenset(labels)

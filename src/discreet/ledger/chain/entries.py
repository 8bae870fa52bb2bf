"""Entries: what happened, as canonical JSON, each holding the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GENESIS = "0" * 64
COMMAND_LINE = "command line"
"""Who did what came neither through the door of the service nor from the curator itself."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the books. `hash` covers all that comes before it, the previous hash included, and anybody can work it out.

    `seal` is the hash under the ledger's secret (`seals.py`); None where somebody else wrote the entry.
    """

    seq: int
    time: str
    kind: str
    body: Mapping[str, Any]
    previous: str
    hash: str
    seal: str | None = None

    @classmethod
    def following(cls, previous: Entry | None, *, time: str, kind: str, body: Mapping[str, Any]) -> Entry:
        """The next entry of a chain."""
        seq = previous.seq + 1 if previous else 1
        link = previous.hash if previous else GENESIS
        return cls(seq, time, kind, body, link, entry_hash(seq, time, kind, body, link))

    @property
    def intact(self) -> bool:
        """Whether the hash is the one that the rest of the entry has."""
        return self.hash == entry_hash(self.seq, self.time, self.kind, self.body, self.previous)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def entry_hash(seq: int, time: str, kind: str, body: Mapping[str, Any], previous: str) -> str:
    """SHA-256 over the canonical JSON of all other fields."""
    document = {"seq": seq, "time": time, "kind": kind, "body": body, "previous": previous}
    return hashlib.sha256(canonical(document).encode()).hexdigest()


def canonical(document: Mapping[str, Any]) -> str:
    """JSON with sorted keys, no spaces and plain ASCII, so that everybody writes the same bytes."""
    return _ENCODER.encode(document)

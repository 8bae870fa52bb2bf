"""Entries of the ledger: events as canonical JSON, each with the hash of the previous entry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GENESIS = "0" * 64
COMMAND_LINE = "command line"
"""Author (`by`) of entries written from the command line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `hash` covers all fields before it, including the previous hash; it can be computed without a secret.

    `seal` is the hash under the ledger's secret (`seals.py`); `None` if the row has none.
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
        """Return the next entry of a chain."""
        seq = previous.seq + 1 if previous else 1
        link = previous.hash if previous else GENESIS
        return cls(seq, time, kind, body, link, entry_hash(seq, time, kind, body, link))

    @property
    def intact(self) -> bool:
        """Whether the hash matches the other fields."""
        return self.hash == entry_hash(self.seq, self.time, self.kind, self.body, self.previous)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def entry_hash(seq: int, time: str, kind: str, body: Mapping[str, Any], previous: str) -> str:
    """Return the SHA-256 of the canonical JSON of all other fields."""
    document = {"seq": seq, "time": time, "kind": kind, "body": body, "previous": previous}
    return hashlib.sha256(canonical(document).encode()).hexdigest()


def canonical(document: Mapping[str, Any]) -> str:
    """Return JSON with sorted keys, no spaces and plain ASCII, so that every writer produces the same bytes."""
    return _ENCODER.encode(document)

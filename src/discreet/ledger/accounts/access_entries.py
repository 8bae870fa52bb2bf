"""Access as entries of the chain: API keys, their revocations and the roles of proxy users.

There is no other table of keys. A changed entry no longer matches its hash, a proof fits one key, holder and role only,
and a restored backup, which would forget a revocation, is older than the anchor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from discreet.ledger.chain.entries import Entry

KEY, REVOKE, USER = "key", "revoke", "user"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """The record of a key. `proof` is a hash of a keyed hash of the key: it cannot be used to sign in."""

    id: str
    name: str
    """The holder's name."""
    role: str
    created: str
    expires: str
    proof: str = field(repr=False)
    revoked: bool = False


@dataclass(slots=True)
class Access:
    """Every issued key and every user with a role, up to an entry of the chain."""

    keys: dict[str, IssuedKey] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    """Role by user name."""

    def fork(self) -> Access:
        """Return an independent copy."""
        return Access(dict(self.keys), dict(self.users))

    def apply(self, entry: Entry) -> Iterable[str]:
        """Apply one entry and yield its problems, each with the number of the entry."""
        body = entry.body
        match entry.kind:
            case "key":
                if body["key"] in self.keys:
                    yield f"entry {entry.seq} issues a key a second time"
                    return
                self.keys[body["key"]] = IssuedKey(
                    body["key"],
                    body["name"],
                    body["role"],
                    entry.time,
                    body["expires"],
                    body["proof"],
                )
            case "revoke":
                known = self.keys.get(body["key"])
                if known is None or known.revoked:
                    yield f"entry {entry.seq} revokes a key that was not in use"
                    return
                self.keys[body["key"]] = replace(known, revoked=True)
            case "user":
                if body["role"] is None:
                    self.users.pop(body["user"], None)
                else:
                    self.users[body["user"]] = body["role"]

"""Who may come in, as the chain says: keys, revocations and the users of a proxy are entries, and there is no table beside them.

An entry that was changed no longer has its hash, a proof fits the key, holder and role that it was made for, and a restored
backup, which would forget a revocation, is older than the anchor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from discreet.ledger.chain.entries import Entry

KEY, REVOKE, USER = "key", "revoke", "user"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """What is written down of a key. `proof` is a hash of a keyed hash of it, which opens nothing."""

    id: str
    name: str
    """Of its holder."""
    role: str
    created: str
    expires: str
    proof: str = field(repr=False)
    revoked: bool = False


@dataclass(slots=True)
class Access:
    """Every key that was ever made and every user with a role, up to an entry of the chain."""

    keys: dict[str, IssuedKey] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    """By name, the role."""

    def fork(self) -> Access:
        """A copy that can go on by itself."""
        return Access(dict(self.keys), dict(self.users))

    def apply(self, entry: Entry) -> Iterable[str]:
        """Take in one entry; what is wrong with it names it by number."""
        body = entry.body
        match entry.kind:
            case "key":
                if body["key"] in self.keys:
                    yield f"entry {entry.seq} makes a key a second time"
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

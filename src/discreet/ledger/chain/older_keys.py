"""Keys of an earlier release, which were rows of a table, become entries: while its books are sealed, and at no other time.

A table proves nothing. Before books are sealed they are believed as they are, the table with them; afterwards nobody without the secret
may have a key written into the chain, by whichever table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from discreet.ledger.accounts.access_entries import KEY, REVOKE, Access
from discreet.store import Transaction


def entries_of_older_keys(t: Transaction, access: Access) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kind and body of each entry, once; none where the chain has keys. The table is dropped."""
    if t.run("SELECT version FROM schema_versions WHERE component = 'keys'") != [(1,)]:
        return
    t.run("UPDATE schema_versions SET version = 2 WHERE component = 'keys'")
    rows = t.run("SELECT id, analyst, role, created, expires, hash, revoked FROM api_keys ORDER BY created")
    t.run("DROP TABLE api_keys")
    if access.keys:
        return
    for number, name, role, created, expires, keyed, revoked in rows:
        body = {"key": number, "name": name, "role": role, "created": created, "expires": expires}
        yield KEY, {**body, "proof": proof_of(keyed)}
        if revoked:
            yield REVOKE, {"key": number}


def proof_of(keyed_hash: str) -> str:
    """What the chain has of a key: a hash of its keyed hash."""
    return hashlib.sha256(keyed_hash.encode()).hexdigest()

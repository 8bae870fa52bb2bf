"""API keys, which are random, shown once, expire and can be revoked; and users whom a trusted proxy signs in.

Both are entries of the ledger's chain (`discreet.ledger.accounts.access_entries`); this module caches them. The chain contains a hash of a keyed
hash of each key. The secret of the keyed hash is in a file beside the ledger, so a copy of the database alone gives no access.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from discreet.accounting import Filter
from discreet.errors import BadInput, NoAccess, UnknownAccount
from discreet.ledger import Ledger
from discreet.ledger.accounts import caps
from discreet.ledger.accounts.access_entries import KEY, REVOKE, USER, IssuedKey
from discreet.ledger.accounts.account_rows import analyst_account, unknown_account
from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain.entries import COMMAND_LINE
from discreet.ledger.charges.requests import check_text
from discreet.ledger.charges.unit_of_work import UnitOfWork
from discreet.server.auth.roles import ROLES, Holder
from discreet.store.secret import require_secret

PREFIX = "dk_"
_REMEMBERED = 0.1
"""Seconds for which cached keys are used. A key that another process revokes works that long; wrong keys reach the database no more often."""
_LINK = "sign-in link"
"""Creator, in the ledger, of the key for a session that starts with the link on the owner's terminal."""
_BOUND = "bound:"
"""Prefix of a proof that depends on the holder, the role and the expiry as well as on the key."""

_Entries = Iterator[tuple[str, dict[str, Any]]]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class KeyStore:
    """The keys and users of one ledger. Lookups use the cache and never block; `refresh` reads new entries."""

    def __init__(self, ledger: Ledger, secret: bytes, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._ledger, self._secret, self._now = ledger, secret, now
        self._known, self._read_at, self._reading = LedgerTotals(), -math.inf, threading.Lock()
        self._refresh()

    @classmethod
    def open(cls, ledger: str, *, anchor: str | None = None) -> KeyStore:
        """Open the keys of a ledger; the first time, create the secret."""
        opened = Ledger.open(ledger, anchor=anchor)
        return cls(opened, require_secret(ledger))

    def close(self) -> None:
        """Close the database."""
        self._ledger.close()

    def create(
        self, name: str, *, role: str = "analyst", days: int = 90, cap: Filter | None = None, by: str = COMMAND_LINE
    ) -> str:
        """Create a key and return it; it is not stored. `by` is the creator, for the ledger.

        An analyst needs an account, or a `cap` to open one in the same step: a key without an account could do nothing.
        """
        key, body = self._new(name, role=role, lasting=_lifetime(days))
        if cap is not None and role != "analyst":
            raise BadInput(f"The role {role} has no account.", next_step="Leave the cap out, or give the role analyst.")

        def entries(work: UnitOfWork) -> _Entries:
            if role == "analyst":
                _ensure_account(work, name, cap, by=by)
            yield KEY, body

        self._ledger.record(entries, by=by)
        self._refresh()
        return key

    def rotate(self, number: str, *, days: int = 90, by: str = COMMAND_LINE) -> str:
        """Create a key for the holder of an old one, and revoke the old one."""
        old = self.issued(number)
        key, body = self._new(old.name, role=old.role, lasting=_lifetime(days))

        def exchange(known: LedgerTotals) -> _Entries:
            if known.access.keys[number].revoked:
                raise BadInput("No active key has this number.", next_step="Take a number from the list of keys.")
            yield REVOKE, {"key": number}
            yield KEY, body

        self._record(exchange, by=by)
        return key

    def create_for_link(self, *, seconds: float) -> str:
        """Create an owner's key whose secret is discarded, and return its number. Revoking it ends the session that started with a link."""
        _, body = self._new("owner", role="owner", lasting=timedelta(seconds=seconds))
        self._record(lambda _: iter([(KEY, body)]), by=_LINK)
        return str(body["key"])

    def revoke(self, number: str, *, by: str = COMMAND_LINE) -> None:
        """Revoke a key, if it is not revoked already."""
        self.issued(number)

        def stop(known: LedgerTotals) -> _Entries:
            if not known.access.keys[number].revoked:
                yield REVOKE, {"key": number}

        self._record(stop, by=by)

    def issued(self, number: str) -> IssuedKey:
        """Return a key's entry, revoked or not."""
        keys = self._refresh().access.keys
        if number not in keys:
            raise BadInput("No key has this number.", next_step="Take a number from the list of keys.")
        return keys[number]

    def all(self) -> list[IssuedKey]:
        """Return the entries of all keys ever created. They do not contain the keys."""
        return sorted(self._refresh().access.keys.values(), key=lambda key: key.created)

    def set_user(self, name: str, role: str | None, *, by: str = COMMAND_LINE) -> None:
        """Set or remove the role of a user whom the proxy signs in. An analyst must have an account."""
        check_text(name, "A user's name", most=200)
        if role is not None:
            _check_role(role)

        def change(known: LedgerTotals) -> _Entries:
            if role is None and name not in known.access.users:
                raise BadInput("No user has this name.", next_step="Take a name from the list of users.")
            if role == "analyst" and not known.is_open(caps.account_for(name)):
                raise UnknownAccount(
                    "A user with the role analyst needs an account, and none has this name.",
                    next_step="Open it first: `discreet ledger cap NAME --epsilon 2`, or list the analyst in the catalog.",
                )
            if known.access.users.get(name) != role:
                yield USER, {"user": name, "role": role}

        self._record(change, by=by)

    def users(self) -> dict[str, str]:
        """Return the users of the proxy and their roles."""
        return dict(self._refresh().access.users)

    def holder(self, key: str) -> Holder:
        """Return the holder of a key, from the cache. All invalid keys get the same error, so it does not reveal why."""
        number, _, secret = key.removeprefix(PREFIX).partition("_")
        issued = self._known.access.keys.get(number)
        proof = issued.proof if issued else _BOUND
        fields = (issued.id, issued.name, issued.role, issued.expires) if issued else ("", "", "", "")
        # An unknown number costs the same hash as a known one.
        is_valid = hmac.compare_digest(proof, self._proof(*fields, secret)) and key.startswith(PREFIX)
        if is_valid and issued:
            return self._active_holder(issued)
        raise _invalid_key()

    def holder_of_number(self, number: str) -> Holder:
        """Return the holder of a key that was checked before, if it is still valid."""
        issued = self._known.access.keys.get(number)
        if issued is None:
            raise _invalid_key()
        return self._active_holder(issued)

    def user(self, name: str) -> Holder:
        """Return the holder for a user whom the proxy signed in."""
        role = self._known.access.users.get(name)
        if role is None:
            raise NoAccess("This user has no role here.", next_step="Ask the owner for one.")
        return self._with_account(Holder(f"user {name}", name, role))

    def _active_holder(self, issued: IssuedKey) -> Holder:
        if issued.revoked or datetime.fromisoformat(issued.expires) <= self._now():
            raise _invalid_key()
        return self._with_account(Holder(f"key {issued.id}", issued.name, issued.role))

    def _with_account(self, holder: Holder) -> Holder:
        """Return the holder, or refuse an analyst whose account does not exist or was closed."""
        if holder.role == "analyst" and not self._known.is_open(analyst_account(holder.name)):
            raise unknown_account()
        return holder

    def _new(self, name: str, *, role: str, lasting: timedelta) -> tuple[str, dict[str, Any]]:
        """Return a new key and its ledger entry."""
        check_text(name, "A name", most=200)
        _check_role(role)
        number, secret = os.urandom(6).hex(), os.urandom(32).hex()
        expires = (self._now() + lasting).isoformat()
        body = {"key": number, "name": name, "role": role, "expires": expires}
        body["proof"] = self._proof(number, name, role, expires, secret)
        return f"{PREFIX}{number}_{secret}", body

    def _proof(self, number: str, name: str, role: str, expires: str, secret: str) -> str:
        """Return the proof of a key. It covers all fields of the entry: copied into an entry with another role, it is invalid."""
        bound = json.dumps([number, name, role, expires, secret]).encode()
        keyed = hmac.digest(self._secret, bound, "sha256").hex()
        return _BOUND + hashlib.sha256(keyed.encode()).hexdigest()

    def _record(self, entries: Callable[[LedgerTotals], _Entries], *, by: str) -> None:
        """Write the entries that `entries` returns for the current keys and users, in one transaction."""
        self._ledger.record(lambda work: entries(work.totals), by=by)
        self._refresh()

    def _refresh(self) -> LedgerTotals:
        """Read entries that any process wrote since the last read."""
        with self._reading:
            self._known = self._ledger.totals()
            self._read_at = time.monotonic()
        return self._known

    @property
    def is_up_to_date(self) -> bool:
        """Whether the cache is recent enough to be used."""
        return time.monotonic() - self._read_at < _REMEMBERED

    def refresh(self) -> None:
        """Read new entries, unless the cache is recent."""
        if not self.is_up_to_date:
            self._refresh()


def key_summary(key: IssuedKey) -> dict[str, Any]:
    """Return a key's public description."""
    return {name: value for name, value in asdict(key).items() if name != "proof"}


def _ensure_account(work: UnitOfWork, analyst: str, cap: Filter | None, *, by: str) -> None:
    account = caps.account_for(analyst)
    if work.totals.is_open(account):
        if cap is not None:
            raise BadInput(
                "This analyst already has an account.",
                next_step="Omit the cap; to change it, use `discreet ledger cap`.",
            )
    elif cap is None:
        raise UnknownAccount(
            "A key for an analyst needs an account, and none has this name.",
            next_step="Give the cap of a new account: --epsilon 2, or `cap`.",
        )
    else:
        caps.set_cap(work, account, cap, by=by)


def _lifetime(days: int) -> timedelta:
    if days < 1:
        raise BadInput("A key must be valid for at least one day.", next_step="Give the number of days.")
    return timedelta(days=days)


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise BadInput("This role does not exist.", next_step=f"Use one of: {', '.join(ROLES)}.")


def _invalid_key() -> NoAccess:
    return NoAccess("This key is not valid.", next_step="Ask the owner for a new one.")

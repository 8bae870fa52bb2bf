"""Who may come in: API keys, which are random, shown once, expiring and revocable; and the users that a proxy vouches for.

Both are entries of the ledger's chain (`discreet.ledger.accounts.access_entries`), of which this book keeps what it has read. Of a key the chain
has a hash of a keyed hash; the key of that hash lives in a file beside the ledger, so that a copy of the database alone opens no
door.
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
from discreet.ledger.accounts.account_rows import analyst_account, unknown
from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain.entries import AT_HAND
from discreet.ledger.charges.requests import check_text
from discreet.ledger.charges.unit_of_work import UnitOfWork
from discreet.server.auth.roles import ROLES, Holder
from discreet.store.secret import needed_secret

PREFIX = "dk_"
_REMEMBERED = 0.1
"""Seconds for which what was read counts: so long a key that another process revokes still works, and no oftener wrong keys reach the database."""
_LINK = "sign-in link"
"""Who makes the key of a session that began with the link on the owner's terminal."""
_BOUND = "bound:"
"""Before a proof: it depends on the holder, the role and the day as well as on the key."""

_Entries = Iterator[tuple[str, dict[str, Any]]]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class KeyBook:
    """The keys and users of one ledger. Whose a key is, is looked up in what was read last, where nobody may wait; `catch_up` reads on."""

    def __init__(self, ledger: Ledger, secret: bytes, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._ledger, self._secret, self._now = ledger, secret, now
        self._known, self._read_at, self._reading = LedgerTotals(), -math.inf, threading.Lock()
        self._read_on()

    @classmethod
    def open(cls, ledger: str, *, anchor: str | None = None) -> KeyBook:
        """The keys of a ledger; their secret is made with the first of them."""
        books = Ledger.open(ledger, anchor=anchor)
        return cls(books, needed_secret(ledger))

    def close(self) -> None:
        """Let go of the database."""
        self._ledger.close()

    def create(
        self, name: str, *, role: str = "analyst", days: int = 90, cap: Filter | None = None, by: str = AT_HAND
    ) -> str:
        """A new key for somebody, to be shown once. `by` is who makes it.

        An analyst has an account, or gets one with this `cap` in the same step: a key that could ask nothing is not made.
        """
        key, body = self._new(name, role=role, lasting=_lasting(days))
        if cap is not None and role != "analyst":
            raise BadInput(f"The role {role} has no account.", next_step="Leave the cap out, or give the role analyst.")

        def entries(work: UnitOfWork) -> _Entries:
            if role == "analyst":
                _see_to_account(work, name, cap, by=by)
            yield KEY, body

        self._ledger.record(entries, by=by)
        self._read_on()
        return key

    def rotate(self, number: str, *, days: int = 90, by: str = AT_HAND) -> str:
        """A new key for the holder of an old one, which stops working."""
        old = self.issued(number)
        key, body = self._new(old.name, role=old.role, lasting=_lasting(days))

        def exchange(known: LedgerTotals) -> _Entries:
            if known.access.keys[number].revoked:
                raise BadInput("There is no such key in use.", next_step="Take a number from the list of keys.")
            yield REVOKE, {"key": number}
            yield KEY, body

        self._record(exchange, by=by)
        return key

    def create_for_link(self, *, seconds: float) -> str:
        """The number of an owner's key that nobody holds: what a session hangs on that began with a link, so that it can be ended."""
        _, body = self._new("owner", role="owner", lasting=timedelta(seconds=seconds))
        self._record(lambda _: iter([(KEY, body)]), by=_LINK)
        return str(body["key"])

    def revoke(self, number: str, *, by: str = AT_HAND) -> None:
        """Stop a key; nothing happens if it was stopped before."""
        self.issued(number)

        def stop(known: LedgerTotals) -> _Entries:
            if not known.access.keys[number].revoked:
                yield REVOKE, {"key": number}

        self._record(stop, by=by)

    def issued(self, number: str) -> IssuedKey:
        """What is known of a key, in use or not."""
        keys = self._read_on().access.keys
        if number not in keys:
            raise BadInput("There is no such key.", next_step="Take a number from the list of keys.")
        return keys[number]

    def all(self) -> list[IssuedKey]:
        """Every key that was ever made, without what opens the door."""
        return sorted(self._read_on().access.keys.values(), key=lambda key: key.created)

    def set_user(self, name: str, role: str | None, *, by: str = AT_HAND) -> None:
        """Give somebody whom the proxy signs in a role, or none any more. An analyst has an account before that."""
        check_text(name, "A user's name", most=200)
        if role is not None:
            _check_role(role)

        def change(known: LedgerTotals) -> _Entries:
            if role is None and name not in known.access.users:
                raise BadInput("There is no such user.", next_step="Take a name from the list of users.")
            if role == "analyst" and not known.is_open(caps.account_for(name)):
                raise UnknownAccount(
                    "A user who is an analyst needs an account, and there is none under that name.",
                    next_step="Open it first: `discreet ledger cap NAME --epsilon 2`, or list the analyst in the catalog.",
                )
            if known.access.users.get(name) != role:
                yield USER, {"user": name, "role": role}

        self._record(change, by=by)

    def users(self) -> dict[str, str]:
        """Everybody who has a role through the proxy, by name."""
        return dict(self._read_on().access.users)

    def holder(self, key: str) -> Holder:
        """Whose key it is, as far as was read; one text for every reason why it is nobody's."""
        number, _, secret = key.removeprefix(PREFIX).partition("_")
        issued = self._known.access.keys.get(number)
        known = issued.proof if issued else _BOUND
        facts = (issued.id, issued.name, issued.role, issued.expires) if issued else ("", "", "", "")
        fits = hmac.compare_digest(known, self._proof(*facts, secret)) and key.startswith(PREFIX)
        if fits and issued:
            return self._in_use(issued)
        raise _opens_nothing()

    def holder_of_number(self, number: str) -> Holder:
        """The same for somebody who showed the key before, as long as it is good."""
        issued = self._known.access.keys.get(number)
        if issued is None:
            raise _opens_nothing()
        return self._in_use(issued)

    def user(self, name: str) -> Holder:
        """Somebody whom the proxy signed in."""
        role = self._known.access.users.get(name)
        if role is None:
            raise NoAccess("This user has no role here.", next_step="Ask the owner for one.")
        return self._with_account(Holder(f"user {name}", name, role))

    def _in_use(self, issued: IssuedKey) -> Holder:
        if issued.revoked or datetime.fromisoformat(issued.expires) <= self._now():
            raise _opens_nothing()
        return self._with_account(Holder(f"key {issued.id}", issued.name, issued.role))

    def _with_account(self, holder: Holder) -> Holder:
        """Refuse an analyst who has no account, or whom the catalog does not list any more."""
        if holder.role == "analyst" and not self._known.is_open(analyst_account(holder.name)):
            raise unknown()
        return holder

    def _new(self, name: str, *, role: str, lasting: timedelta) -> tuple[str, dict[str, Any]]:
        """A key, and what is written down of it."""
        check_text(name, "A name", most=200)
        _check_role(role)
        number, secret = os.urandom(6).hex(), os.urandom(32).hex()
        expires = (self._now() + lasting).isoformat()
        body = {"key": number, "name": name, "role": role, "expires": expires}
        body["proof"] = self._proof(number, name, role, expires, secret)
        return f"{PREFIX}{number}_{secret}", body

    def _proof(self, number: str, name: str, role: str, expires: str, secret: str) -> str:
        """Bound to all that the entry says: who copies it into an entry of their own, for another role, opens nothing."""
        bound = json.dumps([number, name, role, expires, secret]).encode()
        keyed = hmac.digest(self._secret, bound, "sha256").hex()
        return _BOUND + hashlib.sha256(keyed.encode()).hexdigest()

    def _record(self, entries: Callable[[LedgerTotals], _Entries], *, by: str) -> None:
        """Write what `entries` says of keys and users as they are at that moment."""
        self._ledger.record(lambda work: entries(work.totals), by=by)
        self._read_on()

    def _read_on(self) -> LedgerTotals:
        """Read what was written since, by whichever process."""
        with self._reading:
            self._known = self._ledger.totals()
            self._read_at = time.monotonic()
        return self._known

    @property
    def is_up_to_date(self) -> bool:
        """Whether all that was written a moment ago is known."""
        return time.monotonic() - self._read_at < _REMEMBERED

    def catch_up(self) -> None:
        """Read what was written since, unless somebody just did."""
        if not self.is_up_to_date:
            self._read_on()


def key_facts(key: IssuedKey) -> dict[str, Any]:
    """What is shown of a key."""
    return {name: value for name, value in asdict(key).items() if name != "proof"}


def _see_to_account(work: UnitOfWork, analyst: str, cap: Filter | None, *, by: str) -> None:
    account = caps.account_for(analyst)
    if work.totals.is_open(account):
        if cap is not None:
            raise BadInput("This analyst has an account already.", next_step="Change its cap without making a key.")
    elif cap is None:
        raise UnknownAccount(
            "A key for an analyst needs an account, and there is none under that name.",
            next_step="Say which cap it is opened with: --epsilon 2, or `cap`.",
        )
    else:
        caps.state(work, account, cap, by=by)


def _lasting(days: int) -> timedelta:
    if days < 1:
        raise BadInput("A key is good for at least one day.", next_step="Say for how many days.")
    return timedelta(days=days)


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise BadInput("There is no such role.", next_step=f"Take one of: {', '.join(ROLES)}.")


def _opens_nothing() -> NoAccess:
    return NoAccess("This key opens nothing.", next_step="Ask the owner for a key, or for a new one.")

"""Keys: a flood of wrong ones costs the database next to nothing, and what is made or revoked counts at once."""

import json
from contextlib import contextmanager

import pytest

from discreet.errors import NoAccess
from discreet.ledger import Ledger
from discreet.server.auth.keys import KeyStore
from discreet.store.sqlite import SQLiteStore
from tests.support.opening import CAP


class CountingStore(SQLiteStore):
    transactions = 0

    @contextmanager
    def transaction(self):
        self.transactions += 1
        with super().transaction() as t:
            yield t


@pytest.fixture
def store(tmp_path):
    made = CountingStore(tmp_path / "keys.sqlite")
    yield made
    made.close()


def test_wrong_keys_neither_reach_the_database_nor_are_remembered(store):
    book = KeyStore(Ledger(store, secret=b"x" * 32), b"x" * 32)
    good = book.create("alice", cap=CAP)
    before = store.transactions
    for number in range(2000):
        book.refresh()
        with pytest.raises(NoAccess):
            book.holder(f"dk_{number:012x}_wrong")
    assert book.holder(good).name == "alice"
    assert store.transactions - before < 50, "a few a second, however many keys are tried"
    assert len(book.all()) == 1


def test_a_key_that_another_book_makes_or_revokes_is_heard_of(store, monkeypatch):
    book, other = (
        KeyStore(Ledger(store, secret=b"x" * 32), b"x" * 32),
        KeyStore(Ledger(store, secret=b"x" * 32), b"x" * 32),
    )
    monkeypatch.setattr("discreet.server.auth.keys._REMEMBERED", -1.0)  # a moment later
    key = other.create("alice", cap=CAP)
    book.refresh()
    assert book.holder(key).name == "alice"
    other.revoke(key.split("_")[1])
    book.refresh()
    with pytest.raises(NoAccess):
        book.holder(key)


def test_a_key_that_is_revoked_here_stops_at_once(store):
    book = KeyStore(Ledger(store, secret=b"x" * 32), b"x" * 32)
    key = book.create("alice", cap=CAP)
    book.holder(key)
    book.revoke(key.split("_")[1])
    with pytest.raises(NoAccess):
        book.holder(key)


def test_a_proof_that_is_copied_into_another_entry_opens_nothing(store):
    """Who writes to the database and has a key of their own would otherwise be the owner."""
    ledger = Ledger(store, secret=b"x" * 32)
    book = KeyStore(ledger, b"x" * 32)
    key = book.create("mallory", cap=CAP)
    number, secret = key.split("_")[1:]
    (mine,) = book.all()
    forged = {"key": "0123456789ab", "name": "olga", "role": "owner", "expires": mine.expires, "proof": mine.proof}
    for body in (forged, {**forged, "key": "ba9876543210", "proof": mine.proof.removeprefix("bound:")}):
        ledger.record(lambda _, body=body: iter([("key", body)]), by="nobody")
        for shown in (secret, json.dumps([number, "mallory", "analyst", mine.expires, secret])):
            with pytest.raises(NoAccess):
                KeyStore(ledger, b"x" * 32).holder(f"dk_{body['key']}_{shown}")
    assert book.holder(key).role == "analyst"
    assert number == mine.id

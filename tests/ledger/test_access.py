"""Keys and users are in the chain: what is done to the database behind our back lets nobody in."""

import hmac
import shutil
from contextlib import suppress

import pytest

from discreet.errors import BadInput, LedgerDamaged, NoAccess
from discreet.ledger import Ledger, verify
from discreet.server.auth.keys import KeyStore
from discreet.store import open_store
from tests.ledger.asking import open_ledger
from tests.support.opening import CAP

SECRET = b"s" * 32


def a_book(where, **details):
    return KeyStore(open_ledger(where, **details), SECRET)


def number_of(key):
    return key.split("_")[1]


def run(where, *statements):
    store = open_store(where)
    with store.transaction() as t:
        for statement in statements:
            t.run(statement)
    store.close()


def test_keys_and_users_are_entries_which_open_nothing(where):
    book = a_book(where)
    key = book.create("alice", role="steward", by="key 17")
    fresh = book.rotate(number_of(key))
    book.set_user("bob", "auditor")
    book.set_user("bob", None)
    entries = book._ledger.history()
    assert [(entry.kind, entry.body["by"]) for entry in entries] == [
        ("key", "key 17"), ("revoke", "command line"), ("key", "command line"),
        ("user", "command line"), ("user", "command line"),
    ]  # fmt: skip
    assert entries[0].body["role"] == entries[2].body["role"] == "steward"
    for secret in (
        key.split("_")[2],
        fresh.split("_")[2],
        hmac.digest(book._secret, fresh.split("_")[2].encode(), "sha256").hex(),
    ):
        assert secret not in str(entries)
    assert verify(book._ledger).sound
    with pytest.raises(NoAccess):
        book.user("bob")


def test_a_revocation_that_is_taken_out_of_the_database_is_not_forgotten_while_it_runs(where):
    book = a_book(where)
    key = book.create("alice", cap=CAP)
    book.revoke(number_of(key))
    run(where, "DELETE FROM ledger_entries WHERE kind = 'revoke'")
    for lately in (1.0, -1.0):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("discreet.server.auth.keys._REMEMBERED", lately)
            with suppress(LedgerDamaged):
                book.refresh()
            with pytest.raises(NoAccess):
                book.holder(key)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger_entries SET body = replace(body, '\"analyst\"', '\"owner\"') WHERE kind = 'key'",
        "UPDATE ledger_entries SET body = replace(body, '\"expires\":\"20', '\"expires\":\"21') WHERE kind = 'key'",
        'UPDATE ledger_entries SET body = replace(body, \'"by":"command line"\', \'"by":"key 1"\') WHERE kind = \'revoke\'',
    ],
)
def test_an_edited_entry_opens_nothing_and_is_noticed(where, change):
    book = a_book(where)
    key = book.create("alice", cap=CAP)
    other = book.create("bob", cap=CAP)
    book.revoke(number_of(other))
    run(where, change)
    with pytest.raises(LedgerDamaged):
        a_book(where).holder(key)
    assert not verify(Ledger.open(where)).sound


def test_a_revocation_that_was_taken_out_is_noticed_by_who_verifies(where):
    book = a_book(where)
    key = book.create("alice", cap=CAP)
    book.revoke(number_of(key))
    book.create("bob", cap=CAP)
    run(where, "DELETE FROM ledger_entries WHERE kind = 'revoke'")
    assert not verify(Ledger.open(where)).sound


def test_a_revocation_that_was_taken_out_is_still_in_the_signed_checkpoint(tmp_path):
    where = str(tmp_path / "ledger.sqlite")
    Ledger.new(where).close()
    book = KeyStore.open(where)
    key, other = book.create("alice", cap=CAP), book.create("bob", cap=CAP)
    book.revoke(number_of(key))
    book.create("carol", cap=CAP)
    assert verify(book._ledger).sound  # which leaves a checkpoint
    book.close()
    run(where, "DELETE FROM ledger_entries WHERE kind = 'revoke'")
    again = KeyStore.open(where)
    assert again.holder(other).name == "bob"
    with pytest.raises(NoAccess):
        again.holder(key)
    again.close()


def test_a_restored_backup_does_not_bring_a_revoked_key_back(tmp_path):
    where, anchor = str(tmp_path / "ledger.sqlite"), tmp_path / "anchor"
    book = a_book(where, anchor=anchor)
    key = book.create("alice", cap=CAP)
    book.close()
    shutil.copy(where, tmp_path / "backup")
    book.revoke(number_of(key))
    book.close()
    shutil.copy(tmp_path / "backup", where)
    with pytest.raises(LedgerDamaged):
        a_book(where, anchor=anchor)


def test_what_cannot_be_is_refused(where):
    book = a_book(where)
    with pytest.raises(BadInput):
        book.create("alice", role="king")
    with pytest.raises(BadInput):
        book.create("")
    with pytest.raises(BadInput):
        book.create("alice", days=0)
    with pytest.raises(BadInput):
        book.revoke("none")
    with pytest.raises(BadInput):
        book.set_user("bob", None)
    number = number_of(book.create("alice", cap=CAP))
    book.revoke(number)
    book.revoke(number)
    with pytest.raises(BadInput):
        book.rotate(number)
    assert [entry.kind for entry in book._ledger.history()] == ["cap", "key", "revoke"]

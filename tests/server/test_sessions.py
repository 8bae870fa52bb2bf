"""Sessions: they end by the clock and by the key, and one key does not crowd out the others."""

import pytest

from discreet.errors import NoAccess, UnknownAccount
from discreet.ledger import Ledger
from discreet.ledger.accounts.caps import CATALOG, close_entries
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.page_sessions import Sessions
from discreet.store import open_store
from tests.support.opening import CAP


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def book(tmp_path):
    made = KeyStore(Ledger(open_store(tmp_path / "ledger.sqlite"), secret=b"x" * 32), b"x" * 32)
    yield made
    made.close()


def test_a_session_ends_when_it_is_idle_and_after_a_working_day_however_busy(book):
    clock = Clock()
    sessions = Sessions(book, now=clock)
    key = book.create("alice", cap=CAP)
    idle, busy = sessions.open(key), sessions.open(key)
    while clock.now < 8 * 3600 - 1000:
        clock.now += 1000
        assert sessions.holder(busy).name == "alice"
    with pytest.raises(NoAccess):
        sessions.holder(idle)
    clock.now += 1000
    with pytest.raises(NoAccess):
        sessions.holder(busy)


def test_one_key_has_a_few_sessions_and_never_ends_those_of_others(book):
    sessions = Sessions(book)
    alice, bob = book.create("alice", cap=CAP), book.create("bob", cap=CAP)
    of_bob = sessions.open(bob)
    first, *_, last = [sessions.open(alice) for _ in range(100)]
    assert sessions.holder(of_bob).name == "bob"
    assert sessions.holder(last).name == "alice"
    with pytest.raises(NoAccess):
        sessions.holder(first)
    assert len(sessions._open) == 21


def test_a_token_is_not_kept(book):
    sessions = Sessions(book)
    token = sessions.open(book.create("alice", cap=CAP))
    assert token not in str(sessions._open)
    assert sessions.holder(token).role == "analyst"
    for wrong in ("", token[:-1], token + "0"):
        with pytest.raises(NoAccess):
            sessions.holder(wrong)


def test_a_link_signs_the_owner_in_once_and_soon_and_is_not_kept(book):
    clock = Clock()
    sessions = Sessions(book, now=clock)
    link, late = sessions.create_link(), sessions.create_link()
    assert link not in str(sessions._links)
    token = sessions.open_by_link(link)
    assert (sessions.holder(token).name, sessions.holder(token).role) == ("owner", "owner")
    assert book._ledger.history(last=1)[0].body["by"] == "sign-in link"
    clock.now += 10 * 60
    for used_up in (link, late, "", token):
        with pytest.raises(NoAccess):
            sessions.open_by_link(used_up)
    sessions.end(token)
    with pytest.raises(NoAccess):
        sessions.holder(token)


def test_nobody_signs_in_with_a_key_that_opens_nothing(book):
    sessions = Sessions(book)
    key = book.create("alice", cap=CAP)
    book.revoke(key.split("_")[1])
    with pytest.raises(NoAccess):
        sessions.open(key)


def test_a_session_that_began_with_a_link_ends_when_its_key_is_revoked(book):
    sessions = Sessions(book)
    token, other = (sessions.open_by_link(sessions.create_link()) for _ in range(2))
    book.revoke(sessions.holder(token).id.removeprefix("key "))
    with pytest.raises(NoAccess):
        sessions.holder(token)
    assert sessions.holder(other).role == "owner"


def test_a_session_of_an_analyst_whom_the_catalog_lists_no_more_has_ended_for_good(book):
    ledger, sessions = book._ledger, Sessions(book)
    ledger.open_account(CAP, analyst="alice", by=CATALOG)
    token = sessions.open(book.create("alice"))
    ledger.record(lambda draft: close_entries(draft, []), by=CATALOG)
    assert sessions.holder(token).name == "alice", "as far as was read"
    book._refresh()
    with pytest.raises(UnknownAccount):
        sessions.holder(token)
    ledger.open_account(CAP, analyst="alice", by=CATALOG)
    book._refresh()
    with pytest.raises(NoAccess):
        sessions.holder(token)

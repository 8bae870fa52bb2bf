"""Releases that the owner shows to all: an entry of the chain, by a name that means one release, and nothing else is shown."""

import pytest

from discreet.accounting import open_filter
from discreet.errors import NameTaken, NotAnswered
from discreet.ledger import verify
from discreet.ledger.chain.checkpoint import EVERY
from tests.ledger.asking import forge, open_ledger
from tests.ledger.test_steps import a_run, capped


def finished(where):
    """Two releases of one name: of alice, who finished first, and of bob."""
    ledger = capped(where)
    ledger.open_account(open_filter(10, delta=1e-6), analyst="bob")
    ledger.open_account(open_filter(10, delta=1e-6), analyst="eve")
    for number, analyst in ((1, "alice"), (2, "bob")):
        ledger.finish(ledger.reserve(a_run(number, name="visits", analyst=analyst)), analyst.encode())
    return ledger


def test_what_is_published_is_seen_by_all_and_nothing_else_is(where):
    ledger = finished(where)
    for look in (lambda: ledger.named_answer("visits", analyst="eve"), lambda: ledger.published_answer("visits")):
        with pytest.raises(NotAnswered):
            look()
    ledger.publish("visits", analyst="bob", by="key 1")
    others = open_ledger(where)
    assert others.named_answer("visits", analyst="eve") == others.published_answer("visits") == b"bob"
    assert others.named_answer("visits", analyst="alice") == b"alice"  # one's own comes first
    assert others.named_releases(analyst="eve") == ["visits"]
    entry = ledger.history(last=1)[0]
    assert (entry.kind, entry.body["name"], entry.body["by"]) == ("publish", "visits", "key 1")
    assert entry.body["question"] == a_run(2).key
    assert verify(ledger).sound


def test_a_name_is_published_once_and_means_one_release(where):
    ledger = finished(where)
    ledger.publish("visits", analyst="bob")
    entries = len(ledger.history())
    ledger.publish("visits", analyst="bob")
    assert len(ledger.history()) == entries
    with pytest.raises(NameTaken):
        ledger.publish("visits", analyst="alice")
    for name, analyst in (("none", None), ("visits", "eve")):
        with pytest.raises(NotAnswered):
            ledger.publish(name, analyst=analyst)
    ledger.reserve(a_run(3, name="begun"))  # not finished
    with pytest.raises(NotAnswered):
        ledger.publish("begun")
    assert len(ledger.history()) == entries + 1


def test_nobodys_release_is_published_in_place_of_anothers_because_they_gave_it_the_same_name(where):
    ledger = finished(where)
    entries = len(ledger.history())
    for books in (ledger, open_ledger(where)):
        with pytest.raises(NameTaken, match="Several analysts"):
            books.publish("visits")
    assert len(ledger.history()) == entries
    ledger.finish(ledger.reserve(a_run(3, name="visits", analyst=None)), b"owner")
    ledger.publish("visits")  # their own
    assert ledger.published_answer("visits") == b"owner"


def test_who_has_the_same_release_under_the_same_name_is_published_as_one(where):
    ledger = finished(where)
    for analyst in ("alice", "bob"):
        ledger.finish(ledger.reserve(a_run(4, name="shared", analyst=analyst)), b"of both")
    ledger.publish("shared")
    assert ledger.published_answer("shared") == b"of both"


def test_a_checkpoint_knows_what_is_published(where):
    ledger = finished(where)
    ledger.publish("visits", analyst="alice")
    for number in range(EVERY):
        ledger.freeze("eve", frozen=number % 2 == 0)
    again = open_ledger(where)
    assert again.totals().checkpoint
    assert again.published_answer("visits") == b"alice"
    assert verify(again, from_checkpoint=True).sound


def test_a_publication_that_was_forged_is_noticed(where):
    ledger = finished(where)
    ledger.publish("visits", analyst="alice")
    forge(ledger, "publish", {"name": "visits", "question": a_run(2).key})
    assert any("another release has" in problem for problem in verify(ledger).problems)
    forge(ledger, "publish", {"name": "more", "question": "of nobody"})
    assert any("no release" in problem for problem in verify(ledger).problems)

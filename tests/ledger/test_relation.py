"""Books are kept for one neighbour relation: it is in the chain, and a catalog with the other one is refused."""

import threading

import pytest

from discreet.core.loss import Neighbours
from discreet.errors import LedgerDamaged, WrongNeighbours
from discreet.ledger import Anchor, verify
from tests.ledger.asking import a_ledger, a_request, ask, forge, open_ledger


def kinds(ledger):
    return [entry.kind for entry in ledger.history()]


@pytest.mark.parametrize("relation", Neighbours)
def test_new_books_begin_with_their_relation_and_say_it_once(where, relation):
    a_ledger(where, neighbours=relation).close()
    again = a_ledger(where, neighbours=relation)
    assert kinds(again) == ["neighbours", "cap", "cap"]
    assert again.history()[0].body["relation"] == relation.value
    assert again.neighbours() is relation
    assert verify(again).sound


def test_the_other_relation_is_refused_and_changes_nothing(where):
    ledger = a_ledger(where, neighbours=Neighbours.ADD_REMOVE)
    before = ledger.head()
    with pytest.raises(WrongNeighbours, match="add-remove") as caught:
        open_ledger(where, neighbours=Neighbours.REPLACE_ONE)
    assert 'neighbours = "add-remove"' in caught.value.next_step
    assert ledger.head() == before
    assert open_ledger(where).neighbours() is Neighbours.ADD_REMOVE  # whoever only looks names none


def test_books_without_a_relation_have_it_written_when_they_are_first_opened_with_one(where, tmp_path):
    anchor = tmp_path / "anchor"
    ledger = a_ledger(where, anchor=anchor)
    answer = ask(ledger, a_request(1))
    assert ledger.neighbours() is None
    opened = open_ledger(where, neighbours=Neighbours.REPLACE_ONE, anchor=anchor)
    assert kinds(opened) == ["cap", "cap", "charge", "answer", "neighbours"]
    assert Anchor(anchor).noted == f"{opened.head().seq}:{opened.head().hash}"
    assert opened.reserve(a_request(1)).answer == answer
    with pytest.raises(WrongNeighbours):
        open_ledger(where, neighbours=Neighbours.ADD_REMOVE)
    assert verify(opened).sound


def test_many_who_open_books_at_once_agree_on_one_relation(where):
    a_ledger(where).close()
    refused = []

    def open_with(relation):
        try:
            open_ledger(where, neighbours=relation)
        except WrongNeighbours:
            refused.append(relation)

    threads = [threading.Thread(target=open_with, args=(relation,)) for relation in [*Neighbours] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = open_ledger(where).neighbours()
    assert len(refused) == 4
    assert kept not in refused
    assert kinds(open_ledger(where)).count("neighbours") == 1


def test_a_relation_that_was_changed_stops_whoever_names_one(where):
    ledger = a_ledger(where, neighbours=Neighbours.ADD_REMOVE)
    with ledger._store.transaction() as t:
        t.run("UPDATE ledger_entries SET body = replace(body, 'add-remove', 'replace-one') WHERE kind = 'neighbours'")
    assert not verify(ledger).sound
    for relation in Neighbours:
        with pytest.raises(LedgerDamaged):
            open_ledger(where, neighbours=relation)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_a_relation_that_is_named_twice_is_noticed(where, relation):
    ledger = a_ledger(where, neighbours=Neighbours.ADD_REMOVE)
    forge(ledger, "neighbours", {"relation": relation})
    assert not verify(ledger).sound
    with pytest.raises(LedgerDamaged, match="second time"):
        ledger.neighbours()

"""Formats of stored questions, answers that are any bytes, and books from before there were formats."""

import dataclasses
import hashlib
import os

import pyarrow as pa
import pytest

from discreet.core.loss import Neighbours
from discreet.errors import BadInput, LedgerDamaged
from discreet.ledger import Request, verify
from discreet.ledger.charges.ledger_opening import seal_books
from discreet.mechanisms import Laplace
from tests.ledger.asking import a_ledger, ask, older_books, open_ledger

VISITS, PATIENTS = "SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM patients"


def worded(label, *, query_format=1, analyst="alice", price=0.01):
    """A question whose digest has the format in it, as a curator makes it."""
    digest = hashlib.sha256(f"{query_format}:{label}".encode()).hexdigest()
    return Request(
        id=os.urandom(8).hex(),
        query=digest,
        releases=(Laplace(sensitivity=1, epsilon=price),),
        analyst=analyst,
        label=label,
        format=query_format,
    )


def paid_earlier(ledger, label, *, query_format=2, data_version=1):
    return ledger.paid_under_earlier_format(label, query_format=query_format, data_version=data_version)


def test_an_entry_names_the_format_of_its_question(where):
    ledger = a_ledger(where)
    for query_format in (1, 2, 13):
        ask(ledger, worded(VISITS, query_format=query_format))
    assert [entry.body["format"] for entry in ledger.history() if entry.kind == "charge"] == [1, 2, 13]
    assert verify(ledger).sound


def test_the_same_words_in_an_earlier_format_are_found_whoever_paid(where):
    ledger = a_ledger(where, analysts=("alice", "bob"))
    ask(ledger, worded(VISITS, analyst="bob"))
    assert paid_earlier(ledger, VISITS)
    assert not paid_earlier(ledger, PATIENTS)
    assert not paid_earlier(ledger, VISITS + " ")
    assert not paid_earlier(ledger, VISITS, query_format=1)
    assert not paid_earlier(ledger, "")


def test_the_same_words_in_the_same_or_a_later_format_are_not(where):
    ledger = a_ledger(where)
    for query_format in (2, 3, 21):
        ask(ledger, worded(VISITS, query_format=query_format))
    assert not paid_earlier(ledger, VISITS)
    assert paid_earlier(ledger, VISITS, query_format=3)


def test_words_are_looked_for_in_their_data_version(where):
    ledger = a_ledger(where)
    ask(ledger, worded(PATIENTS))
    ledger.refresh()
    ask(ledger, worded(VISITS))
    assert paid_earlier(ledger, PATIENTS, data_version=1)
    assert not paid_earlier(ledger, PATIENTS, data_version=2)
    assert paid_earlier(ledger, VISITS, data_version=2)


@pytest.mark.parametrize("label", ['"format":2,"label":', "100 % of _ \\ 'x' \"y\"\n–", "?", "%s"])
def test_words_that_look_like_an_entry_are_only_words(where, label):
    ledger = a_ledger(where)
    ask(ledger, worded(label))
    ask(ledger, Request(id='"format":2,"label":', query="q", releases=worded(label).releases, label=VISITS))
    assert paid_earlier(ledger, label)
    assert paid_earlier(ledger, VISITS)


def test_a_question_of_one_format_is_never_answered_with_what_is_stored_for_another(where):
    ledger = a_ledger(where)
    old = worded(VISITS)
    ledger.finish(ledger.reserve(old), b"bytes that mean something else")
    new = dataclasses.replace(old, id="new", format=2)  # even if the digests were the same
    assert not ledger.reserve(new).replayed
    assert ledger.reserve(dataclasses.replace(old, id="again")).replayed


@pytest.mark.parametrize("broken", [0, -1, True, 1.0, "1", None])
def test_a_format_is_a_whole_number_from_one_on(broken):
    with pytest.raises(BadInput):
        dataclasses.replace(worded(VISITS), format=broken)


def arrow_stream():
    table, sink = pa.table({"ward": ["ER", None], "n": [41, -7]}), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


BYTES = {
    "every byte": bytes(range(256)),
    "no text": b"\xff\xfe\xc3\x28\x00",
    "nothing": b"",
    "a number": b"1",
    "JSON": b'{"rows": [1]}',
    "a megabyte": os.urandom(1 << 20),
    "an Arrow stream": arrow_stream(),
}


@pytest.mark.parametrize("name", BYTES)
def test_an_answer_is_any_bytes_and_comes_back_as_it_was(where, name):
    ledger, answer = a_ledger(where), BYTES[name]
    paid = ledger.reserve(worded(VISITS))
    assert ledger.finish(paid, answer) == answer
    assert ledger.finish(paid, b"another") == answer
    ledger.close()
    reopened = open_ledger(where)
    again = reopened.reserve(worded(VISITS))
    assert (again.replayed, again.answer) == (True, answer)
    stored = next(entry for entry in reopened.history() if entry.kind == "answer")
    assert stored.body["sha256"] == hashlib.sha256(answer).hexdigest()
    assert verify(reopened).sound


def test_an_answer_that_became_text_is_no_answer(tmp_path):
    ledger = a_ledger(str(tmp_path / "ledger.sqlite"))
    ask(ledger, worded(VISITS))
    with ledger._store.transaction() as t:
        t.run("UPDATE ledger_questions SET answer = 'text'")
    with pytest.raises(LedgerDamaged):
        ledger.reserve(worded(VISITS))
    assert not verify(ledger).sound


@pytest.fixture
def old_books(tmp_path):
    place = older_books(tmp_path)
    seal_books(place, anchor=None)
    return place


def test_older_books_go_on(old_books):
    ledger = open_ledger(old_books, neighbours=Neighbours.ADD_REMOVE)
    assert verify(ledger).sound
    assert ledger.neighbours() is Neighbours.ADD_REMOVE
    assert ledger.account().spent.epsilon == 0.75
    price = (Laplace(sensitivity=1, epsilon=0.25),)
    paid = ledger.reserve(Request(id="request-2", query="question-2", releases=price, analyst="alice"))
    assert paid.answer == b'{"rows": [[873]]}'
    ask(ledger, worded(VISITS, query_format=2))
    assert verify(ledger).sound


def test_what_was_paid_for_in_older_books_is_known_by_its_words(old_books):
    ledger = open_ledger(old_books, neighbours=Neighbours.ADD_REMOVE)
    assert paid_earlier(ledger, VISITS, data_version=2)
    assert paid_earlier(ledger, f"{VISITS} WHERE cost > 7", data_version=2)
    assert not paid_earlier(ledger, PATIENTS, data_version=2)
    assert paid_earlier(ledger, PATIENTS, data_version=1)

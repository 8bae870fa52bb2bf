"""Formats of stored questions, and answers that are any bytes."""

import dataclasses
import hashlib
import os

import pyarrow as pa
import pytest

from discreet.errors import BadInput, LedgerDamaged
from discreet.ledger import Request, verify
from discreet.mechanisms import Laplace
from tests.ledger.asking import a_ledger, ask, open_ledger

VISITS = "SELECT COUNT(*) FROM visits"


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


def test_an_entry_names_the_format_of_its_question(where):
    ledger = a_ledger(where)
    for query_format in (1, 2, 13):
        ask(ledger, worded(VISITS, query_format=query_format))
    assert [entry.body["format"] for entry in ledger.history() if entry.kind == "charge"] == [1, 2, 13]
    assert verify(ledger).sound


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

"""Asking a ledger, as a curator would: reserve, compute, finish."""

from __future__ import annotations

import os
from dataclasses import replace

from discreet.accounting import open_filter
from discreet.ledger import Entry, Ledger, Request
from discreet.ledger.chain import entry_chain
from discreet.mechanisms import Laplace
from discreet.store import open_store
from discreet.store.secret import load_secret

PRICE = 0.01


def a_request(number, *, analyst="alice", epsilon=PRICE, request_id=None):
    return Request(
        id=request_id or f"request-{number}",
        query=f"question-{number}",
        releases=(Laplace(sensitivity=1, epsilon=epsilon),),
        analyst=analyst,
    )


OPENED = []
"""Every ledger that a test has opened; closed when it ends."""


def open_ledger(where, **options):
    ledger = Ledger(open_store(where), **{"secret": load_secret(where), **options})
    OPENED.append(ledger)
    return ledger


def a_ledger(where, *, cap=1.0, analysts=("alice",), **options):
    ledger = open_ledger(where, **options)
    ledger.open_account(open_filter(cap))
    for analyst in analysts:
        ledger.open_account(open_filter(cap), analyst=analyst)
    return ledger


def ask(ledger, request):
    """The bytes that a client sees: fresh noise every time it is computed, the stored answer every time it leaves."""
    reservation = ledger.reserve(request)
    if reservation.answer is not None:
        return reservation.answer
    return ledger.finish(reservation, os.urandom(16))


def append(t, entry):
    """A row behind everybody's back."""
    t.insert(entry_chain.INTO, [entry_chain.row_of(entry)])


def forge(ledger, kind, body, *, sealed=True):
    """An entry behind the ledger's back, linked to the last as it should be; sealed as only who holds the secret can."""
    with ledger._store.transaction() as t:
        last = entry_chain.last_entry(t)
        entry = Entry.following(last, time=last.time, kind=kind, body=body)
        append(t, replace(entry, seal=ledger.writer.seals.of(entry) if sealed else None))


def stored_answers(ledger):
    """By question."""
    with ledger._store.transaction() as t:
        return dict(t.run("SELECT question, answer FROM ledger_questions"))


def in_child(work):
    """Run `work(write)` in a forked process; what it wrote before it ended, however it ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            work(lambda data: os.write(writer, data))
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    return child, reader


def output_of(child, reader):
    with os.fdopen(reader, "rb") as pipe:
        written = pipe.read()
    os.waitpid(child, 0)
    return written

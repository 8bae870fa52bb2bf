"""What costs nothing writes little: a repeat has no words, only so many a day are written down, and ids and bills mean what they did."""

import datetime
from dataclasses import replace

import pytest

from discreet.errors import RequestConflict
from discreet.ledger import verify
from discreet.ledger.accounts.totals import QueryCounts
from discreet.ledger.charges import stored_queries
from discreet.results.ledger_views import asked, history
from discreet.samples import write_clinic
from tests.ledger.asking import a_ledger, a_request, ask, forge, open_ledger
from tests.support.opening import open_curator

WORDS = "SELECT COUNT(*) AS n FROM people WHERE " + " AND ".join(["age < 50"] * 1_000)


def worded(number, request_id, **details):
    return replace(a_request(number, request_id=request_id, **details), label=WORDS)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(stored_queries, "REPEATS_A_DAY", 5)


def test_a_thousand_repeats_of_long_words_write_a_few_short_entries(where, few):
    ledger = a_ledger(where)
    first = ask(ledger, worded(1, "first"))
    before = ledger.head().seq
    assert {ask(ledger, worded(1, f"again-{number}")) for number in range(50)} == {first}
    repeats = ledger.history()[before:]
    assert len(repeats) == 5
    assert all(len(str(entry)) < 1_000 for entry in repeats), "no words, and no price"
    assert ledger.account("alice").spent == ledger.account().spent
    assert asked(ledger, "alice") == QueryCounts(queries=6, free=5)
    assert {(past.sql, past.epsilon, past.replayed) for past in history(ledger, "alice")[:5]} == {(WORDS, 0.01, True)}
    assert len({ledger.reserve(worded(1, name)).receipt for name in ("first", "again-0", "again-40")}) == 1
    assert verify(ledger).sound


def test_an_id_means_one_question_as_long_as_it_is_written_down_and_is_never_paid_for_twice(where, few):
    ledger = a_ledger(where)
    ask(ledger, worded(1, "first"))
    for number in range(6):
        ask(ledger, worded(1, f"again-{number}"))
    for name in ("first", "again-4"):
        with pytest.raises(RequestConflict):
            ledger.reserve(worded(2, name))
    assert ledger.reserve(worded(2, "again-5")).charged, "nothing was written down of it"
    spent = ledger.account().spent
    assert not ledger.reserve(worded(2, "again-5")).charged
    with pytest.raises(RequestConflict):
        ledger.reserve(worded(1, "again-5"))
    assert ledger.account().spent == spent


def test_repeats_are_counted_for_each_analyst_and_day_and_over_a_restart(where, few):
    clock = [datetime.datetime(2026, 11, 15, 12, tzinfo=datetime.UTC)]
    ledger = a_ledger(where, analysts=("alice", "bob"), now=lambda: clock[0])

    def written(analyst, name):
        before = ledger.head().seq
        for number in range(10):
            ask(ledger, worded(1, f"{name}-{number}", analyst=analyst))
        return ledger.head().seq - before

    ask(ledger, worded(1, "first"))
    ask(ledger, worded(1, "first", analyst="bob"))
    assert written("alice", "a") == written("bob", "a") == 5
    assert verify(ledger).sound  # and signs a checkpoint
    ledger = open_ledger(where, now=lambda: clock[0])
    assert written("alice", "b") == 0
    clock[0] += datetime.timedelta(days=1)
    assert written("alice", "c") == 5


def test_the_owner_s_own_words_are_those_of_who_paid(where):
    ledger = a_ledger(where)
    ask(ledger, worded(1, "first"))
    receipts = {ledger.reserve(worded(1, f"owner-{number}", analyst=None)).receipt for number in range(3)}
    assert len(receipts) == 1
    assert [(past.sql, past.analyst) for past in history(ledger, None)] == [(WORDS, None)] * 3 + [(WORDS, "alice")]
    assert verify(ledger).sound


@pytest.mark.parametrize("change", [{"accounts": ["dataset"]}, {"of": 1}, {"of": 99}])
def test_a_repeat_that_was_made_up_is_noticed(where, change):
    ledger = a_ledger(where)
    ask(ledger, worded(1, "first"))
    ask(ledger, worded(1, "again"))
    forge(ledger, "charge", {**ledger.history()[-1].body, "request": "mine", **change})
    assert not verify(ledger).sound


def test_the_books_keep_no_comments(tmp_path):
    with open_curator(write_clinic(tmp_path, patients=20, visits=50)) as curator:
        sql = f"SELECT COUNT(*) AS n -- how many?\nFROM visits /* {'x' * 10_000} */ WHERE '--' <> ':'{' ' * 500}"
        curator.ask(sql, epsilon=0.1)
        assert curator.history()[0].sql == "SELECT COUNT(*) AS n\nFROM visits WHERE '--' <> ':'"
        assert curator.ask(sql, epsilon=0.1).replayed

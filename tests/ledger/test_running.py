"""The running sum: rows that were edited grant nothing, checkpoints are believed only if signed, and others may write between."""

import json
import os
import shutil
from pathlib import Path

import pytest

from discreet.core.loss import Neighbours
from discreet.errors import BudgetExceeded, LedgerDamaged, NoSecret
from discreet.ledger import Ledger, verify
from discreet.ledger.chain import checkpoint
from tests.ledger.asking import PRICE, a_ledger, a_request, ask, forge, open_ledger

SECRET = b"s" * 64
EDITS = {
    "a total lowered": "UPDATE ledger_accounts SET spent_pure = '0' WHERE name = 'dataset'",
    "an analyst's total lowered": "UPDATE ledger_accounts SET spent_pure = '0' WHERE name = 'analyst:alice'",
    "a rho lowered": "UPDATE ledger_accounts SET spent_rho = '0' WHERE name = 'dataset'",
    "a cap raised": "UPDATE ledger_accounts SET epsilon = '100' WHERE name = 'dataset'",
    "an account removed": "DELETE FROM ledger_accounts WHERE name = 'dataset'",
    "an account frozen": "UPDATE ledger_accounts SET frozen = 1 WHERE name = 'dataset'",
}


def edit(ledger, statement, *values):
    with ledger._store.transaction() as t:
        t.run(statement, *values)


@pytest.mark.parametrize("name", EDITS)
def test_a_row_edited_while_it_runs_grants_nothing(where, name):
    ledger = a_ledger(where)
    ask(ledger, a_request(1))
    head = ledger.head()
    edit(ledger, EDITS[name])
    for books in (ledger, open_ledger(where)):
        with pytest.raises(LedgerDamaged):
            books.reserve(a_request(2))
    assert ledger.head() == head


def test_an_account_row_put_back_to_an_earlier_one_is_noticed(where):
    ledger = a_ledger(where)
    with ledger._store.transaction() as t:
        (early,) = t.run("SELECT spent_pure, spent_rho FROM ledger_accounts WHERE name = 'dataset'")
    ask(ledger, a_request(1))
    edit(ledger, "UPDATE ledger_accounts SET spent_pure = ?, spent_rho = ? WHERE name = 'dataset'", *early)
    with pytest.raises(LedgerDamaged, match="does not match its entries"):
        ledger.reserve(a_request(2))


def test_a_thaw_that_no_entry_says_lets_nobody_on(where):
    ledger = a_ledger(where)
    ask(ledger, a_request(1))
    ledger.freeze("alice")
    edit(ledger, "UPDATE ledger_accounts SET frozen = 0")
    with pytest.raises(LedgerDamaged):
        ledger.reserve(a_request(1))


@pytest.mark.parametrize(
    "row",
    [
        "INSERT INTO ledger_questions (question) VALUES (?)",
        "INSERT INTO ledger_questions (question, charged) VALUES (?, 3)",
        "INSERT INTO ledger_questions (question, charged) VALUES (?, 4)",
        "INSERT INTO ledger_paid (analyst, question, charged) VALUES ('alice', ?, 3)",
        "INSERT INTO ledger_requests VALUES ('alice', 'request-2', ?, 'none')",
    ],
)
def test_a_row_that_says_paid_is_not_a_payment(where, row):
    ledger = a_ledger(where)
    ask(ledger, a_request(1))
    edit(ledger, row, a_request(2).key)
    with pytest.raises(LedgerDamaged):
        ledger.reserve(a_request(2))


@pytest.mark.parametrize("answer", [None, b"another"])
def test_a_stored_answer_that_was_changed_is_neither_replayed_nor_made_anew(where, answer):
    ledger = a_ledger(where)
    paid = ledger.reserve(a_request(1))
    ledger.finish(paid, b"the one that was given")
    edit(ledger, "UPDATE ledger_questions SET answer = ?", answer)
    with pytest.raises(LedgerDamaged):
        ledger.reserve(a_request(1))
    with pytest.raises(LedgerDamaged):
        ledger.finish(paid, b"another")


def test_what_another_process_wrote_is_followed(where):
    first, second = a_ledger(where, cap=3 * PRICE), open_ledger(where)
    for number, books in enumerate([first, second, first]):
        ask(books, a_request(number))
    for books in (first, second):
        with pytest.raises(BudgetExceeded):
            books.reserve(a_request(9))
    second.freeze("alice")
    assert first.totals().accounts["analyst:alice"].frozen
    assert verify(first).sound


def test_an_entry_of_another_that_does_not_add_up_stops_the_books(where):
    ledger = a_ledger(where)
    ask(ledger, a_request(1))
    forge(ledger, "refresh", {"version": 7})
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="not the next"):
            ledger.reserve(a_request(2))


@pytest.mark.parametrize("kind", ["cap", "charge", "answer", "watch", "neighbours", "refresh", "freeze", "key", "what"])
def test_an_entry_without_a_body_is_a_problem_and_not_a_crash(tmp_path, kind):
    ledger = a_ledger(str(tmp_path / "ledger.sqlite"))
    forge(ledger, kind, {})
    assert any("entry 3" in problem for problem in verify(ledger).problems)


# Checkpoints


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "ledger.sqlite")


def signed_books(place, monkeypatch):
    """Books with a checkpoint at every few entries, and some since."""
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    ledger = a_ledger(place, secret=SECRET, neighbours=Neighbours.ADD_REMOVE)
    for number in range(6):
        ask(ledger, a_request(number))
    return ledger


@pytest.fixture
def signed(place, monkeypatch):
    return signed_books(place, monkeypatch)


def started_at(ledger):
    """The entry that these books would be followed from."""
    with ledger.writer.snapshot() as (_, running):
        return running and running.head.seq


def test_books_are_opened_from_their_last_checkpoint(where, monkeypatch):
    signed = signed_books(where, monkeypatch)
    again = open_ledger(where, secret=SECRET)
    assert signed.head().seq - 4 <= started_at(again) < signed.head().seq
    assert again.totals() == signed.totals()
    assert verify(again, from_checkpoint=True).sound
    ask(again, a_request(9))
    assert again.account().spent.epsilon == pytest.approx(7 * PRICE)
    assert verify(again).sound
    assert started_at(again) == again.head().seq  # a whole verification leaves one


def test_what_a_checkpoint_says_is_what_the_whole_chain_says(place, signed):
    followed = open_ledger(place, secret=None).totals()
    followed.checkpoint = signed.totals().checkpoint
    assert signed.totals() == followed


FORGERIES = {
    "a total lowered": lambda state: state["accounts"][0].__setitem__(5, "0"),
    "a cap raised": lambda state: state["accounts"][0].__setitem__(2, "1000"),
    "the head moved": lambda state: state.__setitem__("seq", 3),
    "a version": lambda state: state.__setitem__("version", 9),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_an_edited_checkpoint_is_not_believed(place, signed, name):
    with signed._store.transaction() as t:
        state = json.loads(t.run("SELECT state FROM ledger_checkpoint")[0][0])
        FORGERIES[name](state)
        t.run("UPDATE ledger_checkpoint SET state = ?", json.dumps(state, sort_keys=True, separators=(",", ":")))
    again = open_ledger(place, secret=SECRET)
    assert started_at(again) is None
    assert again.totals().accounts == signed.totals().accounts
    assert verify(again, from_checkpoint=True).sound  # by reading everything


@pytest.mark.parametrize("statement", ["DELETE FROM ledger_checkpoint", "UPDATE ledger_checkpoint SET signature = ''"])
def test_without_a_checkpoint_everything_is_read(place, signed, statement):
    edit(signed, statement)
    edit(signed, "UPDATE ledger_entries SET body = replace(body, '1/100', '1/999') WHERE seq = 4")
    again = open_ledger(place, secret=SECRET)
    assert not verify(again, from_checkpoint=True).sound
    with pytest.raises(LedgerDamaged):
        again.reserve(a_request(9))


@pytest.mark.parametrize("secret", [None, b"t" * 64])
def test_a_checkpoint_of_another_secret_is_not_believed(place, signed, secret):
    assert started_at(open_ledger(place, secret=secret)) is None


def test_a_checkpoint_of_other_books_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    ours, theirs = (a_ledger(str(tmp_path / name), secret=SECRET) for name in ("ours", "theirs"))
    for number in range(4):
        ask(ours, a_request(number))
        ask(theirs, a_request(number, epsilon=PRICE / 100))
    with theirs._store.transaction() as t:
        cheap = t.run("SELECT state, signature FROM ledger_checkpoint")[0]
    edit(ours, "UPDATE ledger_checkpoint SET state = ?, signature = ?", *cheap)
    assert started_at(open_ledger(str(tmp_path / "ours"), secret=SECRET)) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_accounts SET spent_pure = '0' WHERE name = 'dataset'",
        "UPDATE ledger_entries SET hash = previous WHERE seq = (SELECT MAX(seq) FROM ledger_entries) - 1",
        "DELETE FROM ledger_requests WHERE request = 'request-5'",
        "DELETE FROM ledger_paid",
        "UPDATE ledger_questions SET answer = NULL",
    ],
)
def test_a_verification_from_the_checkpoint_on_finds_what_was_changed_since(place, signed, statement):
    edit(signed, statement)
    assert not verify(open_ledger(place, secret=SECRET), from_checkpoint=True).sound


def test_the_secret_lies_beside_the_ledger_and_a_copy_without_it_can_be_looked_at_only(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.new(path, neighbours=Neighbours.ADD_REMOVE)
    assert verify(ledger).sound
    assert started_at(ledger) == 1
    ledger.close()
    assert (Path(f"{path}.secret").stat().st_mode & 0o777) == 0o600
    shutil.copy(path, tmp_path / "copy.sqlite")
    with pytest.raises(NoSecret, match=r"copy\.sqlite\.secret"):
        Ledger.open(tmp_path / "copy.sqlite")
    copy = Ledger.look(tmp_path / "copy.sqlite")
    assert started_at(copy) is None
    found = verify(copy)
    assert found.sound
    assert found.remarks == ("the seals were not verified: the secret is missing",)
    with pytest.raises(NoSecret):
        copy.freeze("alice")
    copy.close()
    assert not (tmp_path / "copy.sqlite.secret").exists()


def test_the_totals_of_the_card_and_the_bill_are_those_of_the_history(where):
    ledger = a_ledger(where, analysts=("alice", "bob"))
    for number in (1, 2, 1, 2, 3):
        ask(ledger, a_request(number, request_id=os.urandom(4).hex()))
    ask(ledger, a_request(1, analyst="bob"))
    running = ledger.totals()
    assert {name: (asked.queries, asked.free) for name, asked in running.asked.items()} == {
        "alice": (5, 2),
        "bob": (1, 0),
    }
    (released,) = running.released.values()
    assert released.times == 4
    assert [ledger.entry(number).body["accounts"] for number in running.latest] == [
        ["dataset", "analyst:alice"],
        ["dataset", "analyst:alice"],
        ["dataset", "analyst:alice"],
        ["analyst:bob"],
    ]

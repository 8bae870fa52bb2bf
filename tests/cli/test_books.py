"""The commands that show and verify the books, as a person runs them."""

import json
import sqlite3

import pytest

from discreet.accounting import open_filter
from discreet.core.loss import Neighbours
from discreet.ledger import Ledger, Request
from discreet.mechanisms import Gaussian, Laplace
from discreet.samples.clinic import CATALOG
from tests.support.commands import run, run_apart


@pytest.fixture
def books(tmp_path):
    """Two analysts, three questions, one of them repeated."""
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.new(path, neighbours=Neighbours.ADD_REMOVE, anchor=f"{path}.anchor")
    ledger.open_account(open_filter(5, 1e-6))
    ledger.open_account(open_filter(2), analyst="alice")
    ledger.open_account(open_filter(1, 1e-6), analyst="bob")
    count, mean = (Laplace(sensitivity=1, epsilon=0.5),), (Gaussian.for_rho(sensitivity=3, rho=0.01),)
    for analyst, name, query, releases in (
        ("alice", "1", "SELECT COUNT(*) FROM visits", count),
        ("bob", "1", "SELECT AVG(cost) FROM visits", mean),
        ("alice", "2", "SELECT COUNT(*) FROM visits", count),
    ):
        reservation = ledger.reserve(Request(id=name, query=query, releases=releases, analyst=analyst, label=query))
        if reservation.answer is None:
            ledger.finish(reservation, b"42")
    yield path
    ledger.close()


def test_the_budget_shows_what_is_left_and_who_spent_it_on_what(books):
    shown = run_apart("budget", "--ledger", books)
    assert "alice" in shown
    assert "████" in shown
    assert "SELECT AVG(cost) FROM visits" in shown
    assert "ε 0.5" in shown
    assert "ρ 0.01" in shown
    assert "3 questions were asked, 1 of them free" in shown


def test_the_budget_as_json(books):
    facts = json.loads(run("budget", "--ledger", books, "--json"))
    assert [account["account"] for account in facts["accounts"]] == ["dataset", "alice", "bob"]
    assert facts["accounts"][1]["spent"] == {"epsilon": 0.5, "delta": 0.0}
    paid_by = [query["paid_by"] for query in facts["queries"]]
    assert paid_by == [[], ["dataset", "bob"], ["dataset", "alice"]]
    assert facts["asked"] == {"queries": 3, "free": 1}
    assert [query["sql"] for query in facts["queries"]][1] == "SELECT AVG(cost) FROM visits"


def test_the_configuration_says_where_the_ledger_is(books):
    (books.parent / "discreet.toml").write_text(CATALOG)
    assert "alice" in run("budget", cwd=books.parent)
    assert "sound" in run("ledger", "verify", "--config", books.parent / "discreet.toml")


def test_verify_says_sound_or_what_is_wrong(books):
    head = run_apart("ledger", "head", "--ledger", books).strip()
    assert run("ledger", "verify", "--ledger", books, "--anchor", head).startswith("sound: 9 entries")
    wrong = run("ledger", "verify", "--ledger", books, "--anchor", "8:" + "0" * 64, code=5)
    assert "missing or changed" in wrong
    facts = json.loads(run("ledger", "verify", "--ledger", books, "--json"))
    assert facts["sound"] is True
    assert facts["entries"] == 9


def test_show_lists_entries(books):
    shown = run("ledger", "show", "--ledger", books, "--last", 3)
    assert "free" in shown
    assert "add-remove" in run("ledger", "show", "--ledger", books)
    assert len(json.loads(run("ledger", "show", "--ledger", books, "--json"))) == 9


def test_a_missing_ledger_is_refused_with_a_next_step_and_not_made(tmp_path):
    shown = run("budget", "--ledger", tmp_path / "none.sqlite", code=3)
    assert "refused: no-ledger (nothing was spent)" in shown
    assert "Check the path" in shown
    assert not (tmp_path / "none.sqlite").exists()
    assert "Give --ledger" in run("budget", code=3, cwd=tmp_path)


def test_what_an_analyst_writes_is_shown_as_it_is(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.new(path)
    ledger.open_account(open_filter(5))
    ledger.open_account(open_filter(5), analyst="[red]mallory")
    price = (Laplace(sensitivity=1, epsilon=0.5),)
    label = "[/x] mean of salary[dept]\x1b[2J"
    ledger.reserve(Request(id="1", query="q", releases=price, analyst="[red]mallory", label=label))
    ledger.close()
    shown = run("budget", "--ledger", path)
    assert "[/x] mean of salary[dept]" in shown
    assert "[red]mallory" in shown
    assert "\x1b" not in shown


def test_looking_at_a_file_that_is_no_ledger_changes_nothing(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    assert "no ledger" in run("budget", "--ledger", path, code=3)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]
    connection.close()


def test_an_anchor_that_is_no_head_is_refused(books):
    assert "number:hash" in run("ledger", "verify", "--ledger", books, "--anchor", "abc", code=3)
    assert run("ledger", "verify", "--ledger", books, "--anchor", "0:").startswith("sound")

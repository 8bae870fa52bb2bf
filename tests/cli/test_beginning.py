"""From the first command to the first answer; and books that were put back, as the commands see them."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.samples import write_clinic


@pytest.fixture
def folder(tmp_path, run):
    """A clinic whose books were begun, with one question in them."""
    write_clinic(tmp_path, patients=20, visits=50)
    assert "no-ledger" in run("ask", "SELECT COUNT(*) FROM visits", "--epsilon", 0.5, code=3)
    run("ledger", "new")
    assert "already" in run("ledger", "new", code=3)
    shutil.copy(tmp_path / "ledger.sqlite", tmp_path / "backup")
    return tmp_path


def asked(run):
    return json.loads(run("ask", "SELECT COUNT(*) FROM visits", "--epsilon", 0.5, "--json"))


def test_init_begins_the_books_and_the_first_question_is_answered(tmp_path, run):
    pq.write_table(pa.table({"person": [1, 2, 3], "ward": ["a", "b", "a"]}), tmp_path / "visits.parquet")
    assert "There is no default" in run("init", "visits.parquet", code=3)
    assert not (tmp_path / "discreet.toml").exists()
    told = run("init", "visits.parquet", "--epsilon", 5)
    assert "created a ledger" in told
    assert (tmp_path / "ledger.sqlite.anchor").exists()
    assert asked(run)["loss"]["epsilon"] == 0.5
    assert "sound" in run("ledger", "verify")


def test_a_ledger_that_was_put_back_stops_questions_and_verification_until_it_is_the_newest_again(folder, run):
    asked(run)
    shutil.copy(folder / "ledger.sqlite", folder / "newest")
    shutil.copy(folder / "backup", folder / "ledger.sqlite")
    refusal = run("ask", "SELECT COUNT(*) FROM visits", "--epsilon", 0.5, code=5)
    assert "entries are missing or changed" in refusal
    for command in ("verify", "anchor"):
        assert "problem: the anchored head is not in the ledger" in run("ledger", command, code=5)
    assert json.loads(run("ledger", "verify", "--json", code=5))["sound"] is False
    shutil.copy(folder / "newest", folder / "ledger.sqlite")
    assert "sound" in run("ledger", "verify")


def test_a_note_that_is_gone_is_made_again_by_its_command_only(folder, run):
    asked(run)
    (folder / "ledger.sqlite.anchor").unlink()
    for command in (("budget",), ("ledger", "verify"), ("ledger", "freeze", "alice")):
        assert "discreet ledger anchor" in run(*command, code=5)
    assert not (folder / "ledger.sqlite.anchor").exists()
    assert run("ledger", "head").strip() in run("ledger", "anchor")
    assert "sound" in run("ledger", "verify")


def test_a_receipt_is_found_and_a_guess_is_not(folder, run):
    answer = asked(run)
    assert asked(run)["receipt"] == answer["receipt"]
    assert "the owner, paid by dataset" in run("ledger", "receipt", answer["receipt"])
    assert "no charge with this receipt" in run("ledger", "receipt", "0" * 64, code=3)


def test_a_cap_that_renews_says_when_and_what_a_year_comes_to(folder, run):
    run("ledger", "cap", "alice", "--epsilon", 0.25, "--renews", "monthly")
    (alice,) = [one for one in json.loads(run("budget", "--json"))["accounts"] if one["account"] == "alice"]
    assert alice["renewal"]["every"] == "month"
    shown = " ".join(run("budget").split())
    assert f"alice: ε 0.25 each month, the next begins on {alice['renewal']['next']} (UTC)" in shown
    assert "at most ε 3 a year (12 × 0.25)" in shown


def test_a_cap_that_is_set_by_command_outlives_the_next_opening(folder, run):
    run("ledger", "cap", "alice", "--epsilon", 0.25)
    asked(run)  # which opens the books with the catalog
    accounts = json.loads(run("budget", "--json"))["accounts"]
    assert {account["account"]: account["cap"]["epsilon"] for account in accounts} == {"dataset": 5.0, "alice": 0.25}

"""A server with a bad configuration says what is wrong and what to do, and serves nothing."""

import os
import sqlite3
import subprocess
import sys

import pytest

from discreet.samples import write_clinic
from tests.opening import begin_books, open_curator
from tests.server.conftest import free_port


def start(config):
    """What `discreet serve` says when it does not come up."""
    done = subprocess.run(
        [sys.executable, "-m", "discreet", "serve", str(config), "--port", str(free_port())],
        capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    return done.returncode, done.stderr


def missing(config):
    config.unlink()


def without_its_ledger(config):
    (config.parent / "ledger.sqlite").unlink()


def with_an_older_ledger(config):
    older = (config.parent / "ledger.sqlite").read_bytes()
    with open_curator(config) as curator:
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.5)
    (config.parent / "ledger.sqlite").write_bytes(older)


def without_its_anchor(config):
    (config.parent / "ledger.sqlite.anchor").unlink()


def unreadable(config):
    config.write_text("[source\n")


def without_a_budget(config):
    config.write_text(config.read_text().replace("epsilon = 5.0", ""))


def without_a_table(config):
    (config.parent / "visits.parquet").unlink()


def with_another_source(config):
    with open_curator(config):
        pass
    (config.parent / "visits.parquet").touch()


def with_a_ledger_that_does_not_last(config):
    config.write_text(config.read_text().replace("ledger.sqlite", ":memory:"))


def with_a_tampered_ledger(config):
    with open_curator(config) as curator:
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.5)
    with sqlite3.connect(config.parent / "ledger.sqlite") as books:
        books.execute("UPDATE ledger_accounts SET spent_pure = '0', spent_rho = '0'")


def with_a_secret_that_others_can_read(config):
    (config.parent / "ledger.sqlite.secret").write_text("x" * 64)
    (config.parent / "ledger.sqlite.secret").chmod(0o644)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (missing, "There is no catalog there"),
        (without_its_ledger, "discreet ledger new"),
        (with_an_older_ledger, "entries are missing or changed"),
        (without_its_anchor, "discreet ledger anchor"),
        (unreadable, "no valid TOML"),
        (without_a_budget, "has no epsilon"),
        (without_a_table, "There is no DuckDB, Parquet or CSV file for the table visits"),
        (with_another_source, "discreet refresh"),
        (with_a_ledger_that_does_not_last, "a ledger that lasts"),
        (with_a_tampered_ledger, "not what its entries add up to"),
        (with_a_secret_that_others_can_read, "chmod 600"),
    ],
)
def test_a_bad_configuration_is_told_and_nothing_is_served(damage, words, tmp_path):
    config = write_clinic(tmp_path, patients=20, visits=50)
    begin_books(config)
    damage(config)
    code, told = start(config)
    assert code in (3, 5)
    assert words in told
    assert "Traceback" not in told
    assert "listening" not in told

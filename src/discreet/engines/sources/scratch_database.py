"""A database for whoever looks at a file and goes: DuckDB takes longer to begin than to look."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

_OF_THIS_THREAD = threading.local()
_SMALL: dict[str, str | bool | int | float | list[str]] = {"threads": 1, "enable_external_file_cache": False}
"""It has no threads of its own, so that a process that is forked off can use it, and remembers nothing of what it read."""


@contextmanager
def scratch_connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an empty database in memory. Whoever attaches a file to it detaches it; what is registered goes with it.

    The database stays for the next one of this thread.
    """
    if not hasattr(_OF_THIS_THREAD, "database"):
        _OF_THIS_THREAD.database = duckdb.connect(":memory:", config=_SMALL)
    with _OF_THIS_THREAD.database.cursor() as connection:
        yield connection

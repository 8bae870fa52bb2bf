"""Statements are tried on tables without a row, before anything is charged."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict

import duckdb

from discreet.catalog import Catalog
from discreet.engines.kernel import Statement
from discreet.engines.snapshot import UNSAFE_OPTIMIZERS, empty_tables
from discreet.engines.watch import Watch
from discreet.errors import NotAllowed, TooLarge

_REMEMBERED = 1024
_TABLES = 256
_CONSTANT = re.compile(r"""("(?:[^"]|"")*")|'(?:[^']|'')*'|(?<=CAST\()-?\d+(?= AS BIGINT\))""")
"""What may differ between two statements of one shape. A quoted name is matched first, and kept: it may hold an apostrophe."""


class Binder:
    """The snapshot's tables, empty, and what was bound to them lately."""

    def __init__(self, catalog: Catalog, watch: Watch) -> None:
        self._watch = watch
        self._connection = duckdb.connect(":memory:")
        empty_tables(self._connection, catalog)
        self._connection.execute(f"SET disabled_optimizers = '{UNSAFE_OPTIMIZERS}'")
        self._bound: OrderedDict[bytes, None] = OrderedDict()
        self._tables: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        self._connection.close()

    def bind(self, statement: Statement) -> None:
        """Refuse what the engine would refuse by types. What was bound before is known to fit, whatever its constants are."""
        digest = hashlib.sha256(_CONSTANT.sub(r"\1?", statement.sql).encode()).digest()
        with self._lock:
            if digest not in self._bound:
                try:
                    with self._watch.reading(self._connection, threading.Event()):
                        self._try(statement)
                except duckdb.InterruptException:
                    raise TooLarge(
                        "The question takes too long to prepare.", next_step="Say it in fewer steps."
                    ) from None
                except duckdb.Error:
                    raise NotAllowed(
                        "The types of the question do not fit together.", next_step="Compare and add like with like."
                    ) from None
            self._bound[digest] = None
            self._bound.move_to_end(digest)
            while len(self._bound) > _REMEMBERED:
                self._bound.popitem(last=False)

    def _try(self, statement: Statement) -> None:
        for table in statement.tables:
            if table.name not in self._tables:
                self._connection.execute(f"CREATE TABLE {table.name} AS {table.sql}")
                self._tables[table.name] = None
        # It is run, too: optimizers refuse things that were bound.
        self._connection.execute(statement.sql, dict(statement.values) or None).fetchall()
        while len(self._tables) > _TABLES:
            self._connection.execute(f"DROP TABLE {self._tables.popitem(last=False)[0]}")

"""Public relations: prepared as tables before any protected row is read, and looked up while a query is planned."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import date
from fractions import Fraction
from functools import partial
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from discreet.algebra.expressions import Expression
from discreet.algebra.query import MOST_GROUPS
from discreet.algebra.relation_shape import MOST_PUBLIC_ROWS
from discreet.algebra.relations import Relation
from discreet.algebra.value_properties import Value
from discreet.catalog import Table, Type
from discreet.catalog.timestamps import ordinal_of
from discreet.concurrency.refcounted_cache import RefcountedCache
from discreet.engines.duckdb.snapshot import DATA
from discreet.engines.duckdb.watchdog import Watchdog
from discreet.engines.engine import Points
from discreet.engines.sqlgen.dialects import duckdb as dialect
from discreet.engines.sqlgen.render import Prepared, Renderer, checked, prepared
from discreet.errors import Cancelled, TooLarge

_TABLES, _FACTS = 64, 256
_LISTED = MOST_GROUPS + 1
"""The most values that are looked up and listed."""


class PublicTables:
    """Implements `PublicLookup`, and holds prepared relations while a query runs."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, watch: Watchdog) -> None:
        self._connection, self._watch = connection, watch
        self._tables: RefcountedCache[int] = RefcountedCache(
            _TABLES, most_weight=2 * MOST_PUBLIC_ROWS, weigh=lambda rows: rows, drop=self._drop
        )
        self._facts: RefcountedCache[list[Any]] = RefcountedCache(
            _FACTS, most_weight=5 * _LISTED, weigh=len, drop=lambda _: None
        )

    @contextmanager
    def holding(self, tables: Sequence[Prepared]) -> Iterator[None]:
        """Hold these relations.

        A query acquires them before it waits for a read slot, and releases them when its answer is returned. How long another
        query's planning takes depends on which relations are prepared, so it must not depend on when a read ends.
        """
        with ExitStack() as held:
            for table in tables:
                held.enter_context(
                    self._tables.acquire(table.name, partial(self._prepare, table), check=self._check_cancelled)
                )
            yield

    # PublicLookup

    def rows(self, table: Table) -> int:
        return int(self._looked_up(f"SELECT count(*) FROM {DATA}.{dialect.quoted(table.name)}")[0][0])

    def listed(self, table: Table, columns: tuple[str, ...]) -> list[tuple[Value | None, ...]]:
        names = list(table.columns)
        wanted = ", ".join(f"c{names.index(column) + 1}" for column in columns)
        place = f"{DATA}.{dialect.quoted(table.name)}"
        return self._looked_up(f"SELECT {wanted} FROM {place} ORDER BY {wanted} LIMIT {_LISTED}")

    def largest_multiplicity(self, relation: Relation, keys: tuple[int, ...]) -> int:
        table = prepared(relation, keys)
        present = " AND ".join(f"c{at + 1} IS NOT NULL" for at in table.keys) or "true"
        with self.holding([table]):
            return int(self._looked_up(f"SELECT coalesce(max(nth), 0) FROM {table.name} WHERE {present}")[0][0])

    def distinct_values(self, relation: Relation, expression: Expression, *, outer: bool) -> tuple[Value | None, ...]:
        values = _values(relation, expression)
        if outer:
            nulls = ", ".join(
                f"{dialect.literal(column.properties.type, None)} AS c{at}"
                for at, column in enumerate(relation.columns, start=1)
            )
            values += f" UNION ALL {_values_of(expression, f'SELECT {nulls}')}"
        rows = self._looked_up(f"SELECT DISTINCT v FROM ({values}) ORDER BY v NULLS LAST LIMIT {_LISTED}")
        return tuple(row[0] for row in rows)

    def ends(self, relation: Relation, expression: Expression) -> tuple[Fraction, Fraction] | None:
        if expression.properties.type in (Type.TEXT, Type.BOOLEAN):
            return None
        ((low, high),) = self._looked_up(f"SELECT min(v), max(v) FROM ({_values(relation, expression)})")
        return None if low is None else (_number(low), _number(high))

    def truths(self, condition: Expression, points: Mapping[int, Points]) -> NDArray[np.bool_]:
        self._check_cancelled()  # many short ones take as long as a long one, and each of them ends before it is interrupted
        levels = Renderer().levels()
        text = levels.text(condition)
        sides = [
            f"(SELECT unnest(CAST($p{at} AS {dialect.TYPES[kind]}[])) AS c{at + 1}, unnest(range({len(values)})) AS n{at})"
            for at, (kind, values) in points.items()
        ]
        source = levels.source(f"(SELECT * FROM {' CROSS JOIN '.join(sides) or '(SELECT 1)'})")
        places = ", ".join([f"n{at}" for at in points] or ["1"])
        sql = f"SELECT coalesce({text}, false) AS v FROM {source} ORDER BY {places}"
        listed = {f"p{at}": list(values) for at, (_, values) in points.items()}
        with self._cursor() as cursor:
            found = cursor.execute(checked(sql), listed).fetchnumpy()["v"]
        return np.asarray(found, np.bool_).reshape([len(values) for _, values in points.values()])

    # How

    def _looked_up(self, sql: str) -> list[Any]:
        def read() -> list[Any]:
            with self._cursor() as cursor:
                return cursor.execute(checked(sql)).fetchall()

        with self._facts.acquire(sql, read, check=self._check_cancelled) as rows:
            return rows

    def _prepare(self, table: Prepared) -> int:
        with self._cursor() as cursor:
            cursor.execute(f"CREATE OR REPLACE TABLE {table.name} AS {table.sql}")
            row = cursor.execute(f"SELECT count(*) FROM {table.name}").fetchone()
            return int(row[0]) if row else 0

    def _drop(self, name: str) -> None:
        with suppress(duckdb.Error), self._connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a cursor within the limits of a query. No protected row is read, so a refusal may give the reason."""
        asked = self._watch.asked()
        try:
            with self._connection.cursor() as cursor, self._watch.reading(cursor, asked):
                yield cursor
        except (duckdb.Error, MemoryError):
            raise _not_prepared(asked) from None

    def _check_cancelled(self) -> None:
        """A query that waits for another to prepare a relation waits within its own limits."""
        if self._watch.is_over():
            raise _not_prepared(self._watch.asked())


def _not_prepared(asked: threading.Event) -> Cancelled | TooLarge:
    if asked.is_set():
        return Cancelled("The query was cancelled.", next_step="Run it again.")
    return TooLarge(
        "The public tables of this query cannot be prepared in the time and memory of one query.",
        next_step="Join public tables on a key, keep fewer of their rows, or ask for less at once.",
    )


def _values(relation: Relation, expression: Expression) -> str:
    return _values_of(expression, Renderer().relation(relation))


def _values_of(expression: Expression, rows: str) -> str:
    levels = Renderer().levels()
    value = dialect.canonical(levels.name(expression), expression.properties.type)
    return f"SELECT {value} AS v FROM {levels.source(f'({rows})')}"


def _number(value: Any) -> Fraction:
    return Fraction(ordinal_of(value)) if isinstance(value, date) else Fraction(value)

"""People's rows as codes in a table of the engine's own, made once, and counted as often as tables are wanted. No row leaves the engine."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import duckdb
import numpy as np

from discreet.engines.exact_tables import Codes, Counts, ExactTables
from discreet.engines.kernel import Statement

_WIDTHS = {"UTINYINT": 2**8, "USMALLINT": 2**16, "UINTEGER": 2**32}
Reading = Callable[[], AbstractContextManager[Any]]
"""What a statement is run within: a limit of time, and whoever may end it."""


class CodedRows:
    """Rows of codes on one cursor, in temporary tables that end with it."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, reading: Reading) -> None:
        self._cursor, self._reading = cursor, reading
        self._names = (f"coded{number}" for number in itertools.count())

    def of(self, statement: Statement, sizes: tuple[int, ...]) -> ExactTables:
        """The tables of rows that a statement selects: a column of codes `c0`, `c1`, … for each size."""
        parts = [f"CAST(c{at} AS {_type_of(size)}) AS c{at}" for at, size in enumerate(sizes)]
        inside = " AND ".join(f"c{at} IS NOT NULL" for at in range(len(sizes)))
        sql = f"SELECT {', '.join(parts)} FROM ({statement.sql}) WHERE {inside}"
        return self._made(sql, dict(statement.values), sizes)

    def _made(self, sql: str, values: dict[str, Any], sizes: tuple[int, ...]) -> ExactTables:
        name = next(self._names)
        with self._reading():
            self._cursor.execute(f"CREATE TEMP TABLE {name} AS {sql}", values or None)
        return ExactTables(
            sizes,
            count=lambda columns: self._counted(name, columns, sizes),
            merge=lambda codes: self._merged(name, codes, sizes),
        )

    def _counted(self, name: str, columns: tuple[int, ...], sizes: tuple[int, ...]) -> Counts:
        shape = tuple(sizes[at] for at in columns)
        table = np.zeros(shape, np.int64)
        listed = ", ".join(f"c{at}" for at in columns)
        with self._reading():
            if not columns:
                table[()] = self._cursor.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]
                return table
            found = self._cursor.execute(f"SELECT {listed}, count(*) AS n FROM {name} GROUP BY {listed}").fetchnumpy()
        cells = tuple(np.asarray(found[f"c{at}"]) for at in columns)
        table[cells] = found["n"]
        return table

    def _merged(self, name: str, codes: Codes, sizes: tuple[int, ...]) -> ExactTables:
        fewer = tuple(size if new is None else max(new) + 1 for size, new in zip(sizes, codes, strict=True))
        parts, values = [], {}
        for at, (new, size) in enumerate(zip(codes, fewer, strict=True)):
            if new is None:
                parts.append(f"c{at}")
            else:
                values[f"m{at}"] = list(new)
                parts.append(
                    f"CAST(CAST($m{at} AS UINTEGER[])[CAST(c{at} AS BIGINT) + 1] AS {_type_of(size)}) AS c{at}"
                )
        return self._made(f"SELECT {', '.join(parts)} FROM {name}", values, fewer)


def _type_of(size: int) -> str:
    return next(name for name, most in _WIDTHS.items() if size <= most)

"""Protected rows as codes in a temporary table, made once and counted for every table of a run. No row leaves the engine."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import duckdb
import numpy as np

from discreet.engines.sqlgen.kernel import Statement
from discreet.engines.tables.exact_tables import Codes, Counts, ExactTables, PartedTables
from discreet.engines.tables.passes import PassText
from discreet.engines.tables.residual_sums import Partition, Residuals, Score

_WIDTHS = {"UTINYINT": 2**8, "USMALLINT": 2**16, "UINTEGER": 2**32}
_HELD_OUT = 4
"""One row in this many is held out."""
_SETS = 32
"""The most columns that one statement groups by."""
Reading = Callable[[], AbstractContextManager[Any]]
"""The context that a statement runs in: its time limit and its cancellation."""


class CodedRows:
    """Coded rows on one cursor, in temporary tables that end with it."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, reading: Reading) -> None:
        self._cursor, self._reading = cursor, reading
        self._names = (f"coded{number}" for number in itertools.count())

    def of(self, statement: Statement, sizes: tuple[int, ...]) -> ExactTables:
        """Make the tables of the rows that a statement selects: a column of codes `c0`, `c1`, … for each size."""
        return self._tables(self._coded(statement, sizes), sizes)

    def parted(self, statement: Statement, sizes: tuple[int, ...]) -> PartedTables:
        """Make the tables of all rows, of a training part, and of a held-out part. A row is held out by its position, not by its content."""
        name = self._coded(statement, sizes)
        position = f"hash(rowid) % {_HELD_OUT}"
        known = self._kept(f"SELECT * FROM {name} WHERE {position} <> 0", {}, kind="VIEW")
        held_out = self._kept(f"SELECT * FROM {name} WHERE {position} = 0", {}, kind="VIEW")
        return PartedTables(*(self._tables(each, sizes) for each in (name, known, held_out)))

    def _coded(self, statement: Statement, sizes: tuple[int, ...]) -> str:
        parts = [f"CAST(c{at} AS {_type_of(size)}) AS c{at}" for at, size in enumerate(sizes)]
        inside = " AND ".join(f"c{at} IS NOT NULL" for at in range(len(sizes)))
        sql = f"SELECT {', '.join(parts)} FROM ({statement.sql}) WHERE {inside}"
        return self._kept(sql, dict(statement.values))

    def _kept(self, sql: str, values: dict[str, Any], *, kind: str = "TABLE") -> str:
        """Create a table or view that ends with the cursor, and return its name."""
        name = next(self._names)
        with self._reading():
            self._cursor.execute(f"CREATE TEMP {kind} {name} AS {sql}", values or None)
        return name

    def _tables(self, name: str, sizes: tuple[int, ...]) -> ExactTables:
        return ExactTables(
            sizes,
            count=lambda columns: self._counted(name, columns, sizes),
            merge=lambda codes: self._merged(name, codes, sizes),
            total=lambda residuals, columns: self._totals(name, residuals, columns, sizes),
            divide=lambda partition, columns, label: self._divided(name, partition, columns, label, sizes),
            won=lambda scores, label: self._winners(name, scores, label, sizes),
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

    def _totals(
        self, name: str, residuals: Residuals, columns: tuple[int, ...], sizes: tuple[int, ...]
    ) -> list[Counts]:
        text = PassText()
        rows = text.rows(residuals, name, columns)
        count = len(residuals.scores)
        sums = ", ".join(f"CAST(sum(r{k}) AS BIGINT) AS t{k}" for k in range(count))
        found = self._grouped(rows, [[at] for at in columns], sums, text)
        totals = []
        for (groups, values), at in zip(found, columns, strict=True):
            table = np.zeros((count, sizes[at]), np.int64)
            for k in range(count):
                table[k, groups[f"c{at}"]] = values[f"t{k}"]
            totals.append(table)
        return totals

    def _divided(
        self, name: str, partition: Partition, columns: tuple[int, ...], label: int, sizes: tuple[int, ...]
    ) -> list[Counts]:
        text = PassText()
        rows = text.parts(partition, name)
        found = self._grouped(rows, [[at, label] for at in columns], "count(*) AS n", text, by_part=True)
        counted = []
        for (groups, values), at in zip(found, columns, strict=True):
            table = np.zeros((2 ** len(partition), sizes[at], sizes[label]), np.int64)
            table[groups["part"], groups[f"c{at}"], groups[f"c{label}"]] = values["n"]
            counted.append(table)
        return counted

    def _winners(self, name: str, scores: Sequence[Score], label: int, sizes: tuple[int, ...]) -> Counts:
        text = PassText()
        rows = text.winners(scores, name, label)
        sql = f"SELECT winner, c{label}, count(*) AS n FROM ({rows}) GROUP BY winner, c{label}"
        with self._reading():
            found = self._cursor.execute(sql, text.values or None).fetchnumpy()
        table = np.zeros((len(scores), sizes[label]), np.int64)
        table[np.asarray(found["winner"]), np.asarray(found[f"c{label}"])] = found["n"]
        return table

    def _grouped(
        self, rows: str, sets: list[list[int]], folds: str, text: PassText, *, by_part: bool = False
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Aggregate the rows by each set of columns, with as many sets in one statement as GROUPING can distinguish."""
        if len(sets) > _SETS:
            more = self._grouped(rows, sets[_SETS:], folds, text, by_part=by_part)
            return self._grouped(rows, sets[:_SETS], folds, text, by_part=by_part) + more
        shared = ["part"] if by_part else []
        names = [[*shared, *dict.fromkeys(f"c{at}" for at in several)] for several in sets]
        every = list(dict.fromkeys(name for several in names for name in several))
        listed = ", ".join(every)
        groups = ", ".join(f"({', '.join(several)})" for several in names)
        sql = f"SELECT {listed}, GROUPING({listed}) AS g, {folds} FROM ({rows}) GROUP BY GROUPING SETS ({groups})"
        with self._reading():
            found = self._cursor.execute(sql, text.values or None).fetchnumpy()
        wanted = [
            sum(1 << (len(every) - 1 - at) for at, name in enumerate(every) if name not in several) for several in names
        ]
        parts = []
        for several, mask in zip(names, wanted, strict=True):
            inside = np.asarray(found["g"]) == mask
            columns = {name: np.ma.getdata(found[name])[inside] for name in found}
            parts.append(({name: columns[name] for name in several}, columns))
        return parts

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
        return self._tables(self._kept(f"SELECT {', '.join(parts)} FROM {name}", values), fewer)


def _type_of(size: int) -> str:
    return next(name for name, most in _WIDTHS.items() if size <= most)

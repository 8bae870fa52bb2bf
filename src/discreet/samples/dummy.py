"""Dummy tables: random tables in the shape of a catalog, for trying queries. They are independent of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.samples.friends import friendships

_PUBLIC_ROWS = 20
_WORDS = 12
_MOST_ROWS = 8
"""Most rows of one person in a table; less if its max_rows is lower."""
_ARROW = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "boolean": pa.bool_(),
}
_READ = {"date": date.fromisoformat, "timestamp": datetime.fromisoformat}
Description = Mapping[str, Any]


def dummy_tables(tables: Sequence[Description], *, people: int, seed: int) -> dict[str, pa.Table]:
    """Return a table for each public description (`catalog.public_view.public_tables`) of a catalog.

    The same seed gives the same tables.
    """
    made: dict[str, pa.Table] = {}
    owners: dict[str, list[int]] = {}
    keys = {(table, key) for described in tables for _, table, key in described["path"][:1]}
    for at, described in _referred_first(tables):
        rng = np.random.default_rng([seed, at])
        own, owners[described["name"]] = _rows(described, made, owners, people, rng)
        columns = {}
        for column in described["columns"]:
            name = column["name"]
            if own is not None and own[0] == name:
                values = own[1]
            elif (described["name"], name) in keys:
                values = [_id(number, column["type"]) for number in range(1, len(owners[described["name"]]) + 1)]
            else:
                values = list(_cells(column, len(owners[described["name"]]), rng))
            columns[name] = pa.array(values, _ARROW[column["type"]])
        made[described["name"]] = pa.table(columns)
    return {described["name"]: made[described["name"]] for described in tables}


def dummy_edges(names: pa.ChunkedArray, *, ends: tuple[str, str], seed: int) -> pa.Table:
    """Return the edges of a generated network between generated nodes.

    Args:
        names: The names of the nodes.
        ends: The two columns of an edge.
        seed: The same seed gives the same edges.
    """
    nodes = names.unique()
    pairs = np.array(friendships(len(nodes), seed=seed), np.int64).reshape(-1, 2)
    return pa.table({end: nodes.take(pa.array(pairs[:, at])) for at, end in enumerate(ends)})


def _referred_first(tables: Sequence[Description]) -> list[tuple[int, Description]]:
    """Return tables with their indices, such that each table follows the tables it refers to."""
    return sorted(enumerate(tables), key=lambda pair: len(pair[1]["path"]))


def _rows(
    described: Description,
    made: Mapping[str, pa.Table],
    owners: Mapping[str, list[int]],
    people: int,
    rng: np.random.Generator,
) -> tuple[tuple[str, list[Any]] | None, list[int]]:
    """Return the column that identifies the person or refers to them, with its cells; and the person of each row."""
    if described["public"]:
        return None, [0] * _PUBLIC_ROWS
    if described["person"] not in {column["name"] for column in described["columns"]} and not described["path"]:
        return None, list(range(1, people + 1))
    most = min(described["max_rows"], _MOST_ROWS)
    kinds = {column["name"]: column["type"] for column in described["columns"]}
    if not described["path"]:
        counts = rng.integers(1, most, people, endpoint=True)
        whose = [person for person, count in enumerate(counts, start=1) for _ in range(count)]
        return (described["person"], [_id(person, kinds[described["person"]]) for person in whose]), whose
    column, table, key = described["path"][0]
    row_counts: dict[int, int] = {}
    cells, whose = [], []
    for owner, value in zip(owners[table], made[table].column(key).to_pylist(), strict=True):
        for _ in range(int(rng.integers(0, 2, endpoint=True))):
            row_counts[owner] = row_counts.get(owner, 0) + 1
            if row_counts[owner] <= described["max_rows"]:
                cells.append(value if kinds[column] != "text" else str(value))
                whose.append(owner)
    return (column, cells), whose


def _id(number: int, kind: str) -> int | str:
    return number if kind == "integer" else f"{number:06}"


def _cells(column: Description, rows: int, rng: np.random.Generator) -> Iterator[Any]:
    """Yield uniform values within the declared bounds; sometimes NULL, if the column is nullable."""
    for _ in range(rows):
        yield None if column["nullable"] and rng.random() < 1 / 20 else _cell(column, rng)


def _cell(column: Description, rng: np.random.Generator) -> Any:
    kind, low, high = column["type"], column["lower"], column["upper"]
    if column["values"] is not None:
        value = column["values"][rng.integers(len(column["values"]))]
        return _READ[kind](value) if kind in _READ else value
    match kind:
        case "integer":
            first, last = (0, 100) if low is None else (math.ceil(low), math.floor(high))
            return int(rng.integers(first, last, endpoint=True))
        case "real":
            return float(rng.uniform(*((0, 1) if low is None else (low, high))))
        case "date":
            begin, end = map(date.fromisoformat, ("2020-01-01", "2025-12-31") if low is None else (low, high))
            return begin + timedelta(int(rng.integers((end - begin).days, endpoint=True)))
        case "timestamp":
            earliest, latest = map(datetime.fromisoformat, ("2020-01-01", "2025-12-31") if low is None else (low, high))
            return earliest + timedelta(
                seconds=int(rng.integers((latest - earliest) // timedelta(seconds=1), endpoint=True))
            )
        case "boolean":
            return bool(rng.integers(2))
    return f"{column['name']} {rng.integers(_WORDS) + 1}"

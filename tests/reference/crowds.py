"""Thousands of people: where an engine has several row groups, threads, hash tables that spill, and many ties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.algebra.query import MeasureKind, Query
from discreet.catalog import Catalog, Table, Type
from discreet.engines import DuckEngine
from discreet.engines.duckdb import snapshot
from tests.reference.comparing import SALT, Cells, from_exact_rows
from tests.reference.worlds import _ARROW, _RAW, EXTREMES

PEOPLE, ROWS = 5_000, 150_000
_SHARES = {"visits": 0.35, "people": 0.04, "events": 0.45, "notes": 0.12, "remarks": 0.04}
"""How many of all rows a table has."""
_VISITS = 8
"""Different visits that a person can have."""


@dataclass(frozen=True)
class Crowd:
    """A catalog and a frame for each of its tables; people are numbered from 0 on."""

    catalog: Catalog
    frames: dict[str, pa.Table]

    def only(self, persons: NDArray[np.bool_]) -> Crowd:
        """These people alone; what others alone refer to becomes nobody's."""
        kept = {
            name: frame.filter(pa.array(persons[frame["person"].to_numpy()]))
            if "person" in frame.column_names
            else frame
            for name, frame in self.frames.items()
        }
        return replace(self, frames=kept)

    def shuffled(self, seed: int) -> Crowd:
        rng = np.random.default_rng(seed)
        return replace(
            self,
            frames={name: frame.take(pa.array(rng.permutation(len(frame)))) for name, frame in self.frames.items()},
        )


def crowd(catalog: Catalog, seed: int, *, people: int = PEOPLE, rows: int = ROWS) -> Crowd:
    """People with a few rows each, a few with very many, of few values: ties in every order, NULLs and extremes in every column."""
    rng = np.random.default_rng(seed)
    return Crowd(
        catalog, {name: _frame(rng, table, people, int(rows * _SHARES.get(name, 0))) for name, table in catalog.tables.items()}
    )  # fmt: skip


def _frame(rng: np.random.Generator, table: Table, people: int, count: int) -> pa.Table:
    size = 20 if table.is_public else count
    crowded = np.where(
        rng.random(size) < 0.1, rng.integers(0, max(1, people // 50), size), rng.integers(0, people, size)
    )
    visits = crowded * _VISITS + rng.integers(0, _VISITS, size)
    shared: dict[str, Callable[[], pa.Array]] = {
        "person": lambda: pa.array(crowded),
        "visit": lambda: pa.array(visits, mask=rng.random(size) < 0.05),
        "note": lambda: pa.array([f"n{visit}" for visit in visits // 4], mask=rng.random(size) < 0.05),
        "ward": lambda: _drawn(rng, ["A", "B", "C", "", None], pa.string(), size),
        "floor": lambda: _drawn(rng, [1, 2, 3, None], pa.int64(), size),
    }
    return pa.table(
        {
            column.name: shared[column.name]() if column.name in shared else _values(rng, column.type, size)
            for column in table.columns.values()
        }
    )


def _drawn(rng: np.random.Generator, pool: Sequence[Any], kind: pa.DataType, size: int) -> pa.Array:
    return pa.array(pool, kind).take(pa.array(rng.integers(0, len(pool), size)))


def _values(rng: np.random.Generator, kind: Type, size: int) -> pa.Array:
    """Extremes now and then, the first few of them mostly."""
    pool = [*EXTREMES[kind], *_RAW[kind], None]
    few = np.append(np.arange(min(6, len(pool))), len(pool) - 1)
    places = np.where(rng.random(size) < 0.2, rng.integers(0, len(pool), size), rng.choice(few, size))
    return pa.array(pool, _ARROW[kind]).take(pa.array(places))


@contextmanager
def opened(made: Crowd, *, threads: int, spills_to: str | None = None, memory: str = "4GB") -> Iterator[DuckEngine]:
    """An engine with so many threads and so much memory, set before its configuration is locked."""
    locked = snapshot._locked

    def configured(connection: Any) -> Any:
        connection.execute(f"SET threads = {threads}")
        if spills_to is not None:
            connection.execute(f"SET temp_directory = '{spills_to}'")
            connection.execute(f"SET memory_limit = '{memory}'")
        return locked(connection)

    with mock.patch.object(snapshot, "_locked", configured):
        engine = DuckEngine(made.catalog, salt=SALT, frames=made.frames)
    try:
        yield engine
    finally:
        engine.close()


def answered(engine: DuckEngine, query: Query) -> list[Cells]:
    return from_exact_rows(engine.run(query))


def not_summed(query: Query, together: list[Cells], parts: Sequence[list[Cells]]) -> list[str]:
    """Cells that are not the sum of what each part of the people has; distinct values lie between the largest and the sum."""
    wrong = []
    for number, cells in enumerate(together):
        own = [part[number] for part in parts]
        if set(cells) != {key for part in own for key in part}:
            wrong.append(f"set {number}: other groups")
            continue
        for key, cell in cells.items():
            values = list(zip(*(part[key] for part in own if key in part), strict=True))
            fits = [_fits(query, place, total, values[place]) for place, total in enumerate(cell)]
            if not all(fits):
                wrong.append(f"set {number}, group {key!r}: {cell} of {values}")
    return wrong


def _fits(query: Query, place: int, total: Any, values: Sequence[Any]) -> bool:
    if total is None:
        return True
    if place < len(query.measures) and query.measures[place].kind is MeasureKind.DISTINCT:
        return max(values) <= total <= sum(values)
    return bool(total == (sum(values, Counter()) if isinstance(total, Counter) else sum(values)))

"""Rows as `discreet.sql` reads them, computed by the interpreter, beside what plain DuckDB gives for the same SQL on the same rows.

The data is within all limits and bounds, so that nothing is cut or clamped; what differs is a mistake of the reader.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import duckdb

from discreet.algebra.relations import Relation
from discreet.sql.reader import queries
from discreet.sql.reader.query_text import read_text
from discreet.sql.reader.reader_model import Released, across_people_refusal
from discreet.sql.relations.row_selects import context_of
from tests.reference.interpreter import Interpreter
from tests.reference.stored import Snapshot, StoredRow, all_in_order
from tests.sql.worlds import catalog_of

TODAY = date(2024, 6, 1)
WORLDS = 7
SCHEMAS = {
    "visits": "person BIGINT, visit BIGINT, ward VARCHAR, zip VARCHAR, cost DOUBLE, age BIGINT, ok BOOLEAN, day DATE",
    "people": "person BIGINT, sex VARCHAR, height DOUBLE",
    "events": "person BIGINT, kind VARCHAR, amount BIGINT",
    "notes": "visit BIGINT, score BIGINT",
    "wards": "ward VARCHAR, floor BIGINT",
}
Rows = dict[str, list[tuple[Any, ...]]]


@lru_cache(maxsize=WORLDS)
def rows_of_world(seed: int) -> Rows:
    """Eight people with up to two visits on days that never tie; NULLs, and values that stand in several tables."""
    rng = random.Random(seed)
    days = [date(2020, 1, 1) + timedelta(7 * week) for week in range(80)]
    rng.shuffle(days)
    rows: Rows = {name: [] for name in SCHEMAS}
    for person in range(1, 9):
        for number in range(rng.randint(0, 2)):
            day = days.pop() if rng.random() < 0.9 else None
            rows["visits"].append(
                (person, 100 * person + number, rng.choice(["A", "B", "C", None]), rng.choice(["x", "y", "A", None]), rng.choice([-1.0, -0.5, 0.5, 1.0, 2.5, None]), rng.choice([0, 1, 2, 3, 5, None]), rng.choice([True, False, None]), day)
            )  # fmt: skip
        if rng.random() < 0.8:
            height = rng.choice([0.0, 0.5, 1.0, 1.5, 2.0, None])
            rows["people"].append((person, rng.choice(["F", "M", "A", None]), height))
        rows["events"] += [(person, rng.choice("xyzA"), rng.randint(-3, 7)) for _ in range(rng.randint(0, 3))]
    for visit in rows["visits"]:
        rows["notes"] += [(visit[1], rng.choice([0, 1, 2, 3, 4, None]))] * rng.randint(0, 1)
    rows["wards"] = [("A", 1), ("A", 2), ("C", 3), *([("B", 2), (None, 5)] if seed % 2 else [])]
    return rows


def _snapshot(rows: Rows) -> Snapshot:
    """Rows as they would be stored: nothing is clamped, and visits are numbered once each."""
    owners = {visit[1]: visit[0] for visit in rows["visits"]}
    protected = {}
    for name in ("visits", "people", "events", "notes"):
        own: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for row in rows[name]:
            own[owners[row[0]] if name == "notes" else row[0]].append(row)
        protected[name] = {
            person: tuple(
                StoredRow(rank, row, tuple(1 if name == "visits" and at == 1 else None for at in range(len(row))))
                for rank, row in enumerate(several, start=1)
            )
            for person, several in own.items()
        }
    places = enumerate(sorted(rows["wards"], key=all_in_order), start=1)
    return Snapshot(protected, {"wards": tuple(StoredRow(place, row, (None, None)) for place, row in places)})


class _Facts:
    """Public facts from the interpreter: no engine is asked."""

    def __init__(self, oracle: Interpreter) -> None:
        self.oracle = oracle

    def rows(self, table: Any) -> int:
        return len(self.oracle.snapshot.public[table.name])

    def largest_multiplicity(self, relation: Relation, keys: tuple[int, ...]) -> int:
        rows = [tuple(row.values[key] for key in keys) for row in self.oracle.rows_of(relation, None)]
        return max(Counter(row for row in rows if None not in row).values(), default=0)

    def distinct_values(self, relation: Relation, expression: Any, *, outer: bool) -> tuple[Any, ...]:
        return ()  # groups across people are not read here

    def ends(self, relation: Relation, expression: Any) -> tuple[Fraction, Fraction] | None:
        values = [self.oracle.value(expression, row.values) for row in self.oracle.rows_of(relation, None)]
        numbers = [Fraction(value) for value in values if value is not None]
        return (min(numbers), max(numbers)) if numbers else None


@lru_cache(maxsize=WORLDS)
def _plain(seed: int) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for name, schema in SCHEMAS.items():
        connection.execute(f"CREATE TABLE {name} ({schema})")
        rows = rows_of_world(seed)[name]
        if rows:
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return connection


def read(sql: str, seed: int) -> tuple[Counter[tuple[Any, ...]], tuple[str, ...]]:
    """The rows of a text as we read it, and what the answer would say beside it; or a refusal."""
    oracle = Interpreter(_snapshot(rows_of_world(seed)), salt="s")
    text = read_text(sql)
    context = context_of(catalog_of(), _Facts(oracle), today=TODAY)  # type: ignore[arg-type]
    reader = queries._Reader(context, text.options)
    context.read = reader.read
    meaning = reader.read(text.query, {})
    if isinstance(meaning, Released):
        raise across_people_refusal()
    relation = meaning.relation
    rows: Counter[tuple[Any, ...]] = Counter()
    for person in [None] if relation.is_public else oracle.snapshot.persons:
        own = oracle.rows_of(relation, person)
        most = relation.shape.most_rows
        assert relation.is_public or len(own) <= most, f"more than {most} rows: {sql}"
        rows.update(tuple(map(_alike, row.values)) for row in own)
    return rows, tuple(context.notes)


def _alike(value: Any) -> Any:
    """Numbers by value and not by type: DuckDB sums into wider types. Logarithms are rounded here, and NULL where there are none."""
    if isinstance(value, datetime):
        return "date", value.date()
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int | float | Decimal):
        number = float(value)
        return ("number", round(number, 5) + 0.0) if math.isfinite(number) else ("NoneType", None)
    return type(value).__name__, value


def _is_noted(sql: str, notes: tuple[str, ...]) -> bool:
    """What we read otherwise, and say so: public rows that belong to nobody, NOT IN with NULLs, and an IN that is shown, never NULL."""
    said = any("without a matching protected row" in note or "NOT EXISTS" in note for note in notes)
    return said or "IN (SELECT" in sql.split(" FROM ", maxsplit=1)[0]


def difference(sql: str, seed: int) -> str | None:
    """Where the rows of a text part from DuckDB's; None where they are the same, or DuckDB does not take it. Refusals are raised."""
    ours, notes = read(sql, seed)
    try:
        found = _plain(seed).execute(sql.replace("CURRENT_DATE", f"DATE '{TODAY}'")).fetchall()
    except duckdb.Error:
        return None
    theirs = Counter(tuple(map(_alike, row)) for row in found)
    if ours == theirs or _is_noted(sql, notes):
        return None
    return f"world {seed}: {sql}\n  only ours {[*(ours - theirs)][:4]}\n  only DuckDB's {[*(theirs - ours)][:4]}"

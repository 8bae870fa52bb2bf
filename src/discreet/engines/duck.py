"""DuckDB: plan to exact integers, on a snapshot."""

from __future__ import annotations

import threading
from datetime import date
from typing import Any

import duckdb

from discreet.catalog import Catalog
from discreet.engines.exact_rows import ExactRows
from discreet.engines.snapshot import OWNER, build_snapshot, empty_tables, quote, steps_name
from discreet.errors import BadCatalog, EngineFailure, NotAllowed
from discreet.sql.plan import KeyValue, Kind, Measure, Plan, Relation


class DuckEngine:
    """Answers plans with exact integers. It never sees a question's text, only its checked parts."""

    def __init__(self, catalog: Catalog, *, salt: str | None = None) -> None:
        self._lock = threading.Lock()
        self._empty, self._data = duckdb.connect(":memory:"), duckdb.connect(":memory:")
        try:
            empty_tables(self._empty, catalog)
            build_snapshot(self._data, catalog, salt=salt)
        except duckdb.Error:  # its text may quote a row
            self.close()
            raise BadCatalog(
                "The tables cannot be read as the catalog declares them.",
                next_step="Check that every declared column is in its file, and that the files are whole.",
            ) from None

    def close(self) -> None:
        self._data.close()
        self._empty.close()

    def bind(self, plan: Plan) -> None:
        """Refuse, before any charge, what the engine would refuse by types: tried on tables without a row."""
        try:
            with self._lock:
                self._empty.execute(query(plan)).fetchall()
        except duckdb.Error:
            raise NotAllowed(
                "The types of the question do not fit together.", next_step="Compare and add like with like."
            ) from None

    def run(self, plan: Plan) -> ExactRows:
        """The exact integers. Called after the charge; a failure is one fixed sentence."""
        try:
            with self._lock:
                rows = self._data.execute(query(plan)).fetchall()
        except duckdb.Error:
            raise EngineFailure(
                "The engine could not answer. The price was paid.", next_step="Tell the owner of the data."
            ) from None
        width = len(plan.keys)
        groups = {
            tuple(map(_plain, row[:width])): tuple(int(v or 0) for v in row[width : width + len(plan.measures)])
            for row in rows
        }
        people = {tuple(map(_plain, row[:width])): int(row[-1]) for row in rows} if plan.selection else {}
        return ExactRows(groups, people)

    # Public tables only

    def largest_multiplicity(self, table: str, columns: tuple[str, ...]) -> int:
        keys = ", ".join(map(quote, columns))
        with self._lock:
            found = self._data.execute(
                f"SELECT count(*) FROM {quote(table)} GROUP BY {keys} ORDER BY 1 DESC LIMIT 1"
            ).fetchall()
        return int(found[0][0]) if found else 0

    def distinct_values(self, table: str, column: str) -> tuple[KeyValue, ...]:
        with self._lock:
            rows = self._data.execute(
                f"SELECT DISTINCT {quote(column)} FROM {quote(table)} WHERE {quote(column)} IS NOT NULL ORDER BY 1"
            ).fetchall()
        return tuple(_plain(row[0]) for row in rows)


def _plain(value: Any) -> KeyValue:
    return value.isoformat() if isinstance(value, date) else value


def query(plan: Plan) -> str:
    """The statement: keys, then measures, then the number of people where groups are selected."""
    keys = [f"TRY({key.sql}) AS k{i}" for i, key in enumerate(plan.keys)]
    measures = [f"{_aggregate(measure, plan.relation)} AS m{i}" for i, measure in enumerate(plan.measures)]
    people = [f"count(DISTINCT {_owner(plan.relation)})"] if plan.selection else []
    grouped = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join([*keys, *measures, *people])} FROM {_rows(plan.relation)}{grouped}"


def _rows(relation: Relation) -> str:
    parts = []
    for source in relation.sources:
        table = f"{quote(source.table.name)} AS {quote(source.alias)}"
        parts.append(table if source.on is None else f"{source.kind} {table} ON {source.on}")
    return " ".join(parts) + (f" WHERE TRY_CAST(TRY({relation.where}) AS BOOLEAN)" if relation.where else "")


def _owner(relation: Relation) -> str:
    return f"{quote(relation.sources[0].alias)}.{quote(OWNER)}"


def _aggregate(measure: Measure, relation: Relation) -> str:
    match measure.kind:
        case Kind.ROWS:
            return "count(*)"
        case Kind.PEOPLE:
            return f"count(DISTINCT {_owner(relation)})"
        case Kind.PRESENT:
            return f"count(TRY({measure.sql}))"
        case Kind.TOTAL:
            return f"sum(CAST({_steps(measure, relation)} - {measure.centre} AS HUGEINT))"


def _steps(measure: Measure, relation: Relation) -> str:
    """A bounded column's stored steps; for an expression, the same rounding and clamping on the spot."""
    for source in relation.sources:
        for column in source.table.columns.values():
            stored = f"{quote(source.alias)}.{quote(column.name)}"
            if measure.sql == stored and not source.table.is_public and column.is_bounded_number:
                return f"{quote(source.alias)}.{quote(steps_name(column.name))}"
    value = f"TRY_CAST(TRY({measure.sql}) AS DOUBLE)"
    inside = f"least(greatest({value}, {float(measure.low * measure.step)!r}), {float(measure.high * measure.step)!r})"
    rounded = f"TRY_CAST(floor({inside} / {float(measure.step)!r} + 0.5) AS BIGINT)"
    return f"CASE WHEN isnan({value}) THEN NULL ELSE least(greatest({rounded}, {measure.low}), {measure.high}) END"

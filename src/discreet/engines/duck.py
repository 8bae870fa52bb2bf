"""DuckDB: plan to exact integers, on a snapshot."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any

import duckdb
import numpy as np

from discreet.catalog import Catalog
from discreet.engines.exact_rows import ExactRows, GroupKey, Histogram
from discreet.engines.snapshot import Snapshot, empty_tables, open_snapshot
from discreet.engines.statements import histogram, integers, quantiles
from discreet.errors import Cancelled, EngineFailure, NotAllowed
from discreet.sql.plan import GroupSet, Plan
from discreet.sql.scope import KeyValue


class DuckEngine:
    """Answers plans with exact integers. It never sees a question's text, only its checked parts."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        salt: str | None = None,
        version: int = 1,
        frames: Mapping[str, Any] | None = None,
    ) -> None:
        self._lock, self._binding, self._turn = threading.Lock(), threading.Lock(), threading.Lock()
        self._seconds = catalog.seconds
        self._empty = duckdb.connect(":memory:")
        empty_tables(self._empty, catalog)
        try:
            self._snapshot: Snapshot = open_snapshot(catalog, salt=salt, version=version, frames=frames)
        except BaseException:
            self._empty.close()
            raise
        self._data = self._snapshot.connection
        self._public: dict[tuple[str, ...], Any] = {}
        self._lookups = self._data.cursor()  # so that planning never waits for a question that is being read
        self._reading: threading.Event | None = None

    def close(self) -> None:
        self._lookups.close()
        self._data.close()
        self._empty.close()

    def bind(self, plan: Plan) -> None:
        """Refuse, before any charge, what the engine would refuse by types: tried on tables without a row."""
        try:
            with self._binding:
                for one in plan.sets:
                    self._empty.execute(integers(plan, one)).fetchall()
                    for index in quantiles(plan):
                        self._empty.execute(histogram(plan, one, index)).fetchall()
        except duckdb.Error:
            raise NotAllowed(
                "The types of the question do not fit together.", next_step="Compare and add like with like."
            ) from None

    def run(self, plan: Plan, *, taken_back: threading.Event | None = None) -> list[ExactRows]:
        """The exact integers of each grouping. Called after the charge; a failure is one fixed sentence.

        `taken_back` is set by `take_back`, from another thread.
        """
        question = taken_back or threading.Event()
        try:
            with self._lock, self._turn_of(question):
                if question.is_set():
                    raise _taken_back()
                return [self._grouping(plan, one) for one in plan.sets]
        except (duckdb.Error, MemoryError):
            if question.is_set():
                raise _taken_back() from None
            raise EngineFailure(
                "The engine could not answer. The price was paid.", next_step="Tell the owner of the data."
            ) from None

    def take_back(self, question: threading.Event) -> None:
        """Stop reading for a question, now or when its turn comes; no other question is disturbed."""
        question.set()
        self._interrupt(question)

    def _interrupt(self, question: threading.Event) -> None:
        with self._turn:
            if self._reading is question:
                self._data.interrupt()

    @contextmanager
    def _turn_of(self, question: threading.Event) -> Iterator[None]:
        """While it lasts, this question and no other can be interrupted: by whoever asked, or by the clock."""
        alarm = threading.Timer(self._seconds, self._interrupt, [question])
        alarm.daemon = True
        with self._turn:
            self._reading = question
        alarm.start()
        try:
            yield
        finally:
            alarm.cancel()
            with self._turn:
                self._reading = None

    def _grouping(self, plan: Plan, one: GroupSet) -> ExactRows:
        width, groups, people = len(one.keys), {}, {}
        for row in self._data.execute(integers(plan, one)).fetchall():
            key = _key(row[:width])
            groups[key] = tuple(int(value or 0) for value in row[width : width + len(plan.measures)])
            if one.selection:
                people[key] = int(row[-1])
        histograms: dict[int, dict[GroupKey, Histogram]] = {}
        for index in quantiles(plan):
            found = self._data.execute(histogram(plan, one, index)).fetchall()
            histograms[index] = {_key(row[:width]): (np.array(row[-2]), np.array(row[-1])) for row in found if row[-1]}
        return ExactRows(groups, people, histograms)

    # Public tables only, so what was looked up once stays true

    def largest_multiplicity(self, relation: str, columns: tuple[str, ...]) -> int:
        keys = ", ".join(f'"$p".{_quoted(column)}' for column in columns)
        grouped = f" GROUP BY {keys} ORDER BY 1 DESC LIMIT 1" if keys else ""
        found = self._looked_up(f'SELECT count(*) FROM {relation} AS "$p"{grouped}')
        return int(found[0][0]) if found else 0

    def distinct_values(self, relation: str, expression: str) -> tuple[KeyValue, ...]:
        rows = self._looked_up(f"SELECT DISTINCT {expression} AS v FROM {relation} ORDER BY 1 NULLS LAST")
        return tuple(_plain(row[0]) for row in rows if row[0] is not None)

    def _looked_up(self, sql: str) -> list[Any]:
        if (sql,) not in self._public:
            try:
                with self._binding:
                    self._public[sql,] = self._lookups.execute(sql).fetchall()
            except duckdb.Error:
                raise NotAllowed(
                    "The types of the question do not fit together.", next_step="Compare and add like with like."
                ) from None
        return self._public[sql,]


def _taken_back() -> Cancelled:
    return Cancelled("The question was taken back. The price was paid.", next_step="Ask again: it costs nothing more.")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _key(values: tuple[Any, ...]) -> GroupKey:
    return tuple(map(_plain, values))


def _plain(value: Any) -> KeyValue:
    if isinstance(value, datetime):
        return (
            value.date().isoformat()
            if value == datetime.combine(value.date(), datetime.min.time())
            else value.isoformat()
        )
    return value.isoformat() if isinstance(value, date) else value

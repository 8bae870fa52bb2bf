"""A tiny snapshot with known ranks, and short names for the nodes over it: for cases computed by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

from discreet.algebra.aggregates import Window
from discreet.algebra.expressions import Expression, Literal, call
from discreet.algebra.relations import Relation, Scan
from discreet.algebra.table_scan import scan
from discreet.catalog import Type, parse_catalog
from tests.reference.interpreter import Interpreter
from tests.reference.stored import Snapshot, StoredRow

CATALOG = parse_catalog("""
[source]
path = "."
[budget]
epsilon = 1
[tables.visits]
privacy_unit = "person"
max_rows = 4
columns.person = { type = "integer" }
columns.visit = { type = "integer" }
columns.ward = { type = "text", values = ["A", "B"] }
columns.cost = { type = "real", lower = 0, upper = 4, granularity = 0.5 }
columns.day = { type = "date" }
[tables.people]
privacy_unit = "person"
columns.person = { type = "integer" }
columns.age = { type = "integer", lower = 0, upper = 100 }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
max_rows = 3
columns.visit = { type = "integer" }
columns.score = { type = "integer", lower = 0, upper = 4 }
[tables.wards]
public = true
columns.ward = { type = "text" }
columns.floor = { type = "integer" }
""")
PERSON, VISIT, WARD, COST, DAY = range(5)
D = date(2020, 3, 1)
VISITS = {
    1: [(1, 10, "A", 1.0, D), (1, 10, "B", 2.0, None), (1, 11, "A", None, D), (1, None, "C", 4.0, date(2019, 1, 1))],
    2: [(2, 20, "B", 0.5, D)],
    3: [(3, 30, None, 3.0, D), (3, 31, "A", 3.0, D)],
}
PEOPLE = {1: [(1, 40)], 2: [(2, 7)], 4: [(4, None)]}
NOTES = {1: [(10, 1), (10, 3), (11, None)], 3: [(30, 4)]}
WARDS = [("A", 1), ("A", 2), ("B", 1), (None, 9)]
SNAPSHOT = Snapshot(
    {
        "visits": {
            person: tuple(
                StoredRow(rank, row, (None, None if row[1] is None else sum(r[1] == row[1] for r in rows[:rank]), None, None, None))
                for rank, row in enumerate(rows, start=1)
            )
            for person, rows in VISITS.items()
        },
        **{
            name: {p: tuple(StoredRow(rank, row, (None,) * len(row)) for rank, row in enumerate(rows, start=1)) for p, rows in table.items()}
            for name, table in (("people", PEOPLE), ("notes", NOTES))
        },
    },
    {"wards": tuple(StoredRow(place, row, (None, None)) for place, row in enumerate(WARDS, start=1))},
)  # fmt: skip
ORACLE = Interpreter(SNAPSHOT, salt="salt")


def table(name: str) -> Scan:
    return scan(CATALOG.tables[name], CATALOG, size=len(WARDS))


def whole(value: int | None) -> Expression:
    return Literal(Type.INTEGER, value)


def real(value: float | None) -> Expression:
    return Literal(Type.REAL, value)


def text(value: str | None) -> Expression:
    return Literal(Type.TEXT, value)


def equal(a: Expression, b: Expression) -> Expression:
    return call("eq", a, b)


def shown(relation: Relation, person: Any = None) -> list[tuple[Any, ...]]:
    """The values of a person's rows, in the order of ids."""
    return [row.values for row in by_ids(relation, person)]


def ids(relation: Relation, person: Any = None) -> list[tuple[Any, ...]]:
    return [row.ids for row in by_ids(relation, person)]


def by_ids(relation: Relation, person: Any) -> list[Any]:
    return sorted(ORACLE.rows_of(relation, person), key=lambda row: [(part is None, part) for part in row.ids])


def visits():
    return table("visits")


def column(relation, person=1, at=-1):
    """The values of one column, of one person's rows."""
    return [row[at] for row in shown(relation, person)]


def window(what, *, value=None, offset=0, partition=(), order=(), frame=None):
    return Window(what, value, offset, partition, order, frame)

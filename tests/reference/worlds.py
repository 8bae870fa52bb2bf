"""Small data with every type, every extreme, ties and NULLs, for the interpreter and the engine alike."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from discreet.catalog import Catalog, Type, parse_catalog

CATALOG = """
[source]
path = "."
[budget]
epsilon = 1000
delta = 1e-3
[tables.visits]
privacy_unit = "person"
max_rows = 3
columns.person = { type = "PERSON" }
columns.visit = { type = "integer" }
columns.ward = { type = "text", values = ["A", "B"], nullable = true }
columns.zip = { type = "text", max_length = 4 }
columns.cost = { type = "real", lower = -1, upper = 2.75, granularity = 0.5 }
columns.age = { type = "integer", lower = 0, upper = 5 }
columns.ok = { type = "boolean" }
columns.day = { type = "date", lower = 2020-01-01, upper = 2021-12-31 }
columns.big = { type = "integer" }
columns.x = { type = "real" }
columns.far = { type = "date" }
[tables.people]
privacy_unit = "person"
columns.person = { type = "PERSON" }
columns.sex = { type = "text", values = ["F", "M"] }
columns.height = { type = "real", lower = 0.3, upper = 2.1 }
columns.code = { type = "integer", lower = -1000000, upper = 5000000 }
[tables.events]
privacy_unit = "person"
max_rows = 2
bounding = "per-query"
columns.person = { type = "PERSON" }
columns.kind = { type = "text", values = ["x", "y", "z"] }
columns.amount = { type = "integer", lower = -3, upper = 7 }
columns.share = { type = "real" }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
max_rows = 3
columns.visit = { type = "integer" }
columns.note = { type = "text" }
columns.score = { type = "integer", lower = 0, upper = 4 }
[tables.remarks]
privacy_unit = { column = "note", references = "notes.note" }
max_rows = 2
columns.note = { type = "text" }
columns.good = { type = "boolean" }
columns.seen = { type = "date" }
[tables.wards]
public = true
columns.ward = { type = "text" }
columns.floor = { type = "integer" }
columns.rate = { type = "real" }
columns.opened = { type = "date" }
[tables.floors]
public = true
columns.floor = { type = "integer" }
columns.name = { type = "text" }
columns.open = { type = "boolean" }
[tables.calls]
privacy_unit = "person"
max_rows = 3
columns.person = { type = "PERSON" }
columns.begun = { type = "timestamp", lower = 2020-02-28T22:30:00, upper = 2020-03-01 }
columns.ended = { type = "timestamp" }
columns.floor = { type = "integer", lower = 1, upper = 3 }
[tables.shifts]
public = true
columns.floor = { type = "integer" }
columns.begins = { type = "timestamp" }
"""
INTEGER_PEOPLE, TEXT_PEOPLE = (CATALOG.replace("PERSON", kind) for kind in ("integer", "text"))

INTEGERS = [0, 1, -1, 2, 3, 7, -7, 10, 100, 2**31, -(2**31), 2**53 + 1, 10**18, 2**62, 2**63 - 1, -(2**63 - 1)]
REALS = [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.2, 0.3, 1e-5, 0.49999999999999994, 3.7, -3.2, 1e10, 2.0**52 + 0.5, 2.0**53,
    2.0**62, 2.0**63, -(2.0**63), 9.2e18, 1e19, 2.0**100, -(2.0**100), 2.0**-100, -(2.0**-100), 69.3147180559945, 1e15 + 0.3]  # fmt: skip
TEXTS = ["", "A", "B", "C", "a", "x", "y", "z", "é", "É", "ß", "İ", "ǅ", "𝄞x", "a b", " a ", "  ", "%", "_", "\\", "A%", "O'x", '"', "true", " NO", "2020-02-29",
    "2021-02-29", "12", " 7 ", "+3", "1e3", "-.5", "1_000", "0x1F", "a,b,,c", "Ωω", "\n", "\t1", "|", "\\N", "xyxyxy", "\u00a0"]  # fmt: skip
DATES = [date(1, 1, 1), date(1, 12, 31), date(9999, 12, 31), date(9999, 1, 1), date(2020, 2, 29), date(2020, 3, 1), date(2020, 12, 31),
    date(2021, 1, 3), date(2021, 1, 4), date(1999, 12, 31), date(1900, 2, 28), date(2000, 2, 29), date(1970, 1, 1), date(2021, 6, 30)]  # fmt: skip
MOMENTS = [datetime(2020, 2, 29, 23, 59, 59, 999_999), datetime(2020, 2, 29), datetime(2020, 2, 29, 12, 30, 15, 500_000), datetime(2020, 3, 1, 0, 0, 0, 1), datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999_999), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1), datetime(1969, 12, 31, 22), datetime(2021, 1, 3, 5, 6, 7, 80),
    datetime(1, 1, 1, 0, 59, 59, 1), datetime(9999, 12, 31, 23), datetime(2021, 6, 30, 12)]  # fmt: skip
EXTREMES: dict[Type, list[Any]] = {
    Type.INTEGER: INTEGERS,
    Type.REAL: REALS,
    Type.TEXT: TEXTS,
    Type.DATE: DATES,
    Type.TIMESTAMP: MOMENTS,
    Type.BOOLEAN: [True, False],
}
_RAW = {
    Type.INTEGER: [-(2**63)],
    Type.REAL: [float("nan"), float("inf"), float("-inf"), -0.0, 1e300, 1e-300, 2.0**100 * 1.0001, 5e-324],
    Type.TEXT: ["a\0b", "long text beyond", "ééééé"],
    Type.DATE: [],
    Type.TIMESTAMP: [],
    Type.BOOLEAN: [],
}
"""Values that are not canonical."""
_ARROW = {
    Type.INTEGER: pa.int64(),
    Type.REAL: pa.float64(),
    Type.TEXT: pa.string(),
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us"),
    Type.BOOLEAN: pa.bool_(),
}

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class World:
    """A catalog, and raw rows for each of its tables."""

    catalog: Catalog
    rows: dict[str, Rows]

    def frames(self) -> dict[str, pa.Table]:
        """The rows as the engine takes them."""
        return {
            name: pa.table(
                {
                    column.name: pa.array([row[at] for row in self.rows[name]], _ARROW[column.type])
                    for at, column in enumerate(table.columns.values())
                }
            )
            for name, table in self.catalog.tables.items()
        }

    @property
    def persons(self) -> list[Any]:
        named = [table for table in self.catalog.tables.values() if "person" in table.columns]
        return sorted({row[0] for table in named for row in self.rows[table.name]})

    def only(self, person: Any) -> World:
        """The same data with one person alone; what others alone refer to becomes nobody's."""
        named = {table.name for table in self.catalog.tables.values() if "person" in table.columns}
        return replace(
            self,
            rows={
                name: [row for row in rows if name not in named or row[0] == person] for name, rows in self.rows.items()
            },
        )

    def shuffled(self, seed: int) -> World:
        rng = random.Random(seed)
        return replace(self, rows={name: rng.sample(rows, len(rows)) for name, rows in self.rows.items()})


def listed(text: str) -> str:
    """The same catalog with a table of everybody, under replace-one."""
    told = text.replace("[tables.people]", "[tables.people]\npeople = true")
    return told.replace("[source]", 'neighbours = "replace-one"\n[source]')


def random_world(seed: int, *, people: int = 5, text_people: bool = False, is_listed: bool = False) -> World:
    """A few people with up to five rows in each table, and small public tables with repeated keys."""
    rng = random.Random(seed)
    text = TEXT_PEOPLE if text_people else INTEGER_PEOPLE
    catalog = parse_catalog(listed(text) if is_listed else text)
    names = ["", "p", "P", "é", "p ", "\\N", "|"] if text_people else [1, 2, 3, -4, 2**62, 0, -(2**63 - 1)]
    persons = rng.sample(names, min(people, len(names)))
    visits = [rng.randint(1, 9) for _ in range(6)]
    notes = ["n1", "n2", "n3", "", "N1"]
    rows: dict[str, Rows] = {name: [] for name in catalog.tables}
    for name, table in catalog.tables.items():
        shared = {
            "person": persons,
            "visit": [*visits, None],
            "note": [*notes, None],
            "ward": ["A", "B", "C", "", None],
            "floor": [1, 2, 3, None],
        }
        owners: list[Any] = persons if "person" in table.columns else [None] * 4
        for owner in owners:
            for _ in range(rng.randint(0, 5 if table.unit is not None else 2)):
                row = tuple(
                    owner if column == "person" else rng.choice(shared[column]) if column in shared else _raw(rng, about.type)
                    for column, about in table.columns.items()
                )  # fmt: skip
                rows[name] += [row] * (2 if rng.random() < 0.15 else 1)
        rng.shuffle(rows[name])
    return World(catalog, rows)


def _raw(rng: random.Random, kind: Type) -> Any:
    chance = rng.random()
    if chance < 0.15:
        return None
    if chance < 0.2 and _RAW[kind]:
        return rng.choice(_RAW[kind])
    pool = EXTREMES[kind]
    return rng.choice(pool if chance < 0.6 else pool[: max(2, len(pool) // 4)])

"""Small worlds for brute force: every neighbour of a small database, through the real planner and engine."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine

CATALOG = """
[source]
path = "."
[budget]
epsilon = 1000
delta = 1e-3
[tables.visits]
privacy_unit = "person"
max_rows = 2
columns.person = { type = "integer" }
columns.ward = { type = "text", values = ["A", "B"] }
columns.zip = { type = "text" }
columns.cost = { type = "real", lower = -1, upper = 3, granularity = 0.5 }
columns.age = { type = "integer", lower = 0, upper = 5 }
columns.ok = { type = "boolean" }
[tables.people]
privacy_unit = "person"
columns.person = { type = "integer" }
columns.sex = { type = "text", values = ["F", "M"] }
[tables.wards]
public = true
columns.ward = { type = "text" }
columns.floor = { type = "integer" }
"""

WARDS = [("A", 1), ("A", 2), ("C", 3)]  # a key that stands twice, and a ward nobody visits

VISITS = {
    1: [("A", "x", 1.25, 2, True), ("B", "y", 99.0, None, False), ("B", "y", -7.0, 9, None)],  # above the limit of 2
    2: [("A", "x", None, 1, True)],
    3: [("C", "z", float("nan"), 3, False), ("B", None, 2.0, 4, True)],
    4: [("A", "x", float("inf"), 5, True), ("A", "x", float("-inf"), -9, True)],
}
PEOPLE = {1: ["F"], 2: ["M"], 3: [None], 5: ["F", "M"]}  # the second row of 5 is above the limit of 1


def write_world(folder, visits, people):
    rows = [(person, *row) for person, own in visits.items() for row in own]
    names = ["person", "ward", "zip", "cost", "age", "ok"]
    types = [pa.int64(), pa.string(), pa.string(), pa.float64(), pa.int64(), pa.bool_()]
    columns = {
        name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in enumerate(zip(names, types, strict=True))
    }
    pq.write_table(pa.table(columns), folder / "visits.parquet")
    sexes = [(person, sex) for person, own in people.items() for sex in own]
    pq.write_table(
        pa.table(
            {"person": pa.array([p for p, _ in sexes], pa.int64()), "sex": pa.array([s for _, s in sexes], pa.string())}
        ),
        folder / "people.parquet",
    )
    pq.write_table(pa.table({"ward": [w for w, _ in WARDS], "floor": [f for _, f in WARDS]}), folder / "wards.parquet")
    return parse_catalog(CATALOG, base=folder)


def neighbouring_worlds():
    """The full world, and the same without each person in turn: every add-remove neighbour of it."""
    yield None, VISITS, PEOPLE
    for person in sorted({*VISITS, *PEOPLE}):
        yield (
            person,
            {p: rows for p, rows in VISITS.items() if p != person},
            {p: rows for p, rows in PEOPLE.items() if p != person},
        )


def engines_of_neighbours(tmp_path):
    """An engine for each of them; snapshots use one salt, as one data version does."""
    for person, visits, people in neighbouring_worlds():
        folder = tmp_path / str(person)
        folder.mkdir()
        yield person, DuckEngine(write_world(folder, visits, people), salt="fixed")


def distance(one, other, index):
    """L1 distance of a measure over all groups of two results."""
    keys = set(one.groups) | set(other.groups)
    return sum(abs(_value(one, key, index) - _value(other, key, index)) for key in keys)


def _value(rows, key, index):
    return rows.groups[key][index] if key in rows.groups else 0

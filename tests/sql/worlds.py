"""Small worlds for brute force: every neighbour of a small database, through the real planner and engine."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import date, timedelta

import pyarrow as pa

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
columns.visit = { type = "integer" }
columns.ward = { type = "text", values = ["A", "B"] }
columns.zip = { type = "text" }
columns.cost = { type = "real", lower = -1, upper = 2.75, granularity = 0.5 }
columns.age = { type = "integer", lower = 0, upper = 5 }
columns.ok = { type = "boolean" }
columns.day = { type = "date", lower = 2020-01-01, upper = 2021-12-31 }
[tables.people]
privacy_unit = "person"
columns.person = { type = "integer" }
columns.sex = { type = "text", values = ["F", "M"] }
columns.height = { type = "real", lower = 0, upper = 2 }
[tables.events]
privacy_unit = "person"
max_rows = 2
bounding = "per-query"
columns.person = { type = "integer" }
columns.kind = { type = "text", values = ["x", "y", "z"] }
columns.amount = { type = "integer", lower = -3, upper = 7 }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
max_rows = 3
columns.visit = { type = "integer" }
columns.score = { type = "integer", lower = 0, upper = 4 }
[tables.wards]
public = true
columns.ward = { type = "text" }
columns.floor = { type = "integer" }
"""

REPLACED = {"neighbours": ("[source]", 'neighbours = "replace-one"\n[source]')}
LISTED = {**REPLACED, "people": ("[tables.people]", "[tables.people]\npeople = true")}
"""Changes of the catalog: one person stands in another's place; and, besides, a table lists everybody once."""

WARDS = [("A", 1), ("A", 2), ("C", 3)]  # a key that stands twice, and a ward nobody visits
_SCHEMAS = {
    "visits": [("person", pa.int64()), ("visit", pa.int64()), ("ward", pa.string()), ("zip", pa.string()), ("cost", pa.float64()), ("age", pa.int64()), ("ok", pa.bool_()), ("day", pa.date32())],
    "people": [("person", pa.int64()), ("sex", pa.string()), ("height", pa.float64())],
    "events": [("person", pa.int64()), ("kind", pa.string()), ("amount", pa.int64())],
    "notes": [("visit", pa.int64()), ("score", pa.int64())],
    "wards": [("ward", pa.string()), ("floor", pa.int64())],
}  # fmt: skip
D = date(2020, 3, 1)


@dataclass(frozen=True)
class World:
    """Rows by person; notes belong to whoever made the visit."""

    visits: dict[int, list[tuple]]
    people: dict[int, list[tuple]]
    events: dict[int, list[tuple]]
    notes: dict[int, list[tuple]]

    @property
    def persons(self):
        return sorted({*self.visits, *self.people, *self.events, *self.notes})

    def without(self, person):
        return replace(self, **{name: {p: rows for p, rows in getattr(self, name).items() if p != person} for name in ("visits", "people", "events", "notes")})  # fmt: skip

    def frames(self):
        rows = {name: [(person, *row) for person, own in getattr(self, name).items() for row in own] for name in ("visits", "people", "events")}  # fmt: skip
        rows["notes"] = [row for own in self.notes.values() for row in own]
        rows["wards"] = WARDS
        return {
            name: pa.table(
                {column: pa.array([row[i] for row in rows[name]], kind) for i, (column, kind) in enumerate(schema)}
            )
            for name, schema in _SCHEMAS.items()
        }


HAND_MADE = World(
    visits={
        1: [(11, "A", "x", 1.25, 2, True, D), (12, "B", "y", 99.0, None, False, D), (13, "B", "y", -7.0, 9, None, None)],  # above the limit of 2
        2: [(21, "A", "x", None, 1, True, D + timedelta(200))],
        3: [(31, "C", "z", float("nan"), 3, False, D), (32, "B", None, 2.0, 4, True, D)],
        4: [(41, "A", "x", float("inf"), 5, True, D), (41, "A", "x", float("-inf"), -9, True, date(1, 1, 1))],
        7: [(71, "B", "y", 50.0, 5, True, D), (72, "B", "z", 2.75, 5, False, D)],  # twice at the upper end, and
        8: [(81, "B", "x", -50.0, 0, None, D), (82, "A", "x", -1.0, 0, True, D)],  # twice at the lower
    },
    people={1: [("F", 1.6)], 2: [("M", 9.0)], 3: [(None, None)], 5: [("F", 1.1), ("M", 1.2)]},  # the second row of 5 is above the limit of 1
    events={1: [("x", 3)] * 3 + [("y", 99)], 3: [("z", -50)], 6: [("x", 1), ("y", 2), ("z", 3), ("q", 4)]},
    notes={1: [(11, 4), (11, 2), (12, 99), (12, 0)], 2: [(21, None)], 4: [(41, 1)]},
)  # fmt: skip


def random_world(seed, *, tame=False):
    """Up to six people with up to four rows; a tame one is within all limits and bounds, and has all groups."""
    rng = random.Random(seed)
    most = 2 if tame else 4
    visits, people, events, notes = {}, {}, {}, {}
    for person in range(1, 12 if tame else 7):
        costs = [-1.0, -0.5, 0.0, 0.5, 1.0, 2.5, None] if tame else [-1.0, 0.5, 2.75, 2.6, 50.0, -50.0, None]
        ages = [0, 1, 2, 5] if tame else [0, 3, 5, 700, -700, None]
        visits[person] = [
            (100 * person + i, rng.choice("AB" if tame else "ABC"), rng.choice("xyz"), rng.choice(costs), rng.choice(ages), rng.choice([True, False]), date(2020, 1, 1) + timedelta(rng.randrange(700)))
            for i in range(rng.randint(1 if tame else 0, most))
        ]  # fmt: skip
        people[person] = [(rng.choice("FM"), rng.choice([0.0, 0.5, 1.0, 2.0]))] * rng.randint(1 if tame else 0, 1)
        events[person] = [(rng.choice("xyz"), rng.randint(-3, 7)) for _ in range(rng.randint(0, most))]
        notes[person] = [(row[0], rng.randint(0, 4)) for row in visits[person] for _ in range(1 if tame else 2)]
    return World(visits, people, events, notes)


WORLDS = {"hand-made": HAND_MADE, "random 1": random_world(1), "random 2": random_world(2)}


def catalog_of(**changes):
    text = CATALOG
    for before, after in changes.values():
        text = text.replace(before, after)
    return parse_catalog(text)


def engine_of(world, catalog):
    """An engine on frames; snapshots use one salt, as one data version does."""
    return DuckEngine(catalog, salt="fixed", frames=world.frames())


def neighbours_of(world, catalog):
    """The world's engine, and one for each add-remove neighbour below it."""
    return engine_of(world, catalog), [engine_of(world.without(person), catalog) for person in world.persons]

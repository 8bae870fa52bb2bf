"""The rules of the snapshot by hand: casts, clamping, owners over paths, ranks by hash, numbers of unique keys."""

import hashlib
from datetime import date, datetime
from fractions import Fraction

import pytest

from discreet.catalog import Column, Type, parse_catalog
from tests.reference.snapshot import canonical, person_of, row_hash, snapshot_of
from tests.reference.worlds import random_world

CATALOG = parse_catalog("""
[source]
path = "."
[budget]
epsilon = 1
[tables.visits]
privacy_unit = "person"
max_rows = 2
columns.person = { type = "text", max_length = 3 }
columns.visit = { type = "integer" }
columns.cost = { type = "real", lower = 0, upper = 2, granularity = 0.5 }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
max_rows = 5
columns.visit = { type = "integer" }
columns.text = { type = "text", max_length = 2 }
[tables.remarks]
privacy_unit = { column = "text", references = "notes.text" }
max_rows = 5
columns.text = { type = "text" }
[tables.wards]
public = true
columns.ward = { type = "text" }
columns.floor = { type = "integer" }
""")
EMPTY = {"visits": [], "notes": [], "remarks": [], "wards": []}
INTEGER = Column(name="c", type=Type.INTEGER, lower=Fraction(-1, 2), upper=Fraction(11, 2))
REAL = Column(name="c", type=Type.REAL)
TEXT = Column(name="c", type=Type.TEXT, max_length=3)
DATE = Column(name="c", type=Type.DATE, lower=date(2000, 1, 1), upper=date(2001, 1, 1))
BOOLEAN = Column(name="c", type=Type.BOOLEAN)


@pytest.mark.parametrize(
    ("column", "raw", "expected"),
    [
        (INTEGER, -9, 0), (INTEGER, 9, 5), (INTEGER, 2.5, 2), (INTEGER, " 3 ", 3), (INTEGER, "x", None), (INTEGER, True, 1), (INTEGER, -(2**63), None), (INTEGER, float("inf"), None),
        (REAL, float("nan"), None), (REAL, float("inf"), None), (REAL, -0.0, 0.0), (REAL, 1e31, None), (REAL, 1e-31, 0.0), (REAL, "1e2", 100.0), (REAL, 3, 3.0),
        (TEXT, "abcd", "abc"), (TEXT, "a\0b", None), (TEXT, 12, "12"), (TEXT, True, "tru"), (TEXT, "ééé𝄞", "ééé"),
        (DATE, date(1999, 1, 1), date(2000, 1, 1)), (DATE, datetime.fromisoformat("2000-05-01T13:00"), date(2000, 5, 1)), (DATE, "2000-02-30", None), (DATE, 5, None),
        (BOOLEAN, "Yes", True), (BOOLEAN, 0, False), (BOOLEAN, "on", None), (BOOLEAN, None, None),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_null_and_what_is_out_of_bounds_is_clamped(column, raw, expected):
    given = canonical(raw, column)
    assert (given, repr(given)) == (expected, repr(expected))


def test_a_person_who_would_be_cut_or_rounded_is_nobody():
    assert person_of("abcd", TEXT) is None
    assert person_of("abc", TEXT) == "abc"
    assert person_of(1.5, INTEGER) is None
    assert person_of(99, INTEGER) == 99  # never clamped


def test_rows_are_ranked_by_the_hash_of_their_own_content_and_cut():
    rows = [("a", visit, cost) for visit, cost in ((1, 0.2), (2, 9.0), (3, None))]
    texts = {1: "salt|a|1|0", 2: "salt|a|2|4", 3: "salt|a|3|\\N"}
    expected = sorted(texts, key=lambda visit: hashlib.md5(texts[visit].encode()).hexdigest())[:2]
    for order in (rows, rows[::-1]):
        stored = snapshot_of(CATALOG, {**EMPTY, "visits": order}, salt="salt").protected["visits"]["a"]
        assert [(row.rank, row.values[1]) for row in stored] == list(enumerate(expected, start=1))


def test_rows_with_one_hash_are_ranked_by_all_their_columns():
    rows = [("a", 1, 0.2), ("a", 1, 0.1), ("a", 1, 0.0)]
    table = CATALOG.tables["visits"]
    assert len({row_hash(row, table, salt="s") for row in rows}) == 1
    stored = snapshot_of(CATALOG, {**EMPTY, "visits": rows}, salt="s").protected["visits"]["a"]
    assert [row.values[2] for row in stored] == [0.0, 0.1]


def test_a_shared_row_is_one_copy_for_each_person_and_two_alike_are_two():
    frames = {
        **EMPTY,
        "visits": [("a", 1, 0.0), ("a", 1, 1.0), ("b", 1, 0.0), ("c", 2, 0.0)],
        "notes": [(1, "xyz"), (1, "xyz"), (3, "q"), (None, "q")],
    }
    notes = snapshot_of(CATALOG, frames, salt="s").protected["notes"]
    assert {owner: [row.values for row in rows] for owner, rows in notes.items()} == {
        "a": [(1, "xy")] * 2,
        "b": [(1, "xy")] * 2,
    }


def test_owners_are_found_over_two_steps_before_any_cut():
    visits = [("a", visit, 0.0) for visit in range(5)]  # only two of these are kept
    frames = {**EMPTY, "visits": visits, "notes": [(visit, "n") for visit in range(5)], "remarks": [("n",), ("m",)]}
    snapshot = snapshot_of(CATALOG, frames, salt="s")
    assert len(snapshot.protected["visits"]["a"]) == 2
    assert len(snapshot.protected["notes"]["a"]) == 5
    assert [row.values for row in snapshot.protected["remarks"]["a"]] == [("n",)]


def test_unique_keys_are_numbered_by_rank_and_null_is_not():
    rows = [("a", 1, 0.0), ("a", 1, 1.0)]
    stored = snapshot_of(CATALOG, {**EMPTY, "visits": rows}, salt="s").protected["visits"]["a"]
    assert [row.nth for row in stored] == [(None, 1, None), (None, 2, None)]
    (alone,) = snapshot_of(CATALOG, {**EMPTY, "visits": [("a", None, 0.0)]}, salt="s").protected["visits"]["a"]
    assert alone.nth == (None, None, None)


def test_public_rows_have_their_place_by_all_columns_nulls_last():
    rows = [(None, 1), ("b", None), ("b", 2), ("B", 9)]
    stored = snapshot_of(CATALOG, {**EMPTY, "wards": rows}, salt="s").public["wards"]
    assert [(row.rank, row.values) for row in stored] == [
        (1, ("B", 9)),
        (2, ("b", 2)),
        (3, ("b", None)),
        (4, (None, 1)),
    ]


def test_where_everybody_is_listed_nobody_else_has_rows():
    world = random_world(4, is_listed=True)
    rows = {**world.rows, "people": world.rows["people"][:1]}
    snapshot = snapshot_of(world.catalog, rows, salt="s")
    assert snapshot.persons == [rows["people"][0][0]]
    assert len(snapshot_of(world.catalog, {**rows, "people": []}, salt="s").persons) == 0


def test_the_order_of_raw_rows_does_not_matter():
    for seed in range(20):
        world = random_world(seed)
        assert snapshot_of(world.catalog, world.rows, salt="s") == snapshot_of(
            world.catalog, world.shuffled(seed).rows, salt="s"
        )

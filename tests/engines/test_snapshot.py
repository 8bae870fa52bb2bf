"""Values at the door, owners, ranks; what a snapshot stores and who may read it."""

import os
import stat
from datetime import date, datetime
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine
from discreet.engines.duckdb.snapshot import empty_tables, open_snapshot
from tests.engines.small import CATALOG, VISITS, frames, opened
from tests.reference.snapshot import read_snapshot, snapshot_of
from tests.reference.worlds import random_world

HEAD = '[source]\npath = "."\n[budget]\nepsilon = 1\n'
WIDE = parse_catalog(
    HEAD
    + """
[tables.t]
privacy_unit = "person"
max_rows = 100
columns.person = { type = "integer" }
columns.i = { type = "integer" }
columns.r = { type = "real" }
columns.s = { type = "text", max_length = 3 }
columns.d = { type = "date" }
columns.age = { type = "integer", lower = -0.5, upper = 5.5 }
columns.cost = { type = "real", lower = 0, upper = 2, granularity = 0.5 }
columns.day = { type = "date", lower = 2000-01-01, upper = 2001-01-01 }
"""
)


def stored(catalog, columns, name="t"):
    """The rows of a table by the first column after the person."""
    engine = DuckEngine(catalog, salt="s", frames={name: pa.table(columns)})
    try:
        names = ", ".join(f"c{at + 1}" for at in range(len(catalog.tables[name].columns)))
        return engine._data.execute(f'SELECT {names} FROM data."{name}" ORDER BY r').fetchall()
    finally:
        engine.close()


def column(name, values, kind=None):
    """What becomes of the values of one column, in their order."""
    columns = {declared: pa.array([None] * len(values), pa.int64()) for declared in WIDE.tables["t"].columns}
    columns |= {"person": pa.array(range(len(values)), pa.int64()), name: pa.array(values, kind)}
    at = list(WIDE.tables["t"].columns).index(name)
    rows = stored(WIDE, columns)
    return [row[at] for row in sorted(rows)]


def test_reals_have_one_form():
    values = [
        float("nan"),
        float("inf"),
        float("-inf"),
        -0.0,
        1e300,
        2.0**100,
        1.0001 * 2.0**100,
        2.0**-100,
        1e-31,
        -1e-40,
        0.1,
    ]
    assert list(map(repr, column("r", values))) == [
        "None",
        "None",
        "None",
        "0.0",
        "None",
        repr(2.0**100),
        "None",
        repr(2.0**-100),
        "0.0",
        "0.0",
        "0.1",
    ]


def test_the_least_integer_is_null():
    assert column("i", [-(2**63), -(2**63) + 1, 2**63 - 1], pa.int64()) == [None, -(2**63) + 1, 2**63 - 1]


def test_dates_outside_of_years_1_to_9999_are_null():
    texts = ["infinity", "-infinity", "0001-01-01", "9999-12-31", "10000-01-01", "0044-03-15 (BC)", "2020-02-30", None]
    assert column("d", texts) == [None, None, date(1, 1, 1), date(9999, 12, 31), None, None, None, None]


def test_instants_have_the_date_of_utc():
    values = pa.array([datetime(2020, 1, 1, 23, 30)], pa.timestamp("us", tz="America/New_York"))
    assert column("d", values) == [date(2020, 1, 1)]


def test_text_is_cut_by_characters_and_a_nul_makes_it_null():
    assert column("s", ["ééé𝄞", "𝄞𝄞𝄞𝄞", "a\0b", "ab", ""]) == ["ééé", "𝄞𝄞𝄞", None, "ab", ""]


def test_bounded_values_are_clamped_where_conditions_see_them():
    assert column("age", [-9, 0, 3, 99, None]) == [0, 0, 3, 5, None]
    assert column("cost", [-1.0, 1.3, 9.0, float("nan")]) == [0.0, 1.3, 2.0, None]
    assert column("day", [date(1999, 5, 1), date(2000, 5, 1), date(2020, 1, 1)]) == [
        date(2000, 1, 1),
        date(2000, 5, 1),
        date(2001, 1, 1),
    ]


def test_what_does_not_fit_the_type_is_null_and_never_an_error():
    assert column("i", ["x", "5", "", "99999999999999999999", "1e400"]) == [None, 5, None, None, None]
    assert column("r", ["x", "1e2", "1e400", "nan", "-0"]) == [None, 100.0, None, None, 0.0]
    assert column("d", [5, 7], pa.int64()) == [None, None]


# Who a row belongs to


def people(values, kind=None, *, declared="integer"):
    catalog = parse_catalog(
        HEAD
        + f'[tables.t]\nprivacy_unit = "person"\nmax_rows = 9\ncolumns.person = {{ type = "{declared}", max_length = 3 }}\n'
    )
    return sorted(row[0] for row in stored(catalog, {"person": pa.array(values, kind)}))


def test_ids_that_one_double_stands_for_are_different_people():
    big = [2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2, 2**63 - 3]
    assert people(big, pa.int64()) == sorted(big)
    assert people([str(value) for value in big]) == sorted(big)
    assert people([Decimal(value) for value in big], pa.decimal128(38, 0)) == sorted(big)
    assert people([f"{value}.0" for value in big]) == sorted(big)


def test_an_id_that_would_be_rounded_or_cut_is_nobody():
    assert people([1.5, 2.0, float("nan"), float("inf"), 2.0**63, -(2.0**63), 1e300]) == [2]
    assert people(["1.5", "9007199254740993.4", "1.00000000000000000001", "1e3", "x", "", "3", " 4 "]) == [3, 4]
    assert people([Decimal("1.50"), Decimal("2.00")], pa.decimal128(10, 2)) == [2]
    assert people([2**64 - 1, 5], pa.uint64()) == [5]
    assert people([-(2**63), 5], pa.int64()) == [5]
    assert people(["abcd", "abc", "a\0", None], declared="text") == ["abc"]


def test_an_id_outside_of_its_bounds_is_nobody_and_never_somebody_else():
    catalog = parse_catalog(
        HEAD + '[tables.t]\nprivacy_unit = "p"\ncolumns.p = { type = "integer", lower = 0, upper = 9 }\n'
    )
    assert sorted(stored(catalog, {"p": [-5, 0, 9, 10, 11]})) == [(0,), (9,)]


PATH = (
    HEAD
    + """
[tables.visits]
privacy_unit = "person"
max_rows = 9
columns.person = { type = "integer" }
columns.visit = { type = "VISIT", lower = 0, upper = 50 }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
max_rows = 9
columns.visit = { type = "NOTE" }
columns.n = { type = "integer" }
"""
)


@pytest.mark.parametrize(("theirs", "ours"), [("text", "integer"), ("integer", "text"), ("integer", "integer")])
def test_a_path_between_two_types_leads_where_it_can_and_fails_for_nobody(theirs, ours):
    bounds = "" if theirs == "text" else ", lower = 0, upper = 50"
    catalog = parse_catalog(PATH.replace('"VISIT", lower = 0, upper = 50', f'"{theirs}"{bounds}').replace("NOTE", ours))
    given = {
        "visits": pa.table({"person": [1, 2, 3], "visit": ["7", "60", "x"]}),
        "notes": pa.table({"visit": ["7", "60", "61", "oops", None], "n": [1, 2, 3, 4, 5]}),
    }
    engine = DuckEngine(catalog, salt="s", frames=given)
    assert engine._data.execute("SELECT o, c2 FROM data.notes ORDER BY ALL").fetchall() == [
        (1, 1),
        (2, 2),
    ]  # 60 is not clamped on the way
    engine.close()


def test_rows_of_one_person_with_one_key_are_numbered_by_rank():
    engine = opened()
    rows = engine._data.execute("SELECT c2, u2, r FROM data.visits WHERE o = 1 ORDER BY r").fetchall()
    assert sorted(row[1] for row in rows if row[0] == 10) == [1, 2]
    assert all(row[1] == 1 for row in rows if row[0] != 10)
    engine.close()


# The whole snapshot beside the same rules in Python


@pytest.mark.parametrize("seed", range(6))
def test_the_snapshot_is_what_its_rules_say(seed):
    world = random_world(seed, text_people=bool(seed % 2))
    expected = snapshot_of(world.catalog, world.rows, salt="salt")
    for given in (world, world.shuffled(seed)):
        engine = DuckEngine(world.catalog, salt="salt", frames=given.frames())
        assert read_snapshot(engine, world.catalog) == expected
        engine.close()


def test_the_empty_tables_have_the_types_of_the_snapshot():
    def types(connection):
        rows = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'data'"
        ).fetchall()
        return sorted(row for row in rows if not row[0].startswith("$"))

    engine = opened()
    with duckdb.connect() as empty:
        empty_tables(empty, CATALOG)
        assert types(empty) == types(engine._data)
    engine.close()


# The file


def test_the_file_is_its_owners_alone_and_is_made_once(tmp_path):
    visits = CATALOG.tables["visits"]
    columns = list(visits.columns)
    for name, table in frames().items():
        with duckdb.connect() as connection:
            connection.register("frame", table)
            connection.execute(f"COPY (SELECT * FROM frame) TO '{tmp_path / name}.parquet'")
    catalog = parse_catalog(
        f'[source]\npath = "{tmp_path}"\nsnapshot = "{tmp_path}/it\'s here.snapshot"\n[budget]\nepsilon = 1\n'
        '[tables.visits]\nprivacy_unit = "person"\nmax_rows = 4\n'
        + "".join(f'columns.{name} = {{ type = "text" }}\n' for name in columns)
    )
    first = open_snapshot(catalog, salt="s", version=1)
    file = tmp_path / "it's here.snapshot"
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    made = file.stat().st_mtime_ns
    second = open_snapshot(catalog, salt="s", version=1)  # beside the first, which is open
    assert file.stat().st_mtime_ns == made
    assert second.connection.execute("SELECT count(*) FROM data.visits").fetchone() == (
        sum(row[0] is not None for row in VISITS),
    )
    with pytest.raises(duckdb.Error):
        second.connection.execute("CREATE TABLE data.more AS SELECT 1")
    with pytest.raises(duckdb.Error):
        second.connection.execute(f"SELECT * FROM '{tmp_path}/visits.parquet'")
    for snapshot in (first, second):
        snapshot.connection.close()


def test_nothing_of_the_source_can_be_reached_behind_the_snapshot():
    engine = opened()
    with pytest.raises(duckdb.Error):
        engine._data.execute('SELECT * FROM "frame visits"')
    for setting in ("SET enable_external_access = true", "ATTACH 'more.db' AS more", "SET threads = 1"):
        with pytest.raises(duckdb.Error):
            engine._data.execute(setting)
    engine.close()


def test_a_name_in_a_statement_is_never_a_variable_of_python():
    engine = opened()
    somewhere = pa.table({"x": [1]})
    assert somewhere.num_rows == 1
    for connection in (engine._data, engine._data.cursor()):
        with pytest.raises(duckdb.Error):
            connection.execute("SELECT * FROM somewhere")
    engine.close()

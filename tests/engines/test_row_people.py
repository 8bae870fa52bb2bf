"""Tables in which each row is a person: integers are sums over rows alone, in any order, and an owner's number means nothing elsewhere."""

import random
from collections import Counter

import pytest

from discreet.catalog import parse_catalog
from discreet.errors import BadCatalog, DiscreetError, JoinsPeople
from tests.support.inside import planned
from tests.support.opening import open_curator

HEAD = '[source]\npath = "."\n[ledger]\npath = ":memory:"\n[budget]\nepsilon = 100\ndelta = 1e-3\n'
STAFF = """
[tables.staff]
privacy_unit = "row"
columns.age = { type = "integer", lower = 0, upper = 100 }
columns.pay = { type = "real", lower = 0, upper = 64, granularity = 0.5 }
columns.team = { type = "text", values = ["a", "b"] }
[tables.teams]
public = true
columns.team = { type = "text" }
columns.floor = { type = "integer", lower = 0, upper = 9 }
"""
OTHERS = """
[tables.guests]
privacy_unit = "row"
columns.age = { type = "integer", lower = 0, upper = 100 }
[tables.trips]
privacy_unit = "person"
columns.person = { type = "integer" }
columns.age = { type = "integer", lower = 0, upper = 100 }
"""
QUERIES = [
    "SELECT team, COUNT(*), SUM(pay) FROM staff GROUP BY team",
    "SELECT COUNT(*), SUM(floor) FROM staff JOIN teams ON staff.team = teams.team WHERE age > 30",
    "SELECT SUM(x) FROM (SELECT LEAST(age, 50) AS x FROM staff UNION ALL SELECT age FROM staff) AS twice",
    "SELECT COUNT(*) FROM staff WHERE team IN (SELECT team FROM teams WHERE floor = 2)",
]
PEOPLE = [(age, age % 7 / 2, "abc"[at % 3]) for at, age in enumerate(random.Random(5).choices(range(100), k=40))]


def opened(folder, people, catalog=HEAD + STAFF):
    (folder / "staff.csv").write_text("age,pay,team\n" + "".join(f"{a},{p},{t}\n" for a, p, t in people))
    (folder / "teams.csv").write_text("team,floor\na,1\na,2\nb,1\n")
    for name in ("guests", "trips"):
        (folder / f"{name}.csv").write_text("person,age\n1,20\n2,30\n")
    return open_curator(catalog=parse_catalog(catalog, base=folder))


def integers(curator, sql):
    """The exact integers of a question, by group and measure."""
    totals = Counter()
    for number, query in enumerate(planned(curator, sql, epsilon=1).queries):
        for grouping, rows in enumerate(curator._engine.run(query)):
            keys = list(zip(*(column.to_pylist() for column in rows.keys), strict=True)) if rows.keys else [()]
            for measure, values in enumerate(rows.measures):
                for key, value in zip(keys, values, strict=True):
                    totals[number, grouping, key, measure] += int(value)
    return {place: total for place, total in totals.items() if total}


@pytest.mark.parametrize("limit", ["", "[limits]\nrows_per_person = 1\n"])
def test_all_rows_together_are_the_sum_of_each_alone_in_any_order(limit, tmp_path):
    catalog = HEAD + limit + STAFF
    alone = {sql: Counter() for sql in QUERIES}
    for row in PEOPLE[:8]:
        with opened(tmp_path, [row], catalog) as curator:
            for sql in QUERIES:
                alone[sql].update(integers(curator, sql))
    for order in (1, 2):
        with opened(tmp_path, random.Random(order).sample(PEOPLE[:8], 8), catalog) as curator:
            for sql in QUERIES:
                assert integers(curator, sql) == {place: total for place, total in alone[sql].items() if total}
    assert all(alone.values())


def test_one_row_moves_a_count_by_one_and_pays_for_one(tmp_path):
    with opened(tmp_path, PEOPLE) as curator:
        told = curator.explain("SELECT COUNT(*) FROM staff", epsilon=1)
        assert (told.person, told.rows_per_person, told.measures[0].sensitivity) == ("row", 1, 1)
        assert told.bounding.startswith("each row is a person")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM staff JOIN guests ON staff.age = guests.age",
        "SELECT COUNT(*) FROM staff JOIN staff AS other ON staff.age = other.age",
        "SELECT COUNT(*) FROM trips JOIN staff ON trips.person = staff.age",
        "SELECT COUNT(*) FROM staff WHERE EXISTS (SELECT 1 FROM trips WHERE trips.age = staff.age)",
        "SELECT COUNT(*) FROM (SELECT age FROM staff UNION ALL SELECT age FROM guests) AS both",
        "SELECT COUNT(*) FROM (SELECT age FROM trips UNION ALL SELECT age FROM guests) AS both",
    ],
)
def test_rows_without_an_id_meet_no_other_people(sql, tmp_path):
    with opened(tmp_path, PEOPLE, HEAD + STAFF + OTHERS) as curator, pytest.raises(JoinsPeople):
        planned(curator, sql, epsilon=1)


@pytest.mark.parametrize(
    "sql", ["SELECT COUNT(DISTINCT row) FROM staff", "SELECT o FROM staff", "SELECT rowid FROM staff"]
)
def test_the_number_of_a_row_cannot_be_named(sql, tmp_path):
    with opened(tmp_path, PEOPLE) as curator, pytest.raises(DiscreetError):
        planned(curator, sql, epsilon=1)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            'privacy_unit = "row"\n',
            'privacy_unit = "row"\nmax_rows = 2\n',
            r"Line 9: tables.staff: has exactly one row per person",
        ),
        ('privacy_unit = "row"\n', 'privacy_unit = "row"\nbounding = "per-query"\n', "has exactly one row per person"),
        (
            'privacy_unit = "person"',
            'privacy_unit = { column = "age", references = "staff.age" }',
            "without a person's id",
        ),
        ('privacy_unit = "row"\n', 'privacy_unit = "row"\npeople = true\n', "another table cannot refer to"),
    ],
)
def test_a_catalog_that_asks_more_of_rows_is_refused(old, new, problem):
    with pytest.raises(BadCatalog, match=problem):
        parse_catalog((HEAD + STAFF + OTHERS).replace(old, new, 1))


def test_how_many_rows_there_are_is_free_where_it_is_public(tmp_path):
    public = 'neighbours = "replace-one"\n' + HEAD + STAFF.replace('"row"\n', '"row"\npeople = true\n')
    with opened(tmp_path, PEOPLE, public) as curator:
        assert curator.ask("SELECT COUNT(*) AS n FROM staff", epsilon=1).rows == [{"n": 40}]
        assert curator.budget()[0].spent.epsilon == 0


def test_a_source_with_a_column_called_row_is_refused_unless_it_is_declared(tmp_path):
    (tmp_path / "t.csv").write_text("row,age\n1,20\n1,30\n")
    table = '[tables.t]\nprivacy_unit = "row"\ncolumns.age = { type = "integer" }\n'
    with pytest.raises(BadCatalog, match="a column called row"):
        open_curator(catalog=parse_catalog(HEAD + table, base=tmp_path))
    declared = parse_catalog(HEAD + table + 'columns.row = { type = "integer" }\n', base=tmp_path)
    assert not declared.tables["t"].has_row_people
    with open_curator(catalog=declared) as curator:
        assert integers(curator, "SELECT COUNT(*) FROM t") == {(0, 0, (), 0): 1}

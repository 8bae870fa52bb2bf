"""Which rows can be counted in tables: public domains only, people's rows only, by the reader of every other question."""

import pytest

from discreet.catalog import parse_catalog
from discreet.errors import (
    BadInput,
    JoinsPeople,
    NeedsValues,
    NotAllowed,
    QueryRefused,
    UnknownName,
    UnparsableQuery,
)
from discreet.sql.coded_rows import BINS, plan_rows

CATALOG = parse_catalog("""
[source]
path = "."
[budget]
epsilon = 1
[tables.people]
privacy_unit = "person"
max_rows = 1
columns.person = { type = "integer" }
columns.sex = { type = "text", values = ["F", "M"] }
columns.age = { type = "integer", lower = 0, upper = 120 }
columns.income = { type = "integer", lower = 0, upper = 100000 }
[tables.visits]
privacy_unit = "person"
max_rows = 5
columns.person = { type = "integer" }
columns.ward = { type = "text", values = ["A", "B", "C"] }
columns.cost = { type = "real", lower = 0, upper = 100 }
columns.note = { type = "text" }
columns.code = { type = "integer" }
[tables.wards]
public = true
columns.ward = { type = "text" }
columns.floor = { type = "integer" }
""")


class NoPublicRows:
    """Public tables that have no row."""

    def rows(self, _table):
        return 0


def planned(source, **options):
    return plan_rows(source, CATALOG, NoPublicRows(), **options)


def names(source, **options):
    return [column.name for column in planned(source, **options).columns]


def test_a_table_is_all_its_columns_but_the_person():
    assert names("people") == names("PEOPLE") == names("SELECT * FROM people") == ["sex", "age", "income"]
    by_name = {column.name: column for column in planned("people").columns}
    assert len(by_name["age"].values) == 121
    assert len(by_name["income"].ends) == BINS + 1


def test_rows_of_a_person_are_bounded_as_in_every_question():
    assert planned("people").query.limits.rows == 1
    assert planned("SELECT ward FROM visits").query.limits.rows == 5
    few = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 2) ward FROM visits"
    assert planned(few).query.limits.rows == 2
    once = "SELECT person, COUNT(*) > 3 AS often FROM visits GROUP BY person"
    assert planned(once).query.limits.rows == 1
    assert names(once) == ["often"]
    joined = "SELECT p.sex, v.ward FROM visits v JOIN people p ON p.person = v.person"
    assert planned(joined).query.limits.rows == 5


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("visits", NeedsValues),
        ("SELECT note FROM visits", NeedsValues),
        ("SELECT person FROM people", NeedsValues),
        ("SELECT code FROM visits", NeedsValues),
        ("SELECT COUNT(*) FROM visits", NotAllowed),
        ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", NotAllowed),
        ("wards", NotAllowed),
        ("nothing", UnknownName),
        ("SELECT sex FROM nothing", UnknownName),
        ("SELECT p.sex FROM people p JOIN visits v ON p.person = v.person + 1", JoinsPeople),
        ("SELECT sex FROM people LIMIT 3", NotAllowed),
        ("SELECT sex FROM people; DROP TABLE people", UnparsableQuery),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(source, error):
    with pytest.raises(QueryRefused) as caught:
        planned(source)
    assert isinstance(caught.value, error)


def test_the_columns_without_a_domain_are_named():
    with pytest.raises(NeedsValues, match="note, code"):
        planned("visits")


@pytest.mark.parametrize("bins", [{"age": 1}, {"age": 257}, {"age": 2.5}, {"nothing": 4}, ["age"], {"sex": True}])
def test_bins_that_cannot_be_are_refused(bins):
    with pytest.raises((BadInput, UnknownName)):
        planned("people", bins=bins)


def test_never_more_bins_than_whole_numbers():
    (column,) = planned("SELECT LEAST(age, 3) AS young FROM people", bins={"young": 30}).columns
    assert len(column.ends) == 5

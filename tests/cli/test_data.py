"""`discreet check`, `dummy`, `estimate-bounds` and `refresh`, as their owner sees them."""

import json
import os
import re
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

from discreet.api.local import LocalApi
from discreet.catalog import load_catalog
from discreet.samples import write_clinic
from discreet.samples.dummy import dummy_tables

CATALOG = """
[source]
path = "."
[budget]
epsilon = 5
delta = 1e-6
[tables.visits]
privacy_unit = "person"
max_rows = 2
columns.person = { type = "integer" }
columns.visit = { type = "integer" }
columns.cost = { type = "real", lower = 0, upper = 10 }
columns.ward = { type = "text", values = ["A", "B"] }
columns.day = { type = "date" }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
max_rows = 3
columns.visit = { type = "integer" }
columns.note = { type = "text", max_length = 3, nullable = true }
"""
VISITS = """person,visit,cost,ward,day,phone
1,10,5,A,2024-01-01,x
1,11,50,B,soon,x
1,12,much,C,2024-01-02 10:00:00,x
,13,1,A,2024-01-01,x
2,14,-1,C,,x
short
"""


@pytest.fixture
def small(tmp_path, run):
    (tmp_path / "discreet.toml").write_text(CATALOG)
    (tmp_path / "visits.csv").write_text(VISITS)
    (tmp_path / "notes.csv").write_text("visit,note\n10,long\n99,no\n")
    run("ledger", "new")
    return tmp_path


def test_check_counts_what_the_catalog_would_change_and_says_that_it_is_not_private(small, run):
    told = run("check")
    assert told.startswith("NOT PRIVATE, for the data owner only")
    visits, notes = json.loads(run("check", "--json"))["tables"]
    assert (visits["rows"], visits["people"], visits["without_owner"]) == (5, 2, 1)
    assert (visits["beyond_max_rows"], visits["most_rows"]) == (1, 3)
    assert (visits["left_out"], visits["first_left_out"], visits["undeclared"]) == (1, [7], ["phone"])
    columns = {column["name"]: column for column in visits["columns"]}
    assert (columns["cost"]["not_of_type"], columns["cost"]["outside_bounds"]) == (1, 2)
    assert (columns["ward"]["undeclared"], columns["ward"]["undeclared_values"]) == (2, ["C"])
    assert (columns["day"]["not_of_type"], columns["day"]["timed"]) == (1, 1)
    assert "day: 1 cell with a time of day, which is dropped" in told
    assert notes["columns"][0]["cut"] == 1
    assert "empty" not in told
    assert "cost: 1 of 5 cells not of type real: read as NULL" in told
    assert json.loads(run("budget", "--json"))["accounts"][0]["spent"]["epsilon"] == 0


def test_check_counts_cells_that_are_empty_where_nothing_declares_that_they_may_be(small, run):
    (small / "visits.csv").write_text("person,visit,cost,ward,day\n1,10,5,,\n2,11,,A,\n3,12,1,,\n")
    assert "ward: 2 cells empty: dropped in GROUP BY" in (told := run("check"))
    assert "cost: 1 cell empty" in told
    assert "day:" not in told  # its values are not public: NULL is a group like others
    (small / "discreet.toml").write_text(CATALOG.replace('["A", "B"]', '["A", "B"], nullable = true'))
    assert "ward" not in run("check")


def test_check_counts_rows_beyond_those_that_questions_choose_from(small, run):
    (small / "discreet.toml").write_text(CATALOG.replace("max_rows = 2", 'max_rows = 2\nbounding = "per-query"'))
    assert json.loads(run("check", "--json"))["tables"][0]["beyond_max_rows"] == 0
    (small / "visits.csv").write_text(VISITS + "1,15,5,A,2024-01-01,x\n" * 1000)
    assert (
        "3 rows (0.3 %) beyond the rows of a person that a query may use = 1,000: dropped; one person has 1,003"
        in run("check")
    )


def test_a_missing_column_is_named_by_check_and_by_whoever_opens_the_data(small, run):
    (small / "discreet.toml").write_text(CATALOG.replace("columns.day", "columns.dya"))
    assert "dya: is declared, but the source has no such column" in run("check", code=3)
    refusal = run("ask", "SELECT COUNT(*) FROM visits", "--epsilon", 1, code=3)
    assert "visits has no column dya" in refusal
    assert "Did you mean day?" in refusal
    (small / "discreet.toml").write_text(CATALOG.replace("person", "patient"))
    assert "patient: is declared" in run("check", code=3)


def test_a_refresh_of_what_did_not_change_begins_no_version(small, run):
    run("ask", "SELECT COUNT(*) FROM visits", "--epsilon", 1)
    assert "nothing was done" in run("refresh")
    os.utime(small / "visits.csv", ns=(1, 1))
    assert "nothing was done" in run("refresh"), "another time, and nothing else"
    with (small / "visits.csv").open("a") as file:
        file.write("\n")
    assert json.loads(run("refresh", "--json")) == {"version": 2, "changed": True}
    assert json.loads(run("refresh", "--json")) == {"version": 2, "changed": False}


def test_dummy_tables_have_the_catalogs_shape_and_are_asked_without_the_data(small, run):
    for file in ("visits.csv", "notes.csv"):
        (small / file).unlink()  # nothing of the data is looked at
    run("dummy", "toys", "--people", 50, "--seed", 3)
    visits, notes = (pa_csv.read_csv(small / "toys" / f"{name}.csv").to_pylist() for name in ("visits", "notes"))
    assert {row["person"] for row in visits} == set(range(1, 51))
    assert {row["ward"] for row in visits} == {"A", "B"}
    assert all(0 <= row["cost"] <= 10 for row in visits)
    assert {row["visit"] for row in notes} <= {row["visit"] for row in visits}
    fits = json.loads(run("check", "--json", "--config", "toys/discreet.toml"))["tables"]
    assert all(table["beyond_max_rows"] == table["without_owner"] == table["left_out"] == 0 for table in fits)
    sql = "SELECT ward, AVG(cost) AS cost FROM visits JOIN notes ON notes.visit = visits.visit GROUP BY ward"
    assert run("ask", sql, "--epsilon", 1, "--config", "toys/discreet.toml")
    before = (small / "toys" / "visits.csv").read_bytes()
    run("dummy", "again", "--people", 50, "--seed", 3)
    assert (small / "again" / "visits.csv").read_bytes() == before
    run("dummy", "others", "--people", 50, "--seed", 4, "--format", "parquet")
    assert (small / "others" / "visits.parquet").exists()
    assert "exists already" in run("dummy", "toys", code=3)


def test_a_dummy_of_rows_and_public_tables_has_them():
    column = {"name": "age", "type": "integer", "lower": 0, "upper": 9, "values": None, "nullable": True}
    staff = {"name": "staff", "public": False, "person": "row", "path": [], "max_rows": 1, "columns": [column]}
    tables = dummy_tables([staff, {**staff, "name": "open", "public": True}], people=200, seed=1)
    ages = tables["staff"].column("age").to_pylist()
    assert len(ages) == 200
    assert {*ages} == {None, *range(10)}
    assert tables["open"].num_rows == 20


def documented(folder):
    """The catalog that the documentation prints, with data."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "catalog.md").read_text()
    write_clinic(folder, patients=200, visits=3000)
    config = folder / "discreet.toml"
    config.write_text(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    return config


def spent(run):
    return json.loads(run("budget", "--json"))["accounts"][0]["spent"]["epsilon"]


@pytest.mark.parametrize("column", ["cost", "ward", "patient_id", "nothing"])
def test_bounds_that_cannot_be_written_are_refused_before_anything_is_spent(column, tmp_path, run):
    documented(tmp_path)
    run("ledger", "new")
    assert "nothing was spent" in run("estimate-bounds", "visits", column, "--epsilon", 0.5, code=3)
    assert spent(run) == 0


def test_bounds_of_the_documented_catalog_are_written_once_and_have_a_name_in_the_books(tmp_path, run):
    config = documented(tmp_path)
    written = (
        config.read_text()
        .replace("lower = 0, upper = 10000 }", "}  # a } and a #")
        .replace('type = "real", }', 'type = "real" }')
    )
    config.write_text(
        written.replace(
            'columns.age = { type = "integer", lower = 0, upper = 110 }', 'columns.age = { type = "integer" }'
        )
    )
    run("ledger", "new")
    assert "paid ε 2" in run("estimate-bounds", "visits", "cost", "--epsilon", 2)
    assert "paid ε 2" in run("estimate-bounds", "patients", "age", "--epsilon", 2)
    tables = load_catalog(config).tables
    age, cost = tables["patients"].columns["age"], tables["visits"].columns["cost"]
    assert age.lower.denominator == age.upper.denominator == 1
    assert 0 <= age.lower < 32 <= age.upper
    assert 0 <= cost.lower < cost.upper
    assert spent(run) == 4
    bill = run("budget")
    assert "bounds of visits.cost, estimated" in bill
    assert "CASE WHEN" not in bill


def test_bounds_that_were_paid_for_are_told_where_the_catalog_changed_meanwhile(tmp_path, run, monkeypatch):
    config = documented(tmp_path)
    config.write_text(config.read_text().replace(", lower = 0, upper = 10000", ""))
    run("ledger", "new")
    estimate = LocalApi.estimate_bounds

    def and_somebody_edits(self, *given, **details):
        config.write_text(config.read_text().replace("cost", "price"))
        return estimate(self, *given, **details)

    monkeypatch.setattr(LocalApi, "estimate_bounds", and_somebody_edits)
    told = run("estimate-bounds", "visits", "cost", "--epsilon", 2)
    assert "paid ε 2" in told
    assert "the catalog has changed in the meantime: write lower = " in told

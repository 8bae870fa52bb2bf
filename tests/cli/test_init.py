"""`discreet init`: from a file that nobody here made to a first answer, by flags and on a terminal."""

import json

import pytest

from discreet.catalog import Type, load_catalog
from discreet.catalog.person_columns import SeenColumn, SeenTable, looks_like_row_number, suggested_people
from tests.support.opening import open_curator
from tests.support.own_files import write_salaries, write_shop, write_survey
from tests.support.terminal import Terminal


def test_a_file_without_ids_is_answered_by_the_second_command(tmp_path, run):
    write_salaries(tmp_path)
    told = run(
        "init", "salaries.csv", "--epsilon", 2, "--analyst", "ana=1", "--bounds", "salary=0:100000",
        "--values", "salaries.Job Title=clerk,boss",
    )  # fmt: skip
    assert "each row is a person" in told
    assert "salary     integer" in told  # the types that were read from a sample are shown
    facts = json.loads(
        run(
            "ask",
            'SELECT "Job Title", AVG(salary) AS pay FROM salaries GROUP BY 1',
            "--epsilon",
            1,
            "--analyst",
            "ana",
            "--json",
        )
    )
    assert {row["Job Title"] for row in facts["rows"]} == {"clerk", "boss"}
    catalog = load_catalog(tmp_path / "discreet.toml")
    assert catalog.tables["salaries"].has_row_people
    assert catalog.tables["salaries"].columns["age"].lower is None  # what nobody said is not taken from the data
    assert catalog.analysts["ana"].cap.epsilon == 1


def test_odd_names_and_mixed_types_are_served_as_they_are(tmp_path, run):
    write_survey(tmp_path)
    told = run("init", "survey 2024-results.csv", "--yes", "--epsilon", 2)
    assert "cells are not of type integer, and become NULL" in told
    assert "most cells read as integer: so typed, others are NULL" in told
    table = load_catalog(tmp_path / "discreet.toml").tables["survey_2024_results"]
    assert [column.type for column in table.columns.values()] == [
        Type.INTEGER, Type.REAL, Type.BOOLEAN, Type.TEXT, Type.TEXT, Type.TEXT,
    ]  # fmt: skip
    assert "skipped" in (tmp_path / "discreet.toml").read_text()
    sql = 'SELECT "is-member", COUNT("What is your age?") AS n FROM survey_2024_results WHERE "größe (cm)" > 160 GROUP BY 1'
    assert len(json.loads(run("ask", sql, "--epsilon", 1, "--json"))["rows"]) == 2


def test_orders_belong_to_customers_and_items_by_way_of_orders(tmp_path, run):
    write_shop(tmp_path)
    told = run("init", ".", "--epsilon", 3, "--max-rows", "orders=9", "--person", "order_items=order_id")
    assert "order_items: 1 row of each order_id counts" in told
    assert "orders: 1 row" not in told
    tables = load_catalog(tmp_path / "discreet.toml").tables
    assert {name: table.unit.column for name, table in tables.items()} == {
        "customers": "id", "orders": "customer_id", "order_items": "customer_id",
    }  # fmt: skip
    assert tables["order_items"].unit.path[0].table == "orders"
    assert tables["orders"].max_rows == 9
    assert Type.TIMESTAMP in {column.type for column in tables["orders"].columns.values()}
    sql = "SELECT city, COUNT(*) AS n FROM orders JOIN customers ON customer_id = id GROUP BY city"
    assert json.loads(run("ask", sql, "--epsilon", 1, "--delta", 1e-7, "--json"))["columns"] == ["city", "n"]


def test_where_the_orders_name_nobody_their_items_do_not_either(tmp_path, run):
    write_shop(tmp_path)
    told = run("init", ".", "--epsilon", 3, "--person", "orders=row")
    assert "order_items: each row is a person, since orders names nobody" in told
    tables = load_catalog(tmp_path / "discreet.toml").tables
    assert [name for name, table in tables.items() if table.has_row_people] == ["order_items", "orders"]


def test_nothing_is_written_where_something_is_wrong(tmp_path, run):
    write_salaries(tmp_path)
    for flags, problem in {
        (): "There is no default",
        ("--epsilon", 2, "--person", "nobody=x"): "no such table",
        ("--epsilon", 2, "--person", "salaries=who"): "no column who",
        ("--epsilon", 2, "--person", "who"): "no such column",
        ("--epsilon", 2, "--bounds", "pay=0:1"): "no such column",
        ("--epsilon", 2, "--bounds", "age=0"): "must be two numbers",
        ("--epsilon", 2, "--type", "age=number"): "is not a type",
    }.items():
        assert problem in run("init", "salaries.csv", *flags, code=3)
    assert [file.name for file in tmp_path.iterdir()] == ["salaries.csv"]
    (tmp_path / "empty.csv").write_text("")
    assert "empty.csv: its first line" in run("init", "empty.csv", "--epsilon", 1, code=3)
    (tmp_path / "broken.parquet").write_text("no parquet")
    assert "broken.parquet cannot be read" in run("init", "broken.parquet", "--epsilon", 1, code=3)


def test_with_a_sample_of_none_no_row_is_looked_at(tmp_path, run):
    write_salaries(tmp_path)
    assert "by column names only" in run("init", "salaries.csv", "--epsilon", 1, "--sample", 0)
    assert load_catalog(tmp_path / "discreet.toml").tables["salaries"].columns["age"].type is Type.TEXT


def test_the_interview_asks_what_the_data_cannot_say(tmp_path):
    write_shop(tmp_path)
    terminal = Terminal(tmp_path, "init", "orders.csv")
    terminal.answer("How many rows", "")
    terminal.answer("person [customer_id]", "order_id")
    terminal.answer("Is each of these values one person nevertheless?", "n")
    terminal.answer("person [customer_id]", "")
    terminal.answer("rows [10]", "9")
    terminal.answer("amount: from, to", "cheap dear")
    terminal.answer("amount: from, to", "0 100")
    terminal.answer("ordered at: from, to", "2024-01-01 2024-12-31")
    terminal.answer("epsilon:", "much")
    terminal.answer("epsilon:", "2")
    terminal.answer("Analysts besides you", "ana, bob")
    assert terminal.end() == 0
    assert "cheap is not a real" in terminal.told
    catalog = load_catalog(tmp_path / "discreet.toml")
    orders = catalog.tables["orders"]
    assert (orders.unit.column, orders.max_rows, orders.columns["amount"].upper) == ("customer_id", 9, 100)
    assert set(catalog.analysts) == {"ana", "bob"}
    with open_curator(tmp_path / "discreet.toml") as curator:
        assert curator.as_analyst("bob").ask("SELECT AVG(amount) AS mean FROM orders", epsilon=1).columns == ["mean"]


def seen(name, **columns):
    described = {
        column: SeenColumn(name=column, type=Type.INTEGER, cells=9, values=frozenset(map(str, range(distinct))))
        for column, distinct in columns.items()
    }
    return SeenTable(name=name, columns=described)


@pytest.mark.parametrize(
    ("table", "person"),
    [
        (seen("orders", order_id=9, customer_id=3), "customer_id"),
        (seen("orders", order_id=9, customerID=9), "customerID"),
        (seen("orders", id=9, amount=9), "row"),
        (seen("sales", sale_id=9, product_id=2), "row"),
        (seen("patients", id=9, age=9), "id"),
        (seen("visits", nhs_number=4, ward=2), "nhs_number"),
        (seen("households", children=3, income=9), "row"),
        (seen("members", member=9), "member"),
        (seen("log", paid=2, valid=2, covid=1), "row"),
        (seen("readings", id=4), "id"),
    ],
)
def test_the_person_is_known_by_names_and_repeats(table, person):
    assert suggested_people([table])[table.name].column == person


def test_a_unit_that_numbers_rows_is_doubted():
    orders = seen("orders", order_id=9, customer_id=3, index=9)
    assert [name for name in orders.columns if looks_like_row_number(orders, name)] == ["order_id", "index"]
    assert not looks_like_row_number(seen("patients", patient_id=9), "patient_id")

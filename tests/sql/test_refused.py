"""What is not known to be safe is refused by name, before anything is charged or read."""

import pytest
from sqlglot import exp

from discreet.errors import DiscreetError
from discreet.planning.query_planning import plan_query
from discreet.sql.reader.query_text import read_text, written
from tests.sql.checking import planned
from tests.sql.fixtures import refused
from tests.sql.worlds import HAND_MADE, catalog_of, engine_of

REFUSED = [
    *refused(),
    ("unparsable", ""),
    ("too-large", "SELECT COUNT(*) FROM visits WHERE age = 1" + " OR age = 1" * 2500),
    ("too-large", "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 60 + "ok"),
    ("too-large", "SELECT COUNT(*) FROM visits WHERE age = 1" + " OR age = 1" * 1400),
    ("too-large", "SELECT COUNT(*) FROM visits LIMIT " + "9" * 5000),
    ("too-large", "SELECT COUNT(*) + " + "7" * 5000 + " FROM visits"),
    ("too-large", "WITH " + ", ".join(f"t{i} AS (SELECT a.person FROM t{i - 1} a JOIN t{i - 1} b ON a.person = b.person)" if i else "t0 AS (SELECT DISTINCT person FROM visits)" for i in range(20)) + " SELECT COUNT(*) FROM t19"),
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(catalog):
    opened = engine_of(HAND_MADE, catalog)
    yield opened
    opened.close()


@pytest.mark.parametrize(("code", "sql"), REFUSED)
def test_what_is_not_known_to_be_safe_is_refused_by_name(code, sql, engine, catalog, monkeypatch):
    monkeypatch.setattr(engine, "run", None)
    with pytest.raises(DiscreetError) as caught:
        planned(sql, catalog, engine)
    assert caught.value.code == code
    assert caught.value.next_step


def test_there_are_at_least_a_hundred_of_them():
    assert len({sql for _, sql in REFUSED}) >= 100


def test_undeclared_groups_need_a_delta(engine):
    pure = catalog_of(budget=("delta = 1e-3", "delta = 0"))
    sql = "SELECT zip, COUNT(*) FROM visits GROUP BY zip"
    with pytest.raises(DiscreetError) as caught:
        planned(sql, pure, engine)
    assert caught.value.code == "needs-delta"
    assert planned(sql, pure, engine, delta=1e-6).grouping_sets[0][0].selection is not None


def test_a_question_without_an_epsilon_is_refused(engine, catalog):
    with pytest.raises(DiscreetError) as caught:
        plan_query("SELECT COUNT(*) FROM visits", catalog, engine)
    assert caught.value.code == "bad-epsilon"


def test_parameters_are_put_in_as_literals_in_the_order_of_the_text(engine, catalog):
    by_place = planned("SELECT COUNT(*) FROM visits WHERE cost > ? AND zip = ? AND age BETWEEN ? AND ?", catalog, engine, parameters=[1.5, "x' OR '1'='1", 2, 3])  # fmt: skip
    by_name = planned("SELECT COUNT(*) FROM visits WHERE cost > :c AND zip = :z AND age BETWEEN :a AND :b", catalog, engine, parameters={"c": 1.5, "z": "x' OR '1'='1", "a": 2, "b": 3})  # fmt: skip
    written = planned("SELECT COUNT(*) FROM visits WHERE cost > 1.5 AND zip = 'x'' OR ''1''=''1' AND age BETWEEN 2 AND 3", catalog, engine)  # fmt: skip
    assert by_place == by_name == written
    counted = "COUNT(*) AS n FROM visits GROUP BY ward"
    first = planned(f"SELECT ward, {counted} HAVING COUNT(*) > 2", catalog, engine)
    assert (
        planned(f"SELECT ward, {counted} HAVING COUNT(*) > :least", catalog, engine, parameters={"least": 2}) == first
    )
    for hole, given in ((":p", {"p": 1}), ("?", [1]), ("$p", {"p": 1})):
        assert (
            read_text(f"SELECT {hole} AS a, COUNT(*) AS n FROM visits", given).query.sql().startswith("SELECT 1 AS a")
        )
    for given in ([1], {"d": 1}, [object()], [float("nan")]):
        with pytest.raises(DiscreetError):
            planned("SELECT COUNT(*) FROM visits WHERE cost > :c", catalog, engine, parameters=given)


@pytest.mark.parametrize(
    "name", ["visits", "order", "Users", "größe", "my table", "2x", "select", "a-b", 'q"x', "date"]
)
def test_a_name_is_written_with_quotes_only_where_it_needs_them_and_means_itself(name):
    (table,) = read_text(f"SELECT COUNT(*) AS n FROM {written(name)}").query.find_all(exp.Table)
    assert table.name == name
    assert written(name).startswith('"') == (name not in ("visits", "order", "Users", "größe"))

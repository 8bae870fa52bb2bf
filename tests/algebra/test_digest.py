"""Digests: golden for the fixtures, untouched by text, different where integers can differ."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import sqlglot

from discreet.algebra.digest import FORMAT, canonical, query_tree, relation_tree
from discreet.algebra.expressions import Literal, call
from discreet.algebra.relations import Filter, Join, JoinKind
from discreet.algebra.table_scan import scan
from discreet.catalog import Type
from discreet.planning.query_planning import digest_of
from tests.sql.checking import planned
from tests.sql.fixtures import accepted
from tests.sql.worlds import HAND_MADE, catalog_of, engine_of

GOLDEN = Path(__file__).parent / "digests.json"
QUERIES = [sql for _, sql, _ in accepted()][::5]


@pytest.fixture(scope="module")
def catalog():
    return catalog_of()


@pytest.fixture(scope="module")
def engine(catalog):
    opened = engine_of(HAND_MADE, catalog)
    yield opened
    opened.close()


def _digest(sql, catalog, engine, **details):
    return digest_of(planned(sql, catalog, engine, **details), catalog, data_version=1)


def test_digests_are_those_in_the_books_of_this_format(catalog, engine):
    """If this fails, old answers are no longer replayed: raise FORMAT, and say so in the changelog."""
    golden = json.loads(GOLDEN.read_text())
    assert golden["format"] == FORMAT
    assert len(golden["digests"]) >= 40
    assert {sql: _digest(sql, catalog, engine) for sql in golden["digests"]} == golden["digests"]


def test_a_question_that_came_to_mean_something_else_has_another_digest(catalog, engine):
    """Of a table that each question bounds a person's first thousand rows are read, where all were: an answer of before is not given for it."""
    before = json.loads(GOLDEN.read_text())["no longer"]
    assert len(before) == 4
    assert all(_digest(sql, catalog, engine) != digest for sql, digest in before.items())


def test_text_does_not_matter_where_the_meaning_is_the_same(catalog, engine):
    one = _digest("SELECT ward, COUNT(*) AS n FROM visits v WHERE v.cost > 1 GROUP BY ward", catalog, engine)
    for same in (
        "select WARD, count(*) as how_many from VISITS where (COST > 1) group by 1 -- said otherwise",
        'SELECT COUNT(*) + 1 AS x, ward FROM visits AS "w" WHERE "w".cost > 1 GROUP BY "w".ward HAVING COUNT(*) > 3 ORDER BY 1 LIMIT 1',
        "WITH v AS (SELECT * FROM visits) SELECT ward, COUNT(*) FROM visits WHERE cost > 1.0 GROUP BY ward",
    ):
        assert _digest(same, catalog, engine) == one


def test_what_a_question_measures_pays_or_reads_matters(catalog, engine):
    queries = [
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person AND a.age < b.age",
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person AND b.age < a.age",
        "SELECT COUNT(*) FROM visits WHERE zip = '1'",
        "SELECT COUNT(*) FROM visits WHERE visit = 1",
        "SELECT COUNT(*) FROM visits WHERE cost = 1",
        "SELECT COUNT(*) FROM visits WHERE ok = true",
        "SELECT COUNT(*) FROM visits WHERE zip = 'true'",
        "SELECT COUNT(*) FROM visits WHERE day = '2020-01-01'",
        "SELECT COUNT(*) FROM visits WHERE zip = '2020-01-01'",
        "SELECT COUNT(*) FROM visits WHERE cost - age > 1",
        "SELECT COUNT(*) FROM visits WHERE age - cost > 1",
        "SELECT COUNT(*) FROM visits WHERE cost > 0.1",
        "SELECT COUNT(*) FROM visits WHERE cost > 0.10000000000000002",
        "SELECT MEDIAN(cost) FROM visits",
        "SELECT QUANTILE_CONT(cost, 0.25) FROM visits",
    ]
    digests = [_digest(sql, catalog, engine) for sql in queries]
    digests += [
        _digest(queries[2], catalog, engine, epsilon=2),
        _digest(queries[2], catalog, engine, mechanism="gaussian"),
    ]
    digests.append(digest_of(planned(queries[2], catalog, engine), catalog, data_version=2))
    assert len(set(digests)) == len(digests)


def test_no_two_questions_of_the_fixtures_share_a_digest_unless_they_are_one(catalog, engine):
    by_digest = {}
    for _, sql, _ in accepted():
        plan = planned(sql, catalog, engine)
        by_digest.setdefault(digest_of(plan, catalog, data_version=1), []).append(plan)
    for plans in by_digest.values():
        assert all((plan.queries, plan.grouping_sets) == (plans[0].queries, plans[0].grouping_sets) for plan in plans)


def test_the_printer_of_the_parser_has_no_part_in_it(catalog, engine, monkeypatch):
    before = [_digest(sql, catalog, engine) for sql in QUERIES[:10] if "AS" in sql]
    monkeypatch.setattr(sqlglot.exp.Expression, "sql", lambda *_, **__: "x", raising=False)
    assert [_digest(sql, catalog, engine) for sql in QUERIES[:10] if "AS" in sql] == before


def test_nothing_is_converted_on_the_way():
    with pytest.raises(TypeError):
        canonical({"x": object()})
    with pytest.raises(ValueError):
        canonical({"x": float("nan")})


def test_facts_that_decide_the_integers_are_in_it(catalog):
    visits = scan(catalog.tables["visits"], catalog)
    base = canonical(relation_tree(visits))
    table = catalog.tables["visits"]
    wider = {**table.columns, "cost": replace(table.columns["cost"], upper=table.columns["cost"].upper + 1)}
    for other in (replace(table, max_rows=3), replace(table, columns=wider)):
        assert canonical(relation_tree(scan(other, catalog))) != base
    joined = Join(visits, visits, JoinKind.INNER, (), None)
    assert canonical(relation_tree(joined)) != canonical(relation_tree(replace(joined, how=JoinKind.LEFT)))
    kept = Filter(visits, call("gt", visits.field(5), Literal(Type.INTEGER, 1)))
    assert canonical(relation_tree(kept)) != canonical(
        relation_tree(Filter(visits, call("ge", visits.field(5), Literal(Type.INTEGER, 1))))
    )


def test_a_question_is_json(catalog, engine):
    plan = planned("SELECT zip, CORR(cost, age) FROM visits WHERE ok GROUP BY zip", catalog, engine)
    assert json.loads(canonical(query_tree(plan.queries[0])))["sets"] == [[0]]

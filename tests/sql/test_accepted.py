"""Every accepted question: its plan, what each neighbour changes of it, and what DuckDB itself would answer."""

import datetime
import re
from collections import Counter
from decimal import Decimal

import pytest

from discreet.accounting import Composed
from discreet.exact import exact
from discreet.sql import plan_query
from tests.sql.checking import check_neighbours, shape, summary, without_noise
from tests.sql.fixtures import accepted
from tests.sql.worlds import WORLDS, catalog_of, engine_of, neighbours_of

ACCEPTED = list(accepted())
QUESTIONS = [sql for _, sql, _ in ACCEPTED]
NAMED_FEATURES = {
    "count", "count_distinct", "sum", "avg", "variance", "quantiles", "after", "case", "filter", "keys", "rollup", "ctes",
    "per_person", "subqueries", "joins_public", "joins_people", "union_all", "windows", "functions", "options", "per_query",
}  # fmt: skip


@pytest.fixture(scope="module")
def worlds(catalog):
    made = {name: neighbours_of(world, catalog) for name, world in WORLDS.items()}
    yield made
    for engine, others in made.values():
        for one in (engine, *others):
            one.close()


@pytest.mark.parametrize(("sql", "expected"), [(sql, expected) for _, sql, expected in ACCEPTED])
def test_no_neighbour_moves_a_question_further_than_it_pays_for(sql, expected, worlds, catalog):
    furthest = []
    for engine, neighbours in worlds.values():
        plan = plan_query(sql, catalog, engine, epsilon=1)
        assert summary(plan) == expected
        assert all(
            plan_query(sql, catalog, other, epsilon=1) == plan for other in neighbours
        )  # no protected row matters
        furthest.append(check_neighbours(plan, engine, neighbours))
    assert any(map(max, furthest)), "no world exercises this question"


def test_the_fixtures_cover_every_feature_with_plans_of_different_shapes(worlds, catalog):
    engine, _ = worlds["hand-made"]
    shapes = Counter(shape(plan_query(sql, catalog, engine, epsilon=1)) for sql in QUESTIONS)
    assert len(shapes) == len(QUESTIONS) >= 150
    features = Counter(feature for feature, _, _ in ACCEPTED)
    assert set(features) == NAMED_FEATURES
    assert min(features.values()) >= 8


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_price_is_the_epsilon_that_was_asked_for(sql, worlds, catalog):
    engine, _ = worlds["hand-made"]
    plan = plan_query(sql, catalog, engine, epsilon=0.7)
    cost = Composed.of(plan.releases)
    if cost.exact_pure_epsilon is None:
        assert cost.rho == pytest.approx(0.7**2 / 2, rel=1e-9)
    else:
        assert float(cost.exact_pure_epsilon) == pytest.approx(0.7)
    aside = 0 if all(key.domain is not None for key in plan.keys) else 1e-5 if "1e-5" in sql else 5e-6
    assert exact(cost.delta) == exact(aside)


def test_replacing_one_person_by_another_moves_no_question_further_than_it_pays_for():
    """All pairs of people who could stand for each other, in a world where everybody else is the same."""
    catalog = catalog_of(relation=("[source]", 'neighbours = "replace-one"\n[source]'))
    world = WORLDS["hand-made"]
    engines = [engine_of(world.without(person), catalog) for person in (1, 3, 4)]
    for sql in QUESTIONS[::3]:
        plan = plan_query(sql, catalog, engines[0], epsilon=1)
        for engine in engines:
            check_neighbours(plan, engine, engines)


# The same as DuckDB

_OPTIONS = re.compile(r"WITH DIFFERENTIAL_PRIVACY( OPTIONS\([^)]*\))? ")


def _plain(value):
    if isinstance(value, datetime.datetime):
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, datetime.date) else value


def close(ours, theirs):
    if isinstance(ours, int | float) and isinstance(theirs, int | float | Decimal):
        return ours == pytest.approx(float(theirs), rel=2e-5, abs=2e-5)
    return ours == theirs


UNCUT = [
    sql for _, sql, plan in ACCEPTED if "max_" not in sql and not ("cut(" in plan and re.search("JOIN|UNION", sql))
]


@pytest.mark.parametrize("sql", UNCUT)
def test_without_noise_the_answer_is_duckdbs_own_where_nothing_is_clamped(sql, tame, catalog):
    engine, plain = tame
    plan = plan_query(sql, catalog, engine, epsilon=1)
    answer = without_noise(plan, engine.run(plan))
    noisy = [i for i, output in enumerate(plan.outputs) if output.post.op != "quantile"]
    ours = [[list(row.values())[i] for i in noisy] for row in answer.rows]
    theirs = [[_plain(row[i]) for i in noisy] for row in plain.execute(_OPTIONS.sub("", sql)).fetchall()]
    for row in theirs:
        if None in row and not any(output.post.op == "grouping" for output in plan.outputs):
            continue  # a NULL group is dropped unless it is declared
        assert any(all(close(a, b) for a, b in zip(mine, row, strict=True)) for mine in ours), (row, ours)
    assert theirs

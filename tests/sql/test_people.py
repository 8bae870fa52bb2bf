"""Under replace-one the number of people is public, and nothing else: where a table lists everybody once, it is exact and free."""

import pytest

from discreet.engines import DuckEngine
from discreet.errors import BadCatalog
from tests.sql.checking import check_any_two, groups, planned, run
from tests.sql.worlds import LISTED, WORLDS, catalog_of, engine_of, random_world

FREE = [
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(DISTINCT person) FROM people",
    "SELECT COUNT(*) FROM people p LEFT JOIN (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) v ON p.person = v.person",
]
PAID = [
    "SELECT COUNT(*) FROM people WHERE sex = 'F'",
    "SELECT COUNT(*) FILTER (WHERE sex = 'F') FROM people",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex",
    "SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP (sex)",
    "SELECT CASE WHEN sex = 'F' THEN NULL ELSE 'other' END AS kind, COUNT(*) FROM people GROUP BY GROUPING SETS ((1), ())",
    "SELECT height > 1 AS tall, sex, COUNT(DISTINCT person) FROM people GROUP BY CUBE (1, 2)",
    "SELECT COUNT(sex) FROM people",
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.person = v.person",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.person = v.person",
    "SELECT COUNT(DISTINCT person) FROM visits",
    "SELECT COUNT(*) FROM (SELECT person FROM people GROUP BY person)",
]


@pytest.fixture(scope="module")
def listed():
    return catalog_of(**LISTED)


@pytest.fixture(scope="module")
def engines(listed):
    """Worlds of as many people, each without another one."""
    world = WORLDS["hand-made"]
    opened = [engine_of(world.without(person), listed) for person in (1, 2, 3, 5)]
    yield opened
    for engine in opened:
        engine.close()


@pytest.mark.parametrize("sql", FREE)
def test_how_many_people_there_are_is_exact_and_free(sql, listed, engines):
    plan = planned(sql, listed, engines[0])
    assert plan.releases == ()
    assert {groups(run(plan, engine)[0][0])[()] for engine in engines} == {(3,)}


@pytest.mark.parametrize("sql", FREE)
def test_nothing_is_read_for_what_is_free(sql, listed, engines, monkeypatch):
    """How long it takes would be free too: an outer join could make one person's rows as dear as one likes."""

    def reading(*_):
        raise AssertionError("a row was read")

    plan = planned(sql, listed, engines[0])
    monkeypatch.setattr(DuckEngine, "_grouping", reading)
    assert groups(run(plan, engines[0])[0][0])[()] == (3,)


@pytest.mark.parametrize("sql", PAID)
def test_everything_else_is_paid_for(sql, listed, engines):
    plan = planned(sql, listed, engines[0])
    assert plan.releases
    check_any_two(plan, engines)


def test_an_average_over_all_people_pays_for_its_sum_only(listed, engines):
    plan = planned("SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS share FROM people", listed, engines[0])
    assert [str(mechanism.sensitivity) for mechanism in plan.releases] == ["1"]


def test_a_free_number_is_answered_without_a_charge(listed, tmp_path):
    from dataclasses import replace

    from tests.support.opening import open_curator

    declared = replace(listed, ledger=":memory:", snapshot=None)
    with open_curator(catalog=declared, frames=random_world(3, tame=True).frames()) as curator:
        answer = curator.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        assert (answer.rows, answer.loss.epsilon) == ([{"n": 11}], 0)
        assert curator.ledger.account().spent.epsilon == 0


def test_rows_of_people_who_are_not_listed_are_dropped(listed):
    """Otherwise somebody who is only in visits could take the place of somebody listed, and the free number would tell."""
    engine = engine_of(WORLDS["hand-made"], listed)
    plan = planned("SELECT COUNT(DISTINCT person) FROM visits", listed, engine)
    assert groups(run(plan, engine)[0][0])[()] == (3,)  # 4, 7 and 8 have visits, and no row in people
    engine.close()


def test_add_remove_protects_the_number_of_people():
    catalog = catalog_of(people=LISTED["people"])
    engine = engine_of(WORLDS["hand-made"], catalog)
    assert planned("SELECT COUNT(*) FROM people", catalog, engine).releases
    engine.close()


@pytest.mark.parametrize(
    "wrong",
    [
        (
            '[tables.visits]\nprivacy_unit = "person"\nmax_rows = 2',
            '[tables.visits]\nprivacy_unit = "person"\npeople = true\nmax_rows = 2',
        ),
        ("[tables.wards]\npublic = true", "[tables.wards]\npublic = true\npeople = true"),
        ('[tables.people]\nprivacy_unit = "person"', '[tables.people]\nprivacy_unit = "person"\npeople = 3'),
    ],
)
def test_a_table_that_cannot_list_everybody_once_is_refused(wrong):
    with pytest.raises(BadCatalog):
        catalog_of(wrong=wrong)

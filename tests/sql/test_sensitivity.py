"""No person moves a measure further than its mechanism says: brute force through the real planner and engine."""

import pytest

from discreet.errors import DiscreetError
from discreet.sql import plan_query
from tests.sql.worlds import distance, engines_of_neighbours, write_world

ACCEPTED = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(cost) FROM visits",
    "SELECT COUNT(DISTINCT person) FROM visits",
    "SELECT SUM(cost) FROM visits",
    "SELECT AVG(cost) FROM visits",
    "SELECT SUM(age), AVG(age), COUNT(*) FROM visits",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT person) AS people FROM visits GROUP BY 1",
    "SELECT ward, SUM(cost), AVG(cost) FROM visits GROUP BY ward HAVING COUNT(*) > 1 ORDER BY 2 DESC LIMIT 1",
    "SELECT ok, ward, SUM(cost) FROM visits GROUP BY ok, ward",
    "SELECT zip, COUNT(*) FROM visits GROUP BY zip",
    "SELECT age % 2 AS odd, SUM(cost) FROM visits GROUP BY age % 2",
    "SELECT COUNT(*) FROM visits WHERE cost > 1 AND ward IN ('A', 'B')",
    "SELECT COUNT(*) FROM visits WHERE cost / (age - 2) > 0 OR age IS NULL",
    "SELECT SUM(cost * age) FROM visits",
    "SELECT SUM(CASE WHEN ok THEN cost ELSE -2 END) FROM visits",
    "SELECT SUM(ABS(cost) + COALESCE(age, 5)) FROM visits WHERE NOT (ward = 'B')",
    "SELECT SUM(cost) + 2 * COUNT(*) AS mixed, SUM(cost) / COUNT(*) AS ratio FROM visits",
    "SELECT w.floor, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.floor",
    "SELECT COUNT(*), SUM(v.cost) FROM visits v LEFT JOIN wards w ON v.ward = w.ward",
    "SELECT COUNT(DISTINCT v.person) FROM visits v JOIN wards w USING (ward)",
    "SELECT p.sex, COUNT(*), SUM(v.cost) FROM visits v JOIN people p ON v.person = p.person GROUP BY p.sex",
    "select Ward, sum(COST) from VISITS group by WARD",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person",
    "SELECT COUNT(*), SUM(a.cost * b.cost) FROM visits a JOIN visits b ON a.person = b.person AND a.ward = b.ward",
    "SELECT p.sex, COUNT(*) FROM people p LEFT JOIN visits v ON p.person = v.person GROUP BY p.sex",
    "SELECT w.floor, p.sex, SUM(v.age) FROM visits v JOIN people p ON v.person = p.person JOIN wards w ON w.ward = v.ward GROUP BY 1, 2",
]

REFUSED = {
    "unparsable": ["", "SELEC 1", "SELECT 1; SELECT 2", "DROP TABLE visits", "COPY visits TO 'x'", "PRAGMA version", "ATTACH 'x'", "SET threads = 1", "(SELECT COUNT(*) FROM visits)"],
    "not-allowed": [
        "SELECT * FROM visits",
        "SELECT ward FROM visits",
        "SELECT cost, COUNT(*) FROM visits GROUP BY ward",
        "SELECT 1 FROM visits",
        "SELECT COUNT(*)",
        "SELECT COUNT(*) FROM wards",
        "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
        "SELECT COUNT(*) FROM information_schema.tables",
        "SELECT COUNT(*) FROM (SELECT * FROM visits)",
        "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v",
        "SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
        "SELECT COUNT(*) FROM visits WHERE random() > 0.5",
        "SELECT COUNT(*) FROM visits WHERE getenv('HOME') = 'x'",
        "SELECT COUNT(*) FROM visits WHERE zip LIKE '%a%'",
        "SELECT COUNT(*) FROM visits WHERE regexp_matches(zip, '(a+)+')",
        "SELECT COUNT(*) FROM visits WHERE repeat(zip, 1000000) = 'x'",
        "SELECT COUNT(*) FROM visits WHERE CAST(zip AS INTEGER) = 1",
        "SELECT COUNT(*) OVER () FROM visits",
        "SELECT MAX(cost) FROM visits",
        "SELECT STRING_AGG(zip) FROM visits",
        "SELECT ANY_VALUE(zip) FROM visits",
        "SELECT COUNT(DISTINCT zip) FROM visits",
        "SELECT SUM(DISTINCT cost) FROM visits",
        "SELECT COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
        "SELECT COUNT(*) FROM visits v RIGHT JOIN wards w ON v.ward = w.ward",
        "SELECT COUNT(*) FROM visits v FULL JOIN wards w ON v.ward = w.ward",
        "SELECT COUNT(*) FROM visits CROSS JOIN wards",
        "SELECT COUNT(*) FROM visits, wards",
        "SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward < w.ward",
        "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.person OR v.age = 1",
        "SELECT COUNT(*) FROM visits TABLESAMPLE 10%",
        "SELECT COUNT(*) FROM visits QUALIFY row_number() OVER () = 1",
        "SELECT COUNT(*) FROM visits LIMIT (SELECT 1)",
        "SELECT COUNT(*) FROM visits WHERE ward > 5",
        "SELECT SUM(cost) FROM visits WHERE ward + 1 = 2",
    ],
    "unknown-name": [
        "SELECT COUNT(*) FROM nowhere",
        "SELECT COUNT(*) FROM 'visits.parquet'",
        "SELECT COUNT(nothing) FROM visits",
        "SELECT COUNT(w.cost) FROM visits v JOIN wards w ON v.ward = w.ward",
        "SELECT COUNT(ward) FROM visits v JOIN wards w ON v.ward = w.ward",
        "SELECT COUNT(*) FROM visits JOIN visits ON visits.person = visits.person",
        'SELECT COUNT(*) FROM visits WHERE "$owner" = 1',
        'SELECT SUM("cost$steps") FROM visits',
    ],
    "joins-people": [
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward",
        "SELECT COUNT(*) FROM visits a JOIN people p ON a.age = p.person",
        "SELECT COUNT(*) FROM visits a JOIN visits b USING (ward)",
    ],
    "needs-bounds": ["SELECT SUM(person) FROM visits", "SELECT AVG(zip) FROM visits", "SELECT SUM(cost / age) FROM visits", "SELECT SUM(LENGTH(zip)) FROM visits"],
    "needs-delta": [],
    "too-large": ["SELECT COUNT(*) FROM visits WHERE age = 1" + " OR age = 1" * 2500, "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 60 + "ok", "SELECT COUNT(*) FROM visits WHERE age = 1" + " OR age = 1" * 1400, "SELECT SUM(cost * 1e400000000) FROM visits", "SELECT COUNT(*) FROM visits LIMIT " + "9" * 5000, "SELECT COUNT(*) + " + "7" * 5000 + " FROM visits"],
}  # fmt: skip


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    found = dict(engines_of_neighbours(tmp_path_factory.mktemp("worlds")))
    yield found
    for engine in found.values():
        engine.close()


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("catalog"), {}, {})


@pytest.mark.parametrize("sql", ACCEPTED)
def test_no_neighbour_moves_a_measure_further_than_its_sensitivity(sql, engines, catalog):
    full = engines[None]
    plan = plan_query(sql, catalog, full, epsilon=1, delta=1e-4)
    whole = full.run(plan)
    worst = [0] * len(plan.measures)
    for person, engine in engines.items():
        if person is None:
            continue
        assert plan_query(sql, catalog, engine, epsilon=1, delta=1e-4) == plan  # a plan never depends on protected rows
        without = engine.run(plan)
        for index, measure in enumerate(plan.measures):
            moved = distance(whole, without, index)
            worst[index] = max(worst[index], moved)
            assert moved <= measure.mechanism.sensitivity, (sql, index)
        if plan.selection is not None:
            changed = sum(
                whole.people.get(k, 0) != without.people.get(k, 0) for k in set(whole.people) | set(without.people)
            )
            assert changed <= plan.relation.rows_per_person
    assert any(worst), "the world does not exercise this question"


def test_the_check_catches_a_sensitivity_that_forgets_a_join(engines, catalog):
    """The mutant: a plan that counts a self-join on the person as if rows did not multiply."""
    from dataclasses import replace

    sql = "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person"
    plan = plan_query(sql, catalog, engines[None], epsilon=1)
    assert plan.relation.rows_per_person == 4
    whole = engines[None].run(plan)
    moved = max(distance(whole, engine.run(plan), 0) for person, engine in engines.items() if person is not None)
    forgetful = replace(plan.measures[0].mechanism, sensitivity=2)
    assert moved > forgetful.sensitivity


@pytest.mark.parametrize(("code", "sql"), [(code, sql) for code, texts in REFUSED.items() for sql in texts])
def test_what_is_not_known_to_be_safe_is_refused_by_name(code, sql, engines, catalog):
    with pytest.raises(DiscreetError) as caught:
        engines[None].bind(plan_query(sql, catalog, engines[None], epsilon=1, delta=1e-4))
    assert caught.value.code == code
    assert caught.value.next_step


def test_undeclared_groups_need_a_delta(engines, catalog):
    with pytest.raises(DiscreetError) as caught:
        plan_query("SELECT zip, COUNT(*) FROM visits GROUP BY zip", catalog, engines[None], epsilon=1)
    assert caught.value.code == "needs-delta"


@pytest.mark.parametrize("sql", ACCEPTED)
def test_a_price_is_the_epsilon_that_was_asked_for(sql, engines, catalog):
    from discreet.accounting import Composed

    plan = plan_query(sql, catalog, engines[None], epsilon=0.7, delta=1e-4)
    assert Composed.of(plan.releases).pure_epsilon == pytest.approx(0.7)

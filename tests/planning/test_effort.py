"""What a question is expected to take is public: the same for any data, and more where the plan or the declared sizes ask for more."""

import json
import re
import time
from contextlib import ExitStack

import pyarrow as pa
import pytest

from discreet.algebra.aggregates import MOST_DISTINCT
from discreet.catalog import parse_catalog
from discreet.engines.sqlgen.kernel import groupings
from discreet.errors import TooLarge
from discreet.planning.effort import seconds_of
from tests.support.inside import planned
from tests.support.opening import open_curator

CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 100.0
delta = 1e-6
[engine]
memory = "500MB"
[tables.t]
privacy_unit = "id"
max_rows = 3
{declared}
columns.id = {{ type = "integer" }}
columns.x = {{ type = "integer", lower = 0, upper = 100 }}
columns.w = {{ type = "text", values = ["a", "b"] }}
columns.z = {{ type = "text" }}
[tables.p]
public = true
columns.n = {{ type = "integer" }}
"""


def opened(people=10, *, declared="rows_about = 100_000"):
    ids = list(range(people))
    tables = {
        "t": pa.table({"id": ids, "x": [7] * people, "w": ["a"] * people, "z": [str(i) for i in ids]}),
        "p": pa.table({"n": list(range(1000))}),
    }
    return open_curator(catalog=parse_catalog(CATALOG.format(declared=declared)), frames=tables)


QUERIES = [
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE x > 5",
    "SELECT COUNT(*) FROM t WHERE x > 5 AND w LIKE '%a%'",
    "SELECT w, MEDIAN(x) FROM t GROUP BY w",
    "SELECT z, COUNT(*) FROM t GROUP BY z",
    "SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id)",
    "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id",
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t b WHERE b.id = t.id AND b.x > t.x)",
    "SELECT COUNT(*) FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY x) AS r FROM t) WHERE r = 1",
    "SELECT COUNT(*) FROM (SELECT id, x FROM t UNION ALL SELECT id, x FROM t)",
    "SELECT COUNT(*) FROM t CROSS JOIN p WHERE x > n",
]


@pytest.fixture(scope="module")
def expected():
    with opened() as curator:
        yield {sql: seconds_of(planned(curator, sql, epsilon=1)) for sql in QUERIES}


def test_nothing_of_it_comes_from_the_rows(expected):
    for people in (0, 2000):
        with opened(people) as curator:
            assert {sql: seconds_of(planned(curator, sql, epsilon=1)) for sql in QUERIES} == expected


def test_it_grows_with_what_a_question_does(expected):
    count, *others = expected.values()
    assert all(count < seconds for seconds in others)
    assert expected[QUERIES[1]] < expected[QUERIES[2]]
    assert expected[QUERIES[-1]] > 100 * (count - 0.022)  # every row meets a thousand


def test_it_grows_with_the_declared_size_and_a_table_of_no_declared_size_has_a_million_rows(expected):
    with opened(declared="") as curator, opened(declared="rows_about = 1_000_000") as same:
        for sql in QUERIES:
            larger = seconds_of(planned(curator, sql, epsilon=1))
            assert larger == seconds_of(planned(same, sql, epsilon=1))
            assert larger > 2 * (expected[sql] - 0.03)


def test_it_has_room_for_one_person_whose_rows_are_as_dear_as_rows_can_be():
    """On a table of a few rows, so that nothing else is in it: three rows that meet a thousand each, and texts of 256 letters."""
    sql = "SELECT COUNT(*) FROM t CROSS JOIN p WHERE z LIKE '%a_' AND x > n"
    texts = ["a" * 255 + "b", "", ""]
    frames = {"t": pa.table({"id": [1, 1, 1], "x": [7] * 3, "w": ["a"] * 3, "z": texts}), "p": pa.table({"n": list(range(1000))})}  # fmt: skip
    with open_curator(catalog=parse_catalog(CATALOG.format(declared="rows_about = 10")), frames=frames) as curator:
        plain = seconds_of(planned(curator, sql.replace("z LIKE '%a_' AND ", ""), epsilon=1))
        dear = seconds_of(planned(curator, sql, epsilon=1))
    assert dear - plain > 3 * 1000 * 256 * 150e-9


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id WHERE LOWER(LEFT(a.z, 1) || LEFT(b.z, 1)) = 'q' OR UPPER(a.z || b.z) = 'q'",
        "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id AND POW(a.x, b.x) > 1e29",
        "SELECT MEDIAN(a.x + b.x) FROM t a JOIN t b ON a.id = b.id",
        "SELECT SUM(c) FROM (SELECT a.id, SUM(b.x) OVER (PARTITION BY a.id ORDER BY a.x, b.x ROWS BETWEEN 500 PRECEDING AND 500 FOLLOWING) AS c FROM t a JOIN t b ON a.id = b.id)",
        "SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.id = a.id AND b.x * a.x > 5000)",
    ],
)
def test_a_person_all_of_whose_rows_meet_each_other_takes_no_longer_than_is_expected(sql):
    """Forty thousand pairs of one person, in a table that is declared to be small."""
    rows = 200
    frames = {
        "t": pa.table({"id": [1] * rows, "x": [n % 100 for n in range(rows)], "w": ["a"] * rows, "z": ["\u1f08a"] * rows}),
        "p": pa.table({"n": [1]}),
    }  # fmt: skip
    declared = CATALOG.replace("max_rows = 3", f"max_rows = {rows}").format(declared="rows_about = 200")
    with open_curator(catalog=parse_catalog(declared), frames=frames) as curator:
        plan = planned(curator, sql, epsilon=1)
        assert taken(curator, plan) < seconds_of(plan)


def taken(curator, plan):
    """Seconds of the processor that a plan is read in."""
    begun = time.process_time()
    for query in plan.queries:
        curator._engine.run(query)
    return time.process_time() - begun


def lengths_of(column, opened_for):
    """Curators of one row of one person, who may have a thousand, with up to 10 and 4,096 letters in a column."""
    for longest in (10, 4096):
        declared = CATALOG.replace("max_rows = 3", "max_rows = 1000").format(declared="rows_about = 1")
        text = f'columns.{column} = {{ type = "text", max_length = {longest} }}'
        catalog = parse_catalog(re.sub(rf"columns\.{column} = .*", text, declared))
        owner = ["1"] if column == "id" else [1]
        frames = {"t": pa.table({"id": owner, "x": [1], "w": ["a"], "z": ["b"]}), "p": pa.table({"n": [1]})}
        yield opened_for.enter_context(open_curator(catalog=catalog, frames=frames))


@pytest.fixture(scope="module")
def short_and_long():
    with ExitStack() as opened_for:
        yield list(lengths_of("z", opened_for))


def for_letters(curators, sql):
    """The seconds that are expected for long texts beyond those for short ones."""
    short, long = (seconds_of(planned(curator, sql, epsilon=1)) for curator in curators)
    return long - short


def test_a_window_is_expected_to_carry_every_text_of_the_rows_that_it_sorts(short_and_long):
    windows = ", ".join(f"ROW_NUMBER() OVER (PARTITION BY id ORDER BY x + {n}) AS n{n}" for n in range(20))
    asked = " OR ".join(f"n{n} = 2" for n in range(20))
    sql = f"SELECT COUNT(*) FROM (SELECT id, z, {windows} FROM t) WHERE z = 'q' OR {asked}"
    assert for_letters(short_and_long, sql) > 20 * 1000 * 4000 * 4e-9  # 4 ns a letter were measured


@pytest.mark.parametrize(
    "rows",
    [
        "t JOIN (SELECT id, MAX(x) AS m FROM t GROUP BY id) b ON t.id = b.id WHERE m > 1",
        "(SELECT id, z FROM t UNION ALL SELECT id, z FROM t) t WHERE TRUE",
        "t WHERE EXISTS (SELECT 1 FROM t b WHERE b.id = t.id AND b.x = t.x)",
    ],
)
def test_joins_and_unions_are_expected_to_carry_the_texts_that_are_read_above_them_and_no_others(rows, short_and_long):
    """A fifth of a nanosecond a letter was measured, and four times that where a letter has four bytes."""
    assert for_letters(short_and_long, f"SELECT COUNT(*) FROM {rows}") == pytest.approx(0)
    compared = for_letters(short_and_long, "SELECT COUNT(*) FROM t WHERE z = 'q'")
    carried = for_letters(short_and_long, f"SELECT COUNT(*) FROM {rows} AND t.z = 'q'") - compared
    assert carried > 1000 * 4000 * 4 * 0.8e-9


def test_operators_are_expected_to_take_their_time_however_few_rows_they_have(short_and_long):
    """Sixty windows over one row: the person whose row it is doubles the time."""
    windows = ", ".join(
        f"SUM(x) OVER (PARTITION BY id ORDER BY x + {n} ROWS BETWEEN {n} PRECEDING AND 1 FOLLOWING) AS n{n}"
        for n in range(60)
    )
    sql = f"SELECT COUNT(*) FROM (SELECT id, {windows} FROM t) WHERE " + " OR ".join(f"n{n} = 2" for n in range(60))
    curator = short_and_long[0]
    plan = planned(curator, sql, epsilon=1)
    assert seconds_of(plan) > 60 * 3.5e-3
    assert taken(curator, plan) < seconds_of(plan)


def test_a_condition_is_expected_to_be_written_out_as_often_as_it_mentions_a_column():
    """The engine moves it below the SELECT that computes the column, and computes that eight times."""
    rows, longest = 50, 2000
    declared = CATALOG.replace("max_rows = 3", f"max_rows = {rows}")
    declared = declared.replace('z = {{ type = "text" }}', f'z = {{{{ type = "text", max_length = {longest} }}}}')
    texts = [("aЖ😀ἈZ" * longest)[: longest - 4] + str(1000 + n) for n in range(rows)]
    frames = {
        "t": pa.table({"id": [1] * rows, "x": [7] * rows, "w": ["a"] * rows, "z": texts}),
        "p": pa.table({"n": [1]}),
    }
    asked = " AND ".join(f"(u IS NULL OR x <> {200 + n})" for n in range(8))
    with open_curator(catalog=parse_catalog(declared.format(declared="rows_about = 50")), frames=frames) as curator:
        plan = planned(curator, f"SELECT COUNT(*) FROM (SELECT id, x, UPPER(z) AS u FROM t) WHERE {asked}", epsilon=1)
        assert seconds_of(plan) > 8 * rows * longest * 800e-9
        assert taken(curator, plan) < seconds_of(plan)


def test_a_condition_is_expected_to_be_tried_before_a_rank_is_compared(short_and_long):
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 1) COUNT(*) FROM t WHERE UPPER(z) = 'q'"
    assert for_letters(short_and_long, sql) > 1000 * 4000 * 800e-9


@pytest.fixture(scope="module", params=[10, 4096])
def thousand(request):
    """A curator of two rows beside a thousand of one person, whose name has as many letters as it may."""
    declared = CATALOG.replace("max_rows = 3", "max_rows = 1000").format(declared="rows_about = 1000")
    declared = declared.replace('id = { type = "integer" }', f'id = {{ type = "text", max_length = {request.param} }}')
    own, rows = ["x" * request.param] * 1000, range(1002)
    frames = {
        "t": pa.table({"id": ["a", "b", *own], "x": [n % 100 for n in rows], "w": ["ab"[n % 2] for n in rows], "z": list(map(str, rows))}),
        "p": pa.table({"n": [1]}),
    }  # fmt: skip
    with open_curator(catalog=parse_catalog(declared), frames=frames) as curator:
        yield curator


def several(counted, number=MOST_DISTINCT):
    return ", ".join(f"COUNT({counted}) FILTER (WHERE x > {n}) AS n{n}" for n in range(number))


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {several('DISTINCT id')} FROM t",
        f"SELECT w, {several('DISTINCT id')} FROM t GROUP BY w",
        f"SELECT x, {several('DISTINCT z')} FROM t GROUP BY x",
        f"SELECT x, {several('DISTINCT z')}, {several('x', 99).replace('AS n', 'AS m')} FROM t GROUP BY x",
        f"SELECT SUM(n1) FROM (SELECT id, w, {several('DISTINCT z')} FROM t GROUP BY id, w) WHERE "
        + " OR ".join(f"n{n} = 2" for n in range(MOST_DISTINCT)),
    ],
)
def test_many_aggregates_beside_each_other_take_no_longer_than_is_expected(sql, thousand):
    plan = planned(thousand, sql, epsilon=100)
    assert min(taken(thousand, plan) for _ in range(2)) < seconds_of(plan)


def test_counting_people_is_expected_to_look_at_every_letter_of_their_names():
    """Also where a key is private: groups are then told apart by person first."""
    with ExitStack() as opened_for:
        curators = list(lengths_of("id", opened_for))
        for sql in ("SELECT COUNT(DISTINCT id) FROM t", "SELECT z, COUNT(*) FROM t GROUP BY z"):
            assert for_letters(curators, sql) > 1000 * 4000 * 4e-9  # 0.3 ns a letter were measured


@pytest.mark.parametrize("counted", ["DISTINCT id", "DISTINCT z"])
def test_more_distinct_counts_than_are_expected_well_are_refused_by_name(counted, short_and_long):
    curator = short_and_long[0]
    counts = several(counted, MOST_DISTINCT + 1)
    for sql in (f"SELECT {counts} FROM t", f"SELECT SUM(n1) FROM (SELECT id, {counts} FROM t GROUP BY id)"):
        with pytest.raises(TooLarge, match=r"33 COUNT\(DISTINCT …\)"):
            planned(curator, sql, epsilon=1)


def rows_of_operators(curator, plan):
    """How many rows went through each operator of the engine, by its own count."""
    for query in plan.queries:
        for grouping in groupings(query, salt="s"):
            for statement in (grouping.integers, *grouping.histograms.values()):
                text = f"EXPLAIN (ANALYZE, FORMAT json) {statement.sql}"
                ((_, told),) = curator._engine._data.cursor().execute(text).fetchall()
                several = json.loads(told)["operator"]
                while several:
                    operator = several.pop()
                    several += operator.get("children", [])
                    yield max(operator["intermediate_rows"], operator.get("rows_scanned", 0))


@pytest.mark.parametrize(("counted", "kept"), [(2, 1000), (1500, 1500)])
def test_whoever_has_rows_without_end_is_read_up_to_a_bound_where_each_question_bounds_rows_itself(counted, kept):
    """Nothing is computed of what a question does not choose from: it is not there."""
    rows = 20_000
    frames = {
        "t": pa.table({"id": [1] * rows, "x": [n % 100 for n in range(rows)], "w": ["a"] * rows, "z": list(map(str, range(rows)))}),
        "p": pa.table({"n": [1]}),
    }  # fmt: skip
    declared = CATALOG.replace("max_rows = 3", f'max_rows = {counted}\nbounding = "per-query"').format(declared="")
    with open_curator(catalog=parse_catalog(declared), frames=frames) as curator:
        for sql in (
            "SELECT COUNT(*) FROM t WHERE UPPER(z) LIKE '%1_'",
            "SELECT w, MEDIAN(x) FROM t GROUP BY w",
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 1, max_rows_per_group = 2) w, COUNT(*) FROM t GROUP BY w",
            "SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM t WHERE LENGTH(z) > 0 GROUP BY id)",
            "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t b WHERE b.id = t.id AND b.w > t.w AND b.z = t.z)",
        ):
            plan = planned(curator, sql, epsilon=1)
            assert max(rows_of_operators(curator, plan)) == kept, sql

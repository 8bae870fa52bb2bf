"""What a second hostile reading found, each question on the worlds that showed it."""

import pyarrow as pa
import pytest

from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine
from discreet.errors import DiscreetError, QueryRefused
from tests.redteam.worlds import HEAD, table
from tests.sql.checking import check_neighbours, groups, planned, run
from tests.sql.worlds import WORLDS, catalog_of, neighbours_of

NOTHING = "(SELECT person, r FROM (SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS r FROM visits) WHERE r <= 0)"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM (SELECT v.person, v.age FROM visits v LEFT JOIN {NOTHING} w ON v.person = w.person UNION ALL SELECT person, 1 FROM people)",
        f"SELECT v.ward, COUNT(DISTINCT v.person) FROM visits v LEFT JOIN {NOTHING} w ON v.person = w.person GROUP BY v.ward",
        f"SELECT v.zip, COUNT(*) FROM visits v LEFT JOIN {NOTHING} w ON v.person = w.person GROUP BY v.zip",
        f"SELECT COUNT(*) FROM visits v FULL JOIN {NOTHING} w ON v.person = w.person",
        f"SELECT COUNT(*) FROM {NOTHING}",
    ],
)
def test_a_side_without_rows_does_not_take_the_other_sides_rows_away(sql):
    catalog = catalog_of()
    engine, neighbours = neighbours_of(WORLDS["hand-made"], catalog)
    check_neighbours(planned(sql, catalog, engine), engine, neighbours)
    for opened in (engine, *neighbours):
        opened.close()


FULL = (
    "SELECT SUM(CASE WHEN r = 1 AND l = 1 THEN 1 ELSE 0 END) FROM (SELECT COALESCE(p.id, q.id) AS id, p.l AS l, "
    "ROW_NUMBER() OVER (PARTITION BY COALESCE(p.id, q.id) ORDER BY 1) AS r FROM (SELECT id, x, COUNT(*) AS l FROM a GROUP BY id, x) p "
    "FULL JOIN (SELECT id, y, COUNT(*) AS m FROM b GROUP BY id, y) q ON p.id = q.id AND p.x = q.y)"
)


@pytest.mark.parametrize(
    "sql",
    [FULL, FULL.replace("SELECT SUM", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 1) SUM", 1)],
)
def test_the_rows_of_a_full_join_are_told_apart_where_their_ids_are_null(sql):
    catalog = parse_catalog(
        HEAD
        + "".join(
            f'[tables.{name}]\nprivacy_unit = "id"\nmax_rows = 2\ncolumns.id = {{ type = "integer" }}\n'
            f'columns.{column} = {{ type = "integer", lower = 0, upper = 5 }}\n'
            for name, column in (("a", "x"), ("b", "y"))
        )
    )
    people = 20_000
    ids, nulls = list(range(people)), [None] * people
    frames = {
        "a": table(id=(ids, pa.int64()), x=(nulls, pa.int64())),
        "b": table(id=(ids, pa.int64()), y=(nulls, pa.int64())),
    }
    engine = DuckEngine(catalog, salt="fixed", frames=frames)
    plan = planned(sql, catalog, engine)
    counts = {groups(run(plan, engine)[0][0])[()] for _ in range(3)}
    assert len(counts) == 1
    assert counts.pop()[0] in (0, people)  # everybody's rows come in the same order
    engine.close()


def test_pairs_of_released_rows_are_refused_before_they_are_paid_for():
    catalog = catalog_of()
    engine, neighbours = neighbours_of(WORLDS["hand-made"], catalog)
    wide = ", ".join(f"n + {number} AS n{number}" for number in range(20))
    by_day = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
    for sql in (
        f"WITH r AS ({by_day}) SELECT COUNT(*) AS n FROM r a, r b, r c",
        f"WITH r AS ({by_day}), s AS (SELECT day, age, COUNT(*) AS n FROM visits GROUP BY day, age), u AS (SELECT day, {wide} FROM s) SELECT COUNT(*) AS n FROM r, u",
    ):
        with pytest.raises(QueryRefused) as refusal:
            planned(sql, catalog, engine)
        assert refusal.value.code == "too-large"
    planned(f"WITH r AS ({by_day}) SELECT a.day, a.n - b.n AS d FROM r a JOIN r b ON a.day = b.day", catalog, engine)
    for opened in (engine, *neighbours):
        opened.close()


def test_listing_values_takes_no_more_than_a_second():
    catalog = parse_catalog(
        HEAD
        + '[tables.t]\nprivacy_unit = "id"\ncolumns.id = { type = "integer" }\ncolumns.d = { type = "date", lower = 1750-01-01, upper = 2023-01-01 }\n'
    )
    engine = DuckEngine(
        catalog, salt="fixed", frames={"t": table(id=([1], pa.int64()), d=(["2020-01-01"], pa.string()))}
    )
    conditions = " AND ".join(f"STRFTIME(d, '%Y-%m-%d-{number}') < STRFTIME(d, '%d-{number}')" for number in range(200))
    with pytest.raises(QueryRefused) as refusal:
        planned(f"SELECT COUNT(*) FROM t WHERE {conditions}", catalog, engine)
    assert refusal.value.code == "too-large"
    engine.close()


def test_all_values_of_a_public_key_are_shown():
    catalog = parse_catalog(
        HEAD
        + '[tables.t]\nprivacy_unit = "id"\ncolumns.id = { type = "integer" }\ncolumns.zip = { type = "integer" }\n'
        + '[tables.z]\npublic = true\ncolumns.zip = { type = "integer" }\n'
    )
    zips = list(range(150_000))
    frames = {"t": table(id=([1, 2], pa.int64()), zip=([5, 149_999], pa.int64())), "z": table(zip=(zips, pa.int64()))}
    engine = DuckEngine(catalog, salt="fixed", frames=frames)
    plan = planned("SELECT z.zip, COUNT(*) FROM t JOIN z ON t.zip = z.zip GROUP BY z.zip", catalog, engine)
    assert len(plan.queries[0].keys[0].values) == 150_000
    engine.close()


def test_what_a_cell_means_does_not_hang_on_another_persons_cell(tmp_path):
    """A CSV file whose dialect is guessed from its rows, a frame whose types are: one row would change everybody's values."""
    config = HEAD.replace('path = "."', f'path = "{tmp_path}"') + (
        '[tables.t]\nprivacy_unit = "id"\ncolumns.id = { type = "integer" }\ncolumns.name = { type = "text" }\n'
        'columns.n = { type = "integer", lower = 0, upper = 10 }\n'
    )
    crowd = [f"{number},'x',2.5" for number in range(100)]
    seen = []
    for more in (
        [],
        ['777,"q",7'],
        ['777,"a,b",7'],
        ['777,"broken,7'],
        ["777,a,b,c,d,7"],
        ["777"],
        ['777,"two\nlines",7'],
    ):
        (tmp_path / "t.csv").write_text("\n".join(["id,name,n", *crowd, *more]) + "\n")
        catalog = parse_catalog(config)
        engine = DuckEngine(catalog, salt=None)
        plan = planned("SELECT name, SUM(n), COUNT(*) FROM t WHERE id < 100 GROUP BY name", catalog, engine, delta=1e-6)
        seen.append(groups(run(plan, engine)[0][0]))
        engine.close()
    assert all(groups_seen == {("'x'",): (200, 100)} for groups_seen in seen)


def test_a_frame_is_read_cell_by_cell():
    pandas = pytest.importorskip("pandas")
    catalog = parse_catalog(
        HEAD
        + '[tables.t]\nprivacy_unit = "id"\ncolumns.id = { type = "integer" }\ncolumns.n = { type = "integer", lower = 0, upper = 10 }\n'
        + 'columns.word = { type = "text" }\n'
    )
    answers = []
    for cell, word in ((7, 1), ("7", "x"), (None, None), (7.5, 1.5), (True, False)):
        frame = pandas.DataFrame({"id": [*range(100), 777], "n": [*([2.5] * 100), cell], "word": [*([1] * 100), word]})
        engine = DuckEngine(catalog, salt="fixed", frames={"t": frame})
        plan = planned("SELECT word, SUM(n), COUNT(*) FROM t WHERE id < 100 GROUP BY word", catalog, engine, delta=1e-6)
        answers.append(groups(run(plan, engine)[0][0]))
        engine.close()
    assert all(answer == {("1",): (200, 100)} for answer in answers)


def test_declared_values_are_values_that_rows_can_have():
    base = HEAD + '[tables.t]\nprivacy_unit = "id"\ncolumns.id = { type = "integer" }\n'
    whole = parse_catalog(base + 'columns.x = { type = "real", values = [1, 2.5, -0.0] }\n')
    assert [repr(value) for value in whole.tables["t"].columns["x"].values] == ["1.0", "2.5", "0.0"]
    for wrong in (
        '{ type = "integer", values = [100000000000000000000] }',
        '{ type = "real", values = [nan] }',
        '{ type = "real", values = [0.0, -0.0] }',
    ):
        with pytest.raises(DiscreetError):
            parse_catalog(base + f"columns.x = {wrong}\n")


def test_a_parameter_that_is_no_text_is_refused():
    catalog = catalog_of()
    engine, neighbours = neighbours_of(WORLDS["hand-made"], catalog)
    with pytest.raises(DiscreetError):
        planned("SELECT COUNT(*) FROM visits WHERE zip = ?", catalog, engine, parameters=["\ud800"])
    with pytest.raises(QueryRefused):
        planned("SELECT " + "+".join(["COUNT(*)"] * 330) + " FROM visits", catalog, engine)
    for opened in (engine, *neighbours):
        opened.close()


def test_a_missing_cell_does_not_change_the_keys_of_others():
    """Pandas stores whole numbers as doubles as soon as one is missing: keys written as text would lose their owners."""
    pandas = pytest.importorskip("pandas")
    catalog = parse_catalog(
        HEAD
        + '[tables.visits]\nprivacy_unit = "person"\nmax_rows = 2\ncolumns.person = { type = "integer" }\ncolumns.visit = { type = "text" }\n'
        + '[tables.notes]\nprivacy_unit = { column = "visit", references = "visits.visit" }\ncolumns.visit = { type = "text" }\n'
    )
    counts = []
    for more in ([], [None]):
        frames = {
            "visits": pandas.DataFrame(
                {"person": [*range(50), *([99] * len(more))], "visit": [*range(100, 150), *more]}
            ),
            "notes": pandas.DataFrame({"visit": [str(number) for number in range(100, 150)]}),
        }
        engine = DuckEngine(catalog, salt="fixed", frames=frames)
        counts.append(groups(run(planned("SELECT COUNT(*) FROM notes", catalog, engine), engine)[0][0])[()])
        engine.close()
    assert counts == [(50,), (50,)]

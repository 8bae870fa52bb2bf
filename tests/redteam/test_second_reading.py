"""What a second hostile reading found, each question on the worlds that showed it."""

import pyarrow as pa
import pytest

from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine
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


@pytest.mark.parametrize("sql", [FULL, FULL.replace("SELECT SUM", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 1) SUM", 1)])
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
    frames = {"a": table(id=(ids, pa.int64()), x=(nulls, pa.int64())), "b": table(id=(ids, pa.int64()), y=(nulls, pa.int64()))}
    engine = DuckEngine(catalog, salt="fixed", frames=frames)
    plan = planned(sql, catalog, engine)
    counts = {groups(run(plan, engine)[0][0])[()] for _ in range(3)}
    assert len(counts) == 1
    assert counts.pop()[0] in (0, people)  # everybody's rows come in the same order
    engine.close()

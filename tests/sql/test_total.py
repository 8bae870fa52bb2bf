"""Nothing fails on a row, and what cannot be computed is NULL: held against what the row should give."""

import pytest

from tests.sql.checking import groups, planned, run
from tests.sql.worlds import HAND_MADE, catalog_of, engine_of

ROWS = 11
"""Rows of visits in the hand-made world, after the cut."""
SHARP = {
    "SELECT COUNT(*) FROM visits WHERE CAST(zip AS INTEGER) IN (1, 2)": 0,
    "SELECT COUNT(*) FROM visits WHERE (CAST(zip AS INTEGER) IN (1, 2)) IS NULL": ROWS,
    "SELECT COUNT(*) FROM visits WHERE (CAST(zip AS BOOLEAN) AND ok) IS NULL OR NOT ok": None,
    "SELECT COUNT(*) FROM visits WHERE CASE WHEN CAST(zip AS INTEGER) > 1 THEN true ELSE false END": 0,
    "SELECT COUNT(*) FROM visits WHERE visit * 9223372036854775807 IS NULL": ROWS,
    "SELECT COUNT(*) FROM visits WHERE visit * 1000000000 * 1000000000 IS NULL": ROWS,
    "SELECT COUNT(*) FROM visits WHERE COALESCE(CAST(zip AS DATE), DATE '2020-01-01') = '2020-01-01'": ROWS,
    "SELECT COUNT(*) FROM visits WHERE day + INTERVAL 99999 YEAR IS NULL": ROWS,
    "SELECT COUNT(*) FROM visits WHERE CASE WHEN visit > 0 THEN visit * 9223372036854775807 ELSE 0 END IS NULL": ROWS,
    "SELECT COUNT(*) FROM visits WHERE LN(age - 5) IS NULL AND SQRT(-1 - ABS(visit)) IS NULL AND POW(10, visit * 1000) IS NULL": ROWS,
    "SELECT COUNT(*) FROM visits WHERE visit / 0 IS NULL AND visit % 0 IS NULL AND visit // 0 IS NULL": ROWS,
}  # fmt: skip


@pytest.fixture(scope="module")
def engine():
    opened = engine_of(HAND_MADE, catalog_of())
    yield opened
    opened.close()


@pytest.mark.parametrize(("sql", "expected"), SHARP.items())
def test_what_cannot_be_computed_is_null_wherever_it_stands(sql, expected, engine, catalog):
    plan = planned(sql, catalog, engine)
    (count,) = groups(run(plan, engine)[0][0])[()]
    assert expected is None or count == expected


def test_the_world_has_so_many_rows(engine, catalog):
    assert groups(run(planned("SELECT COUNT(*) FROM visits", catalog, engine), engine)[0][0])[()] == (ROWS,)


def test_what_is_no_number_is_no_group(engine, catalog):
    """What division by zero gives is NULL: a group whose key equals nothing could not be told apart from others."""
    plan = planned("SELECT cost / age AS k, cost % age AS r, COUNT(*) FROM visits GROUP BY 1, 2", catalog, engine)
    keys = [value for key in groups(run(plan, engine)[0][0]) for value in key if value is not None]
    assert keys
    assert all(abs(value) < float("inf") and str(value) != "-0.0" for value in keys)

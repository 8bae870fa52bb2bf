"""Nothing fails on a row: parts that could are wrapped where they stand, because a TRY around a whole condition lets errors out."""

import duckdb
import pytest

from discreet.sql import plan_query
from tests.sql.worlds import HAND_MADE, catalog_of, engine_of

SHARP = [
    "SELECT COUNT(*) FROM visits WHERE CAST(zip AS INTEGER) IN (1, 2)",
    "SELECT CAST(zip AS INTEGER) BETWEEN 1 AND 2 AS k, COUNT(*) FROM visits GROUP BY 1",
    "SELECT COUNT(*) FROM visits WHERE (CAST(zip AS BOOLEAN) AND ok) OR age > 1",
    "SELECT SUM(CASE WHEN CAST(zip AS INTEGER) > 1 THEN 1 ELSE 0 END) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE visit * 9223372036854775807 > 1 AND ok",
    "SELECT COUNT(*) FROM visits WHERE NOT (visit * visit * visit * visit * visit * visit * visit * visit * visit > 0 OR ok)",
    "SELECT COUNT(*) FROM visits WHERE COALESCE(CAST(zip AS DATE), day) > '2020-01-01'",
    "SELECT COUNT(*) FROM visits WHERE day + INTERVAL 99999 YEAR > day",
    "SELECT COUNT(*) FROM visits WHERE CASE WHEN ok THEN visit * 9223372036854775807 ELSE 0 END > 0",
    "SELECT COUNT(*) FROM visits WHERE LN(age - 5) > 0 AND SQRT(cost) > 0 AND POW(10, visit) > 0",
]


@pytest.fixture(scope="module")
def engine():
    made = engine_of(HAND_MADE, catalog_of())
    yield made
    made.close()


@pytest.mark.parametrize("sql", SHARP)
def test_what_cannot_be_computed_is_null_wherever_it_stands(sql, engine, catalog):
    plan = plan_query(sql, catalog, engine, epsilon=1)
    engine.bind(plan)
    assert engine.run(plan)


def test_the_engine_lets_errors_out_of_a_try_around_a_condition():
    """Why parts are wrapped one by one; if this ever passes in the engine, the wrapping could be simpler."""
    with pytest.raises(duckdb.ConversionException):
        duckdb.sql("SELECT TRY(CAST(s AS INTEGER) IN (1, 2)) FROM (VALUES ('q'), (NULL)) AS t(s)").fetchall()


def test_what_is_no_number_is_no_group(engine, catalog):
    """NaN and infinity as keys are NULL: a group whose key equals nothing could not be told apart from others."""
    plan = plan_query(
        "SELECT cost / age AS k, cost % age AS r, COUNT(*) FROM visits GROUP BY 1, 2", catalog, engine, epsilon=1
    )
    keys = [value for key in engine.run(plan)[0].groups for value in key if value is not None]
    assert keys
    assert all(abs(value) < float("inf") for value in keys)

"""Intervals cover the bounded truth as often as they say: averages, ratios, spreads and quantiles, of tiny and empty groups too."""

import math

import numpy as np
import pyarrow as pa
import pytest

from discreet.answering.answer import Answer, stored_form
from discreet.answering.release import release
from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine
from discreet.loss import Loss
from discreet.sql import plan_query
from tests.sources import SeededBits

CATALOG = """
[source]
path = "."
[budget]
epsilon = 1000
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.g = { type = "text", values = ["many", "few", "one", "none"] }
columns.x = { type = "real", lower = 0, upper = 100, granularity = 0.5 }
"""
SIZES = {"many": 400, "few": 12, "one": 1}
TIMES, LEVEL = 250, 0.9


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(3)
    groups = [g for g, size in SIZES.items() for _ in range(size)]
    values = np.round(rng.normal(40, 15, len(groups)).clip(0, 100) * 2) / 2
    frame = pa.table({"id": range(len(groups)), "g": groups, "x": values})
    catalog = parse_catalog(CATALOG)
    engine = DuckEngine(catalog, salt="x", frames={"t": frame})
    yield catalog, engine, {g: values[[one == g for one in groups]] for g in (*SIZES, "none")}
    engine.close()


def quantile(q):
    return lambda x: np.quantile(x, q, method="inverted_cdf")


OUTPUTS = {
    "COUNT(*)": len,
    "SUM(x)": np.sum,
    "AVG(x)": np.mean,
    "SUM(x) / COUNT(*)": np.mean,
    "VAR_POP(x)": np.var,
    "STDDEV_POP(x)": np.std,
    "STDDEV(x)": lambda x: np.std(x, ddof=1),
    "MEDIAN(x)": quantile(0.5),
    "QUANTILE_CONT(x, 0.9)": quantile(0.9),
    "MAX(x)": quantile(0.99),
    "ABS(COUNT(*) - 100) + 3": lambda x: abs(len(x) - 100) + 3,
    "GREATEST(SUM(x), 50)": lambda x: max(np.sum(x), 50),
    "-COUNT(*) * 2": lambda x: -len(x) * 2,
    "SQRT(SUM(x))": lambda x: math.sqrt(np.sum(x)),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_an_interval_covers_the_bounded_truth_as_often_as_it_says(output, world):
    catalog, engine, values = world
    plan = plan_query(f"SELECT g, {output} AS y FROM t GROUP BY g", catalog, engine, epsilon=2)
    exact, bits = engine.run(plan), SeededBits(output)
    missed = dict.fromkeys(values, 0)
    for _ in range(TIMES):
        answer = Answer(plan, stored_form(release(plan, exact, bits)), Loss(2), False, "")
        for row, interval in zip(answer.rows, answer.intervals(LEVEL), strict=True):
            x = values[row["g"]]
            low, high = interval["y"]
            assert row["y"] is None or low - 1e-9 <= row["y"] <= high + 1e-9 or "/" in output
            if len(x) < (2 if "STDDEV(x)" in output else 1):
                continue  # there is no truth to cover
            missed[row["g"]] += not low - 1e-9 <= OUTPUTS[output](x) <= high + 1e-9
    allowed = TIMES * (1 - LEVEL)
    assert max(missed.values()) <= allowed + 6.2 * math.sqrt(allowed * LEVEL), missed


def test_every_answer_is_finite_and_within_what_the_bounds_allow(world):
    catalog, engine, _ = world
    sql = "SELECT g, AVG(x) AS a, STDDEV(x) AS s, MEDIAN(x) AS m, VAR_POP(x) AS v FROM t GROUP BY g"
    plan = plan_query(sql, catalog, engine, epsilon=0.05)
    exact, bits = engine.run(plan), SeededBits("finite")
    for _ in range(100):
        answer = Answer(plan, stored_form(release(plan, exact, bits)), Loss(1), False, "")
        for row, interval in zip(answer.rows, answer.intervals(0.95), strict=True):
            assert 0 <= row["a"] <= 100
            assert 0 <= row["s"] <= 100 / math.sqrt(2) + 1e-9
            assert 0 <= row["m"] <= 100
            assert 0 <= row["v"] <= 2500
            assert all(math.isfinite(end) for ends in interval.values() if ends for end in ends)


def test_above_the_level_they_were_drawn_for_quantiles_have_the_columns_bounds(world):
    catalog, engine, _ = world
    plan = plan_query("SELECT MEDIAN(x) AS m FROM t", catalog, engine, epsilon=1)
    answer = Answer(plan, stored_form(release(plan, engine.run(plan), SeededBits("q"))), Loss(1), False, "")
    assert answer.intervals(0.99) == [{"m": (0.0, 100.0)}]
    assert answer.intervals(0.95) != answer.intervals(0.99)

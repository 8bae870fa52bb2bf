"""Arrow and polars frames: a cell that the engine cannot read is missing, and stops no other."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from discreet.catalog import parse_catalog
from discreet.opening import open_curator

CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 10000
[tables.t]
privacy_unit = "row"
columns.x = {{ type = "{kind}"{more} }}
"""
TIME = {"kind": "timestamp", "more": ", lower = 2000-01-01, upper = 2030-01-01"}
TEXT = {"kind": "text", "more": ""}
GOOD = 1_600_000_000


def ticks(unit, zone, *values):
    return pa.table({"x": pa.array(np.array(values, np.int64)).view(pa.timestamp(unit, zone))})


def texts(*cells):
    array = pa.array(cells, pa.binary())
    return pa.table({"x": pa.Array.from_buffers(pa.string(), len(array), array.buffers())})


CASES = [
    *((TIME, lambda *values, zone=zone: ticks("s", zone, *values), GOOD, 9_300_000_000_000) for zone in (None, "UTC")),
    (TIME, lambda *values: ticks("ms", "UTC", *values), 1000 * GOOD, 2**62),
    (TIME, lambda *values: pl.DataFrame(ticks("ms", "UTC", *values)), 1000 * GOOD, 2**62),
    (TEXT, texts, b"good", b"\xff\xfe"),
    (TEXT, lambda *values: pa.table({"x": pa.array(values).view(pa.duration("s"))}), 1, 2**62),
]


@pytest.mark.parametrize(("column", "frame", "good", "odd"), CASES)
def test_one_cell_that_cannot_be_read_stops_no_other(column, frame, good, odd):
    counts = []
    for cells in ((good, good), (good, odd)):
        with open_curator(catalog=parse_catalog(CATALOG.format(**column)), frames={"t": frame(*cells)}) as curator:
            counts.append(curator.ask("SELECT COUNT(*) AS rows, COUNT(x) AS there FROM t", epsilon=1000).rows[0])
    assert [count["rows"] for count in counts] == [2, 2]
    assert counts[0]["there"] - counts[1]["there"] in (0, 1)  # clamped to a bound, or missing


def test_times_and_texts_of_arrow_stay_what_they_are():
    with open_curator(catalog=parse_catalog(CATALOG.format(**TIME)), frames={"t": ticks("s", "UTC", GOOD)}) as curator:
        sql = "SELECT COUNT(*) AS n FROM t WHERE x = TIMESTAMP '2020-09-13 12:26:40'"
        assert curator.ask(sql, epsilon=1000).rows[0]["n"] == 1

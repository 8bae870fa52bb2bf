"""Arrow and polars frames: a cell that the engine cannot read is missing, and stops no other."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow.dataset import dataset

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.errors import BadInput

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


def in_lists(*cells):
    column = texts(*cells)["x"].combine_chunks()
    return pa.table({"x": pa.ListArray.from_arrays(pa.array(range(len(cells) + 1), pa.int32()), column)})


def codes(*cells):
    column = texts(*cells)["x"].combine_chunks()
    return pa.table({"x": pa.DictionaryArray.from_arrays(pa.array(range(len(cells)), pa.int8()), column)})


def decimals(*values):
    pairs = np.array([[value & (2**64 - 1), (value >> 64) & (2**64 - 1)] for value in values], np.uint64)
    buffers = [None, pa.py_buffer(pairs.tobytes())]
    return pa.table({"x": pa.Array.from_buffers(pa.decimal128(38, 2), len(values), buffers)})


def integers(kind):
    return lambda *values: pa.table({"x": pa.array(values, pa.int64()).view(kind)})


CASES = [
    (TEXT, in_lists, b"good", b"\xff\xfe"),
    (TEXT, codes, b"good", b"\xff\xfe"),
    (
        TEXT,
        lambda *cells: pa.table({"x": pa.StructArray.from_arrays([texts(*cells)["x"].combine_chunks()], ["y"])}),
        b"good",
        b"\xff",
    ),
    (TEXT, integers(pa.time64("us")), 1, -1),
    (TEXT, integers(pa.time64("ns")), 1, 2**62),
    (TEXT, integers(pa.timestamp("us")), 1, -(2**63)),
    (TEXT, decimals, 100, -(2**127)),
    ({"kind": "real", "more": ", lower = 0, upper = 9"}, decimals, 100, -(2**127)),
    *(
        (TEXT, lambda *cells, kind=kind: kind(texts(*cells)), b"good", b"\xff\xfe")
        for kind in (
            lambda table: table.to_batches()[0],
            lambda table: table.to_reader(),
            dataset,
            lambda table: dataset(table).scanner(),
        )
    ),
    (TIME, lambda *values: pl.DataFrame(ticks("ms", "UTC", *values)).lazy(), 1000 * GOOD, 2**62),
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


def test_a_frame_whose_cells_would_be_guessed_at_is_refused():
    for frame in ({"x": np.array(["a", 1], object)}, [["a"]], np.array([["a"]])):
        with pytest.raises(BadInput, match="no known kind"):
            open_curator(catalog=parse_catalog(CATALOG.format(**TEXT)), frames={"t": frame})


def test_only_the_cells_that_cannot_be_read_are_missing():
    cells = [b"good" if number % 7 else b"\xff" for number in range(1000)]
    with open_curator(catalog=parse_catalog(CATALOG.format(**TEXT)), frames={"t": in_two(cells)}) as curator:
        told = curator.ask("SELECT COUNT(*) AS rows, COUNT(x) AS there FROM t", epsilon=1000).rows[0]
    assert (told["rows"], told["there"]) == (1000, sum(cell == b"good" for cell in cells))


def in_two(cells):
    return pa.concat_tables([texts(*cells[:500]), texts(*cells[500:])])

"""What is stored is what left: every type comes back as it was, and another format is refused."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from discreet.algebra.released_expressions import KeyOf
from discreet.errors import BadData, WrongFormat
from discreet.results.answer import read_stored, stored_form
from tests.support.plans import measured, noisy, plan_of, query, released, shown, texts

KEYS = [
    texts("", "é 漢 😀", 'quo"te\n', None),
    pa.array([2**63 - 1, -(2**63) + 1, 0, None], pa.int64()),
    pa.array([0.1, 2.0**100, -(2.0**-100), None], pa.float64()),
    pa.array([date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), None], pa.date32()),
    pa.array([True, False, None, True], pa.bool_()),
]
COUNTS = [2**63 - 1, -(2**63) + 1, 0, -1]
WIDE = [2**63, -(2**126), 0, 7]


def test_every_type_comes_back_as_it_was():
    sets = [[noisy(KEYS, COUNTS, WIDE, [[1, 2, 3]] * 4), noisy([], [5], [6], [[7, 8, 9]])], [noisy(KEYS[:1], COUNTS)]]
    back = read_stored(stored_form(sets))
    assert [len(one) for one in back] == [2, 1]
    for one, other in zip((p for q in sets for p in q), (p for q in back for p in q), strict=True):
        assert all(a.type == b.type and a.equals(b) for a, b in zip(one.keys, other.keys, strict=True))
        for a, b in zip(one.measures, other.measures, strict=True):
            assert a.shape == b.shape
            assert a.tolist() == b.tolist()
            assert all(type(value) is int for value in b.reshape(-1).tolist())


def test_a_large_answer_is_compressed_and_comes_back():
    numbers = list(range(5000))
    stored = stored_form([[noisy([pa.array(numbers)], numbers)]])
    assert len(stored) < 2 * 8 * len(numbers) // 2
    assert read_stored(stored)[0][0].measures[0].reshape(-1).tolist() == numbers


def test_no_groups_come_back_as_none():
    back = read_stored(stored_form([[noisy([texts()], np.zeros((0, 1), np.int64))]]))
    assert back[0][0].groups == 0
    assert back[0][0].measures[0].shape == (0, 1)
    assert back[0][0].keys[0].type == pa.string()


def test_a_million_groups_are_stored_in_a_few_bytes_each():
    many = noisy([pa.array(np.arange(10**6))], np.arange(10**6) % 100)
    assert len(stored_form([[many]])) < 8 * 10**6


@pytest.mark.parametrize(
    "stored", [b"", b"{}", b"[1]", b"not json", b'{"sets":[{"keys":[["a",1],["b"]],"measures":[]}]}']
)
def test_what_cannot_be_read_says_so(stored):
    with pytest.raises(BadData, match="stored"):
        read_stored(stored)


def test_another_format_is_not_guessed_at():
    batch = pa.record_batch([pa.array([1])], names=["m0.0"]).replace_schema_metadata({"format": "3"})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(WrongFormat, match="version"):
        read_stored(sink.getvalue().to_pybytes())


def test_rows_show_dates_as_text_and_tables_as_dates():
    plan = plan_of(query([("d", [date(2024, 2, 29)]), ("b", [True])]), released(KeyOf(0), KeyOf(1), measured()))
    answer = shown(plan, [noisy([pa.array([date(2024, 2, 29)]), pa.array([True])], [12])])
    assert answer.rows == [{"c0": "2024-02-29", "c1": True, "c2": 12}]
    assert answer.columns == ["c0", "c1", "c2"]
    table = answer.to_arrow()
    assert table.schema.field("c0").type == pa.date32()
    assert table.column_names == ["c0", "c1", "c2", "c2_low", "c2_high"]
    assert answer.half_widths(0.95)[0]["c0"] is None
    (interval,) = answer.intervals(0.95)
    assert (table["c2_low"][0].as_py(), table["c2_high"][0].as_py()) == interval["c2"]
    assert ">± 3<" in answer._repr_html_()
    assert answer.to_polars().rows()[0][2] == 12
    assert list(answer.to_pandas()["c2"]) == [12]
    assert answer

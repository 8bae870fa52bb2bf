"""A pass is a function of each row alone: the same integers in SQL and in numpy, in any order, on any number of threads, whoever else is there."""

from contextlib import nullcontext

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.core.loss import Neighbours
from discreet.engines.sqlgen.kernel import Statement
from discreet.engines.tables.array_tables import CodedArray
from discreet.engines.tables.coded_tables import CodedRows
from discreet.engines.tables.residual_sums import Residuals, Score, Split
from discreet.measurement.domain import Column, Domain
from discreet.measurement.feature_vectors import SCALE, Attribute, Design

SIZES = (16, 9, 2, 42, 300, 3)
NAMES = "abcdey"
DESIGN = Design((Attribute("a", 16), Attribute("b", 9), Attribute("c", 2), Attribute("d", 42), Attribute("e", 300, tuple(np.linspace(-SCALE, SCALE, 300).astype(int).tolist()))))  # fmt: skip
DOMAIN = Domain(tuple(Column(name, tuple(range(size))) for name, size in zip(NAMES, SIZES, strict=True)), 1, Neighbours.ADD_REMOVE)  # fmt: skip


def codes_of(count, seed=3):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, count) for size in SIZES], axis=1)


def in_duckdb(codes, threads=2):
    connection = duckdb.connect(config={"threads": threads})
    connection.register("given", pa.table({f"g{at}": codes[:, at] for at in range(codes.shape[1])}))
    listed = ", ".join(f"g{at} AS c{at}" for at in range(codes.shape[1]))
    return CodedRows(connection, nullcontext).of(Statement(f"SELECT {listed} FROM given", {}, ()), SIZES)


def residuals():
    """One of each kind: a column of numbers, two classes, three classes with weights that saturate some rows."""
    rng = np.random.default_rng(5)
    yield Residuals((Score({4: DESIGN.attributes[4].numbers}),))
    two = Domain((*DOMAIN.columns[:5], Column("y", (0, 1))), 1, Neighbours.ADD_REMOVE)
    yield DESIGN.residuals(rng.integers(-900, 900, (1, DESIGN.width)), "y", two)
    yield DESIGN.residuals(rng.integers(-30_000, 30_000, (3, DESIGN.width)), "y", DOMAIN)


def same(one, other):
    return all(np.array_equal(a, b) and a.dtype == b.dtype == np.int64 for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("wanted", list(residuals()), ids=["numbers", "two", "three"])
def test_a_pass_in_sql_and_in_numpy_gives_the_same_integers(wanted, threads):
    codes = codes_of(5_000)
    codes[:, 5] %= len(wanted.labels[0]) if wanted.labels else 3
    columns = tuple(range(5))
    here = CodedArray(codes, SIZES).tables().totals(wanted, columns)
    assert same(here, in_duckdb(codes, threads).totals(wanted, columns))
    shuffled = codes[np.random.default_rng(1).permutation(len(codes))]
    assert same(here, in_duckdb(shuffled, threads).totals(wanted, columns))
    alone = CodedArray(codes[:1], SIZES).tables().totals(wanted, columns)
    with_one_first = CodedArray(np.vstack([codes[:1], codes]), SIZES).tables().totals(wanted, columns)
    assert same([a + b for a, b in zip(here, alone, strict=True)], with_one_first)


def test_a_pass_over_nobody_is_nothing():
    nobody = codes_of(0)
    for wanted in residuals():
        for tables in (CodedArray(nobody, SIZES).tables(), in_duckdb(nobody)):
            assert all(not sums.any() for sums in tables.totals(wanted, (0, 4)))


def test_parts_of_rows_are_counted_alike_in_sql_and_in_numpy():
    codes = codes_of(4_000)
    first = Split(0, tuple(code > 5 for code in range(16)))
    second = (Split(3, tuple(code == 7 for code in range(42))), Split(4, tuple(code >= 120 for code in range(300))))
    for partition in ((), ((first,),), ((first,), second)):
        here = CodedArray(codes, SIZES).tables().divided(partition, (0, 1, 4), 5)
        assert same(here, in_duckdb(codes).divided(partition, (0, 1, 4), 5))
        assert all(table.shape[0] == 2 ** len(partition) and table.sum() == len(codes) for table in here)


def test_the_largest_score_of_a_row_is_the_same_in_sql_and_in_numpy():
    codes, rng = codes_of(3_000), np.random.default_rng(9)
    for size in (3, 10**6):  # few values, so that there are many ties, and many
        scores = [
            Score(
                {at: tuple(rng.integers(-size, size, SIZES[at]).tolist()) for at in range(5)}, int(rng.integers(size))
            )
            for _ in range(4)
        ]
        here = CodedArray(codes, SIZES).tables().winners(scores, 5)
        assert here.shape == (4, 3)
        assert here.sum() == 3_000
        assert same([here], [in_duckdb(codes).winners(scores, 5)])


def test_more_columns_than_one_statement_tells_apart_are_counted_too():
    codes = np.random.default_rng(2).integers(0, 3, (500, 40))
    connection = duckdb.connect()
    connection.register("given", pa.table({f"g{at}": codes[:, at] for at in range(40)}))
    listed = ", ".join(f"g{at} AS c{at}" for at in range(40))
    sizes = (3,) * 40
    tables = CodedRows(connection, nullcontext).of(Statement(f"SELECT {listed} FROM given", {}, ()), sizes)
    wanted = Residuals((Score({7: (5, -1, 2)}),))
    assert same(
        tables.totals(wanted, tuple(range(40))), CodedArray(codes, sizes).tables().totals(wanted, tuple(range(40)))
    )


def test_a_float_pass_changes_what_others_contribute_and_ours_does_not():
    """Why nothing here is a float: a matrix product without one row has other last bits in the rows that stay."""
    rng = np.random.default_rng(11)
    changed = 0
    for count, width in [(1001, 31), (4097, 92), (1003, 156), (517, 67)]:
        rows, weights = rng.normal(size=(count, width)), rng.normal(size=width)
        whole, without = rows @ weights, rows[1:] @ weights
        order = rng.permutation(count)
        changed += int((whole[1:] != without).sum() > 0) + int(np.any(rows.sum(axis=0) != rows[order].sum(axis=0)))
    assert changed
    codes = codes_of(999)
    for wanted in residuals():
        codes[:, 5] %= len(wanted.labels[0]) if wanted.labels else 3
        whole = CodedArray(codes, SIZES).tables().totals(wanted, (0,))
        parts = [CodedArray(part, SIZES).tables().totals(wanted, (0,)) for part in (codes[:1], codes[1:])]
        assert np.array_equal(whole[0], parts[0][0] + parts[1][0])


def test_residuals_are_refused_where_engines_would_overflow():
    with pytest.raises(ValueError, match="bounded size"):
        Residuals((Score({0: (2**53, 0)}),))
    with pytest.raises(ValueError, match="too large"):
        Residuals((Score({0: (2**30, 0)}),))
    with pytest.raises(ValueError, match="stand for the whole"):
        Residuals((Score({}), Score({})), whole=8, label=0, labels=((8, 0), (8, 8)))

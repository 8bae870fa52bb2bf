"""Tables of counts from the engine: what a row counts in, what of a person counts, and that no row leaves it."""

import itertools
import threading
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine
from discreet.engines.tables.array_tables import CodedArray
from discreet.engines.tables.residual_sums import Curve, Residuals, Score, Split
from discreet.errors import EngineFailure
from discreet.sql.coded_rows import plan_rows
from tests.engines.small import D

CATALOG = """
[source]
path = "."
[budget]
epsilon = 1
delta = 1e-6
[tables.visits]
privacy_unit = "person"
max_rows = {most}
columns.person = {{ type = "integer" }}
columns.ward = {{ type = "text", values = ["A", "B"] }}
columns.sex = {{ type = "text", values = ["F"], nullable = true }}
columns.age = {{ type = "integer", lower = 1, upper = 3 }}
columns.cost = {{ type = "real", lower = 0, upper = 4 }}
columns.day = {{ type = "date", lower = 2020-01-01, upper = 2020-12-31 }}
columns.note = {{ type = "text" }}
"""
NAMES = ["person", "ward", "sex", "age", "cost", "day", "note"]
CODED = "SELECT ward, sex, age, cost, day FROM visits"


def engine_over(rows, *, most=3):
    catalog = parse_catalog(CATALOG.format(most=most))
    columns = list(zip(*rows, strict=True)) or [()] * len(NAMES)
    types = [pa.int64(), pa.string(), pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.string()]
    frame = pa.table([pa.array(column, kind) for column, kind in zip(columns, types, strict=True)], names=NAMES)
    return catalog, DuckEngine(catalog, salt="salt", frames={"visits": frame})


def all_tables(rows, source=CODED, *, most=3, bins=None):
    """Every table over any columns, by their numbers."""
    catalog, engine = engine_over(rows, most=most)
    planned = plan_rows(source, catalog, engine, bins=bins)
    with engine.tables(planned.query, cancelled=threading.Event()) as tables:
        numbers = range(len(planned.columns))
        sets = [each for size in range(len(numbers) + 1) for each in itertools.combinations(numbers, size)]
        counted = {columns: tables.table(columns) for columns in sets}
    engine.close()
    return counted


ROWS = [
    (1, "A", "F", 1, 0.0, D, "x"), (1, "A", None, 2, 4.0, D, "x"), (1, "B", "F", 3, 1.0, D, "x"), (1, "B", "F", 3, 1.0, D, "x"),
    (2, "B", None, 9, 9.5, date(2031, 1, 1), "x"), (3, "A", "F", None, 1.0, D, "x"), (4, "C", "F", 1, 1.0, D, "x"),
    (5, "A", "X", 1, 1.0, D, "x"), (6, "A", "F", 1, None, D, "x"), (7, "A", "F", 1, 1.0, None, "x"),
]  # fmt: skip


def rows_count_in_all_tables_or_in_none(counted):
    """A row with one value outside its domain is in no table: every table adds up to the same."""
    assert {int(table.sum()) for table in counted.values()} == {int(counted[()])}


def test_a_row_with_a_value_outside_its_domain_counts_in_no_table():
    counted = all_tables(ROWS)
    assert counted[()] == 4  # three of four rows of the first person, and the one whose numbers were clamped
    rows_count_in_all_tables_or_in_none(counted)
    assert counted[0,].tolist() == [1, 3] or counted[0,].tolist() == [2, 2]
    assert counted[1,].sum() == 4
    for columns, table in counted.items():
        whole = counted[0, 1, 2, 3, 4].sum(axis=tuple(at for at in range(5) if at not in columns))
        assert np.array_equal(table, whole)


def test_tables_that_drop_only_what_they_look_at_are_caught():
    counted = all_tables(ROWS)
    mutant = {(): counted[()], (0,): all_tables(ROWS, "SELECT ward FROM visits")[0,]}
    with pytest.raises(AssertionError):
        rows_count_in_all_tables_or_in_none(mutant)


@pytest.mark.parametrize("most", [1, 3])
def test_of_every_person_at_most_so_many_rows_count_and_people_add_up(most):
    """One person for every way to have up to four rows over four cells, one of them outside."""
    cells = [("A", "F"), ("A", None), ("B", "F"), ("C", "F")]
    people = [rows for size in range(1, 5) for rows in itertools.combinations_with_replacement(cells, size)]
    rows = [(number, *cell, 1, 0.0, D, "x") for number, owned in enumerate(people) for cell in owned]
    catalog, engine = engine_over(rows, most=most)

    def tables(source):
        planned = plan_rows(source, catalog, engine)
        with engine.tables(planned.query, cancelled=threading.Event()) as found:
            return found.table((0, 1))

    everybody, alone = tables("SELECT ward, sex FROM visits"), []
    for number in range(0, len(people), 5):
        one = tables(f"SELECT ward, sex FROM visits WHERE person = {number}")
        assert one.min() >= 0
        assert one.sum() <= most
        alone.append(int(one.sum()))
    assert max(alone) == most
    assert everybody.sum() <= most * len(people)
    engine.close()


def test_numbers_and_days_become_bins_between_their_bounds():
    catalog, engine = engine_over(ROWS)
    planned = plan_rows(CODED, catalog, engine, bins={"cost": 4, "AGE": 2})
    by_name = {column.name: column for column in planned.columns}
    assert by_name["ward"].values == ("A", "B")
    assert by_name["sex"].values == ("F", None)
    assert by_name["age"].ends == (Fraction(1), Fraction(5, 2), Fraction(4))
    assert by_name["cost"].ends == tuple(map(Fraction, range(5)))
    assert len(by_name["day"].ends) == 33
    assert (by_name["day"].ends[0], by_name["day"].ends[-1]) == (date(2020, 1, 1), date(2021, 1, 1))
    assert [column.name for column in planned.columns if column.is_ordered] == ["age", "cost", "day"]
    engine.close()


@pytest.mark.parametrize(
    ("cost", "bin_number"), [(0.0, 0), (0.999, 0), (1.0, 1), (3.999, 3), (4.0, 3), (-1.0, 0), (77.0, 3)]
)
def test_every_number_within_its_bounds_is_in_its_bin(cost, bin_number):
    counted = all_tables([(1, "A", "F", 1, cost, D, "x")], "SELECT cost FROM visits", bins={"cost": 4})
    assert counted[0,].tolist() == [int(at == bin_number) for at in range(4)]


@pytest.mark.parametrize("day", [date(2020, 1, 1), date(2020, 6, 30), date(2020, 7, 1), date(2020, 12, 31)])
def test_every_day_is_in_the_bin_that_says_so(day):
    catalog, engine = engine_over([(1, "A", "F", 1, 1.0, day, "x")])
    planned = plan_rows("SELECT day FROM visits", catalog, engine, bins={"day": 7})
    ends = planned.columns[0].ends
    with engine.tables(planned.query, cancelled=threading.Event()) as tables:
        (at,) = np.flatnonzero(tables.table((0,)))
    assert ends[at] <= day < ends[at + 1]
    engine.close()


def test_merged_codes_count_as_the_sum_of_what_they_merge():
    catalog, engine = engine_over(ROWS)
    planned = plan_rows("SELECT ward, sex, age FROM visits", catalog, engine)
    with engine.tables(planned.query, cancelled=threading.Event()) as tables:
        coarser = tables.merged((None, (0, 0), (1, 0, 1)))
        fine, coarse = tables.table((0, 2)), coarser.table((0, 2))
        assert coarse.tolist() == np.stack([fine[:, 1], fine[:, 0] + fine[:, 2]], axis=1).tolist()
        assert coarser.table((1,)).tolist() == [int(tables.table(()))]
        assert coarser.merged(((0, 0), None, None)).table((0,)).tolist() == [int(tables.table(()))]
        assert "hidden" in repr(tables)
    engine.close()


def test_nobody_has_tables_of_zeros():
    counted = all_tables([], "SELECT ward, age FROM visits")
    assert {int(table.sum()) for table in counted.values()} == {0}


def test_rows_that_are_taken_back_are_not_counted():
    catalog, engine = engine_over(ROWS)
    planned = plan_rows(CODED, catalog, engine)
    stopped = threading.Event()
    with engine.tables(planned.query, cancelled=stopped) as tables:
        engine.cancel(stopped)
        with pytest.raises(EngineFailure):
            tables.table((0,))
    engine.close()


def test_passes_over_the_engines_rows_are_those_over_the_same_codes_in_an_array():
    """What models add up, divide and decide: rows that the engine coded, and their codes written out."""
    rng = np.random.default_rng(4)
    people = [
        (n, "AB"[n % 2], [None, "F"][n % 3 // 2], n % 5 % 3 + 1, float(rng.integers(0, 5)), D, "x") for n in range(80)
    ]
    catalog, engine = engine_over(people)
    planned = plan_rows(CODED, catalog, engine, bins={"cost": 3, "day": 2})
    with engine.tables(planned.query, cancelled=threading.Event()) as tables:
        columns = tuple(range(len(planned.columns)))
        whole = tables.table(columns)
        here = CodedArray(np.repeat(np.argwhere(whole), whole[whole > 0], axis=0), whole.shape).tables()
        assert whole.sum() == 80
        entries = {at: tuple(rng.integers(-9, 9, whole.shape[at]).tolist()) for at in columns[1:]}
        curve = Curve(tuple(range(-4, 5)), 8, 1)
        for residuals in (
            Residuals((Score(entries, 3),)),
            Residuals((Score(entries, 3),), curve=curve, label=0, labels=((0, 5),)),
            Residuals((Score(entries), Score({1: entries[1]})), curve=Curve((1, 2, 5), 0, 0), whole=8, label=0, labels=((8, 0), (0, 8))),
        ):  # fmt: skip
            for one, other in zip(tables.totals(residuals, columns), here.totals(residuals, columns), strict=True):
                assert one.tolist() == other.tolist()
        splits = [Split(at, tuple(code % 2 == 0 for code in range(whole.shape[at]))) for at in (1, 2, 3)]
        for partition in ((), ((splits[0],),), ((splits[0],), (splits[1], splits[2]))):
            for one, other in zip(
                tables.divided(partition, columns[1:], 0), here.divided(partition, columns[1:], 0), strict=True
            ):
                assert one.tolist() == other.tolist()
        scores = (Score(entries, 1), Score({2: entries[2]}), Score({}, -2))
        assert tables.winners(scores, 0).tolist() == here.winners(scores, 0).tolist()
    engine.close()

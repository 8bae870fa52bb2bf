"""The interpreter against cases computed by hand: steps, cuts, groups and measures of a whole question."""

import hashlib
from collections import Counter
from datetime import date
from fractions import Fraction

from discreet.algebra.aggregates import Aggregate, Fold, Order, RowFunction
from discreet.algebra.expressions import call
from discreet.algebra.grids import Grid
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.relations import Filter, PerPerson, Windowed
from tests.reference.folds import steps_of
from tests.reference.handmade import (
    COST,
    DAY,
    ORACLE,
    PERSON,
    VISIT,
    WARD,
    equal,
    real,
    text,
    visits,
    whole,
    window,
)
from tests.reference.interpreter import id_text

HALVES = Grid(Fraction(1, 2), 0, 8)
ROWS = Measure(kind=MeasureKind.ROWS)


def test_steps_are_rounded_half_up_and_clamped():
    assert [steps_of(value, HALVES) for value in (0.24, 0.25, -9.0, 99.0, None)] == [0, 1, 0, 8, None]
    assert [steps_of(value, Grid(Fraction(4), -2, 3)) for value in (1, 2, -2, -3, 100)] == [0, 1, 0, -1, 3]
    assert steps_of(date(1, 1, 2), Grid(Fraction(1), 0, 10)) == 2
    assert steps_of(True, Grid(Fraction(1), 0, 1)) == 1


def query(relation, *, keys=(), measures=(ROWS,), sets=None, **limits):
    every = tuple(range(len(keys)))
    return Query(
        rows=relation, keys=keys, measures=measures, limits=ContributionBounds(**limits), sets=sets or (every,)
    )


def test_without_a_cut_undeclared_keys_are_groups_like_others():
    rows = visits()
    asked = query(rows, keys=(Key(rows.field(WARD), ("A", "B")),), rows=4)
    assert not asked.needs_bounding
    assert ORACLE.contribution(asked, 1) == [{("A",): [2], ("B",): [1], ("C",): [1]}]


def test_undeclared_keys_are_dropped_before_the_cut():
    rows = visits()
    reverse = Windowed(rows, (window(RowFunction.ROW_NUMBER, order=(Order(rows.field(DAY)),)),))
    asked = query(reverse, keys=(Key(rows.field(WARD), ("B",)),), rows=1)
    assert ORACLE.contribution(asked, 1) == [{("B",): [1]}]
    assert ORACLE.contribution(asked, 3) == [{}]


def test_null_is_dropped_unless_it_is_declared():
    rows = visits()
    for values, expected in ((("A",), {("A",): [1]}), (("A", None), {(None,): [1]}), (None, {("A",): [1]})):
        asked = query(rows, keys=(Key(rows.field(WARD), values),), rows=1)
        assert ORACLE.contribution(asked, 3) == [expected]


def test_whole_ids_are_cut_in_their_own_order():
    rows = visits()
    asked = query(rows, measures=(Measure(kind=MeasureKind.DISTINCT, values=(rows.field(COST),)),), rows=2)
    assert ORACLE.contribution(asked, 1) == [{(): [{(1.0,), (2.0,)}]}]


def test_ids_that_are_values_are_cut_in_the_order_of_their_salted_hash():
    rows = visits()
    wards = PerPerson(rows, (rows.field(WARD),), (Aggregate(Fold.ROWS, None),))
    first = min("ABC", key=lambda ward: hashlib.md5(f"salt|{ward}".encode()).hexdigest())
    asked = query(wards, keys=(Key(wards.field(1), ("A", "B", "C")),), rows=1)
    assert ORACLE.contribution(asked, 1) == [{(first,): [1]}]


def test_ids_are_hashed_as_text():
    parts = (None, True, 5, -0.0007, 2.0**50, date(7, 1, 2), "a|b")
    assert [id_text(part) for part in parts] == ["\\N", "true", "5", "-1", "x", "0007-01-02", "a|b"]
    assert ORACLE.salted((None, 5)) == hashlib.md5(b"salt|\\N|5").hexdigest()


def test_groups_come_in_the_order_of_their_first_row():
    rows = visits()
    key = Key(rows.field(WARD), ("A", "B", "C"))
    assert ORACLE.contribution(query(rows, keys=(key,), rows=9, groups=1, rows_per_group=9), 1) == [{("A",): [2]}]
    assert ORACLE.contribution(query(rows, keys=(key,), rows=2, groups=2, rows_per_group=1), 1) == [
        {("A",): [1], ("B",): [1]}
    ]
    assert ORACLE.contribution(query(rows, keys=(key,), rows=2, groups=2, rows_per_group=2), 1) == [
        {("A",): [1], ("B",): [1]}
    ]
    assert ORACLE.contribution(query(rows, keys=(key,), rows=3, groups=3, rows_per_group=1), 1) == [
        {("A",): [1], ("B",): [1], ("C",): [1]}
    ]


def test_groups_are_combinations_of_all_keys_whatever_the_set():
    rows = visits()
    keys = (Key(rows.field(WARD), ("A", "B", "C")), Key(rows.field(VISIT), None))
    asked = query(rows, keys=keys, sets=((0,), ()), rows=4, groups=2, rows_per_group=1)
    assert ORACLE.contribution(asked, 1) == [{("A",): [1], ("B",): [1]}, {(): [2]}]


def test_filters_come_after_the_cut():
    rows = visits()
    dear = Measure(kind=MeasureKind.ROWS, where=call("gt", rows.field(COST), real(3.0)))
    assert ORACLE.contribution(query(rows, measures=(dear,), rows=3), 1) == [{(): [0]}]
    assert ORACLE.contribution(query(rows, measures=(dear,), rows=4), 1) == [{(): [1]}]


def test_each_measure_counts_what_it_says():
    rows = visits()
    cost = rows.field(COST)
    measures = (
        Measure(kind=MeasureKind.PRESENT, values=(cost,)),
        Measure(kind=MeasureKind.PEOPLE),
        Measure(kind=MeasureKind.TOTAL, values=(cost,), steps=(HALVES,), centres=(4,)),
        Measure(kind=MeasureKind.SQUARES, values=(cost,), steps=(HALVES,), centres=(4,), coarser=3),
        Measure(
            kind=MeasureKind.PRODUCTS,
            values=(cost, rows.field(PERSON)),
            steps=(HALVES, Grid(Fraction(1), 0, 5)),
            centres=(4, 0),
            coarser=1,
        ),
        Measure(kind=MeasureKind.DISTINCT, values=(rows.field(WARD), rows.field(DAY))),
        Measure(kind=MeasureKind.QUANTILE, values=(cost,), steps=(HALVES,), centres=(0,), q=Fraction(1, 2)),
    )
    d = date(2020, 3, 1)
    # steps 2, 4, 8 are -2, 0, 4 from the centre; squares 4, 0, 16 are 1, 0, 2 eighths (half up); products -2, 0, 4 are -1, 0, 2 halves
    assert ORACLE.contribution(query(rows, measures=measures, rows=4), 1) == [
        {(): [3, 1, 2, 3, 1, {("A", d), ("C", date(2019, 1, 1))}, Counter({2: 1, 4: 1, 8: 1})]}
    ]


def test_an_answer_is_the_sum_over_people_and_of_distinct_values_the_union():
    rows = visits()
    measures = (ROWS, Measure(kind=MeasureKind.DISTINCT, values=(rows.field(WARD),)), Measure(kind=MeasureKind.PEOPLE))
    assert ORACLE.answer(query(rows, measures=measures, rows=4)) == [{(): [7, 3, 3, 3]}]
    by_ward = query(rows, keys=(Key(rows.field(WARD), None),), measures=(ROWS,), rows=4)
    assert ORACLE.answer(by_ward) == [{("A",): [3, 2], ("B",): [2, 2], ("C",): [1, 1], (None,): [1, 1]}]


def test_without_keys_there_is_one_group_even_without_rows():
    rows = visits()
    nobody = Filter(rows, call("lt", rows.field(PERSON), whole(0)))
    assert ORACLE.answer(query(nobody, rows=4)) == [{(): [0, 0]}]
    assert ORACLE.answer(query(nobody, keys=(Key(rows.field(WARD), ("A",)),), rows=4)) == [{}]


def test_equal_constants_are_written_once():
    assert equal(text("a"), text("a")) == equal(text("a"), text("a"))

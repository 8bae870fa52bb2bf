"""The interpreter against cases computed by hand: groups of one person, and windows."""

from datetime import date
from fractions import Fraction

from discreet.algebra.aggregates import Aggregate, Fold, Frame, Order, RowFunction
from discreet.algebra.expressions import call
from discreet.algebra.grids import Grid
from discreet.algebra.relations import Filter, PerPerson, Windowed
from tests.reference.handmade import (
    COST,
    DAY,
    PERSON,
    VISIT,
    WARD,
    column,
    ids,
    real,
    shown,
    table,
    visits,
    whole,
    window,
)

HALVES = Grid(Fraction(1, 2), 0, 8)


# Groups of one person


def test_a_person_without_rows_is_no_group():
    assert shown(PerPerson(table("notes"), (), (Aggregate(Fold.ROWS, None),)), 2) == []


def test_a_person_is_one_row_with_the_owner_first():
    rows = visits()
    folds = (
        Aggregate(Fold.ROWS, None),
        Aggregate(Fold.PRESENT, rows.field(COST)),
        Aggregate(Fold.DISTINCT, rows.field(DAY)),
        Aggregate(Fold.LEAST, rows.field(WARD)),
        Aggregate(Fold.LARGEST, rows.field(DAY)),
    )
    assert shown(PerPerson(rows, (), folds), 1) == [(1, 4, 3, 2, "A", date(2020, 3, 1))]
    assert ids(PerPerson(rows, (), folds), 1) == [()]


def test_null_is_a_group_of_its_own():
    rows = visits()
    grouped = PerPerson(rows, (rows.field(WARD),), (Aggregate(Fold.ROWS, None),))
    assert shown(grouped, 3) == [(3, "A", 1), (3, None, 1)]
    assert ids(grouped, 3) == [("A",), (None,)]


def test_sums_of_reals_are_sums_of_steps():
    rows = visits()
    folds = tuple(Aggregate(fold, rows.field(COST), None, HALVES) for fold in (Fold.SUM, Fold.AVERAGE))
    assert shown(PerPerson(rows, (), folds), 1) == [(1, 7.0, 14 / 3 * 0.5)]


def test_sums_of_nothing_are_null():
    rows = visits()
    never = call("lt", rows.field(PERSON), whole(0))
    folds = (
        Aggregate(Fold.SUM, rows.field(VISIT), never),
        Aggregate(Fold.AVERAGE, rows.field(VISIT), never),
        Aggregate(Fold.ROWS, None, never),
        Aggregate(Fold.ANY, never, never),
    )
    assert shown(PerPerson(rows, (), folds), 1) == [(1, None, None, 0, None)]


def test_sums_beyond_64_bits_are_null_and_averages_are_not():
    rows = visits()
    large = call("coalesce", whole(2**62), rows.field(VISIT))
    folds = (Aggregate(Fold.SUM, large), Aggregate(Fold.AVERAGE, large))
    assert shown(PerPerson(rows, (), folds), 1) == [(1, None, 2.0**62)]
    assert shown(PerPerson(rows, (), folds), 2) == [(2, 2**62, 2.0**62)]


def test_any_and_every_skip_nulls():
    rows = visits()
    dear = call("gt", rows.field(COST), real(1.5))
    folds = (Aggregate(Fold.ANY, dear), Aggregate(Fold.EVERY, dear))
    assert shown(PerPerson(rows, (), folds), 1) == [(1, True, False)]
    assert shown(PerPerson(rows, (rows.field(VISIT),), folds), 1)[1] == (1, 11, None, None)


def test_an_empty_public_table_still_has_one_total():
    wards = table("wards")
    nothing = Filter(wards, call("lt", wards.field(1), whole(0)))
    assert shown(PerPerson(nothing, (), (Aggregate(Fold.ROWS, None), Aggregate(Fold.SUM, wards.field(1))))) == [
        (0, None)
    ]
    assert shown(PerPerson(nothing, (wards.field(0),), (Aggregate(Fold.ROWS, None),))) == []


# Windows


def test_rows_are_numbered_by_the_asked_order_then_by_ids():
    rows = visits()
    by_day = (Order(rows.field(DAY)),)
    assert column(Windowed(rows, (window(RowFunction.ROW_NUMBER, order=by_day),))) == [
        2,
        4,
        3,
        1,
    ]  # NULL last, ties by rank
    assert column(Windowed(rows, (window(RowFunction.ROW_NUMBER),))) == [1, 2, 3, 4]


def test_nulls_come_last_in_a_falling_order_too():
    rows = visits()
    assert column(
        Windowed(rows, (window(RowFunction.ROW_NUMBER, order=(Order(rows.field(COST), descending=True),)),))
    ) == [
        3,
        2,
        4,
        1,
    ]


def test_ranks_are_of_peers():
    rows = visits()
    by_ward = (Order(rows.field(WARD)),)
    both = Windowed(rows, (window(RowFunction.RANK, order=by_ward), window(RowFunction.DENSE_RANK, order=by_ward)))
    assert column(both, at=-2) == [1, 3, 1, 4]
    assert column(both) == [1, 2, 1, 3]
    assert column(Windowed(rows, (window(RowFunction.RANK),))) == [1, 1, 1, 1]


def test_tiles_at_the_front_are_larger():
    rows = visits()
    assert column(Windowed(rows, (window(RowFunction.NTILE, offset=3),))) == [1, 1, 2, 3]
    assert column(Windowed(rows, (window(RowFunction.NTILE, offset=9),))) == [1, 2, 3, 4]


def test_other_rows_values_are_found_by_place():
    rows = visits()
    cost = rows.field(COST)
    assert column(Windowed(rows, (window(RowFunction.LAG, value=cost, offset=1),))) == [None, 1.0, 2.0, None]
    assert column(Windowed(rows, (window(RowFunction.LEAD, value=cost, offset=2),))) == [None, 4.0, None, None]
    assert (
        column(Windowed(rows, (window(RowFunction.FIRST, value=cost, order=(Order(rows.field(DAY)),)),))) == [4.0] * 4
    )


def test_partitions_are_within_the_person():
    rows = visits()
    numbered = Windowed(rows, (window(RowFunction.ROW_NUMBER, partition=(rows.field(WARD),)),))
    assert column(numbered, 1) == [1, 1, 2, 1]
    assert column(numbered, 3) == [1, 1]


def test_an_aggregate_with_an_order_runs_up_to_the_peers():
    rows = visits()
    running = window(Aggregate(Fold.ROWS, None), order=(Order(rows.field(WARD)),))
    assert column(Windowed(rows, (running,))) == [2, 3, 2, 4]


def test_an_aggregate_without_an_order_is_of_all():
    rows = visits()
    total = window(Aggregate(Fold.SUM, rows.field(COST), None, HALVES))
    assert column(Windowed(rows, (total,))) == [7.0] * 4


def test_a_frame_counts_places():
    rows = visits()
    near = window(Aggregate(Fold.SUM, rows.field(COST), None, HALVES), frame=Frame(-1, 1))
    assert column(Windowed(rows, (near,))) == [3.0, 3.0, 6.0, 4.0]
    before = window(Aggregate(Fold.ROWS, None), frame=Frame(None, -1))
    assert column(Windowed(rows, (before,))) == [0, 1, 2, 3]
    far = window(Aggregate(Fold.SUM, rows.field(PERSON)), frame=Frame(2, 3))
    assert column(Windowed(rows, (far,))) == [2, 1, None, None]

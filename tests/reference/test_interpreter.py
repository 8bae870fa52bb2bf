"""The interpreter against cases computed by hand: it is the oracle, so nothing else can vouch for it."""

import hashlib
from collections import Counter
from datetime import date
from fractions import Fraction

from discreet.algebra.aggregates import Aggregate, Fold, Frame, Order, Place, Window
from discreet.algebra.expressions import call
from discreet.algebra.question import Key, Kind, Limits, Measure, Question
from discreet.algebra.relations import Compute, How, Join, Keep, Mark, PerPerson, Stack, Windowed
from discreet.algebra.steps import Steps
from tests.reference.folds import steps_of
from tests.reference.handmade import COST, DAY, ORACLE, PERSON, VISIT, WARD, equal, ids, real, shown, table, text, whole
from tests.reference.interpreter import id_text

HALVES = Steps(Fraction(1, 2), 0, 8)
ROWS = Measure(kind=Kind.ROWS)


def visits():
    return table("visits")


def window(what, *, value=None, offset=0, partition=(), order=(), frame=None):
    return Window(what, value, offset, partition, order, frame)


def column(relation, person=1, at=-1):
    return [row[at] for row in shown(relation, person)]


# Scans, conditions, columns


def test_a_scan_gives_a_person_their_own_rows_by_rank():
    assert ids(visits(), 1) == [(1,), (2,), (3,), (4,)]
    assert column(visits(), 2, PERSON) == [2]
    assert shown(visits(), 4) == []


def test_a_scan_reads_no_more_ranks_than_it_says():
    from dataclasses import replace

    assert ids(replace(visits(), most=2), 1) == [(1,), (2,)]


def test_a_public_scan_is_the_same_whoever_asks():
    assert shown(table("wards"), 1) == shown(table("wards"), 2) == [("A", 1), ("A", 2), ("B", 1), (None, 9)]


def test_a_condition_keeps_only_what_is_true_not_what_is_null():
    rows = visits()
    assert ids(Keep(rows, call("gt", rows.field(COST), real(1.0))), 1) == [(2,), (4,)]
    assert ids(Keep(rows, call("not", call("gt", rows.field(COST), real(1.0)))), 1) == [(1,)]


def test_columns_are_computed_of_each_row():
    rows = visits()
    made = Compute(rows, (call("coalesce", rows.field(COST), real(0.0)), rows.field(WARD)))
    assert shown(made, 1) == [(1.0, "A"), (2.0, "B"), (0.0, "A"), (4.0, "C")]
    assert ids(made, 1) == ids(rows, 1)


# Joins


def test_two_protected_relations_meet_within_one_person_only():
    rows, people = visits(), table("people")
    joined = Join(rows, people, How.INNER, (), None)
    assert column(joined, 1) == [40] * 4
    assert column(joined, 2) == [7]
    assert shown(joined, 3) == shown(joined, 4) == []
    assert ids(joined, 2) == [(1, 1)]


def test_a_left_join_keeps_rows_that_meet_nothing():
    joined = Join(visits(), table("people"), How.LEFT, (), None)
    assert column(joined, 3) == [None, None]
    assert ids(joined, 3) == [(1, None), (2, None)]


def test_a_full_join_keeps_both_sides():
    joined = Join(visits(), table("people"), How.FULL, (), None)
    assert shown(joined, 4) == [(None,) * 5 + (4, None)]
    assert ids(joined, 4) == [(None, 1, 3)]  # the last says which sides are there: both, the left, the right
    assert len(shown(joined, 1)) == 4


def test_a_full_join_whose_condition_fails_keeps_each_row_alone():
    rows, people = visits(), table("people")
    joined = Join(rows, people, How.FULL, (), call("lt", rows.field(PERSON), whole(0)))
    assert len(shown(joined, 1)) == 5


def test_a_full_join_tells_apart_rows_whose_ids_are_all_null():
    rows = visits()
    wards = PerPerson(rows, (rows.field(WARD),), ())
    joined = Join(wards, wards, How.FULL, ((wards.field(1), wards.field(1)),), None)
    assert ids(joined, 3) == [("A", "A", 1), (None, None, 2), (None, None, 3)]


def test_null_keys_meet_nothing():
    rows = visits()
    joined = Join(rows, rows, How.INNER, ((rows.field(DAY), rows.field(DAY)),), None)
    assert sorted(ids(joined, 1)) == [(1, 1), (1, 3), (3, 1), (3, 3), (4, 4)]


def test_a_unique_key_is_met_once_even_where_it_stands_twice():
    notes, rows = table("notes"), visits()
    joined = Join(notes, rows, How.INNER, ((notes.field(0), rows.field(VISIT)),), None)
    assert joined.is_unique_right
    assert ids(joined, 1) == [(1, 1), (2, 1), (3, 3)]  # never the visit of rank 2, whose key is 10 again


def test_a_unique_key_on_the_left_is_met_once_too():
    notes, rows = table("notes"), visits()
    joined = Join(rows, notes, How.INNER, ((rows.field(VISIT), notes.field(0)),), None)
    assert joined.is_unique_left
    assert ids(joined, 1) == [(1, 1), (1, 2), (3, 3)]


def test_a_left_join_from_the_unique_side_meets_every_row():
    notes, rows = table("notes"), visits()
    joined = Join(rows, notes, How.LEFT, ((rows.field(VISIT), notes.field(0)),), None)
    assert ids(joined, 1) == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (4, None)]


def test_the_further_condition_sees_both_sides():
    rows, people = visits(), table("people")
    on = call("lt", whole(10), call("add_int", people.field(1).__class__(6, people.field(1).facts), whole(0)))
    joined = Join(rows, people, How.LEFT, (), on)
    assert column(joined, 1) == [40] * 4
    assert column(joined, 2) == [None]


def test_a_public_key_is_met_as_often_as_the_fan_out_says():
    rows, wards = visits(), table("wards")
    keys = ((rows.field(WARD), wards.field(0)),)
    assert ids(Join(rows, wards, How.INNER, keys, None, 1), 1) == [(1, 1), (2, 3), (3, 1)]
    assert ids(Join(rows, wards, How.INNER, keys, None, 2), 1) == [(1, 1), (1, 2), (2, 3), (3, 1), (3, 2)]


def test_a_left_join_with_a_public_table_keeps_rows_without_a_match():
    rows, wards = visits(), table("wards")
    joined = Join(rows, wards, How.LEFT, ((rows.field(WARD), wards.field(0)),), None, 1)
    assert column(joined, 1) == [1, 1, 1, None]
    assert column(joined, 3) == [None, 1]  # NULL = NULL is not true


def test_without_keys_public_rows_are_numbered_among_all():
    joined = Join(visits(), table("wards"), How.INNER, (), None, 3)
    assert ids(joined, 2) == [(1, 1), (1, 2), (1, 3)]


def test_the_number_is_taken_before_the_further_condition():
    rows, wards = visits(), table("wards")
    second = equal(wards.field(1).__class__(6, wards.field(1).facts), whole(2))
    joined = Join(rows, wards, How.INNER, ((rows.field(WARD), wards.field(0)),), second, 1)
    assert shown(joined, 1) == []


def test_a_public_table_may_stand_on_the_left():
    rows, wards = visits(), table("wards")
    joined = Join(wards, rows, How.INNER, ((wards.field(0), rows.field(WARD)),), None, 1)
    assert ids(joined, 1) == [(1, 1), (1, 3), (3, 2)]


def test_public_tables_join_without_a_limit():
    wards = table("wards")
    joined = Join(wards, wards, How.INNER, ((wards.field(0), wards.field(0)),), None, 1)
    assert ids(joined) == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]


def test_a_left_join_of_public_tables_keeps_rows_without_a_match():
    wards = table("wards")
    joined = Join(wards, wards, How.LEFT, ((wards.field(0), wards.field(0)),), None, 1)
    assert ids(joined)[-2:] == [(3, 3), (4, None)]


# Marks


def test_a_mark_is_true_or_false_never_null():
    rows, notes = visits(), table("notes")
    marked = Mark(rows, notes, ((rows.field(VISIT), notes.field(0)),), None)
    assert column(marked, 1) == [True, True, True, False]  # the NULL key of the last is in nothing
    assert column(marked, 2) == [False]


def test_a_mark_looks_at_one_person_only():
    rows, people = visits(), table("people")
    assert column(Mark(rows, people, (), None), 3) == [False, False]


def test_a_mark_over_a_public_table_sees_as_many_rows_as_the_fan_out_says():
    rows, wards = visits(), table("wards")
    on = equal(wards.field(1).__class__(6, wards.field(1).facts), whole(2))
    keys = ((rows.field(WARD), wards.field(0)),)
    assert column(Mark(rows, wards, keys, on, 1), 1) == [False] * 4
    assert column(Mark(rows, wards, keys, on, 2), 1) == [True, False, True, False]


def test_public_rows_are_marked_by_all_public_rows():
    wards = table("wards")
    on = equal(wards.field(1).__class__(3, wards.field(1).facts), whole(2))
    assert column(Mark(wards, wards, ((wards.field(0), wards.field(0)),), on, 1), None) == [True, True, False, False]


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
    nothing = Keep(wards, call("lt", wards.field(1), whole(0)))
    assert shown(PerPerson(nothing, (), (Aggregate(Fold.ROWS, None), Aggregate(Fold.SUM, wards.field(1))))) == [
        (0, None)
    ]
    assert shown(PerPerson(nothing, (wards.field(0),), (Aggregate(Fold.ROWS, None),))) == []


# Windows


def test_rows_are_numbered_by_the_asked_order_then_by_ids():
    rows = visits()
    by_day = (Order(rows.field(DAY)),)
    assert column(Windowed(rows, (window(Place.ROW_NUMBER, order=by_day),))) == [2, 4, 3, 1]  # NULL last, ties by rank
    assert column(Windowed(rows, (window(Place.ROW_NUMBER),))) == [1, 2, 3, 4]


def test_nulls_come_last_in_a_falling_order_too():
    rows = visits()
    assert column(Windowed(rows, (window(Place.ROW_NUMBER, order=(Order(rows.field(COST), falling=True),)),))) == [
        3,
        2,
        4,
        1,
    ]


def test_ranks_are_of_peers():
    rows = visits()
    by_ward = (Order(rows.field(WARD)),)
    both = Windowed(rows, (window(Place.RANK, order=by_ward), window(Place.DENSE_RANK, order=by_ward)))
    assert column(both, at=-2) == [1, 3, 1, 4]
    assert column(both) == [1, 2, 1, 3]
    assert column(Windowed(rows, (window(Place.RANK),))) == [1, 1, 1, 1]


def test_tiles_at_the_front_are_larger():
    rows = visits()
    assert column(Windowed(rows, (window(Place.NTILE, offset=3),))) == [1, 1, 2, 3]
    assert column(Windowed(rows, (window(Place.NTILE, offset=9),))) == [1, 2, 3, 4]


def test_other_rows_values_are_found_by_place():
    rows = visits()
    cost = rows.field(COST)
    assert column(Windowed(rows, (window(Place.LAG, value=cost, offset=1),))) == [None, 1.0, 2.0, None]
    assert column(Windowed(rows, (window(Place.LEAD, value=cost, offset=2),))) == [None, 4.0, None, None]
    assert column(Windowed(rows, (window(Place.FIRST, value=cost, order=(Order(rows.field(DAY)),)),))) == [4.0] * 4


def test_partitions_are_within_the_person():
    rows = visits()
    numbered = Windowed(rows, (window(Place.ROW_NUMBER, partition=(rows.field(WARD),)),))
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


# Stacks


def test_a_stack_tells_its_parts_apart():
    rows, people = visits(), table("people")
    stacked = Stack((Compute(rows, (rows.field(PERSON),)), Compute(people, (people.field(1),))))
    assert column(stacked, 2) == [2, 7]
    assert ids(stacked, 2) == [(0, 1, None), (1, None, 1)]


# The kernel


def test_steps_are_rounded_half_up_and_clamped():
    assert [steps_of(value, HALVES) for value in (0.24, 0.25, -9.0, 99.0, None)] == [0, 1, 0, 8, None]
    assert [steps_of(value, Steps(Fraction(4), -2, 3)) for value in (1, 2, -2, -3, 100)] == [0, 1, 0, -1, 3]
    assert steps_of(date(1, 1, 2), Steps(Fraction(1), 0, 10)) == 2
    assert steps_of(True, Steps(Fraction(1), 0, 1)) == 1


def question(relation, *, keys=(), measures=(ROWS,), sets=None, **limits):
    every = tuple(range(len(keys)))
    return Question(rows=relation, keys=keys, measures=measures, limits=Limits(**limits), sets=sets or (every,))


def test_without_a_cut_undeclared_keys_are_groups_like_others():
    rows = visits()
    asked = question(rows, keys=(Key(rows.field(WARD), ("A", "B")),), rows=4)
    assert not asked.is_cut
    assert ORACLE.contribution(asked, 1) == [{("A",): [2], ("B",): [1], ("C",): [1]}]


def test_undeclared_keys_are_dropped_before_the_cut():
    rows = visits()
    reverse = Windowed(rows, (window(Place.ROW_NUMBER, order=(Order(rows.field(DAY)),)),))
    asked = question(reverse, keys=(Key(rows.field(WARD), ("B",)),), rows=1)
    assert ORACLE.contribution(asked, 1) == [{("B",): [1]}]
    assert ORACLE.contribution(asked, 3) == [{}]


def test_null_is_dropped_unless_it_is_declared():
    rows = visits()
    for values, expected in ((("A",), {("A",): [1]}), (("A", None), {(None,): [1]}), (None, {("A",): [1]})):
        asked = question(rows, keys=(Key(rows.field(WARD), values),), rows=1)
        assert ORACLE.contribution(asked, 3) == [expected]


def test_whole_ids_are_cut_in_their_own_order():
    rows = visits()
    asked = question(rows, measures=(Measure(kind=Kind.DISTINCT, values=(rows.field(COST),)),), rows=2)
    assert ORACLE.contribution(asked, 1) == [{(): [{(1.0,), (2.0,)}]}]


def test_ids_that_are_values_are_cut_in_the_order_of_their_salted_hash():
    rows = visits()
    wards = PerPerson(rows, (rows.field(WARD),), (Aggregate(Fold.ROWS, None),))
    first = min("ABC", key=lambda ward: hashlib.md5(f"salt|{ward}".encode()).hexdigest())
    asked = question(wards, keys=(Key(wards.field(1), ("A", "B", "C")),), rows=1)
    assert ORACLE.contribution(asked, 1) == [{(first,): [1]}]


def test_ids_are_hashed_as_text():
    parts = (None, True, 5, -0.0007, 2.0**50, date(7, 1, 2), "a|b")
    assert [id_text(part) for part in parts] == ["\\N", "true", "5", "-1", "x", "0007-01-02", "a|b"]
    assert ORACLE.salted((None, 5)) == hashlib.md5(b"salt|\\N|5").hexdigest()


def test_groups_come_in_the_order_of_their_first_row():
    rows = visits()
    key = Key(rows.field(WARD), ("A", "B", "C"))
    assert ORACLE.contribution(question(rows, keys=(key,), rows=9, groups=1, rows_per_group=9), 1) == [{("A",): [2]}]
    assert ORACLE.contribution(question(rows, keys=(key,), rows=2, groups=2, rows_per_group=1), 1) == [
        {("A",): [1], ("B",): [1]}
    ]
    assert ORACLE.contribution(question(rows, keys=(key,), rows=2, groups=2, rows_per_group=2), 1) == [
        {("A",): [1], ("B",): [1]}
    ]
    assert ORACLE.contribution(question(rows, keys=(key,), rows=3, groups=3, rows_per_group=1), 1) == [
        {("A",): [1], ("B",): [1], ("C",): [1]}
    ]


def test_groups_are_combinations_of_all_keys_whatever_the_set():
    rows = visits()
    keys = (Key(rows.field(WARD), ("A", "B", "C")), Key(rows.field(VISIT), None))
    asked = question(rows, keys=keys, sets=((0,), ()), rows=4, groups=2, rows_per_group=1)
    assert ORACLE.contribution(asked, 1) == [{("A",): [1], ("B",): [1]}, {(): [2]}]


def test_filters_come_after_the_cut():
    rows = visits()
    dear = Measure(kind=Kind.ROWS, where=call("gt", rows.field(COST), real(3.0)))
    assert ORACLE.contribution(question(rows, measures=(dear,), rows=3), 1) == [{(): [0]}]
    assert ORACLE.contribution(question(rows, measures=(dear,), rows=4), 1) == [{(): [1]}]


def test_each_measure_counts_what_it_says():
    rows = visits()
    cost = rows.field(COST)
    measures = (
        Measure(kind=Kind.PRESENT, values=(cost,)),
        Measure(kind=Kind.PEOPLE),
        Measure(kind=Kind.TOTAL, values=(cost,), steps=(HALVES,), centres=(4,)),
        Measure(kind=Kind.SQUARES, values=(cost,), steps=(HALVES,), centres=(4,), coarser=3),
        Measure(
            kind=Kind.PRODUCTS,
            values=(cost, rows.field(PERSON)),
            steps=(HALVES, Steps(Fraction(1), 0, 5)),
            centres=(4, 0),
            coarser=1,
        ),
        Measure(kind=Kind.DISTINCT, values=(rows.field(WARD), rows.field(DAY))),
        Measure(kind=Kind.QUANTILE, values=(cost,), steps=(HALVES,), centres=(0,), q=Fraction(1, 2)),
    )
    d = date(2020, 3, 1)
    # steps 2, 4, 8 are -2, 0, 4 from the centre; squares 4, 0, 16 are 1, 0, 2 eighths (half up); products -2, 0, 4 are -1, 0, 2 halves
    assert ORACLE.contribution(question(rows, measures=measures, rows=4), 1) == [
        {(): [3, 1, 2, 3, 1, {("A", d), ("C", date(2019, 1, 1))}, Counter({2: 1, 4: 1, 8: 1})]}
    ]


def test_an_answer_is_the_sum_over_people_and_of_distinct_values_the_union():
    rows = visits()
    measures = (ROWS, Measure(kind=Kind.DISTINCT, values=(rows.field(WARD),)), Measure(kind=Kind.PEOPLE))
    assert ORACLE.answer(question(rows, measures=measures, rows=4)) == [{(): [7, 3, 3, 3]}]
    by_ward = question(rows, keys=(Key(rows.field(WARD), None),), measures=(ROWS,), rows=4)
    assert ORACLE.answer(by_ward) == [{("A",): [3, 2], ("B",): [2, 2], ("C",): [1, 1], (None,): [1, 1]}]


def test_without_keys_there_is_one_group_even_without_rows():
    rows = visits()
    nobody = Keep(rows, call("lt", rows.field(PERSON), whole(0)))
    assert ORACLE.answer(question(nobody, rows=4)) == [{(): [0, 0]}]
    assert ORACLE.answer(question(nobody, keys=(Key(rows.field(WARD), ("A",)),), rows=4)) == [{}]


def test_equal_constants_are_written_once():
    assert equal(text("a"), text("a")) == equal(text("a"), text("a"))

"""The interpreter against cases computed by hand, relation by relation: it is the oracle, so nothing else can vouch for it."""

from discreet.algebra.expressions import call
from discreet.algebra.relations import Filter, Join, JoinKind, Mark, PerPerson, Project, UnionAll
from tests.reference.handmade import (
    COST,
    DAY,
    PERSON,
    VISIT,
    WARD,
    column,
    equal,
    ids,
    real,
    shown,
    table,
    visits,
    whole,
)

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
    assert ids(Filter(rows, call("gt", rows.field(COST), real(1.0))), 1) == [(2,), (4,)]
    assert ids(Filter(rows, call("not", call("gt", rows.field(COST), real(1.0)))), 1) == [(1,)]


def test_columns_are_computed_of_each_row():
    rows = visits()
    made = Project(rows, (call("coalesce", rows.field(COST), real(0.0)), rows.field(WARD)))
    assert shown(made, 1) == [(1.0, "A"), (2.0, "B"), (0.0, "A"), (4.0, "C")]
    assert ids(made, 1) == ids(rows, 1)


# Joins


def test_two_protected_relations_meet_within_one_person_only():
    rows, people = visits(), table("people")
    joined = Join(rows, people, JoinKind.INNER, (), None)
    assert column(joined, 1) == [40] * 4
    assert column(joined, 2) == [7]
    assert shown(joined, 3) == shown(joined, 4) == []
    assert ids(joined, 2) == [(1, 1)]


def test_a_left_join_keeps_rows_that_meet_nothing():
    joined = Join(visits(), table("people"), JoinKind.LEFT, (), None)
    assert column(joined, 3) == [None, None]
    assert ids(joined, 3) == [(1, None), (2, None)]


def test_a_full_join_keeps_both_sides():
    joined = Join(visits(), table("people"), JoinKind.FULL, (), None)
    assert shown(joined, 4) == [(None,) * 5 + (4, None)]
    assert ids(joined, 4) == [(None, 1, 3)]  # the last says which sides are there: both, the left, the right
    assert len(shown(joined, 1)) == 4


def test_a_full_join_whose_condition_fails_keeps_each_row_alone():
    rows, people = visits(), table("people")
    joined = Join(rows, people, JoinKind.FULL, (), call("lt", rows.field(PERSON), whole(0)))
    assert len(shown(joined, 1)) == 5


def test_a_full_join_tells_apart_rows_whose_ids_are_all_null():
    rows = visits()
    wards = PerPerson(rows, (rows.field(WARD),), ())
    joined = Join(wards, wards, JoinKind.FULL, ((wards.field(1), wards.field(1)),), None)
    assert ids(joined, 3) == [("A", "A", 1), (None, None, 2), (None, None, 3)]


def test_null_keys_meet_nothing():
    rows = visits()
    joined = Join(rows, rows, JoinKind.INNER, ((rows.field(DAY), rows.field(DAY)),), None)
    assert sorted(ids(joined, 1)) == [(1, 1), (1, 3), (3, 1), (3, 3), (4, 4)]


def test_a_unique_key_is_met_once_even_where_it_stands_twice():
    notes, rows = table("notes"), visits()
    joined = Join(notes, rows, JoinKind.INNER, ((notes.field(0), rows.field(VISIT)),), None)
    assert joined.is_unique_right
    assert ids(joined, 1) == [(1, 1), (2, 1), (3, 3)]  # never the visit of rank 2, whose key is 10 again


def test_a_unique_key_on_the_left_is_met_once_too():
    notes, rows = table("notes"), visits()
    joined = Join(rows, notes, JoinKind.INNER, ((rows.field(VISIT), notes.field(0)),), None)
    assert joined.is_unique_left
    assert ids(joined, 1) == [(1, 1), (1, 2), (3, 3)]


def test_a_left_join_from_the_unique_side_meets_every_row():
    notes, rows = table("notes"), visits()
    joined = Join(rows, notes, JoinKind.LEFT, ((rows.field(VISIT), notes.field(0)),), None)
    assert ids(joined, 1) == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (4, None)]


def test_the_further_condition_sees_both_sides():
    rows, people = visits(), table("people")
    on = call("lt", whole(10), call("add_int", people.field(1).__class__(6, people.field(1).properties), whole(0)))
    joined = Join(rows, people, JoinKind.LEFT, (), on)
    assert column(joined, 1) == [40] * 4
    assert column(joined, 2) == [None]


def test_a_public_key_is_met_as_often_as_the_fan_out_says():
    rows, wards = visits(), table("wards")
    keys = ((rows.field(WARD), wards.field(0)),)
    assert ids(Join(rows, wards, JoinKind.INNER, keys, None, 1), 1) == [(1, 1), (2, 3), (3, 1)]
    assert ids(Join(rows, wards, JoinKind.INNER, keys, None, 2), 1) == [(1, 1), (1, 2), (2, 3), (3, 1), (3, 2)]


def test_a_left_join_with_a_public_table_keeps_rows_without_a_match():
    rows, wards = visits(), table("wards")
    joined = Join(rows, wards, JoinKind.LEFT, ((rows.field(WARD), wards.field(0)),), None, 1)
    assert column(joined, 1) == [1, 1, 1, None]
    assert column(joined, 3) == [None, 1]  # NULL = NULL is not true


def test_without_keys_public_rows_are_numbered_among_all():
    joined = Join(visits(), table("wards"), JoinKind.INNER, (), None, 3)
    assert ids(joined, 2) == [(1, 1), (1, 2), (1, 3)]


def test_the_number_is_taken_before_the_further_condition():
    rows, wards = visits(), table("wards")
    second = equal(wards.field(1).__class__(6, wards.field(1).properties), whole(2))
    joined = Join(rows, wards, JoinKind.INNER, ((rows.field(WARD), wards.field(0)),), second, 1)
    assert shown(joined, 1) == []


def test_a_public_table_may_stand_on_the_left():
    rows, wards = visits(), table("wards")
    joined = Join(wards, rows, JoinKind.INNER, ((wards.field(0), rows.field(WARD)),), None, 1)
    assert ids(joined, 1) == [(1, 1), (1, 3), (3, 2)]


def test_public_tables_join_without_a_limit():
    wards = table("wards")
    joined = Join(wards, wards, JoinKind.INNER, ((wards.field(0), wards.field(0)),), None, 1)
    assert ids(joined) == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]


def test_a_left_join_of_public_tables_keeps_rows_without_a_match():
    wards = table("wards")
    joined = Join(wards, wards, JoinKind.LEFT, ((wards.field(0), wards.field(0)),), None, 1)
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
    on = equal(wards.field(1).__class__(6, wards.field(1).properties), whole(2))
    keys = ((rows.field(WARD), wards.field(0)),)
    assert column(Mark(rows, wards, keys, on, 1), 1) == [False] * 4
    assert column(Mark(rows, wards, keys, on, 2), 1) == [True, False, True, False]


def test_public_rows_are_marked_by_all_public_rows():
    wards = table("wards")
    on = equal(wards.field(1).__class__(3, wards.field(1).properties), whole(2))
    assert column(Mark(wards, wards, ((wards.field(0), wards.field(0)),), on, 1), None) == [True, True, False, False]


# Stacks


def test_a_stack_tells_its_parts_apart():
    rows, people = visits(), table("people")
    stacked = UnionAll((Project(rows, (rows.field(PERSON),)), Project(people, (people.field(1),))))
    assert column(stacked, 2) == [2, 7]
    assert ids(stacked, 2) == [(0, 1, None), (1, None, 1)]

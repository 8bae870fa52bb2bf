"""Relations to SELECTs: joins, marks, groups, windows, and how long they may become."""

import time

import pytest

from discreet.algebra.aggregates import Aggregate, Fold, Frame, Order, RowFunction
from discreet.algebra.expressions import Literal, call
from discreet.algebra.grids import grid_for
from discreet.algebra.query import Key
from discreet.algebra.relations import Filter, Join, JoinKind, Mark, PerPerson, Project, UnionAll, Windowed
from discreet.catalog import Type
from discreet.engines.sqlgen.common_subexpressions import LONGEST_CONDITION
from discreet.engines.sqlgen.kernel import groupings
from discreet.engines.sqlgen.render import Renderer
from discreet.errors import TooLarge
from tests.engines.small import (
    COST,
    DAY,
    PERSON,
    VISIT,
    WARD,
    asked,
    opened,
    query,
    scanned,
    text,
    values,
    whole,
    window,
)


@pytest.fixture(scope="module")
def engine():
    opening = opened()
    yield opening
    opening.close()


def columns(rows, *places):
    return Project(rows, tuple(rows.field(at) for at in places))


def counted(engine, relation):
    return [row[0] for row in values(engine, columns(relation))]


# Joins


def test_rows_of_two_people_never_meet(engine):
    visits = columns(scanned("visits"), DAY)
    pairs = Join(visits, visits, JoinKind.INNER, ((visits.field(0), visits.field(0)),), None)
    assert counted(engine, pairs) == [1] * 5 + [2] + [3] * 4  # a NULL day meets nothing


def test_a_left_join_keeps_rows_that_meet_nothing(engine):
    notes, visits = scanned("notes"), columns(scanned("visits"), PERSON)
    assert counted(engine, Join(visits, notes, JoinKind.LEFT, (), None)) == [1] * (4 * 3) + [2] + [3] * 2


def test_a_condition_of_an_outer_join_decides_who_is_met_and_not_who_stays(engine):
    visits, notes = columns(scanned("visits"), COST), columns(scanned("notes"), 1)
    sides = Join(visits, notes, JoinKind.LEFT, (), None)
    on = call("lt", sides.field(0), call("real", sides.field(1)))
    given = values(engine, Join(visits, notes, JoinKind.LEFT, (), on))
    assert [row for row in given if row[0] == 2] == [(2, 0.6, None)]
    assert [row for row in given if row[0] == 3] == [(3, 3.0, 4)] * 2
    assert (1, None, None) in given
    assert values(engine, Join(visits, notes, JoinKind.INNER, (), on)) == [row for row in given if row[2] is not None]


def test_a_full_join_has_the_owner_who_is_there(engine):
    visits, events = (
        columns(scanned("visits"), COST),
        Filter(scanned("visits"), call("lt", scanned("visits").field(VISIT), whole(20))),
    )
    left = Filter(visits, call("ge", visits.field(0), call("real", whole(3))))
    right = columns(events, VISIT)
    given = values(engine, Join(left, right, JoinKind.FULL, ((call("int", left.field(0)), right.field(0)),), None))
    assert sorted(row[0] for row in given) == [1] * 5 + [3] * 2
    assert all((row[1] is None) != (row[2] is None) for row in given)


def test_a_key_that_should_stand_once_meets_one_row_at_most(engine):
    notes, visits = scanned("notes"), scanned("visits")
    joined = Join(notes, visits, JoinKind.INNER, ((notes.field(0), visits.field(VISIT)),), None)
    assert joined.is_unique_right
    assert joined.shape.most_rows == 3
    assert [(row[0], row[1]) for row in values(engine, joined)] == [
        (1, 10),
        (1, 10),
        (1, 11),
        (3, 30),
    ]  # visit 10 stands twice
    other = Join(visits, notes, JoinKind.INNER, ((visits.field(VISIT), notes.field(0)),), None)
    assert other.is_unique_left
    assert len(values(engine, other)) == 4


def test_public_rows_are_met_up_to_the_fan_out_in_their_order(engine):
    visits, wards = columns(scanned("visits"), WARD), scanned("wards", engine)
    assert engine.largest_multiplicity(wards, (0,)) == 2
    keys = ((visits.field(0), wards.field(0)),)
    both = values(engine, Join(visits, wards, JoinKind.LEFT, keys, None, fan_out=2))
    assert [row[1:] for row in both if row[0] == 1] == [
        ("A", "A", 1),
        ("A", "A", 1),
        ("A", "A", 2),
        ("A", "A", 2),
        ("B", "B", 1),
        ("C", None, None),
    ]
    assert [row[1:] for row in both if row[0] == 3] == [("A", "A", 1), ("A", "A", 2), (None, None, None)]
    one = values(engine, Join(visits, wards, JoinKind.INNER, keys, None, fan_out=1))
    assert [row[1:] for row in one if row[0] == 1] == [("A", "A", 1), ("A", "A", 1), ("B", "B", 1)]
    assert sorted(
        values(engine, Join(wards, visits, JoinKind.INNER, tuple((b, a) for a, b in keys), None, fan_out=1))
    ) == sorted((o, *w, v) for o, v, *w in one)


def test_without_keys_every_public_row_up_to_the_fan_out_is_met(engine):
    visits, wards = columns(scanned("visits"), PERSON), scanned("wards", engine)
    assert len(values(engine, Join(visits, wards, JoinKind.INNER, (), None, fan_out=5))) == 7 * 5
    assert len(values(engine, Join(visits, wards, JoinKind.INNER, (), None, fan_out=3))) == 7 * 3


def test_a_constant_can_be_a_key(engine):
    visits, wards = columns(scanned("visits"), PERSON), scanned("wards", engine)
    joined = Join(visits, wards, JoinKind.INNER, ((text("B"), wards.field(0)),), None, fan_out=1)
    assert len(values(engine, joined)) == 7


# Marks


def test_a_mark_is_true_or_false_and_never_null(engine):
    visits, notes = columns(scanned("visits"), VISIT, COST), scanned("notes")
    by_key = Mark(visits, notes, ((visits.field(0), notes.field(0)),), None)
    assert [(row[0], row[1], row[3]) for row in values(engine, by_key)] == [
        (1, 10, True), (1, 10, True), (1, 11, True), (1, 12, False), (2, 20, False), (3, 30, True), (3, 31, False),
    ]  # fmt: skip
    on = call("lt", visits.field(1), call("real", Join(visits, notes, JoinKind.INNER, (), None).field(3)))
    assert [(row[0], row[2], row[3]) for row in values(engine, Mark(visits, notes, (), on))] == [
        (1, 1.0, True), (1, 2.0, True), (1, None, False), (1, 4.0, False), (2, 0.6, False), (3, 3.0, True), (3, 3.0, True),
    ]  # fmt: skip


def test_a_mark_can_look_at_public_rows(engine):
    visits, wards = columns(scanned("visits"), WARD), scanned("wards", engine)
    keys = ((visits.field(0), wards.field(0)),)
    given = values(engine, Mark(visits, wards, keys, None, fan_out=2))
    assert {(row[1], row[2]) for row in given} == {("A", True), ("B", True), ("C", False), (None, False)}
    upstairs = call("eq", Join(visits, wards, JoinKind.INNER, keys, None, fan_out=2).field(2), whole(2))
    for fan_out, found in ((1, False), (2, True)):
        given = values(engine, Mark(visits, wards, keys, upstairs, fan_out=fan_out))
        assert {(row[1], row[2]) for row in given} == {("A", found), ("B", False), ("C", False), (None, False)}


# Groups and windows


def test_groups_are_of_one_owner(engine):
    rows = scanned("visits")
    steps = grid_for(rows.columns[COST].properties, rows.columns[COST].step)
    folds = (
        Aggregate(Fold.ROWS, None), Aggregate(Fold.PRESENT, rows.field(COST)), Aggregate(Fold.SUM, rows.field(COST), None, steps),
        Aggregate(Fold.AVERAGE, rows.field(COST), None, steps), Aggregate(Fold.SUM, rows.field(VISIT)), Aggregate(Fold.AVERAGE, rows.field(VISIT)),
        Aggregate(Fold.LEAST, rows.field(WARD)), Aggregate(Fold.LARGEST, rows.field(DAY)), Aggregate(Fold.DISTINCT, rows.field(WARD)),
        Aggregate(Fold.ANY, call("gt", rows.field(COST), call("real", whole(3)))), Aggregate(Fold.ROWS, None, call("eq", rows.field(WARD), text("A"))),
    )  # fmt: skip
    given = values(engine, PerPerson(rows, (), folds))
    day = given[1][9]
    assert [row[2:] for row in given] == [
        (4, 3, 7.0, 7 / 3, 43, 43 / 4, "A", day, 3, True, 2),
        (1, 1, 0.5, 0.5, 20, 20.0, "B", day, 1, False, 0),
        (2, 2, 6.0, 3.0, 61, 30.5, "A", day, 1, False, 1),
    ]


def test_sums_beyond_64_bits_are_null_and_averages_of_them_are_not():
    engine = opened(visits=[(1, 2**63 - 1, "A", 1.0, None), (1, 2**63 - 1, "A", 1.0, None)])
    rows = scanned("visits")
    given = values(
        engine,
        PerPerson(rows, (), (Aggregate(Fold.SUM, rows.field(VISIT)), Aggregate(Fold.AVERAGE, rows.field(VISIT)))),
    )
    assert given == [(1, 1, None, 2.0**63)]
    engine.close()


def test_a_public_relation_without_rows_still_has_one_total():
    engine = opened(wards=[])
    wards = scanned("wards", engine)
    assert values(engine, PerPerson(wards, (), (Aggregate(Fold.ROWS, None), Aggregate(Fold.SUM, wards.field(1))))) == [
        (0, None)
    ]
    assert values(engine, PerPerson(wards, (wards.field(0),), (Aggregate(Fold.ROWS, None),))) == []
    engine.close()


def test_windows_are_of_one_owner_and_ties_are_broken_by_ids(engine):
    rows = columns(scanned("visits"), WARD, COST)
    by_ward = (Order(rows.field(0)),)
    windows = (
        window(RowFunction.ROW_NUMBER, order=by_ward), window(RowFunction.RANK, order=by_ward), window(RowFunction.DENSE_RANK, order=by_ward),
        window(Aggregate(Fold.ROWS, None), order=by_ward), window(Aggregate(Fold.ROWS, None), order=by_ward, frame=Frame(-1, 0)),
        window(RowFunction.LAG, value=rows.field(0), offset=1, order=by_ward), window(Aggregate(Fold.LARGEST, rows.field(1))),
        window(RowFunction.NTILE, offset=2, order=(Order(rows.field(0), descending=True),)),
    )  # fmt: skip
    given = values(engine, Windowed(rows, windows))
    assert [row[3:] for row in given if row[0] == 1 and row[1] == "B"] == [(3, 3, 2, 3, 2, "A", 4.0, 1)]
    assert sorted(row[3] for row in given if row[0] == 1) == [1, 2, 3, 4]
    assert sorted(row[4] for row in given if row[0] == 1) == [1, 1, 3, 4]
    assert [row[3:5] for row in given if row[0] == 3] == [(1, 1), (2, 2)]  # NULL is last


def test_a_stack_has_the_rows_of_all_parts(engine):
    rows = columns(scanned("visits"), VISIT)
    assert counted(engine, UnionAll((rows, rows))) == sorted([1] * 8 + [2] * 2 + [3] * 4)


# Length


def deeply(expression, times):
    for _ in range(times):
        expression = call("ln", expression)
    return expression


def test_what_is_mentioned_twice_is_written_once(engine):
    rows = scanned("visits")
    lengths = [len(Renderer().relation(Project(rows, (deeply(rows.field(COST), times),)))) for times in (5, 10, 20)]
    assert lengths[2] - lengths[1] < 3 * (lengths[1] - lengths[0])
    for made in (
        Filter(rows, call("gt", deeply(rows.field(COST), 18), Literal(Type.REAL, 0.5))),
        PerPerson(rows, (deeply(rows.field(COST), 18),), ()),
    ):
        assert len(Renderer().relation(made)) < 10_000
        values(engine, made)
    asked(engine, Project(rows, (deeply(rows.field(COST), 18),)), rows=4)


def test_a_condition_of_an_outer_join_has_a_limit_where_it_mixes_both_sides(engine):
    visits, notes = scanned("visits"), scanned("notes")
    sides = Join(visits, notes, JoinKind.LEFT, (), None)
    mixed = call("mul", sides.field(COST), call("real", sides.field(5)))
    small = Join(visits, notes, JoinKind.LEFT, (), call("gt", deeply(mixed, 2), Literal(Type.REAL, 0.5)))
    values(engine, small)
    with pytest.raises(TooLarge):
        Renderer().relation(
            Join(visits, notes, JoinKind.LEFT, (), call("gt", deeply(mixed, 16), Literal(Type.REAL, 0.5)))
        )
    one_side = Join(
        visits, notes, JoinKind.LEFT, (), call("gt", deeply(sides.field(COST), 16), call("real", sides.field(5)))
    )
    assert len(Renderer().relation(one_side)) < LONGEST_CONDITION
    values(engine, one_side)
    inner = Join(visits, notes, JoinKind.INNER, (), call("gt", deeply(mixed, 16), Literal(Type.REAL, 0.5)))
    values(engine, inner)


def often(expression, times):
    for _ in range(times):
        expression = call(
            "exp", expression
        )  # which mentions its argument three times, and never fails: DuckDB moves it
    return expression


def test_a_condition_on_heavy_columns_is_not_written_out_by_the_engine(engine):
    rows, notes = scanned("visits"), scanned("notes")
    half = Literal(Type.REAL, 0.5)
    chained = rows
    for _ in range(14):
        chained = Project(
            chained, (*(chained.field(at) for at in range(3)), call("exp", chained.field(COST)), chained.field(DAY))
        )
    heavy = Project(rows, (often(rows.field(COST), 14), rows.field(VISIT)))
    sides = Join(heavy, notes, JoinKind.LEFT, (), None)
    made = (
        Filter(rows, call("gt", often(rows.field(COST), 14), half)),
        Filter(chained, call("gt", chained.field(COST), half)),
        Join(heavy, notes, JoinKind.LEFT, (), call("gt", sides.field(0), half)),
        Join(heavy, notes, JoinKind.INNER, ((heavy.field(1), notes.field(0)),), call("gt", sides.field(0), half)),
        Join(heavy, heavy, JoinKind.INNER, ((heavy.field(0), half),), None),
        Mark(heavy, notes, ((heavy.field(1), notes.field(0)),), call("gt", sides.field(0), half)),
    )  # fmt: skip
    started = time.monotonic()
    for relation in made:
        values(engine, relation)
    asked(engine, heavy, keys=(Key(heavy.field(0), (1.5,)),), rows=1)
    asked(engine, heavy, keys=(Key(heavy.field(0), None),), rows=1, groups=1, rows_per_group=1)
    assert time.monotonic() - started < 20  # it would be days


def test_light_conditions_are_left_to_the_engine():
    rows = scanned("visits")
    assert "OFFSET" not in Renderer().relation(
        Filter(rows, call("gt", often(rows.field(COST), 3), Literal(Type.REAL, 0.5)))
    )


def test_a_statement_reads_only_the_columns_that_it_needs():
    rows = scanned("visits")
    kept = Filter(rows, call("eq", rows.field(WARD), text("A")))
    (grouping,) = groupings(query(kept, rows=4), salt="s")
    assert "c3" in grouping.integers.sql
    assert not [name for name in ("c1", "c2", "c4", "c5", "s4", "u2") if name in grouping.integers.sql]

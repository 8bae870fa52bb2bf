"""Tables made of released tables: conditions, windows, folds, pairs, order; values and intervals."""

import math
from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.algebra.grids import Grid
from discreet.algebra.released_expressions import (
    Apply,
    ColumnOf,
    Constant,
    Estimate,
    Folded,
    Grouping,
    KeyOf,
    Known,
    Over,
    Pairs,
    Release,
    Select,
    Sorted,
    Stacked,
)
from discreet.errors import NotAllowed, TooLarge
from discreet.postprocessing.estimation.half_widths import expected_half_widths, widest_half_width
from tests.support.plans import (
    COUNT,
    INTEGERS,
    MEDIAN,
    MEDIAN_DAY,
    SUM,
    column,
    measured,
    noisy,
    number,
    plan_of,
    query,
    released,
    shown,
    texts,
)

WARDS = ["a", "b", "c", "d"]
N = [10, 30, 20, 40]


def over(op, *args, partition=(), order=()):
    return Over(op, args, tuple(partition), tuple(order))


def answer_to(view, values=N, measures=(COUNT,), keys=(("s", WARDS),), **more):
    plan = plan_of(query(keys, measures), view, **more)
    several = values if isinstance(values[0], list) else [values]
    return shown(plan, [noisy([texts(*WARDS)], *several)])


def column_of(answer, name):
    return [row[name] for row in answer.rows]


BASE = released(KeyOf(0), measured())
ROUNDED = column("round", column("/", column("*", number(100.0), ColumnOf(1)), over("sum", ColumnOf(1))), number(1))


def test_having_keeps_rows_whose_condition_is_true_and_null_is_not_true():
    view = released(KeyOf(0), measured(), having=column(">", measured(), column("nullif", number(15), number(15))))
    assert answer_to(view).rows == []
    view = released(KeyOf(0), having=column(">", measured(), number(15)))
    assert column_of(answer_to(view), "c0") == ["b", "c", "d"]
    view = Select(BASE, (("w", ColumnOf(0)),), column("in", ColumnOf(0), number("a"), number("d")))
    assert answer_to(view).rows == [{"w": "a"}, {"w": "d"}]


def test_shares_add_up_to_100():
    answer = answer_to(Select(BASE, (("share", ROUNDED), ("n", ColumnOf(1)))))
    assert column_of(answer, "share") == [10.0, 30.0, 20.0, 40.0]
    for row, interval in zip(answer.rows, answer.intervals(0.9), strict=True):
        low, high = interval["share"]
        assert low < row["share"] < high
    in_release = released(KeyOf(0), column("/", measured(), over("sum", measured())))
    assert column_of(answer_to(in_release), "c1") == [0.1, 0.3, 0.2, 0.4]


def test_a_window_sees_what_having_left():
    view = released(KeyOf(0), over("sum", measured()), having=column(">", measured(), number(15)))
    assert column_of(answer_to(view), "c1") == [90, 90, 90]


def test_running_totals_count_peers_together():
    view = Select(BASE, (("run", over("sum", ColumnOf(1), order=[(ColumnOf(0), False)])),))
    assert column_of(answer_to(view), "run") == [10, 40, 60, 100]
    falling = Select(BASE, (("run", over("sum", ColumnOf(1), order=[(ColumnOf(0), True)])),))
    assert column_of(answer_to(falling), "run") == [100, 90, 60, 40]
    peers = Select(BASE, (("run", over("sum", ColumnOf(1), order=[(ColumnOf(1), False)])),))
    assert column_of(answer_to(peers, [10, 30, 10, 40]), "run") == [20, 50, 20, 90]


@pytest.mark.parametrize(
    ("op", "whole", "running"),
    [
        ("sum", [70, 70, 70, 70], [10, 40, 20, 70]),
        ("avg", [17.5] * 4, [10.0, 40 / 3, 10.0, 17.5]),
        ("min", [10] * 4, [10, 10, 10, 10]),
        ("max", [30] * 4, [10, 20, 10, 30]),
        ("count", [4] * 4, [1, 3, 2, 4]),
        ("row_number", [1, 2, 3, 4], [1, 3, 2, 4]),
        ("rank", [1] * 4, [1, 3, 2, 4]),
        ("dense_rank", [1] * 4, [1, 3, 2, 4]),
    ],
)
def test_every_window(op, whole, running):
    args = (ColumnOf(1),) if op in ("sum", "avg", "min", "max", "count") else ()
    values = [10, 20, 10, 30]
    order = [(ColumnOf(1), False), (ColumnOf(0), False)]
    made = answer_to(Select(BASE, (("w", over(op, *args)), ("r", over(op, *args, order=order)))), values)
    assert column_of(made, "w") == whole
    assert column_of(made, "r") == running


def test_ranks_leave_gaps_and_dense_ranks_do_not():
    order = [(ColumnOf(1), True)]
    columns = tuple((op, over(op, order=order)) for op in ("row_number", "rank", "dense_rank"))
    made = answer_to(Select(BASE, columns), [10, 30, 30, 40])
    assert [list(row.values()) for row in made.rows] == [[4, 4, 3], [2, 2, 2], [3, 2, 2], [1, 1, 1]]
    assert made.intervals(0.9)[0] == dict.fromkeys(("row_number", "rank", "dense_rank"))


def test_parts_of_a_window_are_apart():
    keys = [("s", ["a", "b"]), ("b", [False, True])]
    plan = plan_of(query(keys), released(KeyOf(0), over("sum", measured(), partition=[KeyOf(0)])))
    left = noisy([texts("a", "a", "b", "b"), pa.array([False, True, False, True])], [1, 2, 3, 4])
    assert column_of(shown(plan, [left]), "c1") == [3, 3, 7, 7]


def test_min_and_max_are_of_any_type_and_skip_null():
    text = Select(BASE, (("m", over("max", column("nullif", ColumnOf(0), number("d")))),))
    assert column_of(answer_to(text), "m") == ["c"] * 4
    nothing = Select(BASE, (("m", over("min", number(None))), ("s", over("sum", number(None)))))
    assert answer_to(nothing).rows[0] == {"m": None, "s": None}


def test_folds_put_rows_together_in_the_order_of_their_keys():
    key = column("in", ColumnOf(0), number("b"), number("c"))
    folds = (
        ("sum", "sum", ColumnOf(1)),
        ("avg", "avg", ColumnOf(1)),
        ("min", "min", ColumnOf(1)),
        ("n", "count", None),
    )
    made = answer_to(Folded(BASE, (("k", key),), folds))
    assert made.rows == [
        {"k": False, "sum": 50, "avg": 25.0, "min": 10, "n": 2},
        {"k": True, "sum": 50, "avg": 25.0, "min": 20, "n": 2},
    ]
    assert made.intervals(0.9)[0]["n"] is None
    alone = answer_to(Folded(BASE, (), folds))
    assert alone.rows == [{"sum": 100, "avg": 25.0, "min": 10, "n": 4}]


def test_a_fold_of_nothing_is_one_row():
    nothing = Select(BASE, (("n", ColumnOf(1)),), number(False))
    made = answer_to(Folded(nothing, (), (("s", "sum", ColumnOf(0)), ("n", "count", None))))
    assert made.rows == [{"s": None, "n": 0}]
    assert answer_to(Folded(nothing, (("k", ColumnOf(0)),), (("n", "count", None),))).rows == []


def test_one_sample_is_read_by_every_reference():
    """SEMANTICS: WITH r AS (…) SELECT a.c - b.c FROM r a, r b is 0."""
    alone = released(measured())
    pairs = Select(Pairs(alone, alone), (("zero", column("-", ColumnOf(0), ColumnOf(1))),))
    plan = plan_of(query(), pairs)
    assert shown(plan, [noisy([], [17])]).rows == [{"zero": 0}]


def test_pairs_are_joined_by_their_equalities_and_all_pairs_without():
    joined = Select(
        Pairs(BASE, Sorted(BASE, ((ColumnOf(1), True),))),
        (("w", ColumnOf(0)), ("n", ColumnOf(1)), ("m", ColumnOf(3))),
        column("and", column("=", ColumnOf(2), ColumnOf(0)), column(">", ColumnOf(1), number(10))),
    )
    assert [list(row.values()) for row in answer_to(joined).rows] == [["b", 30, 30], ["c", 20, 20], ["d", 40, 40]]
    every = Select(Pairs(BASE, BASE), (("w", ColumnOf(0)), ("v", ColumnOf(2))))
    assert len(answer_to(every)) == 16
    assert answer_to(every).rows[1] == {"w": "a", "v": "b"}


def test_a_join_of_large_tables_is_quick_and_all_their_pairs_are_refused():
    size = 10**5
    big = released(KeyOf(0), measured())
    same = Select(
        Pairs(big, big), (("d", column("-", ColumnOf(1), ColumnOf(3))),), column("=", ColumnOf(0), ColumnOf(2))
    )
    left = noisy([pa.array(np.arange(size))], np.arange(size))
    one = query([("i", None)])
    assert set(shown(plan_of(one, same), [left]).to_arrow().column("d").to_pylist()) == {0}
    with pytest.raises(TooLarge):
        len(shown(plan_of(one, Pairs(big, big)), [left]))


def test_tables_below_each_other_keep_their_intervals_and_names():
    total = released(Constant("all"), measured(), query=1)
    plan = plan_of((query([("s", ["a"])]), query()), Stacked((BASE, total)), epsilon=1)
    made = shown(plan, [noisy([texts("a")], [5])], [noisy([], [9])])
    assert made.rows == [{"c0": "a", "c1": 5}, {"c0": "all", "c1": 9}]
    assert made.intervals(0.9)[1]["c1"][1] > 9


def test_grouping_sets_stand_below_each_other_and_grouping_tells_them_apart():
    one = query([("s", ["a", "b"]), ("b", [True])], sets=((0, 1), (0,), ()))
    plan = plan_of(one, released(KeyOf(0), KeyOf(1), Grouping(0), Grouping(1), measured()))
    sets = [noisy([texts("a", "b"), pa.array([True, True])], [1, 2]), noisy([texts("a", "b")], [3, 4]), noisy([], [5])]
    assert [tuple(row.values()) for row in shown(plan, sets).rows] == [
        ("a", True, 0, 0, 1), ("b", True, 0, 0, 2), ("a", None, 0, 1, 3), ("b", None, 0, 1, 4), (None, None, 1, 1, 5),
    ]  # fmt: skip


def test_the_public_number_of_people_is_exact():
    plan = plan_of(query(), released(Known(), column("/", measured(), Known())), people=200)
    made = shown(plan, [noisy([], [50])])
    assert made.rows == [{"c0": 200, "c1": 0.25}]
    assert made.intervals(0.9)[0]["c0"] is None


def test_order_has_nulls_last_either_way_and_equal_rows_as_they_were():
    nullable = column("nullif", ColumnOf(1), number(20))
    base = Select(BASE, (("w", ColumnOf(0)), ("n", nullable)))
    assert column_of(answer_to(Sorted(base, ((ColumnOf(1), False),))), "w") == ["a", "b", "d", "c"]
    assert column_of(answer_to(Sorted(base, ((ColumnOf(1), True),))), "w") == ["d", "b", "a", "c"]
    assert column_of(answer_to(Sorted(base, ((number(1), True),), 2)), "w") == ["a", "b"]
    assert column_of(answer_to(Sorted(base, ((ColumnOf(0), True),), 0)), "w") == []


def test_values_of_several_types_are_sorted_and_grouped_without_an_error():
    mixed = column("case", column("<", ColumnOf(1), number(15)), number("few"), column("<", ColumnOf(1), number(25)), number(None),
                   ColumnOf(1))  # fmt: skip
    base = Select(BASE, (("m", mixed),))
    assert column_of(answer_to(Sorted(base, ((ColumnOf(0), False),))), "m") == [30, 40, "few", None]
    made = answer_to(Folded(base, (("m", ColumnOf(0)),), (("n", "count", None),)))
    assert column_of(made, "m") == ["few", 30, None, 40]
    answer = answer_to(base)
    assert [row["m"] is None for row in answer.half_widths(0.9)] == [True, False, True, False]
    assert answer.intervals(0.9)[0]["m"] is None
    assert answer.to_arrow().column("m").to_pylist() == ["few", "30", None, "40"]
    assert answer._repr_html_()


def test_a_median_of_dates_is_a_date_with_an_interval_of_dates():
    plan = plan_of(query([], [MEDIAN_DAY]), released(Estimate("quantile", (0,))))
    answer = shown(plan, [noisy([], [[31, 30, 33]])])
    assert answer.rows == [{"c0": "2024-02-01"}]
    low, high = answer.intervals(0.9)[0]["c0"]
    assert low <= "2024-01-31"
    assert high >= "2024-02-03"
    assert answer.half_widths(0.9)[0]["c0"] >= 2
    assert answer.to_arrow().column("c0").to_pylist() == [date(2024, 2, 1)]
    assert answer.intervals(0.99) == [{"c0": ("2024-01-01", "2024-12-31")}]


@pytest.mark.parametrize(
    ("first", "last"), [(date(1, 1, 1), date(1, 1, 1)), (date(9999, 12, 31), date(9999, 12, 31)), (date.min, date.max)]
)
def test_dates_never_leave_the_calendar(first, last):
    steps = Grid(Fraction(1), first.toordinal(), last.toordinal())
    measure = replace(MEDIAN_DAY, steps=(steps,))
    plan = plan_of(query([], [measure]), released(Estimate("quantile", (0,))))
    candidates = len(plan.grouping_sets[0][0].mechanisms[0][0].candidates)
    for draws in ([0, 0, candidates - 1], [candidates - 1, 0, candidates - 1]):
        answer = shown(plan, [noisy([], [draws])])
        assert first.isoformat() <= answer.rows[0]["c0"] <= last.isoformat()
        assert [first.isoformat() <= end <= last.isoformat() for end in answer.intervals(0.9)[0]["c0"]] == [True, True]
        assert first <= answer.to_arrow().column("c0").to_pylist()[0] <= last


def test_counts_and_totals_of_ones_are_integers_and_others_are_not():
    view = released(measured(0), measured(1), measured(2))
    row = answer_to(view, [[5] * 4, [6] * 4, [7] * 4], (COUNT, INTEGERS, SUM)).rows[0]
    assert row == {"c0": 5, "c1": 6, "c2": 3.5}
    assert [type(value) for value in row.values()] == [int, int, float]
    wide = answer_to(released(measured(0), measured(1)), [[2**70] * 4, [2**70] * 4], (COUNT, SUM))
    assert wide.rows[0] == {"c0": 2**70, "c1": 2.0**69}
    assert int(wide.to_arrow().column("c0").to_pylist()[0]) == 2**70


def test_a_sum_of_big_integers_is_exact():
    view = Folded(released(measured()), (), (("s", "sum", ColumnOf(0)),))
    assert answer_to(view, [2**62] * 4).rows == [{"s": 2**64}]


# What is refused before it is paid for


@pytest.mark.parametrize(
    "view",
    [
        released(column("sin", measured())),
        released(column("+", measured())),
        released(over("lag", measured())),
        released(over("sum")),
        Folded(BASE, (), (("m", "median", ColumnOf(1)),)),
        Folded(BASE, (), (("m", "sum", None),)),
        Stacked((BASE, released(measured()))),
    ],
)
def test_what_is_not_known_is_refused_before_anything_is_charged(view):
    with pytest.raises(NotAllowed):
        plan_of(query([("s", WARDS)]), view)


@pytest.mark.parametrize(
    "view",
    [
        released(measured(7)),
        released(KeyOf(3)),
        Select(BASE, (("x", ColumnOf(2)),)),
        released(Estimate("corr", (0,))),
        released(ColumnOf(0)),
    ],
)
def test_a_view_of_what_is_not_there_cannot_be_made(view):
    with pytest.raises(ValueError):
        plan_of(query([("s", WARDS)]), view)


def test_crashes_of_before_are_answers_now():
    made = answer_to(
        released(
            column("round", measured(), number(400)),
            column("case", column(">", measured(), number(15)), number("many"), measured()),
            column("*", column("*", measured(), number(1e308)), number(-1e308)),
            column("exp", measured()),
        ),
        [10, 30, 20, 2000],
    )
    assert made.rows[0] == {"c0": 10, "c1": 10, "c2": None, "c3": math.exp(10)}
    assert made.rows[3] == {"c0": 2000, "c1": "many", "c2": None, "c3": None}
    assert made.half_widths(0.95)[1]["c1"] is None
    assert made.to_arrow().num_rows == 4


def test_nothing_can_be_doubled_without_end():
    view = released(Constant("text"))
    for _ in range(40):
        view = Select(view, (("x", column("concat", ColumnOf(0), ColumnOf(0))),))
    assert answer_to(view).rows[0] == {"x": ""}  # too long was NULL, and NULLs are left out
    view = released(measured())
    for _ in range(40):
        view = Select(view, (("x", column("*", ColumnOf(0), ColumnOf(0))),))
    assert answer_to(view).rows[0] == {"x": None}
    wide = rows = released(measured())
    for _ in range(40):
        wide, rows = Pairs(wide, wide), Stacked((rows, rows))
    with pytest.raises(TooLarge):
        plan_of(query([("s", WARDS)]), wide)
    with pytest.raises(TooLarge):
        len(answer_to(rows))


# Widths beforehand


def test_the_width_of_counts_and_sums_is_known_beforehand():
    one = query([("s", WARDS)], [COUNT, SUM, MEDIAN])
    base = released(KeyOf(0), measured(0), measured(1), Estimate("quantile", (2,)), column("+", measured(), number(1)))
    view = Sorted(Select(base, tuple((f"x{at}", ColumnOf(at)) for at in range(5))), ((ColumnOf(1), True),), 2)
    plan = plan_of(one, view)
    count, total = (plan.grouping_sets[0][0].mechanisms[at][0].error(0.95) for at in (0, 1))
    widths = expected_half_widths(plan, 0.95)
    assert widths == {"x0": None, "x1": count, "x2": total / 2, "x3": None, "x4": None}
    with pytest.raises(NotAllowed, match="depends on the data"):
        widest_half_width(plan, 0.95)
    plain = plan_of(one, Select(base, (("k", ColumnOf(0)), ("n", ColumnOf(1)), ("s", ColumnOf(2)))))
    assert widest_half_width(plain, 0.95) == total / 2
    folded = plan_of(one, Folded(base, (("k", ColumnOf(0)),), (("s", "sum", ColumnOf(1)),)))
    assert expected_half_widths(folded, 0.95) == {"k": None, "s": None}
    moved = plan_of(one, Select(base, (("m", Apply("+", (ColumnOf(1), number(1)))),)))
    assert expected_half_widths(moved, 0.95) == {"m": None}


def test_a_plan_lists_what_it_charges():
    one = query([("s", None)], [COUNT, MEDIAN], sets=((0,), ()))
    plan = plan_of(one, BASE)
    assert len(plan.releases) == 1 + 4 + 4
    assert plan.columns == ("c0", "c1")
    assert Release(0, ()).columns == ()

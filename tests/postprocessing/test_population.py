"""Population intervals cover what a sample of people was drawn from: whole samples are drawn, and then the noise of the real release."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.algebra.expressions import call, conjunction
from discreet.algebra.query import ContributionBounds, Measure, MeasureKind, Query
from discreet.algebra.released_expressions import (
    Apply,
    ColumnOf,
    Estimate,
    Folded,
    KeyOf,
    Over,
    Pairs,
    Select,
    Sorted,
    Stacked,
)
from discreet.errors import BadProbability
from discreet.postprocessing.grouping_sets import GroupingSet
from discreet.postprocessing.plan import Plan
from tests.support.plans import (
    COLUMNS,
    COUNT,
    MEDIAN,
    ROWS,
    SQUARES,
    SUM,
    TOTAL,
    column,
    drawn,
    exact_rows,
    measured,
    mechanisms,
    noisy,
    number,
    plan_of,
    query,
    released,
    shown,
    texts,
)
from tests.support.sources import SeededBits

TRIALS = 800
LEVELS = (0.5, 0.95)
PEOPLE = (4, 60, 1500)
SOME = Measure(kind=MeasureKind.ROWS, where=COLUMNS["b"])
PERSONS = Measure(kind=MeasureKind.PEOPLE)
SOME_PERSONS = Measure(kind=MeasureKind.PEOPLE, where=COLUMNS["b"])
MEASURES = (COUNT, SOME, TOTAL, PERSONS, SOME_PERSONS)
MEAN, SHARE = Estimate("average", (2, 0)), column("/", measured(1), measured(0))
SHOWN = (measured(0), measured(1), measured(3), SHARE, column("*", number(100), SHARE), MEAN)
SHOWN += (column("/", measured(4), measured(3)),)
LOW, HIGH, RARE, OFTEN = 20, 180, 0.1, 0.8
"""One person in ten has the high value, in all of their rows, and as many rows as may be; four in five of the others have as many, else one."""


def drawn_samples(people, most, *, fixed, seed, ends=(LOW, HIGH)):
    """For each trial a sample of persons and, in whole steps, what an engine would find; every trial is a group."""
    rng = np.random.default_rng(seed)
    sizes = np.full(TRIALS, 2 * people) if fixed else rng.poisson(people, TRIALS)
    trial = np.repeat(np.arange(TRIALS), sizes)
    high = rng.random(len(trial)) < RARE
    there = rng.random(len(trial)) < 0.5 if fixed else np.ones(len(trial), bool)  # half of a fixed number have no rows
    rows = np.where(high | (rng.random(len(trial)) < OFTEN), most, 1) * there
    steps = np.where(high, ends[1], ends[0])

    def by_trial(values):
        return np.bincount(trial, values, TRIALS).astype(np.int64)

    squares = by_trial(rows * np.array([SQUARES.coarsened(int(step - 100) ** 2) for step in ends])[high.astype(int)])
    totals = [rows, rows * high, rows * (steps - 100), there, there & high]
    return [by_trial(values) for values in totals], squares


def truths(people, most, ends=(LOW, HIGH)):
    high = RARE * most
    rows = high + (1 - RARE) * (OFTEN * most + 1 - OFTEN)
    share = high / rows
    mean = (ends[0] + (ends[1] - ends[0]) * share) / 2
    return [people * rows, people * high, people, share, 100 * share, mean, RARE]


def trials_plan(most, measures=MEASURES, columns=SHOWN, *, epsilon=1, trials=TRIALS):
    asked = query([("i", range(trials))], measures, rows=most)
    return plan_of(asked, released(*columns), epsilon=epsilon)


def ends_of(intervals, name):
    return np.array([row[name] for row in intervals], float).T


def coverage(intervals, name, truth):
    low, high = ends_of(intervals, name)
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("people", PEOPLE)
def test_counts_shares_and_means_cover_the_population_as_often_as_they_say(people, most, fixed):
    exact, _ = drawn_samples(people, most, fixed=fixed, seed=people + most)
    answer = drawn(trials_plan(most), [[exact_rows([pa.array(range(TRIALS))], exact)]], SeededBits(people + most))
    for level in LEVELS:
        intervals = answer.population_intervals(level)
        for at, truth in enumerate(truths(people, most)):
            assert coverage(intervals, f"c{at}", truth) >= level, (level, at)


@pytest.mark.parametrize("most", [1, 3])
def test_the_intervals_of_noise_alone_would_not_cover_it(most):
    exact, _ = drawn_samples(1500, most, fixed=False, seed=5)
    plan = trials_plan(most, epsilon=20)
    answer = drawn(plan, [[exact_rows([pa.array(range(TRIALS))], exact)]], SeededBits(5))
    for at, truth in enumerate(truths(1500, most)):
        assert coverage(answer.intervals(0.9), f"c{at}", truth) < 0.6, at


@pytest.mark.parametrize("ends", [(LOW, HIGH), (90, 190)])
@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("people", [4, 400])
def test_a_mean_with_its_variance_covers_the_population_too(people, most, ends):
    exact, squares = drawn_samples(people, most, fixed=False, seed=7, ends=ends)
    plan = trials_plan(most, (COUNT, SOME, TOTAL, SQUARES), (MEAN, Estimate("std_samp", (2, 0, 3))), epsilon=50)
    rows = exact_rows([pa.array(range(TRIALS))], [*exact[:3], squares])
    answer = drawn(plan, [[rows]], SeededBits(people))
    for level in LEVELS:
        intervals = answer.population_intervals(level)
        assert coverage(intervals, "c0", truths(people, most, ends)[5]) >= level
        assert {row["c1"] for row in intervals} == {None}


def test_the_intervals_are_not_much_wider_than_a_normal_would_be():
    n, some = 40_000, 4_000
    plan = plan_of(query(measures=MEASURES), released(*SHOWN), epsilon=1000)
    (row,) = shown(plan, [noisy([], [n], [some], [0], [n], [some])]).population_intervals(0.95)
    halves = {name: (high - low) / 2 for name, (low, high) in row.items()}
    assert 1.96 * math.sqrt(n) < halves["c0"] < 1.6 * 1.96 * math.sqrt(n)  # Chernoff: 2.96 for 1.96
    normal = 1.96 * math.sqrt(0.1 * 0.9 / n)
    assert normal < halves["c3"] < 1.6 * normal
    assert halves["c4"] == pytest.approx(100 * halves["c3"])


@pytest.mark.parametrize("most", [1, 3])
def test_a_small_variance_that_is_paid_for_makes_a_mean_more_exact(most):
    n = 10**8
    left = noisy([], [n], [0], [0], [2 * n])  # squares in fours: a deviation of 2.8 steps within 200
    halves = []
    for columns, measures in (((MEAN,), (COUNT, SOME, TOTAL, SUM)), ((MEAN,), (COUNT, SOME, TOTAL, SQUARES))):
        plan = plan_of(query(measures=measures, rows=most), released(*columns), epsilon=1000)
        ((low, high),) = shown(plan, [left]).population_intervals(0.95)[0].values()
        halves.append((high - low) / 2 - 0.25)  # half a step of the grid is in any interval
    normal = 1.96 * math.sqrt(2) / math.sqrt(n / most)
    assert 1.5 * normal < halves[1] < 3 * normal < halves[0]


@pytest.mark.parametrize("most", [1, 3])
def test_a_population_interval_contains_the_noise_interval(most):
    counts = [-3, 0, 1, 2, 7, 40, 300, 10**5, 10**9]
    somes = [5, -4, 1, 3, 9, 0, 299, 10**4, 10**9 + 2]
    totals = [50, -3, -100, 90, 0, -4100, 7000, 10**6, -(10**11)]
    squares = [-2, 0, 2500, 5000, 0, 10**5, 10**5, 10**6, 25 * 10**11]
    for measures in ((*MEASURES, SUM), (*MEASURES, SQUARES)):
        plan = plan_of(query([("i", range(len(counts)))], measures, rows=most), released(*SHOWN))
        answer = shown(plan, [noisy([pa.array(range(len(counts)))], counts, somes, totals, counts, somes, squares)])
        for level in (0.01, 0.5, 0.95, Fraction(999_999, 1_000_000)):
            for wide, narrow in zip(answer.population_intervals(level), answer.intervals(level), strict=True):
                for name, (low, high) in narrow.items():
                    assert wide[name][0] <= low <= high <= wide[name][1]


def test_more_sure_is_wider_and_more_rows_a_person_are_wider():
    left = noisy([], [500], [100], [-3000], [400], [90])
    found = []
    for most, level in ((1, 0.5), (1, 0.95), (3, 0.95), (30, 0.95)):
        plan = plan_of(query(measures=MEASURES, rows=most), released(measured(0), SHARE, MEAN))
        found.append(shown(plan, [left]).population_intervals(level)[0])
    for name in ("c0", "c1", "c2"):
        widths = [row[name][1] - row[name][0] for row in found]
        assert widths == sorted(set(widths))


def test_people_are_one_draw_each_whatever_their_rows():
    answers = [
        shown(plan_of(query(measures=(PERSONS,), rows=most), released(measured(0))), [noisy([], [50])])
        for most in (1, 10)
    ]
    assert answers[0].population_intervals(0.9) == answers[1].population_intervals(0.9)


def test_a_limit_of_rows_in_a_group_is_the_limit_of_a_draw():
    def interval(limits, sets):
        key = query([("i", [1])]).keys
        asked = Query(rows=ROWS, keys=key, measures=(COUNT,), limits=limits, sets=sets)
        answer = shown(plan_of(asked, released(measured(0))), [noisy([pa.array([1])] if s else [], [50]) for s in sets])
        return answer.population_intervals(0.9)[0]

    alone, grouped = ContributionBounds(rows=6), ContributionBounds(rows=6, groups=3, rows_per_group=2)
    assert interval(grouped, ((0,),)) == interval(ContributionBounds(rows=2), ((0,),))
    assert interval(grouped, ((0,), ())) == interval(alone, ((0,), ()))  # what is rolled up has all of their rows


def test_where_there_may_be_nobody_a_mean_has_its_bounds_and_a_share_none():
    plan = plan_of(query(measures=MEASURES), released(SHARE, MEAN))
    (row,) = shown(plan, [noisy([], [2], [1], [0], [1], [1])]).population_intervals(0.95)
    assert row == {"c0": (-math.inf, math.inf), "c1": (0.0, 100.0)}


def test_with_very_many_people_a_mean_has_the_interval_of_its_noise():
    plan = plan_of(query(measures=(COUNT, SOME, TOTAL), rows=3), released(MEAN), epsilon=Fraction(1, 10**12))
    for n, near in ((10**14, 1e-1), (10**16, 1e-4)):
        answer = shown(plan, [noisy([], [n], [n // 2], [n // 3])])
        ((low, high),), ((least, most),) = (
            row.values() for row in (answer.population_intervals(0.9)[0], answer.intervals(0.95)[0])
        )
        assert (low, high) == pytest.approx((least, most), abs=near)
    assert low < least < most < high


def test_a_public_number_of_people_serves_a_mean_and_has_no_interval_itself():
    asked = Query(
        rows=replace(ROWS, each_once=True), keys=(), measures=(COUNT, SOME, TOTAL), limits=ContributionBounds(rows=1)
    )
    free = tuple(() if at == 0 else mechanisms(measure, 1) for at, measure in enumerate(asked.measures))
    plan = Plan(queries=(asked,), grouping_sets=((GroupingSet((), free),),), view=released(measured(0), MEAN))
    (row,) = shown(plan, [noisy([], [500], [3], [100])]).population_intervals(0.9)
    assert row["c0"] is None
    assert row["c1"] is not None


def test_it_is_defined_for_counts_shares_and_means_only():
    distinct = Measure(kind=MeasureKind.DISTINCT, values=(COLUMNS["s"],))
    other = Measure(kind=MeasureKind.ROWS, where=COLUMNS["b"])
    measures = (COUNT, other, TOTAL, SQUARES, SUM, distinct, PERSONS, MEDIAN)
    columns = (
        KeyOf(0), Estimate("quantile", (7,)), measured(4), measured(5), Estimate("var_samp", (2, 0, 3)),
        column("cast_text", measured(0)), column("+", measured(0), measured(1)), column("/", measured(0), measured(1)),
        column("/", measured(4), measured(0)), column("/", measured(6), measured(0)), column("neg", measured(0)),
        column("*", number(-1), SHARE), column("*", number(2**900), SHARE), column("round", SHARE), number(3),
        number(None), Over("sum", (measured(0),), (), ()),
    )  # fmt: skip
    plan = plan_of(query([("s", ["a", "b"])], measures), released(*columns))
    left = noisy([texts("a", "b")], *([[50, 60]] * 7), [[5, 4, 6], [5, 4, 6]])
    for row in shown(plan, [left]).population_intervals(0.9):
        assert set(row.values()) == {None}


def test_a_share_may_be_written_in_several_ways():
    x = COLUMNS["x"]
    present, some_present = (
        Measure(kind=MeasureKind.PRESENT, values=(x,), where=where) for where in (None, COLUMNS["b"])
    )
    filtered = Measure(kind=MeasureKind.ROWS, where=conjunction([COLUMNS["b"], call("not_null", x)]))
    measures = (COUNT, SOME, present, some_present, filtered)
    real = column("cast_real", measured(1))
    same = (
        column("/", real, column("nullif", measured(0), number(0))),
        column("*", column("/", measured(1), column("*", number(4), measured(0))), number(4.0)),
        column("/", measured(2), measured(0)), column("/", measured(3), measured(2)),
        column("/", measured(4), measured(1)), column("/", measured(4), measured(0)),
    )  # fmt: skip
    plan = plan_of(query(measures=measures), released(*same, column("/", measured(3), measured(4))))
    (row,) = shown(plan, [noisy([], [400], [100], [100], [25], [25])]).population_intervals(0.9)
    assert row["c0"] == pytest.approx(row["c1"])
    assert None not in [row[f"c{at}"] for at in range(len(same))]
    assert row[f"c{len(same)}"] is None


def test_rows_that_are_chosen_and_sorted_keep_their_intervals():
    base = released(KeyOf(0), measured(0), measured(1), MEAN)
    asked = query([("s", ["a", "b", "c"])], MEASURES)
    left = noisy([texts("a", "b", "c")], [900, 100, 400], [90, 50, 40], [500, 0, -300], [1, 1, 1], [1, 1, 1])
    chosen = Select(
        base,
        (("key", ColumnOf(0)), ("mean", ColumnOf(3)), ("share", Apply("/", (ColumnOf(2), ColumnOf(1))))),
        Apply(">", (ColumnOf(1), number(200))),
    )
    answer = shown(plan_of(asked, Sorted(chosen, ((ColumnOf(1), False),), 2)), [left])
    plain = shown(plan_of(asked, released(KeyOf(0), MEAN, SHARE)), [left]).population_intervals(0.9)
    assert [row["key"] for row in answer.rows] == ["c", "a"]
    for found, wanted in zip(answer.population_intervals(0.9), (plain[2], plain[0]), strict=True):
        assert (found["mean"], found["share"]) == (wanted["c1"], wanted["c2"])


def test_what_is_put_together_after_the_noise_has_none():
    base = released(measured(0), MEAN)
    asked = query([("s", ["a", "b"])], MEASURES)
    left = noisy([texts("a", "b")], [900, 100], [90, 50], [500, 0], [1, 1], [1, 1])
    for view in (Folded(base, (), (("n", "sum", ColumnOf(0)),)), Pairs(base, base), Stacked((base, base))):
        selected = Select(view, (("n", ColumnOf(0)),))
        for put_together in (view, selected):
            for row in shown(plan_of(asked, put_together), [left]).population_intervals(0.9):
                assert set(row.values()) == {None}


def test_several_grouping_sets_have_their_intervals_below_each_other():
    asked = query([("s", ["a", "b"])], MEASURES, sets=((0,), ()))
    parts = [[900, 100], [90, 50], [500, 0], [1, 1], [1, 1]]
    sets = [noisy([texts("a", "b")], *parts), noisy([], *([sum(part)] for part in parts))]
    rows = shown(plan_of(asked, released(measured(0), SHARE, MEAN)), sets).population_intervals(0.9)
    assert len(rows) == 3
    assert all(None not in row.values() for row in rows)


def test_a_level_is_between_0_and_1():
    answer = shown(plan_of(query(), released(measured(0))), [noisy([], [5])])
    for level in (0, 1, -1, 2, math.nan):
        with pytest.raises(BadProbability):
            answer.population_intervals(level)


def test_the_price_of_the_prior_holds_for_fractions_of_rows():
    for n in [*np.linspace(0.01, 4, 150), *np.logspace(0.5, 6, 40)]:
        for y in np.linspace(0, n, 60):
            c = max(n - y, 0.0)
            mixture = math.lgamma(y + 0.5) + math.lgamma(c + 0.5) - math.lgamma(n + 1) - math.log(math.pi)
            best = sum(part * math.log(part / n) for part in (y, c) if part > 0)
            assert mixture >= best - math.log(2) - math.log(max(n, 1)) / 2 - 1e-9

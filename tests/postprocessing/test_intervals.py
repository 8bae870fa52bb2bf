"""Intervals cover the bounded truth as often as they say: of tiny and empty groups, and of what is made of many groups, too."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.algebra.released_expressions import ColumnOf, Estimate, Folded, KeyOf, Over, Pairs, Select, Sorted
from discreet.mechanisms import Gaussian, Laplace
from discreet.postprocessing.estimation.noise_tails import reach
from tests.support.plans import (
    COUNT,
    MEDIAN,
    PRODUCTS,
    SQUARES,
    SUM,
    TOTAL,
    Y_SQUARES,
    Y_TOTAL,
    column,
    drawn,
    exact_rows,
    measured,
    number,
    plan_of,
    query,
    released,
    texts,
)
from tests.support.sources import SeededBits

SIZES = {"many": 400, "few": 12, "one": 1, "none": 0}
TIMES, LEVEL = 60, 0.9
"""How often each is drawn; `make soak` draws 2,500."""
MEASURES = (COUNT, SUM, TOTAL, SQUARES, Y_TOTAL, Y_SQUARES, PRODUCTS, MEDIAN)
PAIRED = (2, 4, 0, 3, 5, 6)


def make_values():
    rng = np.random.default_rng(3)
    groups = {}
    for name, size in SIZES.items():
        x = np.round(rng.normal(40, 15, size).clip(0, 100) * 2) / 2
        groups[name] = x, np.round((x / 2 - 30 + rng.normal(0, 6, size)).clip(-50, 50) * 2) / 2
    return groups


VALUES = make_values()


def coarsened(measure, products):
    return int(sum(measure.coarsened(int(product)) for product in products))


def make_exact():
    """What an engine would give: group by group, in whole steps."""
    columns, histogram = [], []
    for at, (x, y) in enumerate(VALUES.values()):
        a, b = (x * 2).astype(int), (y * 2).astype(int)
        products = [coarsened(SQUARES, (a - 100) ** 2), coarsened(Y_SQUARES, b**2), coarsened(PRODUCTS, (a - 100) * b)]
        columns.append([len(x), a.sum(), (a - 100).sum(), products[0], b.sum(), products[1], products[2], 0])
        steps, counts = np.unique(a, return_counts=True)
        histogram += [(at, step, count) for step, count in zip(steps, counts, strict=True)]
    cells = tuple(np.array(part, np.int64) for part in zip(*histogram, strict=True))
    return exact_rows([texts(*SIZES)], np.array(columns, np.int64).T, None, {7: cells})


EXACT = make_exact()


def quantile(q):
    return lambda x, _: np.quantile(x, q, method="inverted_cdf")


def slope(x, y):
    return np.cov(x, y, ddof=0)[0, 1] / np.var(x)


OUTPUTS = {
    "count": (measured(0), lambda x, _: len(x)),
    "sum": (measured(1), lambda x, _: np.sum(x)),
    "average": (Estimate("average", (2, 0)), lambda x, _: np.mean(x)),
    "ratio": (column("/", measured(1), measured(0)), lambda x, _: np.mean(x)),
    "var_pop": (Estimate("var_pop", (2, 0, 3)), lambda x, _: np.var(x)),
    "var_samp": (Estimate("var_samp", (2, 0, 3)), lambda x, _: np.var(x, ddof=1)),
    "std_pop": (Estimate("std_pop", (2, 0, 3)), lambda x, _: np.std(x)),
    "std_samp": (Estimate("std_samp", (2, 0, 3)), lambda x, _: np.std(x, ddof=1)),
    "median": (Estimate("quantile", (7,)), quantile(0.5)),
    "covar_pop": (Estimate("covar_pop", PAIRED), lambda x, y: np.cov(x, y, ddof=0)[0, 1]),
    "covar_samp": (Estimate("covar_samp", (2, 4, 0, 6)), lambda x, y: np.cov(x, y)[0, 1]),
    "corr": (Estimate("corr", PAIRED), lambda x, y: np.corrcoef(x, y)[0, 1]),
    "slope": (Estimate("slope", PAIRED), slope),
    "intercept": (Estimate("intercept", (2, 4, 0, 3, 6)), lambda x, y: np.mean(y) - slope(x, y) * np.mean(x)),
    "away": (column("+", column("abs", column("-", measured(0), number(100))), number(3)), lambda x, _: abs(len(x) - 100) + 3),
    "greatest": (column("greatest", measured(1), number(50)), lambda x, _: max(np.sum(x), 50)),
    "product": (column("*", column("neg", measured(0)), number(2)), lambda x, _: -len(x) * 2),
    "root": (column("sqrt", measured(1)), lambda x, _: math.sqrt(np.sum(x))),
    "squared": (column("pow", measured(0), number(2)), lambda x, _: len(x) ** 2),
    "rounded": (column("round", measured(1), number(-1)), lambda x, _: math.floor(np.sum(x) / 10 + 0.5) * 10),
    "remainder": (column("%", measured(0), number(7)), lambda x, _: len(x) % 7),
    "choice": (column("case", column(">", measured(0), number(11)), number(1), number(0)), lambda x, _: int(len(x) > 11)),
}  # fmt: skip
LEAST_ROWS = {"var_samp": 2, "std_samp": 2, "covar_samp": 2, "corr": 3, "slope": 3, "intercept": 3, "count": 0, "away": 0,
              "sum": 0, "greatest": 0, "product": 0, "root": 0, "squared": 0, "rounded": 0, "remainder": 0, "choice": 0}  # fmt: skip


def allowed_misses(times):
    """So many with a chance below 1e-9."""
    return int(stats.binom.isf(1e-9, times, 1 - LEVEL))


ONE_GROUP = [
    *((output, False) for output in OUTPUTS),
    *((output, True) for output in ("count", "sum", "average", "std_samp", "corr")),
]


def cover_one_group(output, *, gaussian, times, bits):
    """The truth of each group is within its interval as often as the level says."""
    after, truth = OUTPUTS[output]
    measures = MEASURES if output == "median" else MEASURES[:-1]  # drawing quantiles takes time
    plan = plan_of(query([("s", SIZES)], measures), released(KeyOf(0), after), epsilon=2, gaussian=gaussian)
    missed = dict.fromkeys(SIZES, 0)
    for _ in range(times):
        answer = drawn(plan, [[EXACT]], bits)
        for row, interval in zip(answer.rows, answer.intervals(LEVEL), strict=True):
            low, high = interval["c1"]
            assert row["c1"] is None or low - 1e-9 <= row["c1"] <= high + 1e-9 or output == "ratio"
            x, y = VALUES[row["c0"]]
            if len(x) >= LEAST_ROWS.get(output, 1):  # else there is no truth to cover
                missed[row["c0"]] += not low - 1e-9 <= truth(x, y) <= high + 1e-9
    assert max(missed.values()) <= allowed_misses(times), missed


@pytest.mark.parametrize(("output", "gaussian"), ONE_GROUP)
def test_an_interval_covers_the_bounded_truth_as_often_as_it_says(output, gaussian):
    cover_one_group(output, gaussian=gaussian, times=TIMES, bits=SeededBits(output))


def test_every_answer_is_within_what_the_bounds_allow():
    kinds = {"average": (2, 0), "std_samp": (2, 0, 3), "var_pop": (2, 0, 3), "quantile": (7,), "corr": PAIRED,
             "covar_pop": PAIRED}  # fmt: skip
    ends = {"average": (0, 100), "std_samp": (0, 100 / math.sqrt(2)), "var_pop": (0, 2500), "quantile": (0, 100),
            "corr": (-1, 1), "covar_pop": (-2500, 2500)}  # fmt: skip
    view = released(*(Estimate(kind, measures) for kind, measures in kinds.items()))
    plan = plan_of(query([("s", SIZES)], MEASURES), view, epsilon=Fraction(1, 20))
    bits = SeededBits("finite")
    for _ in range(100):
        answer = drawn(plan, [[EXACT]], bits)
        for row, intervals in zip(answer.rows, answer.intervals(0.95), strict=True):
            for (low, high), value, interval in zip(ends.values(), row.values(), intervals.values(), strict=True):
                assert value is None or low - 1e-9 <= value <= high + 1e-9
                assert low - 1e-9 <= interval[0] <= interval[1] <= high + 1e-9


def test_above_the_level_they_were_drawn_for_quantiles_have_the_columns_bounds():
    plan = plan_of(query([("s", SIZES)], MEASURES), released(Estimate("quantile", (7,))))
    answer = drawn(plan, [[EXACT]], SeededBits("q"))
    assert answer.intervals(0.99)[0] == {"c0": (0.0, 100.0)}
    assert answer.intervals(0.95) != answer.intervals(0.99)


# What is made of many groups

GROUPS = 60
COUNTS = np.random.default_rng(4).integers(0, 200, GROUPS)
TABLE = released(KeyOf(0), measured(0))


def over(op, *args, order=()):
    return Over(op, args, (), tuple(order))


BY_KEY = [(ColumnOf(0), False)]
SHARES = column("/", ColumnOf(1), over("sum", ColumnOf(1)))
TWICE = column("*", ColumnOf(1), number(2))
MADE = {
    "share": (Select(TABLE, (("y", SHARES),)), COUNTS / COUNTS.sum()),
    "running": (Select(TABLE, (("y", over("sum", ColumnOf(1), order=BY_KEY)),)), np.cumsum(COUNTS)),
    "running average": (
        Select(TABLE, (("y", over("avg", ColumnOf(1), order=BY_KEY)),)), np.cumsum(COUNTS) / np.arange(1, GROUPS + 1)
    ),
    "union bound": (Select(TABLE, (("y", over("sum", TWICE)),)), np.full(GROUPS, 2 * COUNTS.sum())),
    "largest": (Select(TABLE, (("y", over("max", ColumnOf(1))),)), np.full(GROUPS, COUNTS.max())),
    "least so far": (Select(TABLE, (("y", over("min", ColumnOf(1), order=BY_KEY)),)), np.minimum.accumulate(COUNTS)),
    "folded": (Folded(TABLE, (), (("y", "sum", ColumnOf(1)),)), [COUNTS.sum()]),
    "some": (
        Folded(TABLE, (), (("y", "sum", column("case", column("<", ColumnOf(0), number(30)), ColumnOf(1), number(0))),)),
        [COUNTS[:30].sum()],
    ),
    "average": (Folded(TABLE, (), (("y", "avg", ColumnOf(1)),)), [COUNTS.mean()]),
    "from the mean": (
        Select(TABLE, (("y", column("abs", column("-", ColumnOf(1), over("avg", ColumnOf(1))))),)), np.abs(COUNTS - COUNTS.mean())
    ),
    "of all": (
        Select(Pairs(TABLE, Folded(TABLE, (), (("t", "sum", ColumnOf(1)),))), (("y", column("/", ColumnOf(1), ColumnOf(2))),)),
        COUNTS / COUNTS.sum(),
    ),
}  # fmt: skip


def groups_plan(view, **more):
    return plan_of(query([("i", range(GROUPS))]), view, epsilon=Fraction(1, 2), **more)


def groups_exact():
    import pyarrow as pa

    return exact_rows([pa.array(np.arange(GROUPS))], [COUNTS])


def cover_many_groups(output, *, gaussian, times, bits):
    """The same for what is made of many groups."""
    view, truth = MADE[output]
    plan, missed = groups_plan(view, gaussian=gaussian), np.zeros(len(truth))
    for _ in range(times):
        intervals = drawn(plan, [[groups_exact()]], bits).intervals(LEVEL)
        low, high = np.array([row["y"] for row in intervals]).T
        missed += (truth < low - 1e-9) | (truth > high + 1e-9)
    assert missed.max() <= allowed_misses(times), missed


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("output", MADE)
def test_what_is_made_of_many_groups_is_covered_too(output, gaussian):
    cover_many_groups(output, gaussian=gaussian, times=TIMES, bits=SeededBits(output))


def test_a_sum_over_rows_that_noise_chose_is_covered_too():
    """The ten largest of many: their noises are anything but independent."""
    top = Sorted(TABLE, ((ColumnOf(1), True),), 10)
    plan = groups_plan(Folded(top, (), (("y", "sum", ColumnOf(1)), ("m", "max", ColumnOf(1)))))
    shown, bits, missed = groups_plan(top), SeededBits("top"), 0
    for _ in range(100):
        answer = drawn(plan, [[groups_exact()]], bits)
        again = drawn(shown, [[groups_exact()]], SeededBits("other"))
        assert len(again) == 10
        object.__setattr__(again, "stored", answer.stored)
        again._computed.clear()
        keys = [row["c0"] for row in again.rows]
        low, high = answer.intervals(LEVEL)[0]["y"]
        missed += not low <= COUNTS[keys].sum() <= high
    assert missed <= allowed_misses(100)


def test_a_sum_of_many_groups_is_far_better_known_than_by_adding_their_widths():
    bits = SeededBits("width")
    total = drawn(groups_plan(MADE["folded"][0]), [[groups_exact()]], bits).half_widths(0.95)[0]["y"]
    each = drawn(groups_plan(TABLE), [[groups_exact()]], bits).half_widths(0.95)[0]["c1"]
    union = drawn(groups_plan(Folded(TABLE, (), (("y", "sum", TWICE),))), [[groups_exact()]], bits).half_widths(0.95)[
        0
    ]["y"]
    assert total < GROUPS * each / 5
    assert union > 10 * total


@pytest.mark.parametrize("kind", ["laplace", "narrow laplace", "gaussian", "both"])
def test_the_reach_of_a_sum_is_never_too_short(kind):
    """Against the exact distribution of the sum, by convolution."""
    laplace, narrow = Laplace(sensitivity=1, epsilon=Fraction(1, 5)), Laplace(sensitivity=1, epsilon=2)
    gaussian = Gaussian(sensitivity=1, variance=30)
    kinds = {"laplace": [(laplace, 1.0)], "narrow laplace": [(narrow, 1.0)], "gaussian": [(gaussian, 1.0)],
             "both": [(laplace, 1.0), (gaussian, 1.0)]}[kind]  # fmt: skip
    for count in (1, 2, 3, 5, 9, 40):
        width = reach(kinds, np.array([[count] * len(kinds)]), Fraction(95, 100))[0]
        tail = 1 - chance_within(kinds, count, width)
        assert tail <= 0.05
        assert count > 1 or tail > 0.01 or len(kinds) > 1  # and not absurdly long
        assert tail > 1e-4


def chance_within(kinds, count, width):
    z = np.arange(-(2**12), 2**12)
    spectrum = np.ones(2**13 // 2 + 1, complex)
    for mechanism, _ in kinds:
        weight = (
            np.exp(-(z**2) / 60) if isinstance(mechanism, Gaussian) else np.exp(-np.abs(z) / float(mechanism.scale))
        )
        spectrum *= np.fft.rfft(np.fft.ifftshift(weight / weight.sum())) ** count
    law = np.fft.fftshift(np.fft.irfft(spectrum, 2**13))
    return law[np.abs(z) <= width].sum()

"""Statistics of bounded values: exact integers before the noise, intervals that cover, accounts that pay first."""

import math
from fractions import Fraction

import numpy as np
import pandas
import polars
import pytest

import discreet
from discreet import Neighbours, accounting
from discreet.errors import BadBounds, BadData, BadEpsilon, BadInput, BudgetExceeded
from discreet.mechanisms.statistics import bounded, moments
from tests.support.sources import SeededBits, UntouchableBits

STATISTICS = {
    "sum": (discreet.sum, np.sum),
    "mean": (discreet.mean, np.mean),
    "variance": (discreet.variance, np.var),
}
BOUNDS = {"lower": 0, "upper": 100}
AGES = np.random.default_rng(1).integers(0, 101, 5000)


@pytest.fixture
def seeded(monkeypatch):
    monkeypatch.setattr(bounded, "_bits", SeededBits("bounded"))


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("values", "whole"), [(AGES, True), (AGES * 0.97, False)], ids=["whole", "real"])
@pytest.mark.parametrize("name", STATISTICS)
def test_intervals_cover_the_truth_as_often_as_they_say(name, values, whole, neighbours, seeded):
    private, exact = STATISTICS[name]
    truth, inside = float(exact(values)), 0
    for _ in range(150):
        released = private(values, **BOUNDS, epsilon=0.5, whole=whole, neighbours=neighbours)
        low, high = released.interval(0.8)
        slack = 5 if name == "sum" else 0  # 5,000 roundings of at most 100 / 2**17
        inside += low - slack <= truth <= high + slack
        assert low <= released.value <= high
    assert inside >= 100  # of 150 at 0.8: fewer happen once in ten thousand seeds


@pytest.mark.parametrize("name", STATISTICS)
def test_with_hardly_any_noise_the_answer_is_the_statistic(name, seeded):
    private, exact = STATISTICS[name]
    for values in (AGES, AGES / 3):
        assert float(private(values, **BOUNDS, epsilon=1e6)) == pytest.approx(exact(values), rel=2e-4)


def test_values_are_clamped_to_the_bounds_and_no_answer_leaves_what_is_possible(seeded):
    wild = [-(10**40), 5, 10**40]
    assert discreet.sum(wild, **BOUNDS, epsilon=1e4, whole=True).value == 105
    for _ in range(20):
        nobody = discreet.mean([], **BOUNDS, epsilon=0.01)
        assert 0 <= nobody.value <= 100
        assert 0 <= discreet.variance([1], **BOUNDS, epsilon=0.01).value <= 2500
        assert nobody.interval(0.95)[0] >= 0


@pytest.mark.parametrize("size", [0, 1, 2, 1000])
def test_the_total_is_exact_however_large_the_values(size):
    values = np.random.default_rng(size).integers(-(2**61), 2**61, size)
    assert moments.total_of(values) == sum(values.tolist())


def test_one_person_moves_no_more_than_the_noise_is_for():
    """Whatever a person's value: on the grid, it is within the sensitivity that was charged."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        lower, width = float(rng.normal(0, 1000)), float(rng.exponential(50)) + 1e-6
        value = float(rng.normal(lower, 2 * width))
        scale = moments.Scale.between(lower, lower + width, whole=False)
        (at,) = scale.read([value], Neighbours.ADD_REMOVE).tolist()
        plan = moments.Plan.of(scale, epsilon=Fraction(1), neighbours=Neighbours.ADD_REMOVE, squares=True)
        assert abs(at - scale.middle) <= plan.total.sensitivity
        assert (at - scale.middle) ** 2 <= plan.squares.sensitivity
        assert sum(mechanism.exact_pure_epsilon for mechanism in plan.mechanisms) == 1
        replaced = moments.Plan.of(scale, epsilon=Fraction(1), neighbours=Neighbours.REPLACE_ONE, squares=False)
        assert replaced.total.sensitivity == scale.high - scale.low
        assert replaced.count is None


def test_what_is_released_is_on_a_grid_and_depends_on_no_float_arithmetic(seeded):
    """A hundredth of a cent more or less in one value leaves the integers, and so the answers' law, what they are."""
    scale = moments.Scale.between(0, 1, whole=False)
    steps = scale.read(np.array([0.1, 0.2, 0.3]), Neighbours.ADD_REMOVE)
    nudged = scale.read(np.array([0.1 + 1e-12, 0.2 - 1e-12, 0.3]), Neighbours.ADD_REMOVE)
    assert steps.dtype == np.int64
    assert steps.tolist() == nudged.tolist()
    released = discreet.sum([0.1, 0.2, 0.3], lower=0, upper=1, epsilon=1).value
    assert (released / float(scale.step)).is_integer()


def test_a_histogram_counts_bins_and_categories(seeded):
    binned = discreet.histogram([-5, 0, 9, 10, 19, 20, 99], edges=[0, 10, 20], epsilon=1e4)
    assert binned.bins == ((0, 10), (10, 20))
    assert binned.counts == (3, 4)
    wards = discreet.histogram(
        pandas.Series(["ER", "ICU", "ER", "?"]), categories=["ER", "ICU", "Surgery"], epsilon=1e4
    )
    assert wards.counts == (2, 1, 0)
    assert wards.rows[0] == {"bin": "ER", "count": 2, "count_low": 2, "count_high": 2}
    assert list(wards.to_pandas()["count"]) == wards.to_polars()["count"].to_list() == [2, 1, 0]
    assert (
        discreet.histogram([1], categories=[1], epsilon=1, neighbours=Neighbours.REPLACE_ONE).mechanism.sensitivity == 2
    )
    assert "ER" in repr(wards)
    assert "0 to 10" in repr(binned)


def test_answers_show_themselves_with_what_they_are_worth(seeded):
    shown = repr(discreet.mean(AGES, **BOUNDS, epsilon=1))
    assert "± 0." in shown
    assert shown.endswith("in 95 of 100 answers, ε 1")
    assert len(shown) < 60
    assert isinstance(discreet.sum(AGES, **BOUNDS, epsilon=1, whole=True).value, int)


def test_an_account_pays_before_anything_is_drawn(monkeypatch):
    account = accounting.Account(1)
    for private in (discreet.sum, discreet.mean, discreet.variance):
        private(AGES, **BOUNDS, epsilon=0.3, account=account)
    assert account.spent.epsilon == pytest.approx(0.9)
    monkeypatch.setattr(bounded, "_bits", UntouchableBits())
    with pytest.raises(BudgetExceeded, match="smaller epsilon"):
        discreet.histogram(AGES, edges=[0, 50, 100], epsilon=0.2, account=account)
    with pytest.raises(BudgetExceeded):
        discreet.mean(AGES, **BOUNDS, epsilon=0.2, account=account)
    assert account.spent.epsilon == pytest.approx(0.9)
    assert repr(account) == "ε 0.9 of 1 spent"


REFUSED = {
    "no epsilon": (lambda: discreet.sum([1], **BOUNDS, epsilon=0), BadEpsilon),
    "reversed": (lambda: discreet.mean([1], lower=1, upper=0, epsilon=1), BadBounds),
    "far away": (lambda: discreet.mean([1.5], lower=1e30, upper=1e30 + 1e14, epsilon=1), BadBounds),
    "no whole number": (lambda: discreet.mean([1], lower=0.1, upper=0.4, epsilon=1, whole=True), BadBounds),
    "whole or not": (lambda: discreet.sum([1], **BOUNDS, epsilon=1, whole="no"), BadInput),
    "one number": (lambda: discreet.variance(5, **BOUNDS, epsilon=1), BadData),
    "text": (lambda: discreet.sum("123", **BOUNDS, epsilon=1), BadData),
    "texts": (lambda: discreet.sum(np.array(["a"]), **BOUNDS, epsilon=1), BadData),
    "two dimensions": (lambda: discreet.mean(np.ones((2, 2)), **BOUNDS, epsilon=1), BadData),
    "categories of two": (lambda: discreet.histogram(np.ones((2, 2)), categories=[1], epsilon=1), BadData),
    "a list as a category": (lambda: discreet.histogram([1], categories=[[1]], epsilon=1), BadInput),
    "both": (lambda: discreet.histogram([1], edges=[0, 1], categories=[1], epsilon=1), BadInput),
    "neither": (lambda: discreet.histogram([1], epsilon=1), BadInput),
    "falling": (lambda: discreet.histogram([1], edges=[1, 0], epsilon=1), BadInput),
    "twice": (lambda: discreet.histogram([1], categories=[1, 1], epsilon=1), BadInput),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_before_anything_is_drawn(name, monkeypatch):
    monkeypatch.setattr(bounded, "_bits", UntouchableBits())
    call, kind = REFUSED[name]
    with pytest.raises(kind):
        call()


@pytest.mark.parametrize(
    "make", [pandas.Series, lambda values, name: polars.Series(name, values)], ids=["pandas", "polars"]
)
def test_columns_go_in_and_come_out(make):
    for values in ([1, 2, 3], [0.5, 1.5, 2.5]):
        column = make(values, name="cost")
        for released in (
            discreet.laplace(column, sensitivity=1, epsilon=1e5),
            discreet.gaussian(column, sensitivity=1, rho=1e9),
        ):
            assert type(released) is type(column)
            assert released.name == "cost"
            assert released.to_list() == pytest.approx(values, abs=1e-2)
        assert float(discreet.sum(column, lower=0, upper=3, epsilon=1e6)) == pytest.approx(sum(values), abs=1e-3)
        assert discreet.quantile(column, 0.5, lower=0, upper=3, epsilon=1e6) == pytest.approx(values[1], abs=1e-3)
    bits = discreet.randomized_response(make([0, 1, 1], name="b"), epsilon=50)
    assert bits.to_list() == [0, 1, 1]
    assert discreet.choose(["a", "b"], make([1, 9], name="s"), sensitivity=1, epsilon=50) == "b"


def test_columns_keep_their_index_and_missing_values_are_refused():
    column = pandas.Series([1, 2], index=["x", "y"])
    assert list(discreet.laplace(column, sensitivity=1, epsilon=1).index) == ["x", "y"]
    assert discreet.laplace(pandas.Series([1, 2], dtype="Int64"), sensitivity=1, epsilon=1e5).to_list() == [1, 2]
    for lacking in (pandas.Series([1, None], dtype="Int64"), polars.Series([1, None]), pandas.Series([1.0, math.nan])):
        with pytest.raises(BadData, match="missing values"):
            discreet.laplace(lacking, sensitivity=1, epsilon=1)

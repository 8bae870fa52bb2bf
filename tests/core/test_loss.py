import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Loss
from discreet.core.exact import exact, power_of_two_below, rounded_up
from discreet.errors import BadDelta, BadEpsilon

positive = st.fractions(min_value=0, max_value=10**6, max_denominator=10**12)


def test_ten_tenths_are_one_exactly_and_three_tenths_are_three_tenths():
    total = Loss(0.0)
    for _ in range(10):
        total += Loss(0.1, 1e-7)
    assert (total.epsilon, total.delta) == (1.0, 1e-6)
    assert Loss(0.1) + Loss(0.2) == Loss(0.3)


@given(positive, positive)
def test_a_sum_is_never_below_the_truth_and_hardly_above(a, b):
    one, other = rounded_up(a), rounded_up(b)
    total = Loss(one) + Loss(other)
    truth = exact(one) + exact(other)
    assert truth <= exact(total.epsilon) <= truth * (1 + exact(2.0**-50))


@given(positive)
def test_rounding_up_is_up_and_to_the_next_float(value):
    rounded = rounded_up(value)
    assert exact(rounded) >= value
    assert rounded == 0 or exact(math.nextafter(rounded, -1)) < value or rounded == float(value)


@given(st.fractions(min_value="1/1000000000", max_value=10**9))
def test_a_power_of_two_below_is_one_and_the_next_is_above(value):
    power = power_of_two_below(value)
    assert power <= value < 2 * power
    assert power.numerator == 1 or power.denominator == 1


def test_a_loss_is_positional_and_checked():
    assert Loss(1, 1e-6) == Loss(epsilon=1.0, delta=1e-6)
    for epsilon in (-1, math.nan, math.inf, True, "1", None):
        with pytest.raises(BadEpsilon):
            Loss(epsilon)
    for delta in (-1e-9, 1.1, math.nan, True, "0"):
        with pytest.raises(BadDelta):
            Loss(1, delta)


@pytest.mark.parametrize(("epsilon", "percent"), [(0, "50"), (1, "73.2"), (math.log(3), "75"), (1000, "100")])
def test_a_loss_in_words(epsilon, percent):
    words = Loss(epsilon).in_words()
    shown = float(words.split("at most ")[1].split(" %")[0])
    assert abs(shown - float(percent)) <= 0.11
    assert shown >= min(100.0, 100 * math.exp(min(epsilon, 700)) / (1 + math.exp(min(epsilon, 700)))) - 1e-9
    assert "even odds" in words


def test_delta_helps_the_guesser():
    assert Loss(1, 0.1).best_guess == pytest.approx((math.e + 0.1) / (1 + math.e))
    assert Loss(0, 1).best_guess == 1.0

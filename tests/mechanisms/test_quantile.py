"""The ends of a quantile's interval lie on their own side as often as they say, also where there are few values or ties."""

import math

import numpy as np
import pytest

from discreet.mechanisms import Quantile
from tests.sources import SeededBits

WORLDS = {
    "spread": np.arange(400),
    "one value": np.array([37]),
    "ties": np.array([50] * 300 + [60] * 5),
    "two heaps": np.array([10] * 200 + [390] * 200),
    "at the edge": np.array([0] * 100),
}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("q", [0.5, 0.1])
def test_the_ends_of_an_interval_miss_no_more_often_than_they_say(name, q):
    values, bits = WORLDS[name], SeededBits(f"{name} {q}")
    middle = Quantile(q=q, lower=0, upper=400, epsilon=1, whole=True)
    away = middle.error(0.9)
    low, high = (Quantile(q=q, lower=0, upper=400, epsilon=1, whole=True, shift=side * away) for side in (-1, 1))
    truth = np.quantile(values, q, method="inverted_cdf")
    too_high = sum(low.release(values, bits) > truth for _ in range(400))
    too_low = sum(high.release(values, bits) < truth for _ in range(400))
    assert max(too_high, too_low) <= 40 + 6.2 * math.sqrt(36)


def test_ends_without_a_shift_would_miss_and_the_test_above_would_see_it():
    values, bits = WORLDS["spread"], SeededBits("no shift")
    plain = Quantile(q=0.5, lower=0, upper=400, epsilon=1, whole=True)
    assert sum(plain.release(values, bits) > 199 for _ in range(400)) > 40 + 6.2 * math.sqrt(36)

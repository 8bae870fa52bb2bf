"""The check of likelihood ratios passes on every device and fails on broken ones."""

import math
from fractions import Fraction

import pytest

from discreet.local.device import client
from tests.local.laws import device_law
from tests.mutants import randomizers


def within_odds(kind, protocol, epsilon, inputs, **parameters):
    spec = {"version": 1, "protocol": protocol, "epsilon": str(epsilon), "seed": 7, "parameters": parameters}
    randomizer = kind(spec)
    laws = [device_law(randomizer, code) for code in range(inputs)]
    outputs = set().union(*laws)
    most = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**9))
    for one in laws:
        for other in laws:
            assert all(one.get(y, 0) <= most * other.get(y, 0) for y in outputs)


BROKEN = [
    (client.Unary, randomizers.UnaryAtFullEpsilon, "sue", 4, {"size": 4}),
    (client.Direct, randomizers.ThresholdRoundedUp, "grr", 5, {"size": 5}),
    (client.Subset, randomizers.SubsetThatAlwaysTells, "subset", 5, {"size": 5, "width": 2}),
    (client.Hashing, randomizers.HashChosenByValue, "olh", 4, {"buckets": 3, "size": 4}),
    (client.Projective, randomizers.PlaneCountedTwice, "pgr", 9, {"size": 9, "order": 3, "dimension": 3}),
]


@pytest.mark.parametrize(
    ("sound", "broken", "protocol", "inputs", "parameters"), BROKEN, ids=lambda case: getattr(case, "__name__", "")
)
def test_a_broken_device_is_caught(sound, broken, protocol, inputs, parameters):
    within_odds(sound, protocol, 1, inputs, **parameters)
    with pytest.raises(AssertionError):
        within_odds(broken, protocol, 1, inputs, **parameters)


def test_a_lie_that_may_be_the_truth_is_private_but_its_estimate_is_biased():
    """Not every mistake is about privacy: the law differs from the twin's, which is what the suite compares."""
    spec = {"version": 1, "protocol": "olh", "epsilon": "1", "seed": 7, "parameters": {"buckets": 3, "size": 4}}
    honest, mistaken = client.Hashing(spec), randomizers.HashThatForgetsToLie(spec)
    assert device_law(honest, 0) != device_law(mistaken, 0)

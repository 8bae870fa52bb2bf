import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.mechanisms import PartitionSelection
from tests.mutants.partitions import table_is_private
from tests.support.sources import ScriptedBits, SeededBits


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-5), (1, 0.01), (5, 1e-10), (0.01, 1e-9)])
def test_the_table_is_private_exactly(epsilon, delta):
    table_is_private(PartitionSelection(epsilon=epsilon, delta=delta).keep_table.chances, epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-5), (2, 1e-3)])
def test_the_table_is_the_optimum_of_the_paper(epsilon, delta):
    """Theorem 1 there, in closed form."""
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    grow = math.exp(epsilon)
    turn = 1 + math.floor(math.log((grow + 2 * delta - 1) / (delta * (grow + 1))) / epsilon)
    at_turn = (math.exp(turn * epsilon) - 1) / (grow - 1) * delta
    for people in range(len(mechanism.keep_table.chances)):
        if people <= turn:
            expected = (math.exp(people * epsilon) - 1) / (grow - 1) * delta
        else:
            fall = math.exp(-(people - turn) * epsilon)
            expected = min(1.0, 1 - fall * (1 - at_turn) + (1 - fall) / (grow - 1) * delta)
        assert mechanism.keep_probability(people) == pytest.approx(expected, rel=1e-9)


def test_an_empty_group_is_never_kept_and_a_large_one_always():
    mechanism = PartitionSelection(epsilon=1, delta=1e-3)
    groups = np.array([0, 10**9] * 5000).reshape(2, -1)
    kept = mechanism.release(groups, SeededBits("extremes"))
    assert kept.shape == groups.shape
    assert (kept == (groups > 0)).all()


def test_a_tie_in_64_bits_is_settled_exactly():
    mechanism = PartitionSelection(epsilon=1, delta=1e-3)
    chance = Fraction(mechanism.keep_table.chances[3], 2**128)
    first, second = int(chance * 2**64), int(chance * 2**128) % 2**64
    assert mechanism.release(np.array([3]), ScriptedBits(first, second - 1))[0]
    assert not mechanism.release(np.array([3]), ScriptedBits(first, second + 1))[0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": 1e-40},
        {"epsilon": 1e-9, "delta": 1e-10},
        {"epsilon": 1},
    ],
)
def test_what_cannot_be_selected_exactly_is_refused(parameters):
    with pytest.raises(DiscreetError):
        PartitionSelection(**parameters)


def test_negative_numbers_of_people_are_refused():
    with pytest.raises(DiscreetError):
        PartitionSelection(epsilon=1, delta=1e-3).release(np.array([-1]), SeededBits(0))

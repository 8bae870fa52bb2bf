"""The promises that every mechanism must keep, against exact laws on neighbours."""

import inspect
import itertools
import math
from collections import Counter

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.mechanisms import Gaussian, Laplace, PartitionSelection, PermuteAndFlip, Quantile
from tests.mechanisms.cases import CASES
from tests.support.checks import counts_are_fair, ratio_within
from tests.support.laws import hockey_stick, renyi
from tests.support.sources import SeededBits

EPSILONS = (0.0, 0.1, 0.3, 0.5, 0.9, 1.5, 2.5)
ORDERS = (1.01, 1.5, 2, 3, 8, 32)
PURE = [case for case in CASES if math.isfinite(case.mechanism.pure_epsilon) and not case.mechanism.delta]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.mark.parametrize("case", PURE, ids=lambda case: case.name)
def test_neighbours_differ_by_at_most_the_pure_epsilon(case):
    ratio_within(*case.laws, case.mechanism.pure_epsilon)


def test_what_is_not_pure_says_so():
    impure = [case.mechanism for case in CASES if case not in PURE]
    assert impure
    assert all(math.isinf(mechanism.pure_epsilon) or mechanism.delta > 0 for mechanism in impure)


@cases
def test_the_profile_is_never_below_the_exact_delta(case):
    one, other = case.laws
    for epsilon in EPSILONS:
        promised = case.mechanism.profile(epsilon)
        real = max(hockey_stick(one, other, epsilon), hockey_stick(other, one, epsilon))
        assert real <= promised * (1 + 1e-12) + 1e-30  # what the cut of the laws' tails leaves
        if case.tight:
            assert promised <= real * (1 + 1e-6) + 1e-10


@cases
def test_the_renyi_curve_is_never_below_the_exact_divergence(case):
    one, other = case.laws
    if case.mechanism.delta:
        return  # the divergence is infinite until delta is set aside
    for order in ORDERS:
        promised = case.mechanism.renyi(order)
        real = max(renyi(one, other, order), renyi(other, one, order))
        assert real <= promised * (1 + 1e-9) + 1e-12
        assert real <= order * case.mechanism.rho * (1 + 1e-9) + 1e-12
        if case.tight and order <= 8:  # beyond, the cut of the laws' tails is felt
            assert promised <= real * (1 + 1e-5) + 1e-9


@cases
def test_the_profile_falls_and_the_renyi_curve_rises(case):
    deltas = [case.mechanism.profile(epsilon) for epsilon in np.linspace(0, 4, 40)]
    assert all(a >= b for a, b in itertools.pairwise(deltas))
    divergences = [case.mechanism.renyi(order) for order in ORDERS]
    assert all(a <= b * (1 + 1e-6) for a, b in itertools.pairwise(divergences))


@cases
@pytest.mark.parametrize("side", [0, 1])
def test_releases_follow_the_exact_law(case, side):
    follow_the_exact_law(case, side, times=1_000)


def follow_the_exact_law(case, side, *, times):
    value = case.neighbours[side]
    bits = SeededBits(f"{case.name}{side}")
    law = case.laws[side]
    seen = Counter(_hashable(case, case.mechanism.release(value, bits)) for _ in range(times))
    if isinstance(case.mechanism, Laplace) and case.mechanism.size > 1:
        seen = Counter({pair: n for pair, n in seen.items() if pair in law})
    counts_are_fair(seen, law)


def _hashable(case, output):
    if isinstance(output, list):
        return tuple(output)
    if isinstance(output, np.ndarray):
        return tuple(output.tolist()) if output.size > 1 else output.item()
    if hasattr(case.mechanism, "candidates"):
        return case.mechanism.candidates.index(int(output))
    return output


@cases
def test_epsilon_at_inverts_the_profile(case):
    for delta in (0.05, 1e-3):
        epsilon = case.mechanism.epsilon_at(delta)
        if math.isinf(epsilon):
            assert case.mechanism.delta > delta
        else:
            assert case.mechanism.profile(epsilon) <= delta
            assert epsilon == 0 or case.mechanism.profile(epsilon * (1 - 1e-6)) > delta


@cases
def test_asking_for_more_confidence_never_gives_a_smaller_error(case):
    errors = [case.mechanism.error(level) for level in (0.5, 0.8, 0.95, 0.999)]
    assert errors == sorted(errors)
    low, high = case.mechanism.interval(0.95)
    assert low <= 0 <= high


@cases
@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, float("nan"), True, "0.95", None])
def test_a_level_that_is_no_probability_is_refused(case, level):
    with pytest.raises(DiscreetError) as caught:
        case.mechanism.error(level)
    assert caught.value.code == "bad-probability"


@pytest.mark.parametrize(
    "kind", [Laplace, Gaussian, PermuteAndFlip, Quantile, PartitionSelection], ids=lambda k: k.__name__
)
def test_what_epsilon_for_takes_can_be_looked_up(kind):
    taken = inspect.signature(kind.epsilon_for).parameters
    own = [name for name in inspect.signature(kind).parameters if name not in ("epsilon", "variance")]
    assert list(taken)[:2] == ["error", "confidence"]
    assert set(own) < set(taken)
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in taken.values())
    assert kind.epsilon_for.__name__ == "epsilon_for"


def test_an_instance_has_its_own_parameters_as_defaults():
    taken = inspect.signature(Laplace(sensitivity=3, epsilon=1).epsilon_for).parameters
    assert taken["sensitivity"].default == 3
    assert taken["error"].default is inspect.Parameter.empty


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_mechanism_releases_without_being_handed_bits(case):
    case.mechanism.release(case.neighbours[0])


def test_what_is_drawn_without_bits_is_noise():
    wide = Laplace(sensitivity=1, epsilon=0.001)
    assert len({wide.release(0) for _ in range(20)}) > 10

"""Loss distributions against dp-accounting, and against exact laws."""

import itertools
import math
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest

from discreet import Loss, accounting
from discreet.accounting import Composed, LossDistribution
from discreet.mechanisms import (
    AboveThreshold,
    BiasedCoin,
    Exponential,
    Gaussian,
    Laplace,
    PartitionSelection,
    PermuteAndFlip,
    RandomizedResponse,
)
from tests.support.laws import gaussian_law, hockey_stick, laplace_law, response_law

DELTA = 1e-6
FINE = 4096
"""A sensitivity of so many steps makes the discrete mechanisms as good as continuous ones, which the oracle knows."""


def random_mix(seed):
    """1 to 200 events, each as ours and as dp-accounting's; counts are unrolled."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 201))
    ours, theirs = [], []
    for _ in range(count):
        epsilon = float(rng.uniform(0.3, 1.7) / math.sqrt(count))
        kind = rng.integers(3)
        if kind == 0:
            ours.append(Laplace(sensitivity=FINE, epsilon=epsilon))
            theirs.append(dp_accounting.LaplaceDpEvent(1 / epsilon))
        elif kind == 1:
            ours.append(Gaussian.for_rho(sensitivity=FINE, rho=epsilon**2 / 2))
            theirs.append(dp_accounting.GaussianDpEvent(1 / epsilon))
        else:
            ours.append(RandomizedResponse(epsilon=epsilon))
            # It takes randomized response under another neighbour relation only; this is the same pair of laws.
            theirs.append(dp_accounting.dp_event.DiscreteLaplaceDpEvent(epsilon, 1))
    return ours, theirs


@pytest.mark.parametrize("seed", range(8))
def test_random_mixes_agree_with_dp_accounting_within_one_percent(seed):
    ours, theirs = random_mix(seed)
    accountant = dp_accounting.pld.PLDAccountant(
        value_discretization_interval=1e-3 if len(ours) > 50 else 1e-4,
    )
    for event in theirs:
        accountant.compose(event)
    expected = accountant.get_epsilon(DELTA)
    assert accounting.compose(ours, delta=DELTA).epsilon == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("count", [1, 20, 150])
def test_randomized_responses_agree_with_dp_accounting(count):
    epsilons = np.random.default_rng(count).uniform(0.3, 1.7, count) / math.sqrt(count)
    accountant = dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
    for epsilon in epsilons:
        accountant.compose(dp_accounting.RandomizedResponseDpEvent(2 / (1 + math.exp(epsilon)), 2))
    ours = accounting.compose([RandomizedResponse(epsilon=float(epsilon)) for epsilon in epsilons], delta=DELTA).epsilon
    assert ours == pytest.approx(accountant.get_epsilon(DELTA), rel=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_exponential_events_agree_with_dp_accounting_in_renyi_terms(seed):
    """Its newest release knows no exponential event; its zCDP event at epsilon**2 / 8 is the same bound."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 201))
    epsilons = rng.uniform(0.3, 1.7, count) / math.sqrt(count)
    ours = [
        Exponential(sensitivity=1, epsilon=float(e), size=9)
        if i % 2
        else Gaussian.for_rho(sensitivity=FINE, rho=float(e * e / 2))
        for i, e in enumerate(epsilons)
    ]
    accountant = dp_accounting.rdp.RdpAccountant(orders=[float(order) for order in accounting.composition.ORDERS])
    for i, e in enumerate(epsilons):
        accountant.compose(dp_accounting.ZCDpEvent(e * e / 8) if i % 2 else dp_accounting.GaussianDpEvent(1 / e))
    renyi = min(
        accounting.epsilon_of_renyi(Composed.of(ours).renyi(order), order=order, delta=DELTA)
        for order in accounting.composition.ORDERS
    )
    assert renyi == pytest.approx(accountant.get_epsilon(DELTA), rel=0.01)
    assert accounting.compose(ours, delta=DELTA).epsilon <= renyi


SMALL = {
    "two answers": (
        [RandomizedResponse(epsilon=1), RandomizedResponse(epsilon=0.5)],
        [response_law(0, Fraction(1)), response_law(0, Fraction(1, 2))],
        [response_law(1, Fraction(1)), response_law(1, Fraction(1, 2))],
    ),
    "Laplace and an answer": (
        [Laplace(sensitivity=2, epsilon=1), RandomizedResponse(epsilon=0.5)],
        [laplace_law(Fraction(2), 0), response_law(0, Fraction(1, 2))],
        [laplace_law(Fraction(2), 2), response_law(1, Fraction(1, 2))],
    ),
    "Gauss and Laplace": (
        [Gaussian(sensitivity=1, variance=2), Laplace(sensitivity=1, epsilon=1)],
        [gaussian_law(Fraction(2), 0), laplace_law(Fraction(1), 0)],
        [gaussian_law(Fraction(2), 1), laplace_law(Fraction(1), 1)],
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_composition_is_never_below_the_exact_one_and_hardly_above(name):
    parts, ones, others = SMALL[name]
    one, other = (
        {
            outputs: math.prod((law[o] for law, o in zip(laws, outputs, strict=True)), start=Fraction(1))
            for outputs in itertools.product(*laws)
        }
        for laws in (
            [{k: v for k, v in law.items() if v > Fraction(1, 10**14)} for law in ones],
            [dict(law) for law in others],
        )
    )
    composed = Composed.of(parts)
    for epsilon in (0.0, 0.3, 0.8, 1.2):
        real = hockey_stick(one, other, epsilon)
        assert real - 1e-12 <= composed.profile(epsilon) <= real * (1 + 2e-3) + 1e-9


def test_one_mechanism_composed_is_the_mechanism():
    for part in (
        Laplace(sensitivity=3, epsilon=1),
        Gaussian.for_rho(sensitivity=50, rho=0.1),
        Exponential(sensitivity=1, epsilon=1, size=3),
        PermuteAndFlip(sensitivity=1, epsilon=1, size=3),
        BiasedCoin.coin_flip(),
        PartitionSelection(epsilon=1, delta=1e-7),
        AboveThreshold(epsilon=1, sensitivity=1, threshold=0),
    ):
        alone, composed = part.epsilon_at(DELTA), accounting.compose([part], delta=DELTA).epsilon
        assert alone * (1 - 1e-9) <= composed <= alone * (1 + 2e-3)


def test_ten_repeats_cost_the_same_as_ten_in_a_row():
    parts = [Laplace(sensitivity=1, epsilon=0.3), Gaussian.for_rho(sensitivity=1, rho=0.02)]
    together = Composed.of(parts * 10)
    nested = Composed.of([Composed.of(parts)] * 10)
    assert together.parts == nested.parts
    assert together.epsilon_at(DELTA) == nested.epsilon_at(DELTA)
    assert together.pure_epsilon == math.inf
    assert together.rho == pytest.approx(10 * (0.3 * math.tanh(0.15) + 0.02))
    one_by_one = LossDistribution.of(parts[0], step=1e-3)
    tenfold = one_by_one
    for _ in range(9):
        tenfold = tenfold @ one_by_one
    assert one_by_one.times(10).epsilon_at(DELTA) == pytest.approx(tenfold.epsilon_at(DELTA), rel=1e-9)


def test_more_is_never_less():
    parts = [Laplace(sensitivity=1, epsilon=0.2)] * 30
    epsilons = [accounting.compose(parts[:n], delta=DELTA).epsilon for n in (1, 2, 5, 10, 30)]
    assert epsilons == sorted(epsilons)


def test_nothing_costs_nothing_and_too_small_a_delta_is_infinite():
    assert accounting.compose([], delta=DELTA) == Loss(0.0, DELTA)
    selection = Composed.of([PartitionSelection(epsilon=1, delta=1e-6)] * 2)
    assert selection.epsilon_at(1e-6) == math.inf
    assert selection.epsilon_at(3e-6) < 2.0


def test_a_delta_below_the_noise_of_the_transform_falls_back_to_renyi():
    parts = [Gaussian.for_rho(sensitivity=FINE, rho=0.001)] * 300
    tiny = accounting.compose(parts, delta=1e-14).epsilon
    assert math.isfinite(tiny)
    assert tiny > accounting.compose(parts, delta=1e-6).epsilon


@pytest.mark.parametrize(("count", "rho"), [(1, 0.02), (30, 0.001), (1000, 0.00053)])
def test_gaussian_vectors_cost_what_their_rho_converts_to(count, rho):
    """A vector's profile is only a bound, which a distribution would compose badly: 1,000 of them to 78 instead of 5."""
    vector = Gaussian.for_rho(sensitivity=1, rho=rho, size=5)
    together = Composed.of([vector] * count)
    by_rho = accounting.epsilon_of_rho(together.rho, delta=DELTA)
    assert together.epsilon_at(DELTA) <= by_rho
    assert together.epsilon_at(DELTA) == pytest.approx(by_rho, rel=0.01)
    assert together.profile(by_rho) <= DELTA * (1 + 1e-6)


MIXES = {
    "scalars": [Gaussian.for_rho(sensitivity=1, rho=0.01)] * 20 + [Laplace(sensitivity=1, epsilon=0.2)] * 20,
    "scalars and vectors": [Gaussian.for_rho(sensitivity=1, rho=0.01, size=2)] * 20 + [RandomizedResponse(epsilon=0.2)],
    "selections": [PartitionSelection(epsilon=0.1, delta=1e-8)] * 50,
    "choices": [Exponential(sensitivity=1, epsilon=0.1, size=9)] * 200,
    "tiny": [Laplace(sensitivity=1, epsilon=1e-9)] * 3,
    "huge": [Laplace(sensitivity=1, epsilon=5000)] * 3,
}


@pytest.mark.parametrize("name", MIXES)
def test_no_account_that_we_have_says_less_than_the_composition_does(name):
    together = Composed.of(MIXES[name])
    left = DELTA - float(together.delta)
    said = together.epsilon_at(DELTA)
    assert said <= together.pure_epsilon
    assert said <= accounting.epsilon_of_rho(together.rho, delta=left) * (1 + 1e-9)
    for order in (1.5, 8, 64):
        assert said <= accounting.epsilon_of_renyi(together.renyi(order), order=order, delta=left) * (1 + 1e-9)
    assert together.profile(together.pure_epsilon if math.isfinite(together.pure_epsilon) else 100.0) <= DELTA


@pytest.mark.parametrize("categories", [3, 10, 1000])
def test_an_answer_among_many_categories_costs_less_than_a_bit(categories):
    """Its own probabilities count: the other categories are as likely on both sides."""
    many, bit = RandomizedResponse(epsilon=1, categories=categories), RandomizedResponse(epsilon=1)
    for at in (0.0, 0.5, 0.9):
        exactly = (math.e - math.exp(at)) / (math.e + categories - 1)
        assert exactly <= many.profile(at) <= exactly * (1 + 1e-12)
        assert many.profile(at) < bit.profile(at)
    ours = accounting.compose([many] * 50, delta=DELTA).epsilon
    assert ours < 0.95 * accounting.compose([bit] * 50, delta=DELTA).epsilon
    accountant = dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
    noise = categories / (math.e + categories - 1)  # the chance of a category at random, the true one included
    for _ in range(50):  # it takes no notice of a count here
        accountant.compose(dp_accounting.RandomizedResponseDpEvent(noise, categories))
    assert ours == pytest.approx(accountant.get_epsilon(DELTA), rel=0.01)

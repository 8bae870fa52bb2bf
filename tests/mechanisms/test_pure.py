"""What a pure epsilon costs in rho: enough for every pair of laws and every order, and no more than that."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import Subsampled
from discreet.mechanisms import AboveThreshold, Exponential, Laplace, PartitionSelection, RandomizedResponse
from discreet.mechanisms.curves import pure_rho
from discreet.noise.exp_bounds import exp_minus
from tests.support.laws import renyi

EPSILONS = [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(3), Fraction(8)]
ORDERS = [1 + Fraction(1, 10**9), Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(7), Fraction(40)]
BITS = 200


def exp_between(x):
    """Rationals below and above exp(x)."""
    bits = BITS + 2 * math.ceil(abs(x))
    low, high = (Fraction(end, 1 << bits) for end in exp_minus(abs(x), bits))
    return (low, high) if x <= 0 else (1 / high, 1 / low)


def moment_between(epsilon, order):
    """exp((order - 1) D) of randomized response: (e^(order epsilon) + e^((1 - order) epsilon)) / (1 + e^epsilon)."""
    up, down, base = (exp_between(x) for x in (order * epsilon, (1 - order) * epsilon, epsilon))
    return (up[0] + down[0]) / (1 + base[1]), (up[1] + down[1]) / (1 + base[0])


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_rho_of_a_pure_epsilon_covers_every_order_and_no_less_would_do(epsilon):
    """D <= order rho, as e^((order - 1) D) <= e^(order (order - 1) rho): rationals, rounded outwards, so a proof each."""
    rho = pure_rho(epsilon)
    for order in ORDERS:
        assert moment_between(epsilon, order)[1] <= exp_between(order * (order - 1) * rho)[0]
    near_one, less = ORDERS[0], rho * (1 - Fraction(1, 10**6))
    assert moment_between(epsilon, near_one)[0] > exp_between(near_one * (near_one - 1) * less)[1]


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(1, 2**1000), Fraction(700)], ids=lambda e: f"{float(e):g}")
def test_rho_of_a_pure_epsilon_is_epsilon_tanh_half_epsilon_rounded_up(epsilon):
    rho = pure_rho(epsilon)
    low, high = exp_between(-epsilon) if epsilon > Fraction(1, 2**100) else (1 - epsilon, 1 - epsilon + epsilon**2 / 2)
    assert rho >= epsilon * (1 - high) / (1 + high)
    assert rho <= epsilon * (1 - low) / (1 + low) * (1 + Fraction(1, 2**80))
    assert rho <= epsilon**2 / 2
    assert float(rho) == pytest.approx(float(epsilon) * math.tanh(float(epsilon) / 2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_rho_of_a_pure_epsilon_covers_random_pairs_of_laws(epsilon):
    """Laws p and p * ratio with ratios anywhere between e^-epsilon and e^epsilon, brought to total 1 both."""
    rng = np.random.default_rng(7)
    rho = float(pure_rho(Fraction(epsilon)))
    tried = 0
    while tried < 300:
        cells = int(rng.integers(2, 6))
        p = rng.dirichlet(np.full(cells, 0.5)) + 1e-12
        losses = rng.choice([-epsilon, epsilon, 0.0, *rng.uniform(-epsilon, epsilon, 2)], cells)
        q = p * np.exp(losses)
        p, q = p / p.sum(), q / q.sum()
        if np.abs(np.log(p / q)).max() > epsilon:
            continue
        tried += 1
        one, other = ({i: Fraction(x) for i, x in enumerate(law.tolist())} for law in (p, q))
        for order in (1.001, 1.5, 2.0, 5.0, 30.0):
            assert renyi(one, other, order) <= order * rho * (1 + 1e-9) + 1e-12


def test_every_pure_mechanism_is_priced_by_it_and_the_exponential_one_for_less():
    rho = float(pure_rho(Fraction(1)))
    assert rho == pytest.approx(0.4621171572600098)
    for mechanism in (
        Laplace(sensitivity=3, epsilon=1, size=2),
        RandomizedResponse(epsilon=1),
        AboveThreshold(epsilon=1, sensitivity=1, threshold=0),
        PartitionSelection(epsilon=1, delta=1e-6),
    ):
        assert rho <= mechanism.rho <= rho * (1 + 1e-15)
        assert mechanism.renyi(1.0000001) <= rho * (1 + 1e-6)
    assert Exponential(sensitivity=1, epsilon=1, size=2).rho == 0.125
    sampled = Subsampled(RandomizedResponse(epsilon=1), 0.1)
    assert sampled.rho == pytest.approx(float(pure_rho(Fraction(sampled.pure_epsilon))))


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3])
def test_sigma_of_laplace_is_its_standard_deviation_or_a_hair_more(epsilon):
    mechanism = Laplace(sensitivity=1, epsilon=epsilon)
    ratio = math.exp(-epsilon)
    exactly = math.sqrt(2 * ratio) / (1 - ratio)
    assert exactly <= mechanism.sigma
    assert mechanism.sigma**2 <= exactly**2 + 0.5

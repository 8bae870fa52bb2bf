"""The lectures' theorems against their closed forms."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import Loss, accounting
from discreet.mechanisms import Laplace, RandomizedResponse
from tests.support.laws import exp_of


def test_post_processing_costs_nothing():
    """Any function of an answer has a law that is no further apart on neighbours than the answer's own."""
    from tests.support.laws import hockey_stick, laplace_law

    one, other = laplace_law(Fraction(2), 0), laplace_law(Fraction(2), 1)
    for function in (lambda z: z % 3, lambda z: max(z, 0), lambda z: z * z, lambda z: z > 1):
        folded = [{}, {}]
        for law, into in ((one, folded[0]), (other, folded[1])):
            for z, p in law.items():
                into[function(z)] = into.get(function(z), Fraction(0)) + p
        for epsilon in (0.0, 0.2, 0.5):
            assert hockey_stick(*folded, epsilon) <= hockey_stick(one, other, epsilon) * (1 + 1e-12) + 1e-30


def test_basic_composition_adds():
    assert accounting.basic([Loss(0.1, 1e-7)] * 10) == Loss(1.0, 1e-6)
    assert accounting.basic([]) == Loss(0.0, 0.0)


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_group_privacy_is_the_slides_formula(k):
    loss = accounting.group(Loss(0.5, 1e-9), k=k)
    assert loss.epsilon == k * 0.5
    assert loss.delta == pytest.approx(k * 1e-9 * math.exp((k - 1) * 0.5), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("k", [1, 100])
def test_advanced_composition_is_the_slides_formula(epsilon, k):
    loss = accounting.advanced(Loss(epsilon, 1e-9), k=k, delta_slack=1e-6)
    expected = epsilon * math.sqrt(2 * k * math.log(1e6)) + k * epsilon * math.expm1(epsilon) / (math.exp(epsilon) + 1)
    assert loss.epsilon == pytest.approx(expected)
    assert loss.epsilon >= expected
    assert loss.delta == pytest.approx(k * 1e-9 + 1e-6)


@pytest.mark.parametrize("loss", [Loss(1, 0), Loss(0.5, 0.01), Loss(0, 0.1)])
def test_the_binary_ish_pair_has_just_the_loss_it_is_made_of(loss):
    first, second = accounting.binary_ish(loss)
    assert sum(first) == pytest.approx(1)
    assert first == second[::-1]
    excess = sum(max(0.0, p - math.exp(loss.epsilon) * q) for p, q in zip(first, second, strict=True))
    assert excess == pytest.approx(loss.delta, abs=1e-15)


def kov_delta(epsilon, k, at):
    """Kairouz, Oh, Viswanath 2015, theorem 3.3, in rationals: sum of C(k,l) (e^((k-l)e) - e^at e^(l e))+ / (1+e^e)^k."""
    grow = exp_of(Fraction(epsilon).limit_denominator(10**6))
    weight = exp_of(Fraction(at))
    total = sum(math.comb(k, i) * max(Fraction(0), grow ** (k - i) - weight * grow**i) for i in range(k + 1))
    return float(total / (1 + grow) ** k)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 1), (0.1, 10), (0.1, 100), (1.0, 5), (0.5, 20)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_optimal_composition_is_the_theorem_for_equal_losses(epsilon, k, delta):
    loss = accounting.optimal(Loss(epsilon, 0), k=k, delta=delta)
    assert kov_delta(epsilon, k, loss.epsilon) <= delta
    if loss.epsilon > 0:
        assert kov_delta(epsilon, k, loss.epsilon * (1 - 1e-6)) > delta


def test_optimal_composition_with_deltas_pays_for_them():
    pure = accounting.optimal(Loss(0.1, 0), k=20, delta=1e-6)
    with_deltas = accounting.optimal(Loss(0.1, 1e-8), k=20, delta=1e-6 + 20e-8)
    assert with_deltas.epsilon == pytest.approx(pure.epsilon, rel=1e-4)
    nothing_left = accounting.optimal(Loss(0.1, 1e-6), k=20, delta=1e-6)
    assert nothing_left == Loss(2.0, nothing_left.delta)
    assert nothing_left.delta == pytest.approx(20e-6, rel=1e-3)


def test_optimal_composition_of_different_losses_is_exact_to_its_precision():
    epsilons = [0.1, 0.25, 0.5, 0.5, 0.7]
    loss = accounting.optimal([Loss(e) for e in epsilons], delta=1e-3, precision=1e-4)

    def exactly(at):
        total = 0.0
        for signs in np.ndindex(*(2,) * len(epsilons)):
            level = sum(e if s else -e for e, s in zip(epsilons, signs, strict=True))
            chance = math.prod(1 / (1 + math.exp(-e if s else e)) for e, s in zip(epsilons, signs, strict=True))
            total += chance * max(0.0, 1 - math.exp(at - level))
        return total

    assert exactly(loss.epsilon) <= 1e-3
    assert exactly(loss.epsilon - 2e-4) > 1e-3


def test_the_better_theorem_gives_the_smaller_loss():
    loss, k = Loss(0.1, 0), 100
    optimal = accounting.optimal(loss, k=k, delta=1e-6).epsilon
    advanced = accounting.advanced(loss, k=k, delta_slack=1e-6).epsilon
    assert optimal < advanced < accounting.basic([loss] * k).epsilon
    assert optimal == pytest.approx(
        accounting.compose([RandomizedResponse(epsilon=0.1)] * k, delta=1e-6).epsilon, rel=1e-3
    )
    assert accounting.compose([Laplace(sensitivity=4096, epsilon=0.1)] * k, delta=1e-6).epsilon < optimal

"""Every discrete mechanism on pairs of neighbours, with its exact law: what `test_every_mechanism.py` runs over."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.exact import exact
from discreet.mechanisms import (
    AboveThreshold,
    Adaptive,
    BiasedCoin,
    Exponential,
    Gaussian,
    GeneralizedExponential,
    Ladder,
    Laplace,
    Mechanism,
    NoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    PureAdaptive,
    Quantile,
    RandomizedResponse,
)
from discreet.mechanisms.adaptive_budget import AdaptiveBudget, Meter
from discreet.mechanisms.choice.partition_selection import ONE
from tests.support.laws import (
    Law,
    above_threshold_law,
    exponential_law,
    gaussian_law,
    generalized_law,
    ladder_law,
    laplace_law,
    noisy_max_law,
    permute_and_flip_law,
    response_law,
)


@dataclass(eq=False)
class Case:
    name: str
    mechanism: Mechanism
    neighbours: tuple[Any, Any]
    law: Callable[[Mechanism, Any], Law]
    tight: bool = False
    """Whether these neighbours are the worst, so that the promised curves must be met and not only kept."""

    @cached_property
    def laws(self) -> tuple[Law, Law]:
        return self.law(self.mechanism, self.neighbours[0]), self.law(self.mechanism, self.neighbours[1])


def _laplace(m: Laplace, value: int) -> Law:
    return laplace_law(m.scale, value)


def _pair_laplace(m: Laplace, values: np.ndarray) -> Law:
    first, second = (laplace_law(m.scale, int(v)) for v in values)
    near = range(-40, 41)
    return {(a, b): first.get(a, 0) * second.get(b, 0) for a in near for b in near}


def _gaussian(m: Gaussian, value: int) -> Law:
    return gaussian_law(exact(m.variance), value)


def _exponential(m: Exponential, scores: np.ndarray) -> Law:
    return exponential_law(scores.tolist(), m.rate)


def _permute_and_flip(m: PermuteAndFlip, scores: np.ndarray) -> Law:
    return permute_and_flip_law(scores.tolist(), m.rate)


def _noisy_max(m: NoisyMax, scores: np.ndarray) -> Law:
    return noisy_max_law(scores.tolist(), 1 / m.rate)


def _generalized(m: GeneralizedExponential, scores: np.ndarray) -> Law:
    return generalized_law(scores.tolist(), list(m.sensitivities), penalty=m.penalty, epsilon=exact(m.epsilon))


def _ladder(m: Ladder, value: tuple[int, int]) -> Law:
    return ladder_law(*value, most=m.most, epsilon=exact(m.epsilon))


def _response(m: RandomizedResponse, value: np.ndarray) -> Law:
    return response_law(int(value[0]), exact(m.epsilon), m.categories)


def _biased(m: BiasedCoin, value: np.ndarray) -> Law:
    truth = Fraction(1, 2) + exact(m.gamma)
    return {int(value[0]): truth, 1 - int(value[0]): 1 - truth}


def _above(m: AboveThreshold, values: list[int]) -> Law:
    return above_threshold_law(
        values,
        threshold=m.threshold,
        threshold_scale=m.threshold_scale,
        query_scale=m.query_scale,
        positives=m.positives,
    )


def _partition(m: PartitionSelection, people: np.ndarray) -> Law:
    chances = m.keep_table.chances
    keep = Fraction(chances[min(int(people[0]), len(chances) - 1)], ONE)
    return {True: keep, False: 1 - keep}


def _quantile(m: Quantile, values: np.ndarray) -> Law:
    """From the definition, point by point: minus the distance from the target to the ranks of the values at a point."""
    q, target = exact(m.q), exact(m.shift)
    rate = exact(m.epsilon) / (2 * max(q, 1 - q) * m.rows)
    scores = []
    for c in m.candidates:
        below, above = int((values < c).sum()), int((values > c).sum())
        first = (1 - q) * below - q * int((values >= c).sum()) if c > m.candidates[0] else -math.inf
        last = (1 - q) * int((values <= c).sum()) - q * above if c < m.candidates[-1] else math.inf
        scores.append(0 if first <= target <= last else max(target - last, first - target) * -1)
    common = Fraction(1, q.denominator)
    return exponential_law([int(score / common) for score in scores], rate * common)


@dataclass(frozen=True)
class Program:
    """A count is measured; what it seems to be decides with what the rest is spent, of either kind of budget."""

    count: int
    budget: AdaptiveBudget

    def first(self) -> Mechanism:
        half = self.budget.amount / 2
        if isinstance(self.budget, Adaptive):
            return Gaussian.for_rho(sensitivity=1, rho=half)
        return Laplace(sensitivity=1, epsilon=half)

    def then(self, seen: int, left: Fraction) -> Mechanism:
        epsilon = self.budget.epsilon_of_choice(left)
        return Exponential(sensitivity=1, epsilon=epsilon, size=2 + (seen > 0))

    def scores(self, size: int) -> np.ndarray:
        return _array(*[self.count, -self.count, 0][:size])

    def __call__(self, meter: Meter) -> tuple[int, int]:
        seen = meter.draw(self.first(), self.count)
        second = self.then(seen, meter.left)
        return seen, meter.draw(second, self.scores(second.size))


def _adaptive(m: AdaptiveBudget, program: Program) -> Law:
    first = (
        _gaussian(program.first(), program.count)
        if isinstance(m, Adaptive)
        else _laplace(program.first(), program.count)
    )
    law = {}
    for seen, chance in first.items():
        second = program.then(seen, m.amount / 2)
        for chosen, then in _exponential(second, program.scores(second.size)).items():
            law[seen, chosen] = chance * then
    return law


def _array(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


BUDGET, PURE_BUDGET = Adaptive(rho=0.5), PureAdaptive(epsilon=1)
CASES = [
    Case("Laplace, count", Laplace(sensitivity=1, epsilon=0.5), (0, 1), _laplace, tight=True),
    Case("Laplace, epsilon 3", Laplace(sensitivity=1, epsilon=3), (5, 4), _laplace, tight=True),
    Case("Laplace, sum of 7", Laplace(sensitivity=7, epsilon=Fraction(7, 5)), (0, 7), _laplace, tight=True),
    Case("Laplace, smaller move", Laplace(sensitivity=7, epsilon=Fraction(7, 5)), (0, 3), _laplace),
    Case("Laplace, vector", Laplace(sensitivity=2, epsilon=2, size=2), (_array(0, 0), _array(1, -1)), _pair_laplace),
    Case("Gaussian, rho", Gaussian.for_rho(sensitivity=1, rho=0.1), (0, 1), _gaussian, tight=True),
    Case("Gaussian, sum of 5", Gaussian.for_rho(sensitivity=5, rho=0.5), (3, 8), _gaussian, tight=True),
    Case(
        "Gaussian, epsilon and delta",
        Gaussian.for_loss(sensitivity=1, epsilon=1, delta=1e-5),
        (0, 1),
        _gaussian,
        tight=True,
    ),
    Case(
        "exponential",
        Exponential(sensitivity=1, epsilon=1, size=4),
        (_array(0, 1, 2, 3), _array(1, 0, 1, 4)),
        _exponential,
    ),
    Case(
        "exponential, all move",
        Exponential(sensitivity=2, epsilon=0.7, size=3),
        (_array(5, 5, 5), _array(7, 3, 3)),
        _exponential,
    ),
    Case(
        "permute-and-flip",
        PermuteAndFlip(sensitivity=1, epsilon=1, size=4),
        (_array(0, 1, 2, 3), _array(1, 0, 1, 4)),
        _permute_and_flip,
    ),
    Case(
        "permute-and-flip, all move",
        PermuteAndFlip(sensitivity=2, epsilon=0.7, size=3),
        (_array(5, 5, 5), _array(7, 3, 3)),
        _permute_and_flip,
    ),
    Case(
        "exponential, monotone",
        Exponential(sensitivity=1, epsilon=1, size=4, monotone=True),
        (_array(0, 1, 2, 3), _array(1, 1, 2, 4)),
        _exponential,
    ),
    Case(
        "permute-and-flip, monotone",
        PermuteAndFlip(sensitivity=2, epsilon=0.7, size=3, monotone=True),
        (_array(7, 5, 5), _array(7, 3, 4)),
        _permute_and_flip,
    ),
    Case(
        "generalized exponential",
        GeneralizedExponential(sensitivities=(1, 2, 8), epsilon=1),
        (_array(3, 10, 20), _array(4, 8, 28)),
        _generalized,
    ),
    Case(
        "generalized exponential, fractions",
        GeneralizedExponential(sensitivities=(Fraction(1, 3), 2), epsilon=0.7),
        (_array(0, 0), _array(0, 2)),
        _generalized,
    ),
    Case("ladder", Ladder(epsilon=2, most=3), ((4, 2), (2, 1)), _ladder),
    Case("ladder, flat", Ladder(epsilon=1, most=2), ((4, 2), (2, 2)), _ladder),
    Case("ladder, from the ground", Ladder(epsilon=3, most=4), ((0, 0), (0, 1)), _ladder),
    Case("noisy max", NoisyMax(sensitivity=1, epsilon=1, size=3), (_array(0, 1, 2), _array(1, 0, 1)), _noisy_max),
    Case("noisy max, tie", NoisyMax(sensitivity=1, epsilon=2, size=2), (_array(3, 3), _array(2, 4)), _noisy_max),
    Case("adaptive, rho", BUDGET, (Program(0, BUDGET), Program(1, BUDGET)), _adaptive),
    Case("adaptive, epsilon", PURE_BUDGET, (Program(0, PURE_BUDGET), Program(1, PURE_BUDGET)), _adaptive),
    Case("Warner", RandomizedResponse(epsilon=1), (_array(0), _array(1)), _response, tight=True),
    Case("ten categories", RandomizedResponse(epsilon=2, categories=10), (_array(3), _array(7)), _response, tight=True),
    Case("two coin flips", BiasedCoin.coin_flip(), (_array(0), _array(1)), _biased, tight=True),
    Case("1/2 + 1/10", BiasedCoin(gamma=0.1), (_array(1), _array(0)), _biased, tight=True),
    Case(
        "above threshold",
        AboveThreshold(epsilon=1, sensitivity=1, threshold=3),
        ([2, 3, 1, 4], [1, 4, 2, 3]),
        _above,
    ),
    Case(
        "above threshold, twice",
        AboveThreshold(epsilon=2, sensitivity=1, threshold=0, positives=2),
        ([0, 0, 0], [1, -1, 1]),
        _above,
    ),
    Case(
        "above threshold, monotone",
        AboveThreshold(epsilon=1, sensitivity=1, threshold=2, positives=2, monotone=True),
        ([2, 1, 2], [3, 2, 2]),
        _above,
    ),
    Case("partition, 3 people", PartitionSelection(epsilon=1, delta=1e-3), (_array(3), _array(4)), _partition),
    Case("partition, nobody", PartitionSelection(epsilon=1, delta=1e-3), (_array(0), _array(1)), _partition),
    Case(
        "median",
        Quantile(q=0.5, lower=0, upper=20, epsilon=1, whole=True),
        (_array(3, 5, 8, 13), _array(3, 5, 8)),
        _quantile,
    ),
    Case(
        "upper quartile",
        Quantile(q=0.75, lower=0, upper=20, epsilon=0.5, whole=True),
        (_array(1, 1, 2, 3, 5, 8, 13), _array(1, 1, 2, 3, 5, 8, 13, 20)),
        _quantile,
    ),
    Case(
        "below the median, two rows each",
        Quantile(q=0.5, lower=0, upper=9, epsilon=2, whole=True, rows=2, shift=-1),
        (_array(3, 5, 5, 8), _array(5, 8)),
        _quantile,
    ),
    Case(
        "above the lower quartile of nobody",
        Quantile(q=0.25, lower=0, upper=9, epsilon=1, whole=True, shift=3),
        (_array(), _array(4)),
        _quantile,
    ),
]

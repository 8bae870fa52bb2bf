"""Exact output laws, from the definitions and not from the code under test.

A law is a dict from output to probability, as Fractions good to more than 150 bits. Infinite supports are cut where
less than 2**-150 is left.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

from discreet.noise.exp_bounds import exp_minus

Law = dict[object, Fraction]
BITS = 256


def exp_of(x: Fraction) -> Fraction:
    """exp(x) for any rational x, to about 2**-200 relative."""
    bits = BITS + math.ceil(abs(x) * 3)
    value = Fraction(exp_minus(abs(x), bits)[0], 2**bits)
    return value if x <= 0 else 1 / value


def normalised(weights: Law) -> Law:
    total = sum(weights.values())
    return {output: rounded(weight / total) for output, weight in weights.items()}


def rounded(x: Fraction) -> Fraction:
    """To 2**-256, which keeps the denominators, and so the arithmetic, short."""
    return Fraction((x.numerator << BITS) // x.denominator, 1 << BITS)


def reach(scale: Fraction) -> int:
    return math.ceil(110 * scale) + 1


def laplace_law(scale: Fraction, centre: int = 0) -> Law:
    q = exp_of(-1 / scale)
    power, weights = Fraction(1), {centre: Fraction(1)}
    for k in range(1, reach(scale)):
        power = rounded(power * q)
        weights[centre + k] = weights[centre - k] = power
    return normalised(weights)


def gaussian_law(variance: Fraction, centre: int = 0) -> Law:
    far = math.ceil(16 * math.sqrt(variance)) + 1
    return normalised({centre + k: exp_of(-Fraction(k * k) / (2 * variance)) for k in range(-far, far + 1)})


def exponential_law(scores: list[int], rate: Fraction) -> Law:
    best = max(scores)
    return normalised({i: exp_of(rate * (score - best)) for i, score in enumerate(scores)})


def permute_and_flip_law(scores: list[int], rate: Fraction) -> Law:
    """By the definition: over all orders, the first whose coin shows heads."""
    best = max(scores)
    coins = [exp_of(rate * (score - best)) for score in scores]
    law = dict.fromkeys(range(len(scores)), Fraction(0))
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        tails_so_far = Fraction(1)
        for i in order:
            law[i] += tails_so_far * coins[i] / len(orders)
            tails_so_far *= 1 - coins[i]
    return law


def noisy_max_law(scores: list[int], scale: Fraction) -> Law:
    """The first of the largest wins: lower indices must stay below, higher ones may tie."""
    noise = laplace_law(scale)
    ends = range(-reach(scale) * 2 - max(map(abs, scores)), reach(scale) * 2 + max(map(abs, scores)) + 2)
    at_most = [
        dict(zip(ends, itertools.accumulate(noise.get(v - s, Fraction(0)) for v in ends), strict=True)) for s in scores
    ]
    law = {}
    for i, score in enumerate(scores):
        law[i] = sum(
            chance
            * math.prod(at_most[j][score + z - 1] for j in range(i))
            * math.prod(at_most[j][score + z] for j in range(i + 1, len(scores)))
            for z, chance in noise.items()
        )
    return law


def ladder_law(value: int, local: int, *, most: int, epsilon: Fraction) -> Law:
    """Rung by rung, integer by integer."""
    weights, reached, rung = {value: Fraction(1)}, 0, 0
    while rung < 200 / epsilon:
        rung += 1
        weight = exp_of(-epsilon * rung / 2)
        for _ in range(min(local + rung - 1, most)):
            reached += 1
            weights[value + reached] = weights[value - reached] = weight
    return normalised(weights)


def generalized_law(scores: list[int], sensitivities: list[Fraction], *, penalty: Fraction, epsilon: Fraction) -> Law:
    """By the definition: the largest of the pairs' differences, rounded down to 1/65536."""
    worth = [score - penalty * width for score, width in zip(scores, sensitivities, strict=True)]
    pairs = list(zip(worth, sensitivities, strict=True))
    short = [max((other - own) / (width + beside) for other, beside in pairs) for own, width in pairs]
    return exponential_law([-math.floor(each * 65536) for each in short], epsilon / 2 / 65536)


def response_law(value: int, epsilon: Fraction, categories: int = 2) -> Law:
    odds = exp_of(epsilon)
    return {c: (odds if c == value else Fraction(1)) / (odds + categories - 1) for c in range(categories)}


def above_threshold_law(
    values: list[int], *, threshold: int, threshold_scale: Fraction, query_scale: Fraction | None, positives: int
) -> Law:
    """Over the threshold's noise, each answer is independent. `query_scale=None` means no noise on queries."""
    query = {0: Fraction(1)} if query_scale is None else laplace_law(query_scale)
    law: Law = {}
    reaches = cache(lambda least: sum((p for z, p in query.items() if z >= least), Fraction(0)))
    for noise, chance in laplace_law(threshold_scale).items():
        bar = threshold + noise
        above = [reaches(bar - value) for value in values]
        paths: dict[tuple[bool, ...], Fraction] = {(): chance}
        for p in above:
            grown: dict[tuple[bool, ...], Fraction] = {}
            for path, weight in paths.items():
                if sum(path) == positives:
                    grown[path] = grown.get(path, Fraction(0)) + weight
                    continue
                grown[(*path, True)] = rounded(weight * p)
                grown[(*path, False)] = rounded(weight * (1 - p))
            paths = grown
        for path, weight in paths.items():
            law[path] = law.get(path, Fraction(0)) + weight
    return law


def log_ratio(p: Fraction, q: Fraction) -> float:
    if p == 0:
        return -math.inf
    return math.inf if q == 0 else log_of(p) - log_of(q)


def log_of(x: Fraction) -> float:
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(float(x / Fraction(2) ** shift)) + shift * math.log(2)


def negligible(p: Fraction) -> bool:
    """Outputs this rare may lie beyond the cut of the other law."""
    return p < Fraction(1, 2**120)


def max_log_ratio(one: Law, other: Law) -> float:
    ratios = [
        log_ratio(a.get(output, Fraction(0)), b.get(output, Fraction(0)))
        for a, b in ((one, other), (other, one))
        for output in a
        if not negligible(a[output])
    ]
    return max(ratios)


def hockey_stick(one: Law, other: Law, epsilon: float) -> float:
    weight = exp_of(Fraction(epsilon))
    return float(sum(max(Fraction(0), p - weight * other.get(output, Fraction(0))) for output, p in one.items()))


def renyi(one: Law, other: Law, order: float) -> float:
    """By logarithms of the exact probabilities."""
    terms = [
        order * log_of(p) + (1 - order) * log_of(other[output]) for output, p in one.items() if p and other.get(output)
    ]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(term - top) for term in terms))) / (order - 1)

"""Discrete Gaussian noise, by rejection from the discrete Laplace.

Citation: Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), algorithm 3. The proof that ours is the same distribution,
float shortcut included, is in `docs/explanation/proofs/gaussian.md`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ScaleOutOfRange
from discreet.noise.coins import flip_each_exp_minus
from discreet.noise.laplace_sampler import Samples, discrete_laplace
from discreet.noise.random_bits import RandomBits

SMALLEST_VARIANCE, LARGEST_VARIANCE = Fraction(1, 2**40), Fraction(2**110)

_CHUNK = 1 << 15
_USUALLY_ACCEPTED = 0.44
"""How many proposals to draw at once; where too few survive, more are drawn."""


def check_variance(variance: Fraction) -> None:
    """Refuse, before anything is drawn, what cannot be sampled exactly."""
    if not SMALLEST_VARIANCE <= variance <= LARGEST_VARIANCE:
        raise ScaleOutOfRange(
            "The noise asked for is wider or narrower than exact sampling covers.",
            next_step="Keep sigma, in units of the granularity, between 2**-20 and 2**55.",
        )


def discrete_gaussian(variance: Fraction, count: int, bits: RandomBits) -> Samples:
    """`count` samples of Z with P(Z = z) proportional to exp(-z**2 / (2 variance))."""
    check_variance(variance)
    accepted: list[Samples] = [np.empty(0, np.int64)]
    missing = count
    while missing > 0:
        proposals = min(_CHUNK, math.ceil(missing / _USUALLY_ACCEPTED) + 8)
        good = _accepted(variance, proposals, bits)[:missing]
        accepted.append(good)
        missing -= good.size
    return np.concatenate(accepted)


def _accepted(variance: Fraction, proposals: int, bits: RandomBits) -> Samples:
    """The proposals that survive: Y is kept with probability exp(-(|Y| - variance/t)**2 / (2 variance))."""
    t = math.isqrt(int(variance)) + 1  # floor(sigma) + 1
    proposed = discrete_laplace(Fraction(t), proposals, bits)

    def exponent(lane: int) -> Fraction:
        return (abs(int(proposed[lane])) - variance / t) ** 2 / (2 * variance)

    keep = flip_each_exp_minus(_exponents(proposed, variance, t), exponent, bits)
    survivors: Samples = proposed[keep]
    return survivors


def _exponents(proposed: Samples, variance: Fraction, t: int) -> NDArray[np.float64]:
    distance = np.abs(proposed.astype(np.float64))
    distance -= float(variance / t)
    distance *= distance
    distance *= float(1 / (2 * variance))
    return distance

"""Broken samplers, and the check that reads a digit sampler's exact law off its own code."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from unittest import mock

import numpy as np

from discreet.noise import RandomBits, discrete_gaussian, discrete_laplace
from discreet.noise import laplace_sampler as module
from tests.support.laws import BITS, Law
from tests.support.sources import SeededBits

Sampler = Callable[[Fraction, int, RandomBits], np.ndarray]


def law_of_digits(sampler: Sampler, scale: Fraction) -> Law:
    """Run the sampler once with every combination of coins (flag apart) as its lanes; add up the lanes' weights."""
    weights: list[Fraction] = []

    def all_combinations(digits, count, width, bits):
        coins = [Fraction(coin.prefix(BITS), 2**BITS) for coin in digits.coins[:-1]]
        heads = (np.arange(count) >> np.arange(len(coins))[:, None]) & 1
        for lane in range(count):
            weight = Fraction(1)
            for p, head in zip(coins, heads[:, lane], strict=True):
                weight *= p if head else 1 - p
            weights.append(weight)
        return np.vstack([heads, np.zeros(count)]).astype(np.uint8)  # nobody flagged

    lanes = 2 ** (len(module._digits(scale).coins) - 1)
    with mock.patch.object(module, "_flip_all", all_combinations):
        outputs = sampler(scale, lanes, SeededBits(0))
    law: Law = {}
    unflagged = 1 - Fraction(module._digits(scale).coins[-1].prefix(BITS), 2**BITS)
    for output, weight in zip(outputs.tolist(), weights, strict=True):
        law[output] = law.get(output, Fraction(0)) + weight * unflagged
    return law


def narrower_laplace(scale: Fraction, count: int, bits: RandomBits) -> np.ndarray:
    """Scale x 0.9: an epsilon 11 % too large."""
    return discrete_laplace(scale * Fraction(9, 10), count, bits)


def laplace_with_sign_bias(scale: Fraction, count: int, bits: RandomBits) -> np.ndarray:
    """A fair coin for the sign, which counts 0 and -1 as twins."""
    magnitude = module.geometric(scale, count, bits)
    negative = bits.words(count, 8) & 1
    return np.where(negative == 1, ~magnitude, magnitude)


def laplace_with_two_zeros(scale: Fraction, count: int, bits: RandomBits) -> np.ndarray:
    """A fair sign before the magnitude, and +0 and -0 both kept: zero comes twice too often."""
    magnitude = module.geometric(scale, count, bits)
    negative = bits.words(count, 8) & 1
    return np.where(negative == 1, -magnitude, magnitude)


def gaussian_without_rejection(variance: Fraction, count: int, bits: RandomBits) -> np.ndarray:
    """The proposals themselves: Laplace noise sold as Gaussian."""
    return discrete_laplace(Fraction(int(variance**0.5) + 1), count, bits)


def narrower_gaussian(variance: Fraction, count: int, bits: RandomBits) -> np.ndarray:
    """Sigma x 0.9."""
    return discrete_gaussian(variance * Fraction(81, 100), count, bits)


class ReusedKey(RandomBits):
    """A forked child goes on with its parent's stream."""

    def words(self, count, width):
        from discreet.noise import random_bits as bits

        self._stream._born = bits._forks  # pretends to have noticed
        return super().words(count, width)


class ReusedSeed(RandomBits):
    """Every new key is the old key."""

    def _fresh_key(self) -> bytes:
        return bytes(48)

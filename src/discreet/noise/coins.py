"""Coins: exact Bernoulli trials, one probability for all lanes or one for each lane.

A uniform real U is looked at only as far as needed. Its first 16 or 64 bits decide almost always; when they tie with
those of the probability, further bits of both are produced until they differ. So `U < p` is decided exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import finite
from discreet.errors import BadProbability
from discreet.noise.exp_bounds import Bounds, exp_minus, exp_minus_doubled
from discreet.noise.float_exp import RELATIVE_ERROR, exp_minus_float
from discreet.noise.random_bits import RandomBits, Width

_LONG_VECTOR = 1024
_GUARD = 32
"""Bits beyond those that are wanted, so that these are almost always certain."""


def word_width(count: int) -> Width:
    """Long vectors take 16-bit words (fast); short ones 64 bits, so that a tie, and its time, is never seen."""
    return 16 if count >= _LONG_VECTOR else 64


class Probability:
    """A real number in [0, 1], known to any number of bits."""

    __slots__ = ("_bounds", "_prefixes")

    def __init__(self, bounds: Callable[[int], Bounds]) -> None:
        self._bounds = bounds
        self._prefixes: dict[int, int] = {}

    @classmethod
    def rational(cls, p: Fraction) -> Probability:
        """P itself."""
        return cls(lambda bits: ((p.numerator << bits) // p.denominator, -(-(p.numerator << bits) // p.denominator)))

    @classmethod
    def exp_minus(cls, x: Fraction) -> Probability:
        """exp(-x)."""
        return cls(lambda bits: exp_minus(x, bits))

    @classmethod
    def logistic_minus(cls, x: Fraction, *, weight: int = 1) -> Probability:
        """Weight / (weight + exp(x)): the chance of `weight` things when another is exp(x) times as likely as each."""
        return cls(lambda bits: _logistic(exp_minus(x, bits), bits, weight))

    @classmethod
    def logistics_minus(cls, x: Fraction, *, doublings: int) -> list[Probability]:
        """1 / (1 + exp(x)), the same for 2x, for 4x and so on; their first 64 bits are found together, in a fraction of the time."""
        coins = []
        for times, ends in enumerate(exp_minus_doubled(x, doublings, 64 + _GUARD)):
            coin = cls(partial(_logistic_doubled, x, times))
            coin._learn(64, _logistic(ends, 64 + _GUARD, 1))
            coins.append(coin)
        return coins

    def prefix(self, width: int) -> int:
        """floor(p * 2**width), exactly."""
        known = self._prefixes.get(width)
        if known is None:
            longer = min((bits for bits in self._prefixes if bits > width), default=None)
            known = self._floor(width) if longer is None else self._prefixes[longer] >> (longer - width)
            self._prefixes[width] = known
        return known

    def _learn(self, width: int, bounds: Bounds) -> None:
        """Keep the first bits, where bounds of so many and the guard bits agree on them."""
        low, high = bounds
        if low >> _GUARD == high >> _GUARD:
            self._prefixes[width] = low >> _GUARD

    def _floor(self, width: int) -> int:
        guard = _GUARD
        while True:
            low, high = self._bounds(width + guard)
            if low >> guard == high >> guard or low == high:
                return low >> guard
            guard *= 2

    def exceeds(self, word: int, width: int, bits: RandomBits) -> bool:
        """Whether a uniform real whose first `width` bits are `word` lies below p."""
        while word == self.prefix(width):
            word = word << 64 | int(bits.words(1, 64)[0])
            width += 64
        return word < self.prefix(width)


def _logistic(ends: Bounds, bits: int, weight: int) -> Bounds:
    """Weight / (weight + exp(x)), from the ends of exp(-x)."""
    low, high, one = weight * ends[0], weight * ends[1], 1 << bits
    return (low << bits) // (one + low), -(-(high << bits) // (one + high))


def _logistic_doubled(x: Fraction, times: int, bits: int) -> Bounds:
    return _logistic(exp_minus(x * 2**times, bits), bits, 1)


def flip(p: Probability, count: int, bits: RandomBits) -> NDArray[np.bool_]:
    """`count` independent coins that show heads with probability p."""
    width = word_width(count)
    words = bits.words(count, width)
    threshold = p.prefix(width)
    heads = words < threshold
    for lane in np.flatnonzero(words == threshold):
        heads[lane] = p.exceeds(threshold, width, bits)
    return heads


def flip_each_exp_minus(
    approximate: NDArray[np.float64], exactly: Callable[[int], Fraction], bits: RandomBits
) -> NDArray[np.bool_]:
    """One coin for each lane, heads with probability exp(-exactly(lane)).

    `approximate` holds the exponents as floats; where they are at most 64 they are within 2**-44 of the exact ones.
    The float decides outside its proven error band, exact arithmetic inside it.
    """
    width = word_width(approximate.size)
    words = bits.words(approximate.size, width)
    low_end = words.astype(np.float64)
    scaled = exp_minus_float(approximate) * 2.0**width
    heads = low_end + 1 <= scaled * (1 - RELATIVE_ERROR)
    unsure = (low_end < scaled * (1 + RELATIVE_ERROR)) & ~heads
    for lane in np.flatnonzero(unsure):
        p = Probability.exp_minus(exactly(int(lane)))
        heads[lane] = p.exceeds(int(words[lane]), width, bits)
    return heads


def bernoulli(p: Fraction, count: int, bits: RandomBits) -> NDArray[np.bool_]:
    """`count` coins with a rational probability of heads."""
    chance = finite(p)
    if chance is None or not 0 <= chance <= 1:
        raise BadProbability("A probability must be a number from 0 to 1.", next_step="Give it as a Fraction.")
    return flip(Probability.rational(chance), count, bits)


def bernoulli_exp(x: Fraction, count: int, bits: RandomBits) -> NDArray[np.bool_]:
    """`count` coins that show heads with probability exp(-x), x rational and at least 0."""
    exponent = finite(x)
    if exponent is None or exponent < 0:
        raise BadProbability("The exponent must be a number of at least 0.", next_step="Give it as a Fraction.")
    return flip(Probability.exp_minus(exponent), count, bits)

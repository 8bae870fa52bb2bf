"""Discrete Laplace and geometric noise, digit by digit.

If P(G = k) is proportional to q**k, the binary digits of G are independent: digit i is 1 with probability
q**(2**i) / (1 + q**(2**i)). The two-sided Z with P(Z = z) proportional to q**|z| is G with probability 1 / (1 + q) and
-1 - G otherwise; in two's complement that is G with every bit flipped. So a sample is a handful of independent coins,
the same number for every sample, and nothing is ever rejected. The proof is in `docs/explanation/proofs/laplace.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ScaleOutOfRange
from discreet.noise.coins import Probability, word_width
from discreet.noise.random_bits import RandomBits, Width, Words

Samples: TypeAlias = NDArray[Any]
"""int64; or, in the event (rarer than 2**-64 a sample) that one does not fit, Python ints in an object array."""

SMALLEST_SCALE, LARGEST_SCALE = Fraction(1, 2**40), Fraction(2**56)

_CHUNK = 1 << 15  # words of one chunk stay in the cache


@dataclass(frozen=True, slots=True)
class _Digits:
    """The coins of one scale: the sign, then the digits from the lowest, then the flag."""

    coins: tuple[Probability, ...]
    prefixes: tuple[int, ...]
    """The first 64 bits of each."""

    @property
    def count(self) -> int:
        return len(self.coins) - 2

    def thresholds(self, width: Width) -> Words:
        """The first bits of each, one below the other."""
        kind = np.uint16 if width == 16 else np.uint64
        return np.array([[prefix >> 64 - width] for prefix in self.prefixes], kind)


def check_scale(scale: Fraction) -> None:
    """Refuse, before anything is drawn, what cannot be sampled exactly."""
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        raise ScaleOutOfRange(
            "The noise asked for is wider or narrower than exact sampling covers.",
            next_step="Keep sensitivity / epsilon, in units of the granularity, between 2**-40 and 2**56.",
        )


@lru_cache(maxsize=256)
def _digits(scale: Fraction) -> _Digits:
    check_scale(scale)
    # The flag says G >= 2**count, which has probability q**(2**count); 45 > 64 ln 2 makes it rarer than 2**-64.
    count = int(45 * scale).bit_length()
    digits = Probability.logistics_minus(1 / scale, doublings=max(0, count - 1))
    coins = (digits[0], *digits[:count], Probability.exp_minus(2**count / scale))
    return _Digits(coins, tuple(coin.prefix(64) for coin in coins))


def discrete_laplace(scale: Fraction, count: int, bits: RandomBits) -> Samples:
    """`count` samples of Z with P(Z = z) proportional to exp(-|z| / scale)."""
    return _sample(_digits(scale), count, bits, two_sided=True)


def one_discrete_laplace(scale: Fraction, bits: RandomBits) -> int:
    """One sample, the same that `discrete_laplace` would make of the same words, without the cost of arrays."""
    return _sample_one(_digits(scale), bits, two_sided=True)


def geometric(scale: Fraction, count: int, bits: RandomBits) -> Samples:
    """`count` samples of G >= 0 with P(G = k) proportional to exp(-k / scale)."""
    return _sample(_digits(scale), count, bits, two_sided=False)


def _sample_one(digits: _Digits, bits: RandomBits, *, two_sided: bool) -> int:
    """One coin after the other, each looked at whatever the others show."""
    words, prefixes = bits.words(len(digits.prefixes), 64).tolist(), digits.prefixes
    heads, place = 0, 1
    for word, prefix in zip(words, prefixes, strict=True):
        heads |= place * (word < prefix)
        place += place
    for row, (word, prefix) in enumerate(zip(words, prefixes, strict=True)):
        if word == prefix:
            heads |= digits.coins[row].exceeds(prefix, 64, bits) << row
    value = heads >> 1 & (1 << digits.count) - 1
    if heads >> digits.count + 1:
        value = (1 << digits.count) + _sample_one(digits, bits, two_sided=False)
    return ~value if two_sided and heads & 1 else value


def _sample(digits: _Digits, count: int, bits: RandomBits, *, two_sided: bool) -> Samples:
    if count == 1:
        value = _sample_one(digits, bits, two_sided=two_sided)
        return np.array([value], np.int64 if -(2**63) <= value < 2**63 else object)
    samples: Samples = np.empty(count, np.int64)
    beyond: dict[int, int] = {}
    for start in range(0, count, _CHUNK):
        chunk = samples[start : start + _CHUNK]
        heads = _flip_all(digits, chunk.size, word_width(count), bits)
        _assemble(heads[1:-1], chunk)
        for lane in np.flatnonzero(heads[-1]):
            rest = _sample_one(digits, bits, two_sided=False)  # memoryless: beyond 2**count it starts afresh
            value = (1 << digits.count) + rest
            beyond[start + int(lane)] = ~value if two_sided and heads[0, lane] else value
        if two_sided:
            chunk ^= -heads[0].astype(np.int64)
    if any(not -(2**63) <= value < 2**63 for value in beyond.values()):
        samples = samples.astype(object)
    for index, value in beyond.items():
        samples[index] = value
    return samples


def _flip_all(digits: _Digits, count: int, width: Width, bits: RandomBits) -> NDArray[np.uint8]:
    """One row of zeros and ones for each coin."""
    words = bits.words(len(digits.coins) * count, width).reshape(len(digits.coins), count)
    thresholds = digits.thresholds(width)
    heads = (words < thresholds).view(np.uint8)
    for tie in np.flatnonzero(words == thresholds):
        row, lane = divmod(int(tie), count)
        coin = digits.coins[row]
        heads[row, lane] = coin.exceeds(coin.prefix(width), width, bits)
    return heads


def _assemble(digits: NDArray[np.uint8], out: Samples) -> None:
    """Digits, lowest first, into numbers: eight at a time in bytes, which is where the speed comes from."""
    out[:] = 0
    for low in range(0, len(digits), 8):
        byte = digits[low].copy()
        for place, digit in enumerate(digits[low + 1 : low + 8], start=1):
            byte |= digit << place
        out |= byte.astype(np.int64) << low

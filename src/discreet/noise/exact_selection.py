"""Exact selection: one index out of many, by exponential weights or by permute-and-flip.

Scores are integers (callers put reals on a grid first). Both selectors touch every candidate once, whatever the scores,
so the time tells nothing about the winner. The proofs are in `docs/explanation/proofs/choice.md`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.coins import flip_each_exp_minus
from discreet.noise.exp_bounds import exp_minus
from discreet.noise.float_exp import LARGEST_EXPONENT, RELATIVE_ERROR, exp_minus_float
from discreet.noise.random_bits import RandomBits
from discreet.noise.uniform import uniform_below

MOST_CANDIDATES = 1 << 24
_BLOCK = 1 << 10


def permute_and_flip(scores: NDArray[np.int64], rate: Fraction, bits: RandomBits) -> int:
    """The first candidate, in random order, whose coin of probability exp(-rate * (best - score)) shows heads.

    Coins and order are independent, so the first heads in random order is a uniform choice among all heads: we flip
    every coin, then choose. The best candidate always shows heads.
    """
    gaps = _gaps(scores)
    heads = flip_each_exp_minus(_exponents(gaps, rate), lambda lane: int(gaps[lane]) * rate, bits)
    winners = np.flatnonzero(heads)
    return int(winners[uniform_below(winners.size, 1, bits)[0]])


def exponential_choice(scores: NDArray[np.int64], rate: Fraction, bits: RandomBits) -> int:
    """Index i with probability proportional to exp(rate * score_i), by inverting the cumulative weights."""
    gaps = _gaps(scores)
    word = int(bits.words(1, 64)[0])
    chosen = _invert_in_floats(_exponents(gaps, rate), word)
    return invert_in_integers(gaps, np.ones(gaps.size, np.int64), rate, word, bits) if chosen is None else chosen


def _gaps(scores: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Best - score, which may need all 64 bits."""
    return scores.max().astype(np.uint64) - scores.astype(np.uint64)


def _exponents(gaps: NDArray[np.uint64], rate: Fraction) -> NDArray[np.float64]:
    return gaps.astype(np.float64) * float(rate)


def _invert_in_floats(exponents: NDArray[np.float64], word: int) -> int | None:
    """The index that U = word/2**64 falls on, or None where the float's error band leaves it open."""
    weights = exp_minus_float(exponents)
    weights[exponents > LARGEST_EXPONENT] = 0
    cumulative, additions = _cumulative(weights)
    # The weights' own error, the additions' and U's; then the weights left out, each at most exp(-64) < 2**-92.
    relative = RELATIVE_ERROR + additions * 2.0**-52
    absolute = weights.size * 2.0**-92
    low, high = cumulative * (1 - relative), cumulative * (1 + relative) + absolute
    u = word * 2.0**-64
    smallest, largest = u * low[-1] * (1 - 2.0**-50), (u + 2.0**-64) * high[-1] * (1 + 2.0**-50)
    index = int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))
    if index == weights.size or largest >= low[index] or (index > 0 and smallest <= high[index - 1]):
        return None
    return index


def _cumulative(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Running sums, and how many additions each is at most the result of: in blocks, so that errors stay small."""
    blocks = -(-weights.size // _BLOCK)
    padded = np.zeros(blocks * _BLOCK)
    padded[: weights.size] = weights
    within = np.cumsum(padded.reshape(blocks, _BLOCK), axis=1)
    before = np.concatenate([[0.0], np.cumsum(within[:-1, -1])])
    return (within + before[:, None]).reshape(-1)[: weights.size], _BLOCK + blocks


def invert_in_integers(
    gaps: NDArray[np.integer[Any]], lengths: NDArray[np.int64], rate: Fraction, word: int, bits: RandomBits
) -> int:
    """The run that U falls on, in integers, with as many bits as it takes; weights are length * exp(-rate * gap).

    Reached about n times in 2**40 choices among n candidates.
    """
    width = 64
    while True:
        word = word << 64 | int(bits.words(1, 64)[0])
        width += 64
        enclosed = {int(gap): exp_minus(int(gap) * rate, width) for gap in np.unique(gaps)}
        total_low = total_high = 0
        ends = []
        for gap, length in zip(gaps.tolist(), lengths.tolist(), strict=True):
            low, high = enclosed[gap]
            total_low, total_high = total_low + length * low, total_high + length * high
            ends.append((total_low, total_high))
        # U lies in [word, word + 1) / 2**width; it falls on the first index whose cumulative weight exceeds U * total.
        smallest, largest = word * total_low, (word + 1) * total_high
        for index, (low, high) in enumerate(ends):
            if largest <= low << width:
                return index
            if smallest < high << width:
                break  # open at this precision

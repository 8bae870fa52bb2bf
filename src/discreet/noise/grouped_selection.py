"""Exact selection by exponential weights in many groups at once, candidates of equal score taken together.

A run is a number of neighbouring candidates with one score; its weight is their number times theirs. Weights are turned
into 64-bit integers, which add up without error, so one running sum over all groups (modulo 2**64) serves each of them.
Every run takes the same work. The proof is in `docs/explanation/proofs/choice.md`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.noise.exact_selection import invert_in_integers
from discreet.noise.float_exp import exp_minus_float
from discreet.noise.random_bits import RandomBits


def exponential_choices(
    gaps: NDArray[np.int64], lengths: NDArray[np.int64], starts: NDArray[np.int64], rate: Fraction, bits: RandomBits
) -> NDArray[np.int64]:
    """For each group, run i with probability proportional to length_i * exp(-rate * gap_i).

    Group g has the runs from starts[g] up to starts[g + 1], the last of `starts` being where the last group ends. In
    each group the least gap of a run that is not empty is 0. Runs after the last group are worked on and never chosen.
    """
    first, last, sizes = starts[:-1], starts[1:] - 1, np.diff(starts)
    if not first.size:
        return np.zeros(0, np.int64)
    words = bits.words(first.size, 64)
    most = int(np.add.reduceat(lengths[: starts[-1]], first).max())
    weights = exp_minus_float(gaps.astype(np.float64) * float(rate))
    weights *= lengths
    weights *= 2.0 ** (63 - most.bit_length())  # so that no group's total needs 64 bits
    sums = np.cumsum(weights.astype(np.int64).view(np.uint64))[: starts[-1]]  # wraps around; differences do not
    ends = (sums - np.repeat(np.where(first > 0, sums[first - 1], 0), sizes)).view(np.int64)
    totals = ends[last]
    aims = (words.astype(np.float64) * 2.0**-64 * totals).astype(np.int64)
    passed = np.add.reduceat(ends <= np.repeat(aims, sizes), first, dtype=np.int64)
    chosen = np.minimum(first + passed, last)
    margins = (totals >> 39) + 2 * sizes + 4
    sure = (chosen == first) | (aims - ends[chosen - 1] > margins)
    sure &= ends[chosen] - aims > margins
    for group in np.flatnonzero(~sure):
        runs = slice(first[group], last[group] + 1)
        chosen[group] = first[group] + invert_in_integers(gaps[runs], lengths[runs], rate, int(words[group]), bits)
    return chosen

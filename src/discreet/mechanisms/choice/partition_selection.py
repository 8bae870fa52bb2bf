"""Which groups may be named: private partition selection with the optimal probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact, read_count, read_delta, read_epsilon, read_level, rounded_up
from discreet.errors import BadData, ScaleOutOfRange
from discreet.mechanisms import curves
from discreet.mechanisms.additive.integer_addition import as_int64
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.noise import SYSTEM_BITS, Probability, RandomBits
from discreet.noise.exp_bounds import exp_minus

_BITS = 128
ONE = 1 << _BITS
_LONGEST_TABLE = 1 << 21


class KeepTable(NamedTuple):
    """keep(0), keep(1), ... in units of 2**-128, and the first 64 bits of each (certainty is told by its row)."""

    chances: tuple[int, ...]
    prefixes: NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSelection(SolvedForEpsilon):
    """Keep a group of n people with the largest probability that (epsilon, delta) allows; never an empty group.

    keep(0) = 0, keep(n+1) = min(e^epsilon keep(n) + delta, 1 - e^-epsilon (1 - keep(n) - delta), 1), held as 128-bit
    integers rounded down, so that the inequalities of differential privacy hold exactly between the numbers we use.
    Guarantee: (epsilon, delta)-DP for a person in one group; once delta is set aside, zCDP with epsilon tanh(epsilon / 2).
    Citation: Desfontaines, Voss, Gipson, Mandayam 2020 (arXiv:2006.03684), theorem 1.

    Args:
        epsilon: How much may be learned about a person; smaller is more private.
        delta: The chance that is set aside, such as 1e-6.
    """

    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        read_epsilon(self.epsilon)
        if read_delta(self.delta) < Fraction(1, 2**100):
            raise ScaleOutOfRange("delta is below what exact sampling covers.", next_step="Give a delta above 2**-100.")
        _keep_table(exact(self.epsilon), exact(self.delta))  # too long a table is refused here, not at the release

    @property
    def keep_table(self) -> KeepTable:
        """The probabilities, from an empty group up to the first that is kept for certain."""
        return _keep_table(exact(self.epsilon), exact(self.delta))

    def keep_probability(self, people: int) -> float:
        """The chance that a group of so many people is kept.

        Args:
            people: How many are in the group.
        """
        chances = self.keep_table.chances
        return chances[min(read_count(people, name="people", least=0), len(chances) - 1)] / ONE

    def _renyi(self, order: float) -> float:
        """With delta set aside."""
        return curves.pure_renyi(self.pure_epsilon, order)

    def _deltas(self, epsilons: Floats) -> Floats:
        aside = rounded_up(exact(self.delta))
        return np.minimum(1.0, aside + (1 - aside) * curves.pure_deltas(self.pure_epsilon, epsilons))

    def release(self, exact: NDArray[np.int64], bits: RandomBits = SYSTEM_BITS) -> NDArray[np.bool_]:
        """For each group's number of people, whether the group may be shown."""
        people = as_int64(exact)
        if np.any(people < 0):
            raise BadData("A number of people cannot be negative.", next_step="Count people per group first.")
        table = self.keep_table
        certain = len(table.chances) - 1
        rows = np.minimum(people, certain)
        words = bits.words(people.size, 64).reshape(people.shape)
        thresholds = table.prefixes[rows]
        kept = (words < thresholds) | (rows == certain)
        for lane in np.flatnonzero((words == thresholds) & ~kept):
            chance = Probability.rational(Fraction(table.chances[int(rows.flat[lane])], ONE))
            kept.flat[lane] = chance.exceeds(int(words.flat[lane]), 64, bits)
        return kept

    def error(self, confidence: Number) -> int:
        """The least number of people whose group is kept in `confidence` of all releases."""
        wanted = read_level(confidence) * ONE
        return next(people for people, chance in enumerate(self.keep_table.chances) if chance >= wanted)


@lru_cache(maxsize=8)
def _keep_table(epsilon: Fraction, delta: Fraction) -> KeepTable:
    # It climbs like e^epsilon from delta to a half, and as slowly to certainty.
    if 2 * math.log1p(math.expm1(min(float(epsilon), 50.0)) / float(2 * delta)) > _LONGEST_TABLE * epsilon:
        raise ScaleOutOfRange(
            "epsilon is too small for selecting groups exactly.", next_step="Give a larger epsilon or delta."
        )
    _, shrink = exp_minus(epsilon, _BITS)  # above e^-epsilon, so every step below is at most what is allowed
    room = delta.numerator * ONE // delta.denominator
    table = [0]
    while table[-1] < ONE:
        keep = table[-1]
        grown = keep * ONE // shrink + room
        turned = ONE - -(-max(0, ONE - keep - room) * shrink // ONE)
        table.append(min(grown, turned, ONE))
    return KeepTable(tuple(table), np.array([min(keep >> _BITS - 64, 2**64 - 1) for keep in table], np.uint64))

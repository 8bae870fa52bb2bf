"""Choosing one of many by a score: the exponential mechanism, permute-and-flip, report-noisy-max.

All take integer scores, one for each of `size` candidates, and return the index of the winner. A score of sensitivity
`sensitivity` moves at most that much when one person comes or goes, for every candidate.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import (
    Number,
    exact,
    read_count,
    read_epsilon,
    read_flag,
    read_level,
    read_sensitivity,
)
from discreet.errors import BadInput
from discreet.mechanisms import curves
from discreet.mechanisms.additive.integer_addition import as_int64
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.noise import SYSTEM_BITS, RandomBits, discrete_laplace, exponential_choice, permute_and_flip
from discreet.noise.exact_selection import MOST_CANDIDATES
from discreet.noise.laplace_sampler import check_scale

Scores = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selection(SolvedForEpsilon):
    sensitivity: Number
    epsilon: Number
    size: int

    def __post_init__(self) -> None:
        read_sensitivity(self.sensitivity)
        read_epsilon(self.epsilon)
        check_scale(1 / self.rate)
        object.__setattr__(self, "size", read_count(self.size, name="size"))
        if self.size > MOST_CANDIDATES:
            raise BadInput(
                "There are too many candidates.", next_step="Choose among at most 2**24, in stages if need be."
            )

    @property
    def rate(self) -> Fraction:
        """Epsilon / (2 sensitivity): how fast a candidate's chance falls with its score."""
        return exact(self.epsilon) / (2 * exact(self.sensitivity))

    @abstractmethod
    def release(self, exact: Scores, bits: RandomBits = SYSTEM_BITS) -> int:
        """The index of the winner."""

    def error(self, confidence: Number) -> int:
        """The winner's score is within this of the best, in `confidence` of all releases, whatever the scores."""
        beta = 1 - float(read_level(confidence))
        low, high = -1, 1
        while self._worst_chance_of_gap(high + 1) > beta:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._worst_chance_of_gap(middle + 1) > beta else (low, middle)
        return high

    @abstractmethod
    def _worst_chance_of_gap(self, gap: int) -> float:
        """The chance that the winner is `gap` or more below the best; worst when all others are exactly that far."""

    def interval(self, level: Number) -> tuple[float, float]:
        """(0, error): the best score lies that far above the winner's."""
        return 0, self.error(level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _MonotoneSelection(_Selection):
    monotone: bool = False
    """Whether all scores move in one direction when a person comes, as counts do: half the noise is enough then.

    Of add-remove only: where a person is replaced, some scores may rise and others fall.
    """

    def __post_init__(self) -> None:
        read_flag(self.monotone, name="monotone")
        _Selection.__post_init__(self)

    @property
    def rate(self) -> Fraction:
        """Epsilon / (2 sensitivity), or epsilon / sensitivity where scores move one way (`docs/explanation/proofs/choice.md`)."""
        return exact(self.epsilon) / ((1 if self.monotone else 2) * exact(self.sensitivity))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential(_MonotoneSelection):
    """Choose index i with probability proportional to exp(epsilon * score_i / (2 sensitivity)); twice that if `monotone`.

    Guarantee: epsilon-DP, and zCDP with rho = epsilon**2 / 8 by its bounded range.
    Citation: McSherry, Talwar 2007; Cesar, Rogers 2021 (arXiv:2004.07223) for rho; Sapienza slides, "Exponential Mechanism".

    Args:
        sensitivity: How far one person can move each score.
        epsilon: How much may be learned about a person; smaller is more private.
        size: How many candidates there are.
        monotone: Whether all scores move one way when a person comes, as counts do: half the noise is enough then.
    """

    @property
    def exact_rho(self) -> Fraction:
        return exact(self.epsilon) ** 2 / 8

    def _renyi(self, order: float) -> float:
        return min(curves.pure_renyi(self.pure_epsilon, order), math.nextafter(order * self.rho, math.inf))

    def _deltas(self, epsilons: Floats) -> Floats:
        return curves.bounded_range_deltas(self.pure_epsilon, epsilons)

    def release(self, exact: Scores, bits: RandomBits = SYSTEM_BITS) -> int:
        return exponential_choice(as_int64(exact, size=self.size).ravel(), self.rate, bits)

    def _worst_chance_of_gap(self, gap: int) -> float:
        others = (self.size - 1) * math.exp(-float(gap * self.rate))
        return others / (1 + others)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlip(_MonotoneSelection):
    """In random order, take the first candidate whose coin of probability exp(-epsilon * gap / (2 sensitivity)) is heads.

    If `monotone`, exp(-epsilon * gap / sensitivity).
    Guarantee: epsilon-DP; never worse than the exponential mechanism at the same epsilon, up to twice as good.
    Citation: McKenna, Sheldon 2020 (arXiv:2010.12603).

    Args:
        sensitivity: How far one person can move each score.
        epsilon: How much may be learned about a person; smaller is more private.
        size: How many candidates there are.
        monotone: Whether all scores move one way when a person comes, as counts do: half the noise is enough then.
    """

    def release(self, exact: Scores, bits: RandomBits = SYSTEM_BITS) -> int:
        return permute_and_flip(as_int64(exact, size=self.size).ravel(), self.rate, bits)

    def _worst_chance_of_gap(self, gap: int) -> float:
        """1 - E[1 / (1 + heads)] for `size - 1` coins of one probability."""
        coin = math.exp(-float(gap * self.rate))
        if coin * self.size < 1e-9:
            return coin * (self.size - 1) / 2
        return 1 + math.expm1(self.size * math.log1p(-coin)) / (self.size * coin) if coin < 1 else 1 - 1 / self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMax(_Selection):
    """Add discrete Laplace noise of scale 2 sensitivity / epsilon to every score; the first of the largest wins.

    Guarantee: epsilon-DP. With the other scores' noise fixed, a candidate wins when its own noise reaches a threshold
    that moves by at most 2 sensitivity; ties go to the lower index, which the threshold takes in (`docs/explanation/proofs/choice.md`).
    Citation: Dwork, Roth 2014, claim 3.9 (there for continuous noise).

    Args:
        sensitivity: How far one person can move each score.
        epsilon: How much may be learned about a person; smaller is more private.
        size: How many candidates there are.
    """

    def release(self, exact: Scores, bits: RandomBits = SYSTEM_BITS) -> int:
        scores = as_int64(exact, size=self.size).ravel()
        noise = discrete_laplace(1 / self.rate, self.size, bits)
        return int(np.argmax(scores.astype(object) + noise))  # as Python ints: comparing must never wrap around

    def _worst_chance_of_gap(self, gap: int) -> float:
        """Some other candidate's noise beats the best's by `gap`: at most (size - 1) P(Z - Z' >= gap)."""
        rate = float(self.rate)
        q = math.exp(-rate)
        tail = math.exp(-rate * gap) / (1 + q) ** 2 * (gap * -math.expm1(-rate) + 1 + 2 * q * q / (1 + q))
        return min(1.0, (self.size - 1) * tail)

"""Choosing one of many whose scores one person can move by different amounts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact, read_epsilon, read_sensitivity
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadSensitivity
from discreet.mechanisms.additive.integer_addition import as_int64
from discreet.mechanisms.choice.selection import Exponential
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.noise import SYSTEM_BITS, RandomBits

GRID = 1 << 16
"""Scores are compared in so many steps of the unit in which all of them have sensitivity 1."""
MOST_CANDIDATES = 1 << 10
_FURTHEST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralizedExponential(SolvedForEpsilon):
    """Choose a high score among candidates of different sensitivities, a wide one only where it is worth its noise.

    Candidates are compared in pairs: with b_i = score_i - penalty * sensitivity_i, candidate i falls short by the
    largest (b_j - b_i) / (sensitivity_i + sensitivity_j), rounded down to 1/65536; this has sensitivity 1, and the
    exponential mechanism takes a small one.
    Guarantee: epsilon-DP, and zCDP with rho = epsilon**2 / 8, if one person moves score i by at most sensitivity i.
    Citation: Raskhodnikova, Smith 2016, "Lipschitz Extensions for Node-Private Graph Statistics and the Generalized
    Exponential Mechanism" (arXiv:1504.07912); proof in `docs/explanation/proofs/choice.md`.

    Args:
        sensitivities: How far one person can move each score, in the order of the candidates.
        epsilon: How much may be learned about a person; smaller is more private.
    """

    sensitivities: tuple[Number, ...]
    epsilon: Number

    def __post_init__(self) -> None:
        given = self.sensitivities
        if not isinstance(given, tuple | list) or not 1 <= len(given) <= MOST_CANDIDATES:
            raise BadSensitivity(
                f"sensitivities must be a list of 1 to {MOST_CANDIDATES:,} numbers.",
                next_step="Give one for each candidate, such as sensitivities=(1, 2, 4).",
            )
        read_epsilon(self.epsilon)
        object.__setattr__(self, "sensitivities", tuple(read_sensitivity(each) for each in given))
        self._selection()

    def _selection(self) -> Exponential:
        return _among_shortfalls(exact(self.epsilon), len(self.sensitivities))

    @property
    def penalty(self) -> Fraction:
        """What a candidate pays a unit of its sensitivity: how far short the winner may fall in 95 of 100 releases."""
        return _penalty(exact(self.epsilon), len(self.sensitivities))

    @property
    def exact_rho(self) -> Fraction:
        return self._selection().exact_rho

    def _renyi(self, order: float) -> float:
        return self._selection().renyi(order)

    def _deltas(self, epsilons: Floats) -> Floats:
        return self._selection().deltas(epsilons)

    def release(self, exact: NDArray[Any], bits: RandomBits = SYSTEM_BITS) -> int:
        """The index of the winner.

        Args:
            exact: Whole-number scores, one for each candidate; higher is better.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        scores = as_int64(exact, size=len(self.sensitivities)).ravel().tolist()
        short = np.array([-min(shortfall, _FURTHEST) for shortfall in self._shortfalls(scores)], np.int64)
        return self._selection().release(short, bits)

    def _shortfalls(self, scores: list[int]) -> list[int]:
        """How far each candidate falls short of the one that beats it most clearly, in steps rounded down."""
        widths, penalty = [exact(each) for each in self.sensitivities], self.penalty
        common = math.lcm(penalty.denominator, *(width.denominator for width in widths)) ** 2
        wide = [int(width * common) for width in widths]
        worth = [score * common - int(penalty * width * common) for score, width in zip(scores, widths, strict=True)]
        rivals = list(zip(worth, wide, strict=True))
        return [max((theirs - own) * GRID // (width + other) for theirs, other in rivals) for own, width in rivals]

    def error(self, confidence: Number) -> float:
        """How far short the winner may fall, in units of sensitivity.

        With w this error, in `confidence` of all releases score_i is at least score_j - (penalty + w) sensitivity_j
        - (w - penalty) sensitivity_i for every j.
        """
        return self._selection().error(confidence) / GRID


@lru_cache(maxsize=256)
def _among_shortfalls(epsilon: Fraction, size: int) -> Exponential:
    return Exponential(sensitivity=GRID, epsilon=epsilon, size=size)


@lru_cache(maxsize=256)
def _penalty(epsilon: Fraction, size: int) -> Fraction:
    return Fraction(_among_shortfalls(epsilon, size).error(CONFIDENCE), GRID)

"""The interface of all protocols for many people at once: randomize, tally, estimate, and the error of estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import WORD, Randomizer
from discreet.local.protocols.draws import Codes, Draws, Flags

Floats: TypeAlias = NDArray[np.float64]
Tally: TypeAlias = NDArray[Any]
Reports: TypeAlias = NDArray[Any]
"""One word per report if 63 bits are enough; otherwise a row of bytes per report, its bits from the left."""

R = TypeVar("R", bound=Randomizer)


class Protocol(ABC, Generic[R]):
    """A vectorised randomizer with an unbiased estimator.

    `codes` are what the randomizer takes: numbers of values, fingerprints, or positions on a grid. A tally is all that
    an estimate needs. Two tallies are merged by addition, or, if `appends` is set, by concatenation.
    """

    appends: ClassVar[bool] = False

    def __init__(self, randomizer: R) -> None:
        self.randomizer: R = randomizer

    @property
    def wide(self) -> bool:
        """Whether a report is a row of bytes and not a word."""
        return self.randomizer.bits > 63

    @abstractmethod
    def encode(self, codes: Any, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        """Return one report per code, with the randomizer's distribution; slots are the devices' public numbers."""

    @abstractmethod
    def legal(self, reports: Reports) -> Flags:
        """Return which reports are possible outputs of a device."""

    @abstractmethod
    def tally(self, reports: Reports) -> Tally:
        """Return the sufficient statistics of some reports; for no reports, the empty tally."""

    @abstractmethod
    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Estimate how many people have each of `codes`. It is unbiased, so it may be negative."""

    @abstractmethod
    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """Return the exact variance of each estimate if `counts` people have each of `codes`."""

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Estimate the variance from the tally alone."""
        return self.variance(np.clip(self.estimate(tally, reports, codes), 0, reports), reports, codes)

    @property
    @abstractmethod
    def influence(self) -> float:
        """The most by which one fabricated report can move one estimate."""

    def smoothed(self, tally: Tally, reports: int) -> Floats | None:
        """Return a non-negative estimate over all positions; None if the protocol has none."""
        return None

    def merged(self, one: Tally, other: Tally) -> Tally:
        """Return the tally of both sets of reports."""
        return np.concatenate([one, other]) if self.appends else one + other


class PureProtocol(Protocol[R]):
    """A report supports a set of values: the person's own with probability p, each other value with probability q.

    Then (support - reports q) / (p - q) is unbiased with a known variance (Wang, Blocki, Li, Jha 2017).
    """

    @property
    @abstractmethod
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q."""

    @abstractmethod
    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        """Count the reports that support each code."""

    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        p, q = self.chances
        return (self.support(tally, codes).astype(np.float64) - reports * float(q)) / float(p - q)

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        p, q = self.chances
        noise, own = float(q * (1 - q) / (p - q) ** 2), float((1 - p - q) / (p - q))
        return reports * noise + counts * own

    @property
    def influence(self) -> float:
        p, q = self.chances
        return float(max(1 - q, q) / (p - q))


HeavyHitter: TypeAlias = tuple[bytes, float, float]
"""A text, its estimated count, and the variance of that."""


class TextProtocol(Protocol[R]):
    """A protocol for texts (codes are bytes) that cannot be listed beforehand."""

    @abstractmethod
    def heavy_hitters(self, tally: Tally, reports: int, *, keep: int, confidence: float = 0.95) -> list[HeavyHitter]:
        """Return at most `keep` texts, the most frequent first; with the given confidence all of them exist."""


def chance_of(threshold: int) -> Fraction:
    """Return the probability of a threshold."""
    return Fraction(threshold, WORD)

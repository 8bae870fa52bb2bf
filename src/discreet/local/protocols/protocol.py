"""What every protocol does for many people at once: randomize, tally, estimate, and say how far off it may be."""

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
"""One word a report where 63 bits are enough; else a row of bytes a report, its bits from the left."""

R = TypeVar("R", bound=Randomizer)


class Protocol(ABC, Generic[R]):
    """The vectorised twin of a randomizer, with the estimator that undoes its lies on average.

    `codes` are what the randomizer takes: numbers of values, fingerprints, or places on a grid. A tally is all that an
    estimate needs: tallies of two shards merge by addition, or by appending where `appends` is set.
    """

    appends: ClassVar[bool] = False

    def __init__(self, randomizer: R) -> None:
        self.randomizer: R = randomizer

    @property
    def wide(self) -> bool:
        """Whether a report needs a row of bytes."""
        return self.randomizer.bits > 63

    @abstractmethod
    def encode(self, codes: Any, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        """One report for each code, by the same law as the randomizer's; slots are the devices' public numbers."""

    @abstractmethod
    def legal(self, reports: Reports) -> Flags:
        """Which reports a device could have sent at all."""

    @abstractmethod
    def tally(self, reports: Reports) -> Tally:
        """The sufficient statistics of some reports; of none, the empty tally."""

    @abstractmethod
    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """How many people have each of `codes`: unbiased, so it may be below zero."""

    @abstractmethod
    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """The exact variance of each estimate if `counts` people had each of `codes`."""

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """The same from what was collected alone."""
        return self.variance(np.clip(self.estimate(tally, reports, codes), 0, reports), reports, codes)

    @property
    @abstractmethod
    def influence(self) -> float:
        """How far one report, made up at will, can move one estimate."""

    def smoothed(self, tally: Tally, reports: int) -> Floats | None:
        """How people are spread over all places, none of them negative; None where estimates are not for a spread."""
        return None

    def merged(self, one: Tally, other: Tally) -> Tally:
        """The tally of both."""
        return np.concatenate([one, other]) if self.appends else one + other


class PureProtocol(Protocol[R]):
    """A report supports a set of values: one's own with probability p, any other with probability q.

    Then (support - reports q) / (p - q) is unbiased, and its variance is exact (Wang, Blocki, Li, Jha 2017).
    """

    @property
    @abstractmethod
    def chances(self) -> tuple[Fraction, Fraction]:
        """P and q, exactly."""

    @abstractmethod
    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        """How many reports support each code."""

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
    """Codes are texts, as bytes, which nobody can list beforehand."""

    @abstractmethod
    def heavy_hitters(self, tally: Tally, reports: int, *, keep: int, confidence: float = 0.95) -> list[HeavyHitter]:
        """At most `keep` texts, the most frequent first; with the given confidence all of them exist."""


def chance_of(threshold: int) -> Fraction:
    """What a threshold stands for."""
    return Fraction(threshold, WORD)

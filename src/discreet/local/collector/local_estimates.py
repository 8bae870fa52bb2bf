"""What was learned: raw and unbiased, with its error; post-processing is kept apart, because it is biased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from discreet.core.exact import Number, read_count, read_level
from discreet.errors import BadInput
from discreet.local.protocols.protocol import Floats
from discreet.local.tasks.task import Value


class Found(NamedTuple):
    """One of the most frequent values, with an interval that holds for all of them at once."""

    value: Value
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated counts of people for each value.

    An interval covers the true count among those who reported, with the stated confidence, each value by itself;
    those of `top` hold together. Nothing is clipped: a raw estimate may be below zero, and that is what makes it
    unbiased.
    """

    values: Sequence[Value]
    counts: Floats
    variances: Floats
    reports: int
    influence: float
    invited: int | None = None
    judged: int = 0
    """How many candidates these values were picked from, where they were picked."""
    smoothed: Floats | None = None
    """A protocol's own non-negative estimate, where it has one."""

    @property
    def raw(self) -> dict[Value, float]:
        """The unbiased estimate of each value's count."""
        return dict(zip(self.values, self.counts.tolist(), strict=True))

    @property
    def standard_error(self) -> dict[Value, float]:
        """The standard deviation of each estimate."""
        return dict(zip(self.values, self._errors().tolist(), strict=True))

    @property
    def response_rate(self) -> float | None:
        """Reports per person invited. Who did not answer is not in the estimate, and may differ from who did."""
        return None if self.invited is None else self.reports / self.invited

    def interval(self, confidence: Number) -> dict[Value, tuple[float, float]]:
        """Where each true count lies, each with the given confidence."""
        width = _normal(float(read_level(confidence))) * self._errors()
        ends = zip((self.counts - width).tolist(), (self.counts + width).tolist(), strict=True)
        return dict(zip(self.values, ends, strict=True))

    def top(self, k: int, confidence: Number = 0.95) -> list[Found]:
        """The k largest estimates; all intervals hold at once, however the k were picked.

        Bonferroni over all values, or all candidates that were judged.
        """
        many = min(read_count(k, name="k"), len(self.values))
        level = 1 - (1 - float(read_level(confidence))) / max(len(self.values), self.judged, 1)
        width = _normal(level) * self._errors()
        order = np.argsort(-self.counts, kind="stable")[:many]
        return [
            Found(
                self.values[i],
                float(self.counts[i]),
                float(self.counts[i] - width[i]),
                float(self.counts[i] + width[i]),
            )
            for i in order.tolist()
        ]

    def non_negative(self) -> dict[Value, float]:
        """Counts at or above zero that add up to the number of reports. Biased, and without intervals."""
        counts = self.smoothed if self.smoothed is not None else _onto_simplex(self.counts, self.reports)
        return dict(zip(self.values, counts.tolist(), strict=True))

    def manipulation_bound(self, fakes: int) -> float:
        """How far so many made-up reports can move any one estimate, at most."""
        return read_count(fakes, name="fakes", least=0) * self.influence

    def _errors(self) -> Floats:
        return np.sqrt(self.variances)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """An estimated mean of a number, clamped to public bounds and put on a public grid on every device."""

    raw: float
    """Unbiased; it may lie beyond the bounds."""
    standard_error: float
    reports: int
    lower: float
    upper: float
    influence: float
    """How far one made-up report moves the sum."""
    invited: int | None = None

    @property
    def response_rate(self) -> float | None:
        """Reports per person invited."""
        return None if self.invited is None else self.reports / self.invited

    def interval(self, confidence: Number) -> tuple[float, float]:
        """Where the mean of those who reported lies."""
        width = _normal(float(read_level(confidence))) * self.standard_error
        return self.raw - width, self.raw + width

    def clamped(self) -> float:
        """The estimate brought within the bounds. Biased."""
        return min(max(self.raw, self.lower), self.upper)

    def manipulation_bound(self, fakes: int) -> float:
        """How far so many made-up reports among the others can move the mean, at most."""
        many = read_count(fakes, name="fakes", least=0)
        if many > self.reports:
            raise BadInput("There are fewer reports than that.", next_step="Give a number up to the number of reports.")
        return many * self.influence / max(self.reports, 1)


def _normal(confidence: float) -> float:
    """How many standard errors reach so far on both sides."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _onto_simplex(counts: Floats, total: int) -> Floats:
    """The nearest non-negative counts with the given total (Norm-Sub; Wang et al. 2020, arXiv:1905.08320)."""
    ordered = np.sort(counts)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(ordered > excess)[-1] if total else -1
    return np.maximum(counts - excess[last], 0.0) if total else np.zeros_like(counts)

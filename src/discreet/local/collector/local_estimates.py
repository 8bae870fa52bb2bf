"""Estimates from reports: raw and unbiased, with their error. Biased post-processing has separate methods."""

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


class TopValue(NamedTuple):
    """One of the most frequent values, with an interval. The intervals of all top values hold simultaneously."""

    value: Value
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated counts of people for each value.

    An interval covers the true count among those who reported. `interval` gives the stated confidence for each value
    separately, `top` for all its values together. Estimates are not clipped: unbiased estimates can be negative.
    """

    values: Sequence[Value]
    counts: Floats
    variances: Floats
    reports: int
    influence: float
    invited: int | None = None
    candidate_count: int = 0
    """The number of candidates from which these values were selected; 0 if there was no selection."""
    smoothed: Floats | None = None
    """The protocol's own non-negative estimate, if it has one."""

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
        """Reports per invited person. People who did not answer are not in the estimate, and may differ."""
        return None if self.invited is None else self.reports / self.invited

    def interval(self, confidence: Number) -> dict[Value, tuple[float, float]]:
        """Confidence intervals of the true counts, each with the given confidence."""
        width = _normal(float(read_level(confidence))) * self._errors()
        ends = zip((self.counts - width).tolist(), (self.counts + width).tolist(), strict=True)
        return dict(zip(self.values, ends, strict=True))

    def top(self, k: int, confidence: Number = 0.95) -> list[TopValue]:
        """The k largest estimates. All intervals hold simultaneously (Bonferroni over all candidates)."""
        many = min(read_count(k, name="k"), len(self.values))
        level = 1 - (1 - float(read_level(confidence))) / max(len(self.values), self.candidate_count, 1)
        width = _normal(level) * self._errors()
        order = np.argsort(-self.counts, kind="stable")[:many]
        return [
            TopValue(
                self.values[i],
                float(self.counts[i]),
                float(self.counts[i] - width[i]),
                float(self.counts[i] + width[i]),
            )
            for i in order.tolist()
        ]

    def non_negative(self) -> dict[Value, float]:
        """Non-negative counts that sum to the number of reports. Biased, and without intervals."""
        counts = self.smoothed if self.smoothed is not None else _onto_simplex(self.counts, self.reports)
        return dict(zip(self.values, counts.tolist(), strict=True))

    def manipulation_bound(self, fakes: int) -> float:
        """The most by which `fakes` fabricated reports can move one estimate."""
        return read_count(fakes, name="fakes", least=0) * self.influence

    def _errors(self) -> Floats:
        return np.sqrt(self.variances)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """An estimated mean of a number that devices clamp to public bounds and round to a public grid."""

    raw: float
    """Unbiased, so it may lie outside the bounds."""
    standard_error: float
    reports: int
    lower: float
    upper: float
    influence: float
    """The most by which one fabricated report moves the sum."""
    invited: int | None = None

    @property
    def response_rate(self) -> float | None:
        """Reports per invited person."""
        return None if self.invited is None else self.reports / self.invited

    def interval(self, confidence: Number) -> tuple[float, float]:
        """A confidence interval of the mean of those who reported."""
        width = _normal(float(read_level(confidence))) * self.standard_error
        return self.raw - width, self.raw + width

    def clamped(self) -> float:
        """The estimate clamped to the bounds. Biased."""
        return min(max(self.raw, self.lower), self.upper)

    def manipulation_bound(self, fakes: int) -> float:
        """The most by which `fakes` fabricated reports among all reports can move the mean."""
        many = read_count(fakes, name="fakes", least=0)
        if many > self.reports:
            raise BadInput(
                "`fakes` is larger than the number of reports.", next_step=f"Give a number up to {self.reports}."
            )
        return many * self.influence / max(self.reports, 1)


def _normal(confidence: float) -> float:
    """Return the two-sided normal quantile: how many standard errors give this confidence."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _onto_simplex(counts: Floats, total: int) -> Floats:
    """Return the nearest non-negative counts with the given total (Norm-Sub; Wang et al. 2020, arXiv:1905.08320)."""
    ordered = np.sort(counts)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(ordered > excess)[-1] if total else -1
    return np.maximum(counts - excess[last], 0.0) if total else np.zeros_like(counts)

"""What a session promises before its first query: how many, how often its guard may sound, and how far off an answer can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.core.exact import UNIT, units_down
from discreet.measurement.domain import Domain
from discreet.measurement.measurer import GRID
from discreet.measurement.run_budget import count_noise, watching
from discreet.mechanisms import AboveThreshold, Gaussian, Laplace
from discreet.mechanisms.adaptive_budget import AdaptiveBudget

FAILURE = Fraction(1, 20)
"""The chance that any answer of a session is further off than it says."""
_GUARDING = Fraction(9, 10)
"""Of what an alarm may cost, for the run of the sparse vector; the rest measures the query that it ends with."""
MOST_ALARMS = 2**14
How: TypeAlias = Literal["estimated", "measured", "unguarded"]


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """How many rows a query counts.

    `within` is how far off it can be: with a chance of 95 % no answer of the session is further off than it says; None where nothing is promised.
    """

    count: float
    how: How
    """By the hypothesis, which the guard let pass; by noise of its own, where the guard did not; or by the hypothesis, after the guard's last alarm."""
    within: float | None


@dataclass(frozen=True, slots=True)
class Terms:
    """The mechanisms of a session's guard, each of which is drawn at most `alarms` times, and how far off answers can be that came about so."""

    alarms: int
    watch: AboveThreshold
    noise: Gaussian | Laplace
    bounds: Mapping[How, float | None]

    @property
    def within(self) -> float:
        """Of an answer that the guard lets pass."""
        return float(self.bounds["estimated"] or 0.0)

    def answer(self, count: float, how: How) -> SessionAnswer:
        """An answer with how far off it can be.

        Args:
            count: In rows.
            how: It came about.
        """
        return SessionAnswer(count, how, self.bounds[how])


def terms(
    budget: AdaptiveBudget, domain: Domain, *, amount: Fraction, alarms: int, queries: int, gap: float = 0.0
) -> Terms:
    """The guard that an amount pays for. Its threshold is so high that no alarm is false, but for half of `FAILURE`.

    Args:
        budget: Whose kind it is.
        domain: What is public about the rows.
        amount: That all alarms together may cost.
        alarms: How many there may be.
        queries: How many may be asked.
        gap: In rows: how far off an answer is at least that the guard sounds for.
    """
    each = Fraction(units_down(amount / alarms), UNIT)
    looking = Fraction(units_down(each * _GUARDING), UNIT)
    slack = watching(budget, domain, looking).error(1 - FAILURE / (2 * queries))
    noise = count_noise(budget, domain, each - looking)
    measured = float(noise.error(1 - FAILURE / (4 * alarms)))
    furthest = max(gap, measured) if gap else 0.0  # what is learned from must be measured on the right side
    threshold = slack + math.ceil(furthest * GRID)
    bounds: Mapping[How, float | None] = {
        "estimated": (threshold + slack) / GRID,
        "measured": measured,
        "unguarded": None,
    }
    return Terms(alarms, watching(budget, domain, looking, threshold=threshold), noise, bounds)

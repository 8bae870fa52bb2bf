"""The terms of a session: its number of queries and alarms, the mechanisms of its checks, and its error bounds."""

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
"""The probability that any answer of a session is further off than its bound."""
_CHECKING = Fraction(9, 10)
"""Share of an alarm's budget for the run of the sparse vector. The rest measures the query at which the run ends."""
MOST_ALARMS = 2**14
JoinKind: TypeAlias = Literal["estimated", "measured", "unguarded"]


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """How many rows a query counts."""

    count: float
    how: JoinKind
    """"estimated": by the hypothesis, and the check passed. "measured": with fresh noise, because the check failed.
    "unguarded": by the hypothesis after the last alarm, without a check."""
    within: float | None
    """Error bound in rows: with probability 95 %, no answer of the session is further off than its bound. None if
    there is no bound."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The mechanisms of a session's checks, each of which is used at most `alarms` times, and the resulting bounds."""

    alarms: int
    watch: AboveThreshold
    noise: Gaussian | Laplace
    bounds: Mapping[JoinKind, float | None]

    @property
    def within(self) -> float:
        """The error bound of an answer that passed its check."""
        return float(self.bounds["estimated"] or 0.0)

    def answer(self, count: float, how: JoinKind) -> SessionAnswer:
        """Add the error bound to a count."""
        return SessionAnswer(count, how, self.bounds[how])


def terms_for(
    budget: AdaptiveBudget, domain: Domain, *, amount: Fraction, alarms: int, queries: int, gap: float = 0.0
) -> Terms:
    """Compute the terms that an amount allows.

    The threshold is high enough that no alarm is false, except with probability `FAILURE / 2`.

    Args:
        budget: The run's budget, which says whether noise is Gaussian or Laplace.
        domain: Public description of the rows.
        amount: Amount for all alarms together.
        alarms: Number of alarms.
        queries: Largest number of queries.
        gap: In rows: every answer that raises an alarm must be at least this far off.
    """
    each = Fraction(units_down(amount / alarms), UNIT)
    checking = Fraction(units_down(each * _CHECKING), UNIT)
    slack = watching(budget, domain, checking).error(1 - FAILURE / (2 * queries))
    noise = count_noise(budget, domain, each - checking)
    measured = float(noise.error(1 - FAILURE / (4 * alarms)))
    # An update must go in the right direction, so the measured count must be on the same side as the exact one.
    least = max(gap, measured) if gap else 0.0
    threshold = slack + math.ceil(least * GRID)
    bounds: Mapping[JoinKind, float | None] = {
        "estimated": (threshold + slack) / GRID,
        "measured": measured,
        "unguarded": None,
    }
    return Terms(alarms, watching(budget, domain, checking, threshold=threshold), noise, bounds)

"""Check before the charge that a budget covers a method's cheapest measurement, and estimate the work.

Both follow from public values alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import BadInput, ScaleOutOfRange, TooLarge
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import GRID
from discreet.measurement.run_budget import table_noise, whole_units
from discreet.mechanisms import Exponential
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.synthetic.methods.candidates import LARGEST_WEIGHT
from discreet.synthetic.methods.method import Method

FOR_ROWS = 50
"""The row count is estimated with at least 1/FOR_ROWS of the budget, divided among the columns."""
MOST_NOISE = 2**40
"""Largest noise of the estimated row count, in rows. It keeps the model's integers within 64 bits."""

MOST_SCORED = 2**25
"""Cells of all candidate tables of a round.

They are in memory together: 8 bytes each, twice that while they are built.
"""
_MEASUREMENTS_PER_COLUMN = 12
"""Measurements besides the candidate tables: each column up to three times, and what the rounds measure."""


@dataclass(frozen=True, slots=True)
class Work:
    """Expected work of a method: the number of measurements and the seconds of computing."""

    measurements: int
    seconds: float


def work_of(method: Method, domain: Domain, marginals: Mapping[Columns, int]) -> Work:
    """Estimate the work of a method. Raise `TooLarge` if it needs more memory than one run has."""
    candidates = method.weights(domain, marginals)
    cells = sum(math.prod(domain.shape(columns)) for columns in candidates)
    if cells > MOST_SCORED:
        raise TooLarge(
            f"The {len(candidates):,} tables to choose among have {cells:,} cells together, more than {MOST_SCORED:,}.",
            next_step="Ask for tables over fewer columns, select fewer columns, or give numbers fewer bins.",
        )
    measurements = len(candidates or marginals) + _MEASUREMENTS_PER_COLUMN * len(domain.columns)
    return Work(measurements, method.seconds(domain, candidates=len(candidates), cells=cells))


def check_affordable(method: Method, domain: Domain, marginals: Mapping[Columns, int], budget: AdaptiveBudget) -> None:
    """Refuse a budget whose parts are so small that their noise cannot be sampled."""
    least = whole_units(budget.amount * method.least_share(domain, marginals))
    cells = sum(domain.shape(domain.names))
    try:
        table_noise(budget, domain, (), least)
        Exponential(sensitivity=GRID * LARGEST_WEIGHT * domain.l1, epsilon=budget.epsilon_of_choice(least), size=2)
        total = table_noise(budget, domain, (), budget.amount / (FOR_ROWS * cells)).sigma
    except (BadInput, ScaleOutOfRange):
        raise _too_small() from None
    if 8 * math.sqrt(cells) * total > MOST_NOISE:
        raise _too_small()


def _too_small() -> ScaleOutOfRange:
    return ScaleOutOfRange(
        "This price is too small to be divided: noise for its parts is wider than can be drawn.",
        next_step="Give a larger one; or select fewer columns, or fewer rows of a person.",
    )

"""Whether a price pays for the cheapest look of a method: tried before it is paid, since it follows from what is public."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from discreet.answering.domain import Columns, Domain
from discreet.answering.measurer import GRID
from discreet.errors import BadInput, ScaleOutOfRange
from discreet.exact import UNIT, units_down
from discreet.mechanisms import Exponential, Gaussian, Laplace, PureAdaptive
from discreet.mechanisms.adaptive import AdaptiveBudget
from discreet.synthetic.candidates import LARGEST_WEIGHT
from discreet.synthetic.methods import Method

FOR_ROWS = 50
"""The number of rows is estimated from at least one part in so many, divided among columns."""
MOST_NOISE = 2**40
"""In rows: what a model takes for the number of rows is never so far off, and integers of it stay within 64 bits."""


def check_affordable(method: Method, domain: Domain, wanted: Mapping[Columns, int], budget: AdaptiveBudget) -> None:
    """Refuse a budget whose parts are too small to be drawn.

    Args:
        method: That spends it.
        domain: What is public.
        wanted: Tables with their weights.
        budget: All of it.
    """
    least = _whole(budget.amount * method.least_share(domain, wanted))
    cells = sum(domain.shape(domain.names))
    try:
        _noise(domain, budget, least)
        Exponential(sensitivity=GRID * LARGEST_WEIGHT * domain.l1, epsilon=budget.epsilon_of_choice(least), size=2)
        total = _noise(domain, budget, _whole(budget.amount / (FOR_ROWS * cells)))
    except (BadInput, ScaleOutOfRange):
        raise _too_small() from None
    if 8 * math.sqrt(cells) * total > MOST_NOISE:
        raise _too_small()


def _whole(share: Fraction) -> Fraction:
    return Fraction(units_down(share), UNIT)


def _noise(domain: Domain, budget: AdaptiveBudget, share: Fraction) -> float:
    """The standard deviation in a cell."""
    if isinstance(budget, PureAdaptive):
        return math.sqrt(2) * float(Laplace(sensitivity=domain.l1, epsilon=share).scale)
    return math.sqrt(float(Gaussian.for_rho(sensitivity=domain.l2, rho=share).variance))


def _too_small() -> ScaleOutOfRange:
    return ScaleOutOfRange(
        "This price is too small to be divided: noise for its parts is wider than can be drawn.",
        next_step="Give a larger one; or select fewer columns, or fewer rows of a person.",
    )

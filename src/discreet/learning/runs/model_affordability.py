"""What a model would draw and how much work it is: known before it is paid, since both follow from what is public. Nothing is drawn to find out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import TooLarge
from discreet.learning.models.learned_model import Model
from discreet.learning.runs.measurement_plan import NoisyLook, Work
from discreet.measurement.domain import Domain
from discreet.measurement.in_memory_run import of_nobody
from discreet.mechanisms.adaptive_budget import AdaptiveBudget, Meter

MOST_COLUMNS = 5_000
"""That the looks of a model go over, one after another: within the time that a run is given."""
MOST_NUMBERS = 2**22
"""That a model draws: they are held in memory together and stored, 8 bytes each."""
_DRAWN = 3e-7
"""Seconds for a number that noise is drawn for."""


def afforded(model: Model, domain: Domain, budget: AdaptiveBudget) -> tuple[list[NoisyLook[Any]], Work]:
    """All looks of a model with their noise, and their work; whatever would be refused later is refused now.

    Args:
        model: What is to be learned.
        domain: What is public about the rows.
        budget: What may be spent.
    """
    model.check(domain)
    work = model.work(domain)
    if work.columns > MOST_COLUMNS:
        raise TooLarge(
            "The looks of this model would take too long.", next_step="Ask for fewer passes, classes or columns."
        )
    measurer, meter = of_nobody(domain, budget)
    looks = model.looks(measurer)
    return looks, work + paid_for(looks, meter)


def paid_for(looks: Sequence[NoisyLook[Any]], meter: Meter) -> Work:
    """What drawing takes, of looks that a budget pays for and memory has room for; others are refused.

    Args:
        looks: Before they are taken.
        meter: Of the budget.
    """
    numbers = sum(look.numbers for look in looks)
    if numbers > MOST_NUMBERS:
        raise TooLarge(
            f"This model would draw {numbers:,} numbers, more than {MOST_NUMBERS:,}.",
            next_step="Leave columns out, or ask for fewer bins.",
        )
    for look in looks:
        meter.pay(look.noise)
    return Work(0, _DRAWN * numbers)

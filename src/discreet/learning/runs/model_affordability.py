"""The measurements and the work of a model, from public values alone, before the charge. Nothing is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import TooLarge
from discreet.learning.models.learned_model import Model
from discreet.learning.runs.measurement_plan import NoisyMeasurement, Work
from discreet.measurement.domain import Domain
from discreet.measurement.in_memory_run import empty_measurer
from discreet.mechanisms.adaptive_budget import AdaptiveBudget, Meter

MOST_COLUMNS = 5_000
"""Columns that the measurements of a model may read in sequence, so that a run ends in time."""
MOST_NUMBERS = 2**22
"""Noisy numbers of a model: they are in memory together and are stored, 8 bytes each."""
_DRAWN = 3e-7
"""Seconds to draw the noise of one number."""


def plan_measurements(model: Model, domain: Domain, budget: AdaptiveBudget) -> tuple[list[NoisyMeasurement[Any]], Work]:
    """Return all measurements of a model with their noise, and their work.

    Everything that can be refused is refused here.

    Args:
        model: The model to learn.
        domain: Public description of the rows.
        budget: Budget of the run.
    """
    model.check(domain)
    work = model.work(domain)
    if work.columns > MOST_COLUMNS:
        raise TooLarge("Measuring this model would take too long.", next_step="Use fewer passes, classes or columns.")
    measurer, meter = empty_measurer(domain, budget)
    measurements = model.measurements(measurer)
    return measurements, work + drawing_work(measurements, meter)


def drawing_work(measurements: Sequence[NoisyMeasurement[Any]], meter: Meter) -> Work:
    """Return the work of drawing the noise. Refuses measurements that exceed the budget or the memory.

    Args:
        measurements: Before they are taken.
        meter: Counts what they spend of the budget.
    """
    numbers = sum(measurement.numbers for measurement in measurements)
    if numbers > MOST_NUMBERS:
        raise TooLarge(
            f"This model would draw {numbers:,} numbers, more than {MOST_NUMBERS:,}.",
            next_step="Remove columns, or use fewer bins.",
        )
    for measurement in measurements:
        meter.pay(measurement.noise)
    return Work(0, _DRAWN * numbers)

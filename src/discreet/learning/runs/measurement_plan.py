"""Measurements before they are taken: their numbers, their noise and their work, all from public values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.measurement.feature_vectors import Design
from discreet.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip

Noise_co = TypeVar("Noise_co", bound=Exponential | Gaussian | Laplace | PermuteAndFlip, covariant=True)


@dataclass(frozen=True, slots=True)
class NoisyMeasurement(Generic[Noise_co]):
    """One measurement for a model, before it is taken.

    Args:
        what: Kind of measurement.
        numbers: Number of noisy numbers.
        noise: Noise of each number.
        unit: Integer steps per unit of the measured sums.
    """

    what: str
    numbers: int
    noise: Noise_co
    unit: int = 1


@dataclass(frozen=True, slots=True)
class Work:
    """Work of measurements: the engine's passes over one column of all rows, and seconds of other computation, about."""

    columns: int
    seconds: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.columns + other.columns, self.seconds + other.seconds)


def work_of_products(design: Design) -> Work:
    """Return the work of measuring all products: all columns for each number, and one table for each two categories.

    Args:
        design: Layout of the vector.
    """
    cells = sum(attribute.numbers is None for attribute in design.attributes)
    numbers = len(design.attributes) - cells
    return Work(1 + numbers * len(design.attributes) + cells * (cells + 1) // 2)

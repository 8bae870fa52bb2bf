"""Looks before they are taken: how many numbers each draws and with what noise, and how much work they are. All of it follows from public facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.measurement.feature_vectors import Design
from discreet.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip

Noise_co = TypeVar("Noise_co", bound=Exponential | Gaussian | Laplace | PermuteAndFlip, covariant=True)


@dataclass(frozen=True, slots=True)
class NoisyLook(Generic[Noise_co]):
    """One release of a model, before it is drawn.

    Args:
        what: It looks at.
        numbers: How many it draws.
        noise: What each is drawn with.
        unit: How many steps of what is added up are 1.
    """

    what: str
    numbers: int
    noise: Noise_co
    unit: int = 1


@dataclass(frozen=True, slots=True)
class Work:
    """What looks take: how often an engine goes over one column of all rows, and the seconds that are computed between looks, about."""

    columns: int
    seconds: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.columns + other.columns, self.seconds + other.seconds)


def work_of_products(design: Design) -> Work:
    """Of the products of all places: all columns for each number, and a table for each two columns of cells.

    Args:
        design: What is measured.
    """
    cells = sum(attribute.numbers is None for attribute in design.attributes)
    numbers = len(design.attributes) - cells
    return Work(1 + numbers * len(design.attributes) + cells * (cells + 1) // 2)

"""Whole-number combinations of exact counts, and how far one person can move them: what is measured where not every cell is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number
from discreet.core.loss import Neighbours
from discreet.mechanisms.additive.gaussian_mechanism import Gaussian
from discreet.mechanisms.additive.integer_addition import check_integers
from discreet.mechanisms.additive.laplace_mechanism import Laplace
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import SYSTEM_BITS, RandomBits

Integers = NDArray[np.int64]
_ROOM = 1 << 62


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one row, or one row for another, moves a combination: all its numbers together, and their squares together."""

    total: int
    squares: Fraction


class Combination(ABC):
    """Whole-number combinations of the counts of cells, all of them public."""

    cells: int
    """How many counts it takes."""
    size: int
    """How many numbers get noise."""
    most: int
    """What a sum or difference can be at most, if no cell has more than one row."""

    @property
    def kept(self) -> int:
        """How many numbers are left in the end."""
        return self.size

    @property
    def columns(self) -> tuple[int, ...] | None:
        """The places of the columns whose table it takes; None for all."""
        return None

    @property
    @abstractmethod
    def described(self) -> dict[str, Any]:
        """What it is, as JSON has it: two that are described alike are the same."""

    @abstractmethod
    def before(self, counts: Integers) -> Integers:
        """What noise is added to.

        Args:
            counts: Of all cells of its table, in order.
        """

    def combined(self, exact: Integers) -> Integers:
        """The same without overflow: clamping cells moves no neighbour further away, and no count of rows comes near the limit.

        Args:
            exact: Counts of all cells of its table.
        """
        check_integers(exact, size=self.cells)
        return self.before(np.clip(exact.reshape(-1).astype(np.int64, copy=False), 0, _ROOM // self.most))

    def after(self, noisy: Integers) -> Integers:
        """What is kept of it: all, unless a strategy says otherwise.

        Args:
            noisy: With its noise.
        """
        return noisy

    @abstractmethod
    def reach(self, neighbours: Neighbours) -> Reach:
        """How far one row moves it, under a neighbour relation.

        Args:
            neighbours: Whether a row comes or goes, or is replaced by another.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Mechanism):
    """Combine counts as a public rule says, add integer noise to each number, and keep what the rule keeps.

    Guarantee: that of `noise`, whose sensitivity is the reach of the combination times the rows of a person (`docs/explanation/proofs/workloads.md`).
    Citation: Li, Miklau, Hay, McGregor, Rastogi 2015, "The matrix mechanism".

    Args:
        combination: Which numbers.
        noise: Gaussian or Laplace, as many numbers at once as the combination has.
    """

    combination: Combination
    noise: Gaussian | Laplace

    @property
    def pure_epsilon(self) -> float:
        return self.noise.pure_epsilon

    @property
    def exact_pure_epsilon(self) -> Fraction | None:
        return self.noise.exact_pure_epsilon

    @property
    def rho(self) -> float:
        return self.noise.rho

    @property
    def exact_rho(self) -> Fraction:
        return self.noise.exact_rho

    @property
    def variance(self) -> float:
        """Of the noise of one number."""
        if isinstance(self.noise, Gaussian):
            return self.noise.sigma**2
        return 0.5 / math.sinh(0.5 / float(self.noise.scale)) ** 2  # the discrete law's own

    def _renyi(self, order: float) -> float:
        return self.noise.renyi(order)

    def _deltas(self, epsilons: Floats) -> Floats:
        return self.noise.deltas(epsilons)

    def release(self, exact: Integers, bits: RandomBits = SYSTEM_BITS) -> Integers:
        return self.combination.after(self.noise.release(self.combination.combined(exact), bits))

    def error(self, confidence: Number) -> float:
        return self.noise.error(confidence)

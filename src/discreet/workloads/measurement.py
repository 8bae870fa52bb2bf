"""What is measured: whole-number combinations of exact counts, how far one person can move them, and the noise for a price."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadEpsilon
from discreet.exact import Number, read_count, read_epsilon
from discreet.loss import Neighbours, read_neighbours
from discreet.mechanisms import Gaussian, Laplace, Mechanism
from discreet.mechanisms.adding import check_integers
from discreet.mechanisms.curves import Floats
from discreet.noise import SYSTEM_BITS, RandomBits

Integers = NDArray[np.int64]
_GRAIN = 10**24
"""Shares of a price are whole multiples of its inverse, rounded down."""
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

    @abstractmethod
    def before(self, counts: Integers) -> Integers:
        """What noise is added to.

        Args:
            counts: Of all cells of its table, in order.
        """

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

    Guarantee: that of `noise`, whose sensitivity is the reach of the combination times the rows of a person (`docs/proofs/workloads.md`).
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
        check_integers(exact, size=self.combination.cells)
        # No sum may leave int64. Clamping cells moves no neighbour further away, and no count of rows comes near the limit.
        counts = np.clip(exact.reshape(-1).astype(np.int64, copy=False), 0, _ROOM // self.combination.most)
        return self.combination.after(self.noise.release(self.combination.before(counts), bits))

    def error(self, confidence: Number) -> float:
        return self.noise.error(confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What may be spent, and for whom it counts: `rho` buys Gaussian noise, `epsilon` Laplace noise.

    Args:
        rho: The zCDP that may be spent.
        epsilon: The pure epsilon, instead.
        rows_per_person: How many rows of a person can count, at most.
        neighbours: What a person changes: rows that come or go, or rows that are replaced.
    """

    rho: Number | None = None
    epsilon: Number | None = None
    rows_per_person: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        if (self.rho is None) == (self.epsilon is None):
            raise BadEpsilon("A workload has one price.", next_step="Give either rho or epsilon.")
        read_epsilon(
            self.rho if self.epsilon is None else self.epsilon, name="rho" if self.epsilon is None else "epsilon"
        )
        object.__setattr__(self, "rows_per_person", read_count(self.rows_per_person, name="rows_per_person"))
        object.__setattr__(self, "neighbours", read_neighbours(self.neighbours))

    @property
    def gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        return self.epsilon is None

    @property
    def amount(self) -> Fraction:
        """In rho or epsilon."""
        if self.epsilon is None:
            return read_epsilon(self.rho, name="rho")
        return read_epsilon(self.epsilon)

    def unit(self, combination: Combination) -> float:
        """One over the variance of the noise of a combination that gets the whole price."""
        reach, amount = combination.reach(self.neighbours), float(self.amount)
        if self.gaussian:
            return 2 * amount / (self.rows_per_person**2 * float(reach.squares))
        return amount**2 / (2 * self.rows_per_person**2 * reach.total**2)

    def measurements(self, combinations: Sequence[Combination], shares: Floats) -> tuple[Measurement | None, ...]:
        """Combinations with the noise that a division of the price buys: together never more than it.

        Args:
            combinations: What is measured.
            shares: How the price is divided, rounded down; what has none is not measured.
        """
        parts = [Fraction(share) for share in shares.tolist()]
        each = self.amount * _GRAIN / sum(parts)
        grains = [math.floor(each * part) for part in parts]
        pairs = zip(combinations, grains, strict=True)
        return tuple(self._measurement(c, Fraction(part, _GRAIN)) if part else None for c, part in pairs)

    def _measurement(self, combination: Combination, part: Fraction) -> Measurement:
        reach, rows, size = combination.reach(self.neighbours), self.rows_per_person, combination.size
        if self.gaussian:
            far = root_above(rows**2 * reach.squares)
            return Measurement(combination=combination, noise=Gaussian.for_rho(sensitivity=far, rho=part, size=size))
        laplace = Laplace(sensitivity=rows * reach.total, epsilon=part, size=size)
        return Measurement(combination=combination, noise=laplace)


def root_above(square: Fraction) -> Fraction:
    """The square root, rounded up by less than one part in 2**40; exact where it is a fraction."""
    over = square.numerator * square.denominator
    root = math.isqrt(over)
    if root * root == over:
        return Fraction(root, square.denominator)
    return Fraction(math.isqrt(over << 80) + 1, square.denominator << 40)

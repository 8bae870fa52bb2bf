"""What a model sees of coded rows: a vector of whole numbers for each row, and how far one person can move what is added up of it.

The vector begins with SCALE. A column is then one number from -SCALE to SCALE, or a cell for each code: SCALE in the cell of the row's code and 0 in the
others. The norms are proved in `docs/explanation/proofs/learning.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.loss import Neighbours
from discreet.engines.tables.residual_sums import Curve, Partition, Residuals, Score, Split
from discreet.errors import BadInput, TooLarge
from discreet.measurement.domain import Domain
from discreet.measurement.measurer import Counts, Measurer
from discreet.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip

SCALE = 2**10
WEIGHTS = 512
"""Weights of a pass are whole multiples of 1 / WEIGHTS, times WEIGHTS."""
WHOLE = 2**10
"""A probability of 1, in residuals."""
LARGEST_WEIGHT = 64 * WEIGHTS
MOST_CELLS = 2_000
"""Of a vector: its products are two million numbers."""
IMPURITY = 64
"""Scores of splits are whole multiples of 1 / IMPURITY, times IMPURITY."""
_STEPS_OF_ONE = 256
_FARTHEST = 16
"""Curves are tables with so many steps to one, out to so far on either side."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of codes as numbers: one number a code, from -SCALE to SCALE; or, without any, a cell a code."""

    column: str
    size: int
    numbers: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.numbers is not None and (
            len(self.numbers) != self.size or not all(-SCALE <= number <= SCALE for number in self.numbers)
        ):
            raise BadInput("A number of a code lies from -SCALE to SCALE.", next_step="Put it on that grid.")

    @property
    def width(self) -> int:
        """How many places it has in the vector."""
        return self.size if self.numbers is None else 1


@dataclass(frozen=True)
class Design:
    """The vector that a row becomes, from public facts alone."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        names = [attribute.column for attribute in self.attributes]
        if not names or len(set(names)) < len(names):
            raise BadInput("A model needs columns of different names.", next_step="Name each column once.")
        if self.width > MOST_CELLS:
            raise TooLarge(
                f"The model has {self.width:,} numbers to learn, more than {MOST_CELLS:,}.",
                next_step="Leave columns out, or ask for fewer bins.",
            )

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each attribute begins, after the constant; then the width of all."""
        return tuple(np.cumsum([1, *(attribute.width for attribute in self.attributes)]).tolist())

    @property
    def width(self) -> int:
        return self.starts[-1]

    @property
    def blocks(self) -> tuple[slice, ...]:
        """The places of each attribute."""
        return tuple(slice(a, b) for a, b in zip(self.starts, self.starts[1:], strict=False))

    @property
    def described(self) -> list[Any]:
        """As JSON has it."""
        return [
            [attribute.column, attribute.size, None if attribute.numbers is None else list(attribute.numbers)]
            for attribute in self.attributes
        ]

    # How far one row moves things, squared

    @property
    def squares(self) -> int:
        """The largest square of a row's length: SCALE squared for the constant and for each attribute."""
        return (1 + len(self.attributes)) * SCALE**2

    @cached_property
    def products(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of places whose products are measured. Within an attribute of cells they are 0, or the products with the constant."""
        first, second = np.triu_indices(self.width)
        block = np.zeros(self.width, np.int64)
        for number, places in enumerate(self.blocks):
            block[places] = number + 1
        is_number = np.array([True, *(attribute.numbers is not None for attribute in self.attributes)])
        measured = (block[first] != block[second]) | is_number[block[first]]
        return first[measured], second[measured]

    def products_reach(self, neighbours: Neighbours) -> int:
        """Of all products together: one of each pair of attributes is at most SCALE**2, and so is the square of a number.

        Where a row is replaced by another the two squares add up, less twice the inner product. Only numbers make that negative, and then by no
        more than half of SCALE**4 for each attribute of cells.
        """
        columns, numbers = 1 + len(self.attributes), sum(each.numbers is not None for each in self.attributes)
        cells = len(self.attributes) - numbers
        once = columns * (columns - 1) // 2 + 1 + numbers
        if neighbours is Neighbours.ADD_REMOVE:
            return once * SCALE**4
        return (2 * once + (cells if numbers else 0)) * SCALE**4

    def gradient_reach(self, residuals: Residuals, neighbours: Neighbours) -> int:
        """Of the sums of a row's residuals times its vector: the product of two lengths; of two rows, twice that."""
        return residuals.squares * self.squares * (1 if neighbours is Neighbours.ADD_REMOVE else 4)

    # Residuals

    def score(self, weights: Sequence[int], places: Mapping[str, int]) -> Score:
        """The sum of weights times the vector; `places` are the numbers of columns."""
        entries = {}
        for attribute, block in zip(self.attributes, self.blocks, strict=True):
            own = [int(weight) for weight in weights[block]]
            scaled = (
                [weight * SCALE for weight in own]
                if attribute.numbers is None
                else [own[0] * x for x in attribute.numbers]
            )
            entries[places[attribute.column]] = tuple(scaled)
        return Score(entries, int(weights[0]) * SCALE)

    def residuals(self, weights: NDArray[np.int64], label: str, domain: Domain) -> Residuals:
        """Predicted less true, in parts of WHOLE: for one row of weights the chance of the second of two classes, for several the chance of each."""
        check_weights(weights, self.width)
        places = {name: at for at, name in enumerate(domain.names)}
        scores, classes = tuple(self.score(row, places) for row in weights), domain.column(label).size
        if len(scores) == 1 and classes == 2:
            return Residuals(scores, curve=_sigmoid(), label=places[label], labels=((0, WHOLE),))
        if len(scores) != classes:
            raise BadInput("There is one row of weights for each class.", next_step="Give as many.")
        labels = tuple(tuple(WHOLE if code == k else 0 for code in range(classes)) for k in range(classes))
        return Residuals(scores, curve=_exponential(), whole=WHOLE, label=places[label], labels=labels)

    def matrix(self, products: NDArray[Any]) -> NDArray[np.float64]:
        """All products as a symmetric matrix, from those that were measured."""
        first, second = self.products
        whole = np.zeros((self.width, self.width))
        whole[first, second] = products
        whole[second, first] = products
        for attribute, places in zip(self.attributes, self.blocks, strict=True):
            if attribute.numbers is None:
                cells = np.arange(places.start, places.stop)
                whole[cells, cells] = whole[0, cells]
        return whole


def check_weights(weights: NDArray[np.int64], width: int) -> None:
    """Whole multiples of 1 / WEIGHTS, none of them too large."""
    whole = isinstance(weights, np.ndarray) and weights.dtype == np.int64 and weights.ndim == 2
    if not whole or weights.shape[1] != width or np.abs(weights).max() > LARGEST_WEIGHT:
        raise BadInput("Weights are rounded and bounded before a pass.", next_step="Make them with `on_weights`.")


def on_weights(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as a pass takes them: the nearest multiples of 1 / WEIGHTS, times WEIGHTS."""
    return np.clip(np.rint(np.nan_to_num(weights) * WEIGHTS), -LARGEST_WEIGHT, LARGEST_WEIGHT).astype(np.int64)


@cache
def _sigmoid() -> Curve:
    steps = np.arange(-_FARTHEST * _STEPS_OF_ONE, _FARTHEST * _STEPS_OF_ONE + 1) / _STEPS_OF_ONE
    return _curve(np.rint(WHOLE / (1 + np.exp(-steps))), beyond=_FARTHEST)


@cache
def _exponential() -> Curve:
    steps = np.arange(-_FARTHEST * _STEPS_OF_ONE, 1) / _STEPS_OF_ONE
    return _curve(np.rint(2**20 * np.exp(steps)), beyond=_FARTHEST)


def _curve(entries: NDArray[np.float64], *, beyond: int) -> Curve:
    """A step of the table is one or more steps of a score, which are 1 / (WEIGHTS · SCALE)."""
    shift = (WEIGHTS * SCALE // _STEPS_OF_ONE).bit_length() - 1
    offset = beyond * WEIGHTS * SCALE + (1 << shift >> 1)
    return Curve(tuple(int(entry) for entry in entries), offset, shift)


def impurity(counts: NDArray[np.int64]) -> int:
    """N · (1 - Σ(p/n)²) of counts by label, times IMPURITY, rounded down. One more row moves it up, by at most twice IMPURITY."""
    total = int(counts.sum())
    if not total:
        return 0
    return IMPURITY * total - -(-IMPURITY * sum(int(count) ** 2 for count in counts) // total)


@dataclass(frozen=True, slots=True)
class Deciding:
    """What class a row is decided to be of, from public numbers alone: the one with the largest score, or that of the part it is in."""

    classes: int
    scores: tuple[Score, ...] = ()
    partition: Partition = ()
    class_of_part: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        by_score = len(self.scores) == self.classes and not self.partition and not self.class_of_part
        by_part = not self.scores and len(self.class_of_part) == 2 ** len(self.partition)
        if not (by_score or by_part) or not all(0 <= decided < self.classes for decided in self.class_of_part):
            raise BadInput(
                "A model decides by a score for each class, or by a class for each part.",
                next_step="Evaluate it as it was learned.",
            )

    @property
    def described(self) -> str:
        """What it is, in short: two that are described alike are the same."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


class SumMeasurer(Measurer, Protocol):
    """A measurer that also adds up vectors of rows, and divides rows into parts."""

    def products_noise(self, design: Design, share: Fraction) -> Gaussian:
        """The mechanism that measures all products for so much. Nothing is spent."""

    def products(self, design: Design, mechanism: Gaussian) -> Counts:
        """The sums of products of places, in the order of `design.products`, with noise."""

    def gradient_noise(self, design: Design, label: str, rows: int, share: Fraction) -> Gaussian:
        """The mechanism of a pass with so many rows of weights, for so much. Nothing is spent."""

    def gradient(self, design: Design, label: str, weights: Counts, mechanism: Gaussian) -> Counts:
        """The sums of residuals times the vector, with noise: a row for each row of weights."""

    def split_choice(self, candidates: int, share: Fraction) -> Exponential | PermuteAndFlip:
        """The mechanism that chooses a split in each part of a level, for so much. Nothing is spent."""

    def splits(
        self, partition: Partition, candidates: Sequence[Split], label: str, mechanism: Exponential | PermuteAndFlip
    ) -> list[Split]:
        """For each part, a candidate that leaves labels nearly as pure as the best, noisily."""

    def parts(self, partition: Partition, label: str, mechanism: Gaussian | Laplace) -> Counts:
        """How many rows of each part have each label, with noise."""

    def confusion(self, deciding: Deciding, label: str, mechanism: Gaussian | Laplace) -> Counts:
        """How many rows of each label are decided to be of each class, with noise: a row for each class."""

    def confusion_noise(self, deciding: Deciding, label: str, share: Fraction) -> Gaussian | Laplace:
        """The mechanism of that, for so much. Nothing is spent."""

    def error_choice(self, hypotheses: int, share: Fraction) -> Exponential:
        """The mechanism that chooses one of so many hypotheses by their errors, for so much. Nothing is spent."""

    def fewest_errors(
        self,
        says: Callable[[Counts], NDArray[np.bool_]],
        label: str,
        digest: str,
        mechanism: Exponential,
    ) -> int:
        """The hypothesis that errs on few rows, noisily: `says` has for rows of codes of all columns but the label, which is the last, whether each
        hypothesis says yes, which is right for the second label; `digest` names the class.
        """

    def parts_noise(self, levels: int, label: str, share: Fraction) -> Gaussian | Laplace:
        """The mechanism of `parts` after so many levels of splits, for so much. Nothing is spent."""


__all__ = ["Attribute", "Deciding", "Design", "Partition", "Score", "Split", "SumMeasurer"]

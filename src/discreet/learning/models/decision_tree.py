"""A decision tree: private selection of a split level by level, then noisy counts in the leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from discreet.core.exact import read_count
from discreet.errors import TooLarge
from discreet.learning.data.features import is_numeric, name_of
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Floats
from discreet.learning.models.product_moments import end_name, label_name
from discreet.learning.runs.measurement_plan import NoisyMeasurement, Work
from discreet.learning.runs.model_card import LearnedNumber
from discreet.measurement.domain import Bin, Column, Domain
from discreet.measurement.feature_vectors import IMPURITY, MOST_CELLS, Deciding, Partition, Split, SumMeasurer
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip

MOST_DEPTH = 8
_SCORED = 4e-5
"""Seconds for the score of a split in a leaf, and in all parts above it."""
Choice: TypeAlias = Exponential | PermuteAndFlip


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTree(Classifier):
    """Splits by one column each, and the probability of each class in each leaf.

    Pure epsilon-DP if the cost is an epsilon.

    The interval of a probability covers the noise of its leaf's counts.

    Args:
        depth: Number of splits above a leaf.
    """

    depth: int = 5
    partition: Partition = field(init=False)
    chances: Floats = field(init=False)
    """A row for each leaf, a column for each class."""
    deviations: Floats = field(init=False)

    bins = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        read_count(self.depth, name="depth", most=MOST_DEPTH)

    def _settings(self) -> dict[str, Any]:
        return {"depth": self.depth}

    def check(self, domain: Domain) -> None:
        super().check(domain)
        codes = sum(domain.column(name_of(feature)).size for feature in self.features)
        if codes > MOST_CELLS:
            raise TooLarge(
                f"The columns of this tree have {codes:,} values together, more than {MOST_CELLS:,}.",
                next_step="Remove columns, or use fewer bins.",
            )

    def work(self, domain: Domain) -> Work:
        scored = 2**self.depth * self._queries(domain)
        return Work((self.depth + 1) * len(domain.columns), _SCORED * scored)

    def _queries(self, domain: Domain) -> int:
        return sum(len(_firsts(domain.column(name_of(feature)))) for feature in self.features)

    def _candidates(self, domain: Domain) -> list[Split]:
        columns = [(domain.names.index(name_of(feature)), domain.column(name_of(feature))) for feature in self.features]
        return [Split(at, sides) for at, column in columns for sides in _sides(column)]

    def _noises(self, measurer: SumMeasurer) -> tuple[list[Choice], Gaussian | Laplace]:
        """Return the noise of the choice at each level, and of the counts in the leaves."""
        weights = [2 * self.depth + level for level in range(self.depth)]  # scores of deeper splits differ less
        *levels, leaves = measurer.shares([*weights, sum(weights) / 3])
        count = self._queries(measurer.domain)
        choices = [measurer.split_choice(count, share) for share in levels]
        return choices, measurer.parts_noise(self.depth, self.target, leaves)

    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Any]]:
        choices, leaves = self._noises(measurer)
        levels = [NoisyMeasurement("splits", 2**level, choice, IMPURITY) for level, choice in enumerate(choices)]
        return [*levels, NoisyMeasurement("parts", leaves.size, leaves)]

    def measure(self, measurer: SumMeasurer) -> None:
        candidates = self._candidates(measurer.domain)
        choices, leaves = self._noises(measurer)
        chosen: Partition = ()
        for choice in choices:
            chosen = (*chosen, tuple(measurer.splits(chosen, candidates, self.target, choice)))
        measurer.parts(chosen, self.target, leaves)

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        candidates = self._candidates(domain)
        *levels, leaves = transcript.steps
        self.partition = tuple(tuple(candidates[at] for at in step.outcome) for step in levels)
        counts = leaves.outcome.reshape(2**self.depth, -1).astype(np.float64)
        self.chances, self.deviations = _chances(counts, leaves.noise.sigma)

    def _leaves(self, rows: Any) -> Any:
        codes = self.codes(rows)
        leaf = np.zeros(len(codes), np.int64)
        for level in self.partition:
            sides = np.zeros(len(codes), np.int64)
            for part, split in enumerate(level):
                inside = (leaf == part) & (codes[:, split.column] >= 0)
                sides[inside] = np.array(split.is_second, np.int64)[codes[inside, split.column]]
            leaf = 2 * leaf + sides
        return leaf

    def deciding(self) -> Deciding:
        likeliest = tuple(int(k) for k in self.chances.argmax(axis=1))
        return Deciding(len(self.classes_), partition=self.partition, class_of_part=likeliest)

    def predict_proba(self, rows: Any) -> Floats:
        return self.chances[self._leaves(rows)]

    @property
    def learned(self) -> list[LearnedNumber]:
        return [
            LearnedNumber(
                f"P({label} | {self._path(leaf)})", float(self.chances[leaf, k]), float(self.deviations[leaf, k])
            )
            for leaf in range(len(self.chances))
            for k, label in enumerate(self.classes_)
        ]

    def _path(self, leaf: int) -> str:
        """Return the conditions on the path to a leaf."""
        parts = []
        for depth, level in enumerate(self.partition):
            split = level[leaf >> (self.depth - depth)]
            is_second = bool(leaf >> (self.depth - depth - 1) & 1)
            parts.append(("" if is_second else "not ") + _query(self.domain.columns[split.column], split))
        return ", ".join(parts)


def _numbers(column: Column) -> int:
    """Return the number of codes without NULL."""
    return sum(label is not None for label in column.labels)


def _firsts(column: Column) -> range:
    """Return the first code of the second side of each split of a column."""
    return range(1, _numbers(column)) if is_numeric(column) else range(column.size)


def _sides(column: Column) -> Iterator[tuple[bool, ...]]:
    """Yield each split of a column: numbers by the ends of bins, other values one against the rest.

    NULL is never above an end.
    """
    for first in _firsts(column):
        beyond = _numbers(column) if is_numeric(column) else first + 1
        yield tuple(first <= code < beyond for code in range(column.size))


def _query(column: Column, split: Split) -> str:
    first = split.is_second.index(True)
    if not is_numeric(column):
        return label_name(column.name, column.labels[first])
    label = column.labels[first]
    return f"{column.name} >= {end_name(label.lower if isinstance(label, Bin) else label)}"


def _chances(counts: Floats, noise: float) -> tuple[Floats, Floats]:
    """Return the shares of classes in each leaf, or in the smallest part around it whose counts exceed the noise."""
    leaves = len(counts)
    chances, deviations = np.zeros_like(counts), np.zeros_like(counts)
    for leaf in range(leaves):
        size = 1
        while True:
            first = leaf // size * size
            inside = counts[first : first + size].sum(axis=0)
            deviation = noise * math.sqrt(size)
            if size >= leaves or inside.sum() > 2 * deviation * math.sqrt(counts.shape[1]):
                break
            size *= 2
        kept = np.maximum(inside, 0) + 1e-9
        total = max(float(kept.sum()), deviation)
        chances[leaf] = kept / kept.sum()
        others = (counts.shape[1] - 1) * chances[leaf] ** 2
        deviations[leaf] = deviation / total * np.sqrt((1 - chances[leaf]) ** 2 + others)
    return chances, deviations

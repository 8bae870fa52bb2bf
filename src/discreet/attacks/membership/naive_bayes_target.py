"""Naive Bayes from counts: a model that an analyst of Discreet can train from noisy answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_AT_LEAST = 0.5
"""Lower noisy counts are replaced by this, so that every probability is positive."""


@dataclass(frozen=True, slots=True)
class NaiveBayes:
    """P(label) and P(value | label) for every column, from (noisy) counts of label and value."""

    counts: Sequence[Floats]
    """One table per column of the data, with labels as rows and values as columns."""

    def log_joint(self, rows: Ints) -> Floats:
        """Return log P(label, row), with one row per row and one column per label."""
        tables = [np.maximum(table, _AT_LEAST) for table in self.counts]
        people = np.mean([table.sum(axis=1) for table in tables], axis=0)
        joint = np.tile(np.log(people / people.sum()), (len(rows), 1))
        for number, table in enumerate(tables):
            given_label = np.log(table / table.sum(axis=1, keepdims=True))
            joint += given_label[:, rows[:, number]].T
        return joint

    def confidences(self, rows: Ints, labels: Ints) -> Floats:
        """Return the confidence in the given label, for each row."""
        joint = self.log_joint(rows)
        joint -= joint.max(axis=1, keepdims=True)
        shares = np.exp(joint)
        return shares[np.arange(len(rows)), labels] / shares.sum(axis=1)


def exact_counts(rows: Ints, labels: Ints, *, values: int, classes: int) -> list[Floats]:
    """Return the tables needed for training, without noise."""
    return [
        np.bincount(labels * values + column, minlength=classes * values).reshape(classes, values).astype(np.float64)
        for column in rows.T
    ]

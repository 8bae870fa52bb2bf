"""The quality of a classifier on protected rows: a noisy confusion matrix, and what is computed from it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.learning.models.learned_model import Floats
from discreet.learning.runs.model_card import Card, LearnedNumber
from discreet.measurement.domain import plain
from discreet.measurement.feature_vectors import Deciding, SumMeasurer
from discreet.measurement.run_release import RunRelease
from discreet.mechanisms import Adaptive

PURPOSE = "evaluate"


def measure(measurer: SumMeasurer, *, deciding: Deciding, label: str) -> None:
    """Take the one measurement of an evaluation.

    Args:
        measurer: Measures the rows.
        deciding: Decisions of the model.
        label: Column of the true classes.
    """
    measurer.confusion(deciding, label, measurer.confusion_noise(deciding, label, measurer.left))


class Evaluation(RunRelease, kind=PURPOSE):
    """A noisy confusion matrix; accuracy, precision and recall with intervals.

    Rows are decided classes, columns true ones.
    """

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of the matrix."""
        return self.domain.column(self.purpose["label"]).labels

    @property
    def summary(self) -> dict[str, Any]:
        """The release and its counts as JSON."""
        (width,) = (row["value"] for row in self.card().half_widths(CONFIDENCE)[:1])
        accuracy = {"value": self.accuracy.value, "within": width}
        classes = [plain(label) for label in self.classes]
        return {**super().summary, "classes": classes, "matrix": self.matrix.tolist(), "accuracy": accuracy}

    @cached_property
    def matrix(self) -> Any:
        """The noisy counts, which can be negative."""
        return self.transcript.steps[0].outcome.reshape(len(self.classes), -1)

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of each count."""
        return self.transcript.steps[0].noise.sigma

    @property
    def accuracy(self) -> LearnedNumber:
        """Share of rows whose class is decided correctly."""
        return self._share("accuracy", np.eye(len(self.classes)), np.ones_like(self.matrix))

    def _share(self, name: str, inside: Floats, whole: Floats) -> LearnedNumber:
        """Return the share of the counts in `whole` that are in `inside`, and its deviation to first order."""
        total = max(float((self.matrix * whole).sum()), self.deviation, 1.0)
        share = min(max(float((self.matrix * inside).sum()) / total, 0.0), 1.0)
        moved = math.sqrt(float(((inside - share * whole) ** 2).sum()))
        return LearnedNumber(name, share, self.deviation * moved / total)

    def card(self) -> Card:
        """Return all shares and counts with their intervals."""
        count = len(self.classes)
        shares = [self.accuracy]
        for k, label in enumerate(self.classes):
            one, decided, true = np.zeros((3, count, count))
            one[k, k], decided[k, :], true[:, k] = 1, 1, 1
            shares += [self._share(f"precision of {label}", one, decided), self._share(f"recall of {label}", one, true)]
        counts = [
            LearnedNumber(f"{decided_as} where it is {label}", float(self.matrix[a, b]), self.deviation)
            for a, decided_as in enumerate(self.classes)
            for b, label in enumerate(self.classes)
        ]
        budget = self.budget
        loss = Loss(budget.epsilon_at(1e-6), 1e-6) if isinstance(budget, Adaptive) else Loss(budget.pure_epsilon)
        return Card(loss=loss, replayed=self.replayed, receipt=self.receipt, learned=(*shares, *counts), remarks=())

"""How well a model decides about protected rows: a noisy table of classes that were decided and that are true, and what follows from it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.learning.models.learned_model import Floats
from discreet.learning.runs.model_card import Card, Learned
from discreet.measurement.domain import plain
from discreet.measurement.feature_vectors import Deciding, SumMeasurer
from discreet.measurement.run_release import RunRelease
from discreet.mechanisms import Adaptive

PURPOSE = "evaluate"


def measure(measurer: SumMeasurer, *, deciding: Deciding, label: str) -> None:
    """The one look of an evaluation.

    Args:
        measurer: Of the rows.
        deciding: What the model decides.
        label: The column of true classes.
    """
    measurer.confusion(deciding, label, measurer.confusion_noise(deciding, label, measurer.left))


class Evaluation(RunRelease, kind=PURPOSE):
    """Noisy counts: a row for each class that is decided, a column for each that is true; and accuracy, precision and recall with their ±."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """In order."""
        return self.domain.column(self.purpose["label"]).labels

    @property
    def summary(self) -> dict[str, Any]:
        """What it was made of, and what was counted, in JSON."""
        (width,) = (row["value"] for row in self.card().half_widths(CONFIDENCE)[:1])
        accuracy = {"value": self.accuracy.value, "within": width}
        classes = [plain(label) for label in self.classes]
        return {**super().summary, "classes": classes, "matrix": self.matrix.tolist(), "accuracy": accuracy}

    @cached_property
    def matrix(self) -> Any:
        """The counts, which may be negative."""
        return self.transcript.steps[0].outcome.reshape(len(self.classes), -1)

    @property
    def deviation(self) -> float:
        """Of the noise of each count."""
        return self.transcript.steps[0].noise.sigma

    @property
    def accuracy(self) -> Learned:
        """The share of rows that are decided rightly."""
        return self._share("accuracy", np.eye(len(self.classes)), np.ones_like(self.matrix))

    def _share(self, name: str, inside: Floats, whole: Floats) -> Learned:
        """Of the counts in `whole`, the share of those in `inside`; its deviation to first order."""
        total = max(float((self.matrix * whole).sum()), self.deviation, 1.0)
        share = min(max(float((self.matrix * inside).sum()) / total, 0.0), 1.0)
        moved = math.sqrt(float(((inside - share * whole) ** 2).sum()))
        return Learned(name, share, self.deviation * moved / total)

    def card(self) -> Card:
        """All shares and counts, each with its ±."""
        count = len(self.classes)
        shares = [self.accuracy]
        for k, label in enumerate(self.classes):
            one, decided, true = np.zeros((3, count, count))
            one[k, k], decided[k, :], true[:, k] = 1, 1, 1
            shares += [self._share(f"precision of {label}", one, decided), self._share(f"recall of {label}", one, true)]
        counts = [
            Learned(f"{said} where it is {label}", float(self.matrix[a, b]), self.deviation)
            for a, said in enumerate(self.classes)
            for b, label in enumerate(self.classes)
        ]
        budget = self.budget
        loss = Loss(budget.epsilon_at(1e-6), 1e-6) if isinstance(budget, Adaptive) else Loss(budget.pure_epsilon)
        return Card(loss=loss, replayed=self.replayed, receipt=self.receipt, learned=(*shares, *counts), remarks=())

"""Models that memorize their training data, published with their confidences."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[Any]


class Model(Protocol):
    """What a service offers for a model: confidences only."""

    def confidences(self, rows: Rows, labels: Rows) -> Floats:
        """Return the confidence in the given label, for each row."""
        ...


class Fitted:
    """A scikit-learn classifier."""

    def __init__(self, classifier: Any, rows: Rows, labels: Rows) -> None:
        self._classifier = classifier.fit(rows, labels)

    def confidences(self, rows: Rows, labels: Rows) -> Floats:
        """Return confidences; 0 for labels that are not in the training data."""
        classes = list(self._classifier.classes_)
        all_of_them = np.column_stack([self._classifier.predict_proba(rows), np.zeros(len(rows))])
        columns = {label: number for number, label in enumerate(classes)}
        return all_of_them[np.arange(len(rows)), [columns.get(label, -1) for label in labels]]


def forest(rows: Rows, labels: Rows, *, trees: int, rng: np.random.Generator) -> Fitted:
    """Fit deep trees, each on a sample of the people; they agree on people in the training data."""
    ensemble = import_module("sklearn.ensemble")
    seed = int(rng.integers(2**31))
    return Fitted(ensemble.RandomForestClassifier(trees, random_state=seed, n_jobs=1), rows, labels)


def neighbours(rows: Rows, labels: Rows, *, many: int) -> Fitted:
    """Fit nearest neighbours weighted by distance: a person in the training data gets their own label."""
    model = import_module("sklearn.neighbors").KNeighborsClassifier(min(many, len(rows)), weights="distance")
    return Fitted(model, rows, labels)


def tree(rows: Rows, labels: Rows, *, depth: int | None, rng: np.random.Generator) -> Fitted:
    """Fit one tree without a depth limit: its leaf nodes are single people."""
    kind = import_module("sklearn.tree").DecisionTreeClassifier
    seed = int(rng.integers(2**31))
    return Fitted(kind(criterion="entropy", max_depth=depth, random_state=seed), rows, labels)

"""Models that were published with their confidences, and that know their training data by heart."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[Any]


class Model(Protocol):
    """What a service offers for a model: confidences, and no more."""

    def confidences(self, rows: Rows, labels: Rows) -> Floats:
        """For every row, how sure it is of that label."""
        ...


class Fitted:
    """A scikit-learn classifier."""

    def __init__(self, classifier: Any, rows: Rows, labels: Rows) -> None:
        self._classifier = classifier.fit(rows, labels)

    def confidences(self, rows: Rows, labels: Rows) -> Floats:
        """0 for labels that were not among those it learned."""
        classes = list(self._classifier.classes_)
        all_of_them = np.column_stack([self._classifier.predict_proba(rows), np.zeros(len(rows))])
        columns = {label: number for number, label in enumerate(classes)}
        return all_of_them[np.arange(len(rows)), [columns.get(label, -1) for label in labels]]


def forest(rows: Rows, labels: Rows, *, trees: int, rng: np.random.Generator) -> Fitted:
    """Deep trees, each grown on a sample of the people; they agree on those whom they have seen."""
    ensemble = import_module("sklearn.ensemble")
    seed = int(rng.integers(2**31))
    return Fitted(ensemble.RandomForestClassifier(trees, random_state=seed, n_jobs=1), rows, labels)


def neighbours(rows: Rows, labels: Rows, *, many: int) -> Fitted:
    """The nearest people vote, the nearer the louder: somebody who is in the data has their own label."""
    model = import_module("sklearn.neighbors").KNeighborsClassifier(min(many, len(rows)), weights="distance")
    return Fitted(model, rows, labels)


def tree(rows: Rows, labels: Rows, *, depth: int | None, rng: np.random.Generator) -> Fitted:
    """One tree, as deep as it likes: its leaves are single people."""
    kind = import_module("sklearn.tree").DecisionTreeClassifier
    seed = int(rng.integers(2**31))
    return Fitted(kind(criterion="entropy", max_depth=depth, random_state=seed), rows, labels)

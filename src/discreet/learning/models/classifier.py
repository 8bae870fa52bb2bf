"""What classifiers share. The classes are parameters; they are never inferred from labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput, NeedsValues
from discreet.learning.data.features import Feature, name_of
from discreet.learning.models.learned_model import Floats, Model
from discreet.measurement.domain import Column, Domain
from discreet.measurement.feature_vectors import Deciding, Score
from discreet.mechanisms.values.value_reading import read_items

MOST_CLASSES = 64
_STEPS, _FAR = 1024, 2.0**20


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(Model):
    """A model that estimates the probability of each class.

    Args:
        classes: All classes, from public knowledge; rows of other classes are dropped. A curator takes them from the
            catalog.
        target: Column of the classes, if a curator learns.
    """

    classes: Sequence[Any] | None = None
    target: str = "y"

    @property
    def all_features(self) -> list[Feature]:
        return [*self.features, self.target]

    @property
    def label(self) -> str | None:
        return self.target

    def _declared_columns(self) -> list[Any]:
        if self.classes is None:
            raise NeedsValues("The classes are not public.", next_step="Give classes=[0, 1], from public knowledge.")
        return [*super()._declared_columns(), Column(self.target, tuple(self.classes))]

    def bins_in(self, feature: Feature) -> int | None:
        return None if feature == self.target else super().bins_in(feature)

    def check(self, domain: Domain) -> None:
        count = domain.column(self.target).size
        if not 2 <= count <= MOST_CLASSES:
            raise BadInput(f"A target has from 2 to {MOST_CLASSES} classes.", next_step="Name another target.")

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of `predict_proba`."""
        labels = self.domain.column(self.target).labels
        array = np.empty(len(labels), object)
        array[:] = labels
        return np.array(labels) if len({type(label) for label in labels}) == 1 else array

    @property
    def feature_names_in_(self) -> list[str]:
        """Names of the features."""
        return [name_of(feature) for feature in self.features]

    @abstractmethod
    def deciding(self) -> Deciding:
        """Return its decisions as integer scores or splits of codes: an engine can count with them how often it is
        right.
        """

    def _by_scores(self, constants: Floats, tables: Mapping[str, Floats]) -> Deciding:
        """Decide for the class with the largest sum of scores, rounded to 1/1024."""
        rounded = np.rint(np.clip(constants, -_FAR, _FAR) * _STEPS).astype(np.int64)
        tables_at = {
            self.domain.names.index(name): np.rint(np.clip(table, -_FAR, _FAR) * _STEPS)
            for name, table in tables.items()
        }
        scores = [
            Score({at: tuple(int(x) for x in table[:, k]) for at, table in tables_at.items()}, int(rounded[k]))
            for k in range(len(rounded))
        ]
        return Deciding(len(rounded), tuple(scores))

    @abstractmethod
    def predict_proba(self, rows: Any) -> Floats:
        """Estimate the probability of each class, one row per row.

        Args:
            rows: In a form that `fit` reads.
        """

    def predict(self, rows: Any) -> NDArray[Any]:
        """Predict the most likely class of each row.

        Args:
            rows: In a form that `fit` reads.
        """
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def score(self, rows: Any, y: Any) -> float:
        """Return the share of rows whose class is predicted.

        It is exact and not private: use it on public or your own rows.

        Args:
            rows: In a form that `fit` reads.
            y: Their classes.
        """
        predicted, true = self.predict(rows).tolist(), read_items(y)
        return sum(a == b for a, b in zip(predicted, true, strict=True)) / max(len(predicted), 1)

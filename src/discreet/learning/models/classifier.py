"""What models of classes share: the classes are parameters, never read off the labels."""

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
    """A model that says how likely each class is.

    Args:
        classes: All classes, from public knowledge; rows of others are left out. A curator has them from the catalog.
        target: The column of classes, where a curator learns.
    """

    classes: Sequence[Any] | None = None
    target: str = "y"

    @property
    def wanted(self) -> list[Feature]:
        return [*self.features, self.target]

    @property
    def label(self) -> str | None:
        return self.target

    def _columns_at_hand(self) -> list[Any]:
        if self.classes is None:
            raise NeedsValues("The classes are not public.", next_step="Give classes=[0, 1], from public knowledge.")
        return [*super()._columns_at_hand(), Column(self.target, tuple(self.classes))]

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
        """The names of the features."""
        return [name_of(feature) for feature in self.features]

    @abstractmethod
    def deciding(self) -> Deciding:
        """What it decides about a row, from codes and whole numbers alone: for an engine that counts how often it is right."""

    def _by_scores(self, constants: Floats, tables: Mapping[str, Floats]) -> Deciding:
        """The class with the largest sum; numbers are rounded to 1/1024."""
        rounded = np.rint(np.clip(constants, -_FAR, _FAR) * _STEPS).astype(np.int64)
        places = {
            self.domain.names.index(name): np.rint(np.clip(table, -_FAR, _FAR) * _STEPS)
            for name, table in tables.items()
        }
        scores = [
            Score({at: tuple(int(x) for x in table[:, k]) for at, table in places.items()}, int(rounded[k]))
            for k in range(len(rounded))
        ]
        return Deciding(len(rounded), tuple(scores))

    @abstractmethod
    def predict_proba(self, rows: Any) -> Floats:
        """How likely each class is, a row each.

        Args:
            rows: As `fit` takes them.
        """

    def predict(self, rows: Any) -> NDArray[Any]:
        """The likeliest class of each row.

        Args:
            rows: As `fit` takes them.
        """
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def score(self, rows: Any, y: Any) -> float:
        """The share of rows at hand whose class is predicted. It is exact, and so not private: for rows that are public or one's own.

        Args:
            rows: As `fit` takes them.
            y: Their classes.
        """
        predicted, true = self.predict(rows).tolist(), read_items(y)
        return sum(a == b for a, b in zip(predicted, true, strict=True)) / max(len(predicted), 1)

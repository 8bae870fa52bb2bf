"""A model as what comes of a run: found by its name, saved and loaded, with nothing private in it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadRelease
from discreet.learning.data.features import Feature, feature_from_json
from discreet.learning.data.hypotheses import hypotheses_from_json, size_of
from discreet.learning.models.clusters import KMeans
from discreet.learning.models.components import PCA
from discreet.learning.models.decision_tree import DecisionTree
from discreet.learning.models.finite_class import FiniteClass
from discreet.learning.models.learned_model import PURPOSE, Model
from discreet.learning.models.linear import LinearRegression
from discreet.learning.models.logistic import LogisticRegression
from discreet.learning.models.naive_bayes import NaiveBayes
from discreet.learning.models.product_moments import Moments
from discreet.measurement.run_release import RunRelease

MODELS: dict[str, type[Model]] = {
    kind.__name__: kind
    for kind in (DecisionTree, FiniteClass, KMeans, LinearRegression, LogisticRegression, Moments, NaiveBayes, PCA)
}


QUICK = 2**15
"""Numbers from which a model is worked out in a second."""
_OF_ALL = ("kind", "model", "columns", "target", "said")


class ModelRelease(RunRelease, kind=PURPOSE):
    """A model that was learned from protected rows."""

    @classmethod
    def of(cls, model: Model, *, name: str | None) -> ModelRelease:
        """A model that has learned, as a release.

        Args:
            model: That a curator has learned.
            name: What it is looked up by.
        """
        return cls(model.transcript.encoded(), name=name, receipt=model.receipt, replayed=model.replayed)

    @property
    def summary(self) -> dict[str, Any]:
        """What it was made of, in JSON."""
        return {**super().summary, "model": self.purpose["model"]}

    @property
    def details(self) -> dict[str, Any]:
        """The same, and every number with its ±, where working the model out takes a moment: else whoever wants it works it out from the release."""
        drawn, hypotheses = sum(step.outcome.size for step in self.transcript.steps), self.purpose.get("hypotheses", {})
        if hypotheses is None or size_of(hypotheses) > QUICK or model_of(self.purpose).burden(drawn) > QUICK:
            return self.summary
        return {**self.summary, "numbers": self.model.card().numbers(CONFIDENCE)}

    @cached_property
    def model(self) -> Model:
        """The model, ready to predict."""
        return model_of(self.purpose).learned_from(self.stored, receipt=self.receipt, replayed=self.replayed)


def settings_in(purpose: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model beside its columns, numbers as they are.

    Args:
        purpose: As `Model.described` says it.
    """
    settings = {name: value for name, value in purpose.items() if name not in _OF_ALL}
    return settings | {name: Fraction(text) for name, text in settings.items() if isinstance(text, str)}


def model_of(purpose: dict[str, Any]) -> Model:
    """The model that a purpose describes; it has learned nothing yet.

    Args:
        purpose: As `Model.described` says it.
    """
    settings = settings_in(purpose)
    kind, columns = MODELS.get(str(purpose["model"])), purpose["columns"]
    if kind is None or not isinstance(columns, list):
        raise BadRelease(
            "This model is of a kind that is not known here.", next_step="Install a newer version of Discreet."
        )
    features = [feature_from_json(column) for column in columns]
    if purpose["target"]:
        settings["target"] = features.pop()
    return built(kind, features, settings)


def built(kind: type[Model], features: list[Feature], settings: Mapping[str, Any]) -> Model:
    """A model by its parameters, a class of hypotheses as JSON has it.

    Args:
        kind: Of model.
        features: What it sees of a row.
        settings: All else.
    """
    if "hypotheses" not in settings:
        return kind(features=features, **settings)
    return kind(features=features, **{**settings, "hypotheses": hypotheses_from_json(settings["hypotheses"])})

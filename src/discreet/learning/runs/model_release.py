"""A model as a stored release: it is loaded by its name, saved to a file, and contains nothing private."""

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
"""Numbers from which a model is computed within a second."""
_OF_ALL = ("kind", "model", "columns", "target", "said")


class ModelRelease(RunRelease, kind=PURPOSE):
    """A model that was learned from protected rows."""

    @classmethod
    def of(cls, model: Model, *, name: str | None) -> ModelRelease:
        """Return a learned model as a release.

        Args:
            model: A model that a curator has learned.
            name: Name of the release.
        """
        return cls(model.transcript.encoded(), name=name, receipt=model.receipt, replayed=model.replayed)

    @property
    def summary(self) -> dict[str, Any]:
        """The release as JSON."""
        return {**super().summary, "model": self.purpose["model"]}

    @property
    def details(self) -> dict[str, Any]:
        """The release as JSON, with every number and its interval if the model is computed quickly.

        Otherwise the client computes it.
        """
        drawn, hypotheses = sum(step.outcome.size for step in self.transcript.steps), self.purpose.get("hypotheses", {})
        if hypotheses is None or size_of(hypotheses) > QUICK or model_of(self.purpose).burden(drawn) > QUICK:
            return self.summary
        return {**self.summary, "numbers": self.model.card().numbers(CONFIDENCE)}

    @cached_property
    def model(self) -> Model:
        """The model, ready to predict."""
        return model_of(self.purpose).learned_from(self.stored, receipt=self.receipt, replayed=self.replayed)


def settings_in(purpose: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model without its columns.

    Args:
        purpose: From `Model.described`.
    """
    settings = {name: value for name, value in purpose.items() if name not in _OF_ALL}
    return settings | {name: Fraction(text) for name, text in settings.items() if isinstance(text, str)}


def model_of(purpose: dict[str, Any]) -> Model:
    """Return the model that a purpose describes; it is not learned.

    Args:
        purpose: From `Model.described`.
    """
    settings = settings_in(purpose)
    kind, columns = MODELS.get(str(purpose["model"])), purpose["columns"]
    if kind is None or not isinstance(columns, list):
        raise BadRelease("The kind of this model is unknown.", next_step="Install a newer version of Discreet.")
    features = [feature_from_json(column) for column in columns]
    if purpose["target"]:
        settings["target"] = features.pop()
    return build_model(kind, features, settings)


def build_model(kind: type[Model], features: list[Feature], settings: Mapping[str, Any]) -> Model:
    """Build a model from its parameters, of which hypotheses are JSON.

    Args:
        kind: Class of the model.
        features: Its features.
        settings: Its other parameters.
    """
    if "hypotheses" not in settings:
        return kind(features=features, **settings)
    return kind(features=features, **{**settings, "hypotheses": hypotheses_from_json(settings["hypotheses"])})

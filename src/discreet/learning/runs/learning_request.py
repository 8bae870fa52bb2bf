"""Checks of a model that a curator is asked to learn: cost, classes, bounds and values come from elsewhere."""

from __future__ import annotations

from discreet.errors import BadInput
from discreet.learning.data.features import check_undeclared
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Model


def check_model(model: object) -> None:
    """Refuse a value that is not a model, and a model with its own cost, classes, bounds or values."""
    if not isinstance(model, Model):
        raise BadInput(
            "A model is needed here.", next_step='Give one, such as NaiveBayes(target="died", features=["age"]).'
        )
    if (model.epsilon, model.delta, model.rho) != (None, None, None):
        raise BadInput("The model has a cost of its own.", next_step="Give epsilon to `learn` alone.")
    if isinstance(model, Classifier) and model.classes is not None:
        raise BadInput("The catalog declares the classes.", next_step="Leave classes out.")
    for feature in model.all_features:
        check_undeclared(feature)

"""What a curator takes for a model that is to be learned: its price is told beside it, and the catalog knows the rest."""

from __future__ import annotations

from discreet.errors import BadInput
from discreet.learning.data.features import check_undeclared
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Model


def check_wanted(model: object) -> None:
    """Refuse what is no model, and a model with a price, classes, bounds or values of its own.

    Args:
        model: That somebody wants to be learned.
    """
    if not isinstance(model, Model):
        raise BadInput(
            "A model is needed here.", next_step='Give one, such as NaiveBayes(target="died", features=["age"]).'
        )
    if (model.epsilon, model.delta, model.rho) != (None, None, None):
        raise BadInput("A curator is told the price beside the model.", next_step="Give epsilon to `learn` alone.")
    if isinstance(model, Classifier) and model.classes is not None:
        raise BadInput("The catalog says which classes there are.", next_step="Leave classes out.")
    for feature in model.wanted:
        check_undeclared(feature)

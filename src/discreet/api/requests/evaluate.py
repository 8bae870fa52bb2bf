"""`evaluate` and its plan `plan_evaluation`: how well a model decides about protected rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.api.requests.base import param, request
from discreet.api.requests.learn import ModelRunRequest

if TYPE_CHECKING:
    from discreet.api.plans import LearningPlan
    from discreet.learning.models.classifier import Classifier
    from discreet.learning.runs.deciders import Decider
    from discreet.learning.runs.evaluation import Evaluation
    from discreet.sql.builder import Table


@request
class EvaluateRequest(ModelRunRequest["Evaluation", "LearningPlan"]):
    """Evaluate a learned classifier on protected rows: a noisy confusion matrix, accuracy, precision and recall.

    The run is charged once.
    """

    http_path: ClassVar[str] = "/v1/evaluate"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {
        "source": "visits",
        "model": {
            "model": "NaiveBayes",
            "columns": ["sex"],
            "target": "is_icu",
            "bins": {},
            "seen": "0" * 64,
            "classes": 2,
            "scores": [{"constant": 0, "entries": [[3, 1]]}, {"constant": 1, "entries": [[0, 2]]}],
        },
        "epsilon": 0.5,
    }

    model: Classifier | Decider = param(
        "Classifier that has been learned. On the command line, the name of its release."
    )
    source: str | Table = param(
        "Table name, or a SELECT that returns protected rows, with the columns that the model has learned.",
        max_length=20_000,
        min_length=1,
    )

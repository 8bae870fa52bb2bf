"""`learn` and its plan `plan_learning`: a model of protected rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from discreet.api.requests.base import Plan, RunRequest, T, param, request

if TYPE_CHECKING:
    from discreet.api.plans import LearningPlan
    from discreet.core.exact import Number
    from discreet.learning.models.learned_model import Model
    from discreet.sql.builder import Table

AnyModel = TypeVar("AnyModel", bound="Model")


@request
class ModelRunRequest(RunRequest[T, Plan]):
    """A run for a model. If the account has a delta, that is where epsilon is converted."""

    _: KW_ONLY
    delta: Number | None = param(
        "Delta used to convert epsilon to zCDP. It is not charged. If not given, the account's delta is used.",
        default=None,
        gt=0,
        lt=1,
    )


@request
class LearnRequest(ModelRunRequest[AnyModel, "LearningPlan"], Generic[AnyModel]):
    """Learn a model from a table, or from a SELECT that returns protected rows.

    The run is charged once, before it reads protected rows. If it is interrupted, the same call resumes it without a
    second charge.
    """

    http_path: ClassVar[str] = "/v1/learn"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {
        "source": "SELECT age, sex, ward = 'ICU' AS is_icu FROM visits JOIN patients USING (patient_id)",
        "model": {
            "kind": "LogisticRegression",
            "features": [{"number": "age", "bins": 16}, "sex"],
            "target": "is_icu",
        },
        "epsilon": 1,
        "name": "icu-2026",
    }

    model: AnyModel = param(
        'Model to learn, by column names, such as `LogisticRegression(target="died", features=["age", "ward"])`.'
    )
    source: str | Table = param("Table name, or a SELECT that returns protected rows.", max_length=20_000, min_length=1)

    def present(self, outcome: Any) -> AnyModel:
        """The model, computed from its noisy statistics."""
        return self.model.learned_from(outcome.stored, receipt=outcome.receipt, replayed=outcome.replayed)

"""Plan and learn a model. Rows stay in the engine; the model is computed from noisy statistics."""

from __future__ import annotations

from typing import Any

from discreet.api.context import Context
from discreet.api.operations.learning_steps import model_basis, planned_measurement
from discreet.api.operations.run_steps import charged_release, plan_fields
from discreet.api.plans import LearningPlan
from discreet.api.requests.learn import LearnRequest
from discreet.learning.data.features import name_of
from discreet.learning.runs.learning_request import check_model
from discreet.learning.runs.measurement_plan import NoisyMeasurement
from discreet.learning.runs.model_affordability import plan_measurements
from discreet.learning.runs.model_release import ModelRelease
from discreet.measurement.runs import TableRun


def run(request: LearnRequest[Any], context: Context) -> ModelRelease:
    """Plan, charge, measure. The caller computes the model from the release: that can take longer than measuring."""
    with context.planning():
        learning, _ = _learning_run(request, context)
    return charged_release(ModelRelease, learning, context)


def plan(request: LearnRequest[Any], context: Context) -> LearningPlan:
    """What learning would measure, how exactly, and what it would cost."""
    with context.planning():
        learning, measurements = _learning_run(request, context)
    return LearningPlan(measurements=tuple(map(planned_measurement, measurements)), **plan_fields(learning, context))


def _learning_run(request: LearnRequest[Any], context: Context) -> tuple[TableRun, list[NoisyMeasurement[Any]]]:
    """The run and its measurements with their noise. Everything that can be refused is refused before the charge."""
    model = request.model
    check_model(model)
    basis = model_basis(
        request,
        context,
        columns=[name_of(feature) for feature in model.all_features],
        bins={
            name_of(feature): count for feature in model.all_features if (count := model.bins_in(feature)) is not None
        },
        label=model.label,
        budget_of=model.budget,
    )
    measurements, work = plan_measurements(model, basis.domain, basis.budget)
    kind, purpose = type(model).__name__, model.described_for(basis.domain)
    learning = basis.run(
        kind, purpose=purpose, measure=model.measure, measurements=work.columns, computing=work.seconds
    )
    return learning, measurements

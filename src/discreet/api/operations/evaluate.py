"""Plan and make an evaluation: count how often the decisions of a model are right."""

from __future__ import annotations

from functools import partial
from typing import Any

from discreet.api.context import Context
from discreet.api.operations.learning_steps import model_basis, planned_measurement
from discreet.api.operations.run_steps import charged_release, plan_fields
from discreet.api.plans import LearningPlan
from discreet.api.requests.evaluate import EvaluateRequest
from discreet.errors import TooLarge
from discreet.learning.models.learned_model import Model
from discreet.learning.runs.deciders import Decider
from discreet.learning.runs.evaluation import PURPOSE, Evaluation, measure
from discreet.learning.runs.measurement_plan import NoisyMeasurement
from discreet.learning.runs.model_affordability import MOST_COLUMNS, drawing_work
from discreet.measurement.in_memory_run import empty_measurer
from discreet.measurement.runs import TableRun


def run(request: EvaluateRequest, context: Context) -> Evaluation:
    """Plan, charge, count."""
    with context.planning():
        evaluation, _ = _evaluation_run(request, context)
    return charged_release(Evaluation, evaluation, context)


def plan(request: EvaluateRequest, context: Context) -> LearningPlan:
    """What an evaluation would count, how exactly, and what it would cost."""
    with context.planning():
        evaluation, measurement = _evaluation_run(request, context)
    return LearningPlan(measurements=(planned_measurement(measurement),), **plan_fields(evaluation, context))


def _evaluation_run(request: EvaluateRequest, context: Context) -> tuple[TableRun, NoisyMeasurement[Any]]:
    """The run and its one measurement with its noise. Everything that can be refused is refused before the charge."""
    decider = Decider.of(request.model)
    label, deciding, columns = decider.target, decider.deciding, [*decider.columns, decider.target]
    basis = model_basis(request, context, columns=columns, bins=decider.bins, label=label, budget_of=Model.budget)
    decider.check(basis.domain)
    columns_read = deciding.classes * len(columns)
    if columns_read > MOST_COLUMNS:
        raise TooLarge("This evaluation would take too long.", next_step="Evaluate a model of fewer columns.")
    measurer, meter = empty_measurer(basis.domain, basis.budget)
    noise = measurer.confusion_noise(deciding, label, measurer.left)
    measurement = NoisyMeasurement("confusion", noise.size, noise)
    evaluation = basis.run(
        f"evaluation of {decider.model}",
        purpose={"kind": PURPOSE, "label": label, "deciding": deciding.described},
        measure=partial(measure, deciding=deciding, label=label),
        measurements=columns_read,
        computing=drawing_work([measurement], meter).seconds,
    )
    return evaluation, measurement

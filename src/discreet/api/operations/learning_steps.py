"""What learning and evaluating share: the rows of a model, the budget of its run, and the plan of its measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.api.context import Context
from discreet.api.operations.run_steps import run_basis
from discreet.api.plans import PlannedMeasurement
from discreet.api.requests.evaluate import EvaluateRequest
from discreet.api.requests.learn import LearnRequest
from discreet.core.number_format import CONFIDENCE
from discreet.learning.runs.measurement_plan import NoisyMeasurement
from discreet.measurement.runs import Basis
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.sql.coded_rows import columns_query


def model_basis(
    request: LearnRequest[Any] | EvaluateRequest,
    context: Context,
    *,
    columns: Sequence[str],
    bins: Mapping[str, int],
    label: str | None,
    budget_of: Callable[..., AdaptiveBudget],
) -> Basis:
    """The columns of a model as codes, and the budget that the request gives.

    Args:
        request: Has the source and the cost.
        context: The curator's parts.
        columns: Names of the model's columns.
        bins: Number of bins by column.
        label: Rows without a value in this column are left out.
        budget_of: Reads the cost; it refuses a budget that the model cannot use.
    """
    account_delta = context.catalog.cap.cap.delta
    delta = request.delta or (account_delta if request.rho is None and account_delta else None)
    budget = budget_of(epsilon=request.epsilon, delta=delta, rho=request.rho, is_pure=not account_delta)
    source = columns_query(str(request.source), columns, context.catalog)
    return run_basis(
        source, budget, context, bins=bins, parameters=request.parameters, name=request.name, required=label
    )


def planned_measurement(look: NoisyMeasurement[Any]) -> PlannedMeasurement:
    """A measurement before it is taken, in rows of columns that are scaled from -1 to 1."""
    norm, within = float(look.noise.sensitivity), float(look.noise.error(CONFIDENCE))
    return PlannedMeasurement(look.what, look.numbers, norm / look.unit, within / look.unit)

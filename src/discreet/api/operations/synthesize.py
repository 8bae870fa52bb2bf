"""Plan and make synthetic data. Undeclared values are found first, by one query per column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.api.context import Context
from discreet.api.operations import ask
from discreet.api.operations.run_steps import charged_release, plan_fields, reusable, run_basis, run_budget
from discreet.api.plans import SynthesisPlan
from discreet.api.requests.ask import AskRequest
from discreet.api.requests.synthesize import SynthesizeRequest
from discreet.core.exact import Number
from discreet.errors import BadInput, NotAnswered
from discreet.measurement.runs import TableRun
from discreet.pipeline.pipeline import SqlRelease
from discreet.planning.effort import declared_rows
from discreet.results.answer import Answer
from discreet.sql.coded_rows import FoundValues, values_query
from discreet.synthetic.quality.predicted_error import Predicted, predicted
from discreet.synthetic.synthesis_run import method_named, synthesis, tables_of
from discreet.synthetic.synthetic_release import SyntheticRelease


@dataclass(frozen=True, slots=True)
class _Discovery:
    """The query which values of a column people have, and what it may cost."""

    column: str
    epsilon: Number
    request: AskRequest


def run(request: SynthesizeRequest, context: Context) -> SyntheticRelease:
    """Plan, charge, measure, fit. Everything that can be refused is refused before the first charge."""
    if request.rows_about is not None:
        raise BadInput("rows_about is only for a plan.", next_step="Leave it out, or ask for a plan.")
    discoveries = _discoveries(request, context)
    found = {each.column: _found_before(each, context) for each in discoveries}
    with context.planning():
        planned_run = synthesis_run(request, context, found)
    if None in found.values():
        _check_all(planned_run, discoveries, context)
        found = {each.column: _find(each, context) for each in discoveries}
        with context.planning():
            planned_run = synthesis_run(request, context, found)
    return charged_release(SyntheticRelease, planned_run, context)


def plan(request: SynthesizeRequest, context: Context) -> SynthesisPlan:
    """What synthetic data would be made of and cost, and how exact it would be."""
    discoveries = _discoveries(request, context)
    found = {each.column: _found_before(each, context) for each in discoveries}
    with context.planning():
        planned_run = synthesis_run(request, context, found)
        unknown = [each for each in discoveries if found[each.column] is None]
        error = None if unknown else _predicted(planned_run, request.rows_about)
    fields = plan_fields(planned_run, context, before=_queries(unknown, context))
    names = {each.column.lower() for each in unknown}
    sizes = {name: size for name, size in fields["columns"].items() if name.lower() not in names}
    notes = (*fields["notes"], *map(_note, unknown))
    return SynthesisPlan(
        tables=len(tables_of(planned_run.purpose)),
        predicted=error,
        finding={each.column: float(each.epsilon) for each in unknown},
        **{**fields, "columns": sizes, "notes": notes},
    )


def synthesis_run(request: SynthesizeRequest, context: Context, found: FoundValues) -> TableRun:
    """The run, or a refusal by name: everything that can be known before it is charged."""
    budget = run_budget(request, context)
    basis = run_basis(
        request.source,
        budget,
        context,
        bins=request.bins,
        parameters=request.parameters,
        name=request.name,
        found=found,
    )
    reuse = reusable(basis, context) if request.reuse else None
    return synthesis(basis, workload=request.workload, method=request.method, reuse=reuse)


def _discoveries(request: SynthesizeRequest, context: Context) -> list[_Discovery]:
    """The queries that come before the run."""

    def discovery(column: str, epsilon: Number) -> _Discovery:
        sql = values_query(str(request.source), column, context.catalog)
        return _Discovery(column, epsilon, AskRequest(sql, epsilon=epsilon, parameters=request.parameters))

    return [discovery(column, epsilon) for column, epsilon in (request.discover or {}).items()]


def _found_before(discovery: _Discovery, context: Context) -> tuple[Any, ...] | None:
    """The values of a column if an earlier charged query found them. Free."""
    try:
        return _values_in(ask.recall(discovery.request, context.of(limit=None)))
    except NotAnswered:
        return None


def _find(discovery: _Discovery, context: Context) -> tuple[Any, ...]:
    """The values of a column that enough people have: a query of its own, and free when it is repeated."""
    label = f"values of {discovery.column}, for synthetic data"
    return _values_in(ask.run(discovery.request, context.of(request_id=None, limit=None), label=label))


def _check_all(planned_run: TableRun, discoveries: Iterable[_Discovery], context: Context) -> None:
    """Refuse, before the first of several charges, what would be refused after it."""
    context.call.schedule_return(planned_run.seconds)
    context.pipeline.check_name(planned_run, context.call)
    context.pipeline.check_caps([planned_run, *_queries(discoveries, context)], context.call)


def _queries(discoveries: Iterable[_Discovery], context: Context) -> list[SqlRelease]:
    """Discoveries as the pipeline takes them."""
    return [ask.release_of(ask.priced_plan(each.request, context), context, "") for each in discoveries]


def _note(discovery: _Discovery) -> str:
    return (
        f"the values of {discovery.column} are found first, for epsilon {float(discovery.epsilon):g} beside the price; rows whose value too few "
        "people have count in no table"
    )


def _predicted(planned_run: TableRun, rows_about: int | None) -> Predicted:
    """The expected error on as many rows as the catalog declares, or as the request assumes."""
    rows = declared_rows(planned_run.rows.query) if rows_about is None else rows_about
    method = method_named(planned_run.purpose["method"])
    return predicted(method, planned_run.domain, tables_of(planned_run.purpose), planned_run.budget, rows)


def _values_in(answer: Answer) -> tuple[Any, ...]:
    values = [row["value"] for row in answer.rows]
    return (*sorted(value for value in values if value is not None), *(value for value in values if value is None))

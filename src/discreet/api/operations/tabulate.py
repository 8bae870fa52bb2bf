"""Answer workloads and trees of regions: plan how exact the answers are, charge once, measure, make them consistent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from discreet.algebra.relations import Project, Relation, Scan
from discreet.api.context import Context
from discreet.api.operations.run_steps import charged_release, plan_fields, reusable, run_basis, run_budget
from discreet.api.plans import PlannedQueries, TablesPlan
from discreet.api.requests.tabulate import TabulateRequest
from discreet.core.number_format import CONFIDENCE
from discreet.errors import UnknownName
from discreet.measurement.runs import Basis, TableRun
from discreet.sql.coded_rows import CodedSource, FoundValues, columns_query, plan_rows
from discreet.workloads.queries.workload import Workload
from discreet.workloads.releases.regional import Geography, RegionalRelease, half_widths, plan_regions, regional_run
from discreet.workloads.releases.tabulation import TabulatedRelease, plan_tabulation, tabulation_run
from discreet.workloads.releases.topdown import TopDown
from discreet.workloads.strategies.strategy_choice import Plan


@dataclass(frozen=True, slots=True)
class _PlannedTables:
    """A run, its release, and functions that compute how exact it will be, which only plans need."""

    run: TableRun
    kind: type[TabulatedRelease | RegionalRelease]
    strategy: str
    typical_error: Callable[[], float]
    errors: Callable[[], tuple[PlannedQueries, ...]]


def run(request: TabulateRequest, context: Context) -> TabulatedRelease | RegionalRelease:
    """Plan, charge, measure. Everything that can be refused is refused before the charge."""
    with context.planning():
        tables = _planned_tables(request, context)
    return charged_release(tables.kind, tables.run, context)


def plan(request: TabulateRequest, context: Context) -> TablesPlan:
    """What would be measured, how exact the answers would be, and the cost."""
    with context.planning():
        tables = _planned_tables(request, context)
        typical, errors = tables.typical_error(), tables.errors()
    fields = plan_fields(tables.run, context)
    return TablesPlan(strategy=tables.strategy, typical_error=typical, tables=errors, **fields)


def _planned_tables(request: TabulateRequest, context: Context) -> _PlannedTables:
    if request.tree is not None:
        return _by_region(request, request.tree, context)
    assert request.workload is not None  # noqa: S101  the request refuses neither
    return _by_workload(request, request.workload, context)


def _by_workload(request: TabulateRequest, workload: Workload, context: Context) -> _PlannedTables:
    basis = _basis(request, context)
    reuse = reusable(basis, context) if request.reuse else None
    plan = plan_tabulation(workload, basis.domain, basis.budget, reuse)
    run = tabulation_run(basis, workload, plan, reuse)
    return _PlannedTables(run, TabulatedRelease, plan.strategy.name, lambda: plan.typical_error, lambda: _errors(plan))


def _by_region(request: TabulateRequest, tree: str, context: Context) -> _PlannedTables:
    """Counts for every region of a tree.

    Exact totals are published only if the data owner declares them invariant in the catalog, and only for the table
    that the owner names there: an analyst chooses neither. A run over a subset of those rows has noisy totals.
    """
    catalog = context.catalog
    declared = catalog.trees.get(tree)
    if declared is None:
        raise UnknownName(
            "The catalog has no tree of that name.", next_step=f"Its trees: {', '.join(catalog.trees) or 'none'}."
        )
    geography = Geography.in_table(declared, catalog.tables[declared.table], context.engine)
    smallest = geography.smallest
    regions = {smallest: tuple(geography.names[smallest])}
    basis = _basis(request, context, found=regions).with_first(smallest)
    invariant = declared.invariant if _has_all_rows_of(declared.of, basis.rows.query.rows) else None
    plan = plan_regions(basis.domain, basis.budget, geography, invariant)
    totals = None if invariant is None or declared.of is None else _totals(declared.of, smallest, regions, context)
    run = regional_run(basis, plan, geography, tree=tree, counted=totals)
    others = basis.domain.names[1:]
    return _PlannedTables(
        run, RegionalRelease, "top-down", lambda: _typical_error(plan), lambda: _errors_by_level(plan, others)
    )


def _basis(request: TabulateRequest, context: Context, *, found: FoundValues | None = None) -> Basis:
    return run_basis(
        request.source,
        run_budget(request, context),
        context,
        bins=request.bins,
        parameters=request.parameters,
        name=request.name,
        found=found,
    )


def _totals(table: str, region: str, regions: FoundValues, context: Context) -> CodedSource:
    """All rows of a table by their region. This query is ours: no part of it comes from an analyst."""
    text = columns_query(table, [region], context.catalog)
    rows = plan_rows(text, context.catalog, context.engine, found=regions, today=context.ledger.data_day())
    context.engine.bind_rows(rows.query)
    return rows


def _has_all_rows_of(table: str | None, rows: Relation) -> bool:
    """Whether a relation has exactly the rows of a table, perhaps with more columns."""
    while isinstance(rows, Project):
        rows = rows.rows
    return isinstance(rows, Scan) and rows.table.name == table


def _errors(plan: Plan) -> tuple[PlannedQueries, ...]:
    names, widest = plan.queries.names, plan.errors(CONFIDENCE)
    return tuple(
        PlannedQueries(tuple(names[at] for at in term.columns), width.size, float(width.max()))
        for term, width in zip(plan.queries.terms, widest, strict=True)
    )


def _errors_by_level(plan: TopDown, others: tuple[str, ...]) -> tuple[PlannedQueries, ...]:
    levels = zip(plan.tree.names, plan.tree.sizes, half_widths(plan, CONFIDENCE), strict=True)
    return tuple(PlannedQueries((level, *others), size * plan.cells, width) for level, size, width in levels)


def _typical_error(plan: TopDown) -> float:
    """The root of the mean squared error, over the counts of all levels."""
    sizes = plan.tree.sizes
    squares = sum(size * error**2 for size, error in zip(sizes, plan.standard_errors(), strict=True))
    return math.sqrt(squares / sum(sizes))

"""What a curator does with workloads and trees of regions: says what they would be measured by and how exactly, and answers them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

from discreet.algebra.relations import Compute, Relation, Scan
from discreet.api.faces.tables import PlannedQueries, TablesFace, TablesPlan, TablesRelease
from discreet.api.run_parts import CuratorPart
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadInput, UnknownName
from discreet.measurement.run_options import RunOptions, check_options
from discreet.measurement.runs import TableRun
from discreet.pipeline.call import Call
from discreet.sql import Table
from discreet.sql.coded_rows import Found, PeoplesRows, columns_query, plan_rows
from discreet.workloads.queries.workload import Workload
from discreet.workloads.releases.regional import Geography, RegionalRelease, planned, regional, widths
from discreet.workloads.releases.tabulation import TabulatedRelease, plan_over, tabulation
from discreet.workloads.releases.topdown import TopDown
from discreet.workloads.strategies.strategy_choice import Plan


@dataclass(frozen=True, slots=True)
class _Asked:
    """A run, what it makes, and how exact it will be, worked out when that is wanted."""

    run: TableRun
    kind: type[TabulatedRelease | RegionalRelease]
    strategy: str
    typical_error: Callable[[], float]
    errors: Callable[[], tuple[PlannedQueries, ...]]


class AnswersWorkloads(CuratorPart, TablesFace):
    """A part of the curator."""

    def tabulate(
        self,
        source: str | Table,
        workload: Workload | None = None,
        *,
        tree: str | None = None,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Call | None = None,
        **options: Unpack[RunOptions],
    ) -> TablesRelease:
        """The answers to a workload over a table, or over a SELECT that yields people's rows: they agree, and are paid for once.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be taken back.
        """
        with self._planning(analyst, None if asking is None else asking.taken_back):
            asked = self._asked(source, workload, tree, options, name=name, analyst=analyst)
        return self._made(asked.kind, asked.run, analyst=analyst, request_id=request_id, asking=asking)

    def plan_tables(
        self,
        source: str | Table,
        workload: Workload | None = None,
        *,
        tree: str | None = None,
        name: str | None = None,
        analyst: str | None = None,
        **options: Unpack[RunOptions],
    ) -> TablesPlan:
        """What `tabulate` would measure, ± of its answers, and the price. Nothing is read and nothing is spent.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        with self._planning(analyst, None):
            asked = self._asked(source, workload, tree, options, name=name, analyst=analyst)
            typical, errors = asked.typical_error(), asked.errors()
        return TablesPlan(
            strategy=asked.strategy, typical_error=typical, tables=errors, **self._planned(asked.run, analyst)
        )

    def _asked(
        self,
        source: str | Table,
        workload: Workload | None,
        tree: str | None,
        options: RunOptions,
        *,
        name: str | None,
        analyst: str | None,
    ) -> _Asked:
        check_options(options, RunOptions)
        if tree is not None and options.get("reuse"):
            raise BadInput("Tables by region reuse nothing.", next_step="Leave out reuse, or ask for a workload.")
        if workload is None and tree is not None:
            return self._by_region(source, tree, options, name)
        if workload is None or tree is not None:
            raise BadInput(
                "Tables are asked for by a workload, or by a tree.",
                next_step='Give workloads.marginals(2), or tree="geo".',
            )
        basis = self._basis(source, options, name=name)
        reuse = self._reuse(basis, analyst) if options.get("reuse") else None
        plan = plan_over(workload, basis.domain, basis.budget, reuse)
        run = tabulation(basis, workload, plan, reuse)
        return _Asked(run, TabulatedRelease, plan.strategy.name, lambda: plan.typical_error, lambda: _errors(plan))

    def _by_region(self, source: str | Table, tree: str, options: RunOptions, name: str | None) -> _Asked:
        """Totals are published as they are only where the owner has declared so in the catalog, and only of the rows that the owner has named:
        neither is for others to choose. Tables of other rows than all of those are made without.
        """
        declared = self.declared.trees.get(tree)
        if declared is None:
            known = ", ".join(self.declared.trees) or "none"
            raise UnknownName("There is no such tree in the catalog.", next_step=f"Those that it has: {known}.")
        geography = Geography.in_table(declared, self.declared.tables[declared.table], self._engine)
        place = geography.smallest
        regions = {place: tuple(geography.names[place])}
        basis = self._basis(source, options, name=name, found=regions).led_by(place)
        invariant = declared.invariant if _has_all_rows_of(declared.of, basis.rows.query.rows) else None
        plan = planned(basis.domain, basis.budget, geography, invariant)
        counted = None if invariant is None or declared.of is None else self._counted(declared.of, place, regions)
        run = regional(basis, plan, geography, tree=tree, counted=counted)
        others = basis.domain.names[1:]
        return _Asked(
            run, RegionalRelease, "top-down", lambda: _typical_error(plan), lambda: _errors_by_level(plan, others)
        )

    def _counted(self, table: str, place: str, regions: Found) -> PeoplesRows:
        """All rows of a table by their region: a query of ours, in which nothing is an analyst's."""
        text = columns_query(table, [place], self.declared)
        rows = plan_rows(text, self.declared, self._engine, found=regions, today=self.ledger.data_day())
        self._engine.bind_rows(rows.query)
        return rows


def _has_all_rows_of(table: str | None, rows: Relation) -> bool:
    """Whether rows are those of a table, with other columns perhaps. It decides how good counts are and not what is published: that is the same for all."""
    while isinstance(rows, Compute):
        rows = rows.rows
    return isinstance(rows, Scan) and rows.table.name == table


def _errors(plan: Plan) -> tuple[PlannedQueries, ...]:
    names, widest = plan.queries.names, plan.errors(CONFIDENCE)
    return tuple(
        PlannedQueries(tuple(names[at] for at in term.columns), width.size, float(width.max()))
        for term, width in zip(plan.queries.terms, widest, strict=True)
    )


def _errors_by_level(plan: TopDown, others: tuple[str, ...]) -> tuple[PlannedQueries, ...]:
    levels = zip(plan.tree.names, plan.tree.sizes, widths(plan, CONFIDENCE), strict=True)
    return tuple(PlannedQueries((level, *others), size * plan.cells, width) for level, size, width in levels)


def _typical_error(plan: TopDown) -> float:
    """Over the counts of all levels."""
    sizes = plan.tree.sizes
    squares = sum(size * error**2 for size, error in zip(sizes, plan.standard_errors(), strict=True))
    return math.sqrt(squares / sum(sizes))

"""What an analyst sees of a curator, near or far, about workloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, Unpack

from discreet.api.plans import RunPlan
from discreet.core.documenting import Told
from discreet.measurement.run_options import RunOptions
from discreet.sql.builder import Table
from discreet.workloads.queries.workload import Workload
from discreet.workloads.releases.regional import RegionalRelease
from discreet.workloads.releases.tabulation import TabulatedRelease

TablesRelease: TypeAlias = TabulatedRelease | RegionalRelease
"""Of a workload, or of a tree."""


@dataclass(frozen=True, slots=True)
class PlannedQueries:
    """Queries over the same columns, and how exact their answers will be: no further off in 95 % of all releases."""

    columns: tuple[str, ...]
    queries: int
    within: float
    """± of the least exact of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPlan(RunPlan):
    """What would be measured for a workload, how exact it would be, and what it would cost; nothing was spent or read."""

    strategy: str
    typical_error: float
    """The root of the expected squared error of a query, on average over the workload."""
    tables: tuple[PlannedQueries, ...]


class TablesFace(Told, Protocol):
    """What an analyst can do, wherever the data is."""

    def tabulate(
        self,
        source: str | Table,
        workload: Workload | None = None,
        *,
        tree: str | None = None,
        name: str | None = None,
        request_id: str | None = None,
        **options: Unpack[RunOptions],
    ) -> TablesRelease:
        """The answers to a workload over a table, or over a SELECT that yields people's rows: they agree, and are paid for once.

        Args:
            source: A table's name, or a SELECT of rows.
            workload: What is asked, such as `discreet.workloads.marginals(2)`.
            tree: Instead, a tree of regions in the catalog: the table of all further columns, for every region of every level.
            name: What the release is looked up by.
            request_id: A name for this call: repeated under it, it is paid for once.
            **options: A price, and how rows become codes.
        """

    def plan_tables(
        self,
        source: str | Table,
        workload: Workload | None = None,
        *,
        tree: str | None = None,
        name: str | None = None,
        **options: Unpack[RunOptions],
    ) -> TablesPlan:
        """What `tabulate` would measure, ± of its answers, and the price. Nothing is read and nothing is spent.

        Args:
            source: A table's name, or a SELECT of rows.
            workload: What is asked.
            tree: Instead, a tree of regions in the catalog.
            name: What the release would be looked up by.
            **options: A price, and how rows become codes.
        """

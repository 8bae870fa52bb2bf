"""`tabulate`: consistent answers to a workload of counting queries, or counts by region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.api.requests.base import TableRunRequest, param, request
from discreet.errors import BadInput

if TYPE_CHECKING:
    from discreet.api.plans import TablesPlan
    from discreet.sql.builder import Table
    from discreet.workloads.queries.workload import Workload
    from discreet.workloads.releases.regional import RegionalRelease
    from discreet.workloads.releases.tabulation import TabulatedRelease


@request
class TabulateRequest(TableRunRequest["TabulatedRelease | RegionalRelease", "TablesPlan"]):
    """Answer many counting queries about a table together, so that the answers are consistent.

    Give either a workload of queries, or a tree of regions in the catalog. The run is charged once. If it is
    interrupted, the same call resumes it without a second charge.
    """

    http_path: ClassVar[str] = "/v1/tabulate"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {
        "source": "visits",
        "rho": 0.01,
        "workload": [{"tables": 2}, {"families": {"age": "ranges"}}],
        "name": "tables-2026",
    }

    source: str | Table = param("Table name, or a SELECT that returns protected rows.", max_length=20_000, min_length=1)
    workload: Workload | None = param(
        "Counting queries to answer, such as `discreet.workloads.marginals(2)`.", default=None
    )
    _: KW_ONLY
    tree: str | None = param(
        "Instead of a workload, a tree of regions in the catalog: counts by all further columns, for every region.",
        default=None,
        max_length=200,
    )

    def check(self) -> None:
        """Refuse two sources of queries, none, and reuse for regions."""
        if (self.workload is None) == (self.tree is None):
            raise BadInput(
                "A run of tables takes either a workload or a tree.",
                next_step='Give workloads.marginals(2), or tree="geo".',
            )
        if self.tree is not None and self.reuse:
            raise BadInput("Tables by region reuse no measurements.", next_step="Leave out reuse, or give a workload.")

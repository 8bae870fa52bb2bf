"""What comes in for runs over people's rows: a source, one price, and what is wanted of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from discreet.api.faces.tables import TablesPlan, TablesRelease
from discreet.api.local import Curator
from discreet.pipeline.call import Call
from discreet.results.answer_json import parameters_from_json
from discreet.server.schemas.strict_json import Parameter, Positive, Share, WithoutNulls
from discreet.workloads.queries.workload import Workload
from discreet.workloads.queries.workload_json import workload_from_json

_STRICT = ConfigDict(extra="forbid", strict=True)
_Numbers = Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=100_000)]


class PaidRun(WithoutNulls):
    """What every run takes: whose rows, one price, and a name."""

    source: Annotated[str, Field(min_length=1, max_length=20_000)]
    """A table, or a SELECT that yields people's rows."""
    epsilon: Positive | None = None
    delta: Share | None = None
    rho: Positive | None = None
    name: Annotated[str, Field(max_length=200, pattern=r"^\w[^/]*$")] | None = None
    """What it is looked up by: one part of an address."""
    parameters: dict[str, Parameter] | list[Parameter] | None = None
    dataset: str | None = None
    dry: bool = False
    """Say what it would cost, and spend nothing."""

    @property
    def price(self) -> dict[str, Any]:
        """What it may cost, and what the source takes."""
        price = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        return {**price, "parameters": parameters_from_json(self.parameters or ())}


class Run(PaidRun):
    """The same of a run over tables."""

    bins: dict[str, int] | None = None
    reuse: bool = False
    """Whether what was measured of the same rows enters for free, if you have paid for it or it is published. Another name makes another release then."""

    @property
    def options(self) -> dict[str, Any]:
        """A price, and how rows become codes."""
        return {**self.price, "bins": self.bins, "reuse": self.reuse}


class Queries(WithoutNulls):
    """The tables over every choice of so many columns; or, by column, a family of queries, or queries that are written out, and all their products."""

    tables: Annotated[int, Field(ge=1, le=1000)] | None = None
    families: (
        dict[str, Literal["points", "ranges", "thresholds"] | Annotated[list[_Numbers], Field(max_length=10_000)]]
        | None
    ) = None
    weight: Positive = 1.0
    """How often their squared errors count."""

    @model_validator(mode="after")
    def _is_one(self) -> Queries:
        if (self.tables is None) == (self.families is None):
            message = "give tables or families"
            raise ValueError(message)
        return self


class Tabulation(Run):
    """The answers to many queries over a table, or over a SELECT that yields people's rows."""

    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={
            "example": {
                "source": "visits",
                "rho": 0.01,
                "workload": [{"tables": 2}, {"families": {"age": "ranges"}}],
                "name": "tables-2026",
            }
        },
    )
    workload: Annotated[list[Queries], Field(min_length=1, max_length=1000)] | None = None
    tree: Annotated[str, Field(max_length=200)] | None = None
    """A tree of regions in the catalog, instead of a workload."""

    @model_validator(mode="after")
    def _is_one(self) -> Tabulation:
        if (self.workload is None) == (self.tree is None):
            message = "give workload or tree"
            raise ValueError(message)
        return self

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Call) -> TablesRelease:
        """The release."""
        details = {**self.options, "tree": self.tree, "name": self.name}
        return curator.tabulate(
            self.source, self._queries, analyst=analyst, request_id=request_id, asking=asking, **details
        )

    def explained_by(self, curator: Curator, *, analyst: str | None) -> TablesPlan:
        """What would be measured, how exactly, and what it would cost."""
        details = {**self.options, "tree": self.tree, "name": self.name}
        return curator.plan_tables(self.source, self._queries, analyst=analyst, **details)

    @property
    def _queries(self) -> Workload | None:
        if self.workload is None:
            return None
        return workload_from_json([each.model_dump(exclude_none=True) for each in self.workload])

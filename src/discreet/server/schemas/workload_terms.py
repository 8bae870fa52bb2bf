"""The JSON form of a workload."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from discreet.server.schemas.strict_json import Positive, WithoutNulls

_Numbers = Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=100_000)]


class WorkloadTerm(WithoutNulls):
    """All marginals over k columns, or products of query families by column. A family is named or given explicitly."""

    tables: Annotated[int, Field(ge=1, le=1000)] | None = None
    families: (
        dict[str, Literal["points", "ranges", "thresholds"] | Annotated[list[_Numbers], Field(max_length=10_000)]]
        | None
    ) = None
    weight: Positive = 1.0
    """Weight of the squared errors in the choice of a strategy."""

    @model_validator(mode="after")
    def _is_one(self) -> WorkloadTerm:
        if (self.tables is None) == (self.families is None):
            message = "give tables or families"
            raise ValueError(message)
        return self


WorkloadTerms = Annotated[list[WorkloadTerm], Field(min_length=1, max_length=1000)]

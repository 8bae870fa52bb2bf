"""What comes in for runs over people's rows: a source, one price, and what is wanted of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from discreet.results.answer_json import parameters_from_json
from discreet.server.schemas.strict_json import Parameter, Positive, Share, WithoutNulls


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

"""Synthetic data of a data frame for one cost: a curator over the frame, with a ledger in memory that holds one charge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import pyarrow as pa

from discreet.accounting.conversions import epsilon_of_rho
from discreet.api.opening import open_curator
from discreet.api.requests.synthesize import SynthesizeRequest
from discreet.catalog import Catalog, catalog_in
from discreet.core.exact import exact
from discreet.errors import BadInput
from discreet.measurement.run_budget import budget_of
from discreet.mechanisms import PureAdaptive
from discreet.synthetic.synthetic_release import SyntheticRelease

_TABLE = "rows"
_ROUNDING = 1 + 1e-6
"""Factor from the cost to the cap, so that costs that are rounded up still fit."""
_DELTA = 1e-9
"""At which a rho is converted for that cap; it is not spent."""


class Synthesizer:
    """Makes rows of nobody that look like those of a frame.

    Each fit is a release of its own, and losses add up: whoever fits twice on the same people has spent the price twice. Nothing keeps count of that here;
    a catalog with a ledger does.

    Args:
        schema: What is public about each column, by name, as a catalog declares it: {"sex": {"type": "text", "values": ["F", "M"]},
            "age": {"type": "integer", "lower": 0, "upper": 110}}. What a row has beyond that counts in no table.
        person: The column that names the person, which must be in the schema; each row is a person, if none is named.
        max_rows: How many rows of one person count.
        neighbours: What is hidden: "add-remove", whether somebody is there; "replace-one", what their rows are.
        **options: The cost of a fit and how it is made, as parameters of `Curator.synthesize`: `epsilon`, `delta` or `rho`; `workload`, `method`, `bins`.
    """

    def __init__(
        self,
        *,
        schema: Mapping[str, Mapping[str, Any]],
        person: str | None = None,
        max_rows: int = 1,
        neighbours: str = "add-remove",
        **options: Any,
    ) -> None:
        widest = min(3, len(schema) - (person is not None))
        self._request = request = SynthesizeRequest(_TABLE, **{"workload": widest, **options})
        delta, is_pure = request.delta, request.rho is None and request.delta is None
        budget = budget_of(epsilon=request.epsilon, delta=delta, rho=request.rho, is_pure_account=is_pure)
        self._cap = (
            {"epsilon": float(budget.amount)}
            if isinstance(budget, PureAdaptive)
            else _cap_of(budget.rho, float(exact(_DELTA if delta is None else delta)))
        )
        unit: dict[str, Any] = (
            {"privacy_unit": "row"} if person is None else {"privacy_unit": person, "max_rows": max_rows}
        )
        self._catalog = self._declared(schema, unit, neighbours)
        self._fitted: SyntheticRelease | None = None
        self._frames = "pyarrow"

    def _declared(self, schema: Mapping[str, Any], unit: Mapping[str, Any], neighbours: str) -> Catalog:
        table = {**unit, "columns": {name: dict(facts) for name, facts in schema.items()}}
        return catalog_in(
            {
                "source": {"path": "."},
                "ledger": {"path": ":memory:"},
                "budget": self._cap,
                "neighbours": neighbours,
                "tables": {_TABLE: table},
            }
        )

    def fit(self, frame: Any) -> Self:
        """Fit a model to a frame, and charge the cost.

        Args:
            frame: Of pandas, polars or Arrow. Columns that the schema does not name are not read; those that it names must be there.
        """
        with open_curator(catalog=self._catalog, frames={_TABLE: frame}) as curator:
            self._fitted = curator.execute(self._request)
        self._frames = type(frame).__module__.partition(".")[0]
        return self

    @property
    def release(self) -> SyntheticRelease:
        """The release, with its tables, bounds and `save`."""
        if self._fitted is None:
            raise BadInput("There is no fitted release yet.", next_step="Call fit with a frame.")
        return self._fitted

    def sample(self, count: int) -> Any:
        """So many synthetic rows, as a frame of the kind that was fitted.

        Args:
            count: How many.
        """
        rows = self.release.sample(count)
        return _FRAMES.get(self._frames, _as_it_is)(rows)


def _cap_of(rho: float, delta: float) -> dict[str, float]:
    """An account sets one half of its delta aside for what selects groups: nothing does here."""
    return {"epsilon": epsilon_of_rho(rho, delta=delta) * _ROUNDING, "delta": 2 * delta}


def _as_it_is(rows: pa.Table) -> Any:
    return rows


def _as_pandas(rows: pa.Table) -> Any:
    return rows.to_pandas()


def _as_polars(rows: pa.Table) -> Any:
    import polars  # noqa: PLC0415  who fitted such a frame has it

    return polars.from_arrow(rows)


_FRAMES = {"pandas": _as_pandas, "polars": _as_polars}

"""What an analyst sees of a curator, near or far, about synthetic data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Unpack

from discreet.api.run_parts import RunPlan
from discreet.core.documenting import Told
from discreet.sql.builder import Table
from discreet.synthetic.quality.predicted_error import Predicted
from discreet.synthetic.synthesis_run import SynthesisOptions
from discreet.synthetic.synthetic_release import SyntheticRelease


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisPlan(RunPlan):
    """What synthetic data would be made of and cost; nothing was spent or read."""

    tables: int
    """How many shall be good."""
    finding: Mapping[str, float]
    """Columns whose values are to be found first, each with the epsilon of that, beside the price: how many they have is not known yet."""
    predicted: Predicted | None = None
    """How exact it will be, as far as that is known; None where values of columns are to be found first."""


class SyntheticFace(Told, Protocol):
    """What an analyst can do, wherever the data is."""

    def synthesize(
        self,
        source: str | Table,
        *,
        name: str | None = None,
        request_id: str | None = None,
        **wanted: Unpack[SynthesisOptions],
    ) -> SyntheticRelease:
        """Synthetic rows of a table, or of a SELECT that yields people's rows: paid for once, and resumed where a crash left it.

        Args:
            source: A table's name, or a SELECT of rows.
            name: What the release is looked up by.
            request_id: A name for this call: repeated under it, it is paid for once.
            **wanted: A price, and what the rows shall be good at.
        """

    def plan_synthesis(
        self,
        source: str | Table,
        *,
        name: str | None = None,
        rows_about: int | None = None,
        **wanted: Unpack[SynthesisOptions],
    ) -> SynthesisPlan:
        """What `synthesize` would make and cost, and how exact it would be; or its refusal. Spends nothing and looks at no protected row.

        Args:
            source: A table's name, or a SELECT of rows.
            name: What the release would be looked up by.
            rows_about: How many rows there are taken to be, where the catalog's `rows_about` does not say it well.
            **wanted: A price, and what the rows shall be good at.
        """

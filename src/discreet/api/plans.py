"""What free plans return: what a run would be made of, how exact it would be, and what it would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.synthetic.quality.predicted_error import Predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What a run would be made of and cost. Nothing was spent or read."""

    columns: Mapping[str, int]
    """How many values or bins each has."""
    rows_per_person: int
    rho: float
    epsilon: float | None
    """None if the run has no pure epsilon."""
    asked_before: bool
    """Whether it would be free."""
    charged: Mapping[str, bool]
    """The accounts that would be charged, and whether their caps allow it now."""
    reused: tuple[str, ...]
    """Names of earlier releases whose tables would be reused at no cost."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisPlan(RunPlan):
    """What synthetic data would be made of and cost. Nothing was spent or read."""

    tables: int
    """The number of marginals to preserve."""
    finding: Mapping[str, float]
    """Columns whose values are found first, each with the epsilon of that, in addition to the cost of the run. How many values they have is not known yet."""
    predicted: Predicted | None = None
    """The expected error, as far as it is known; None if values of columns are found first."""

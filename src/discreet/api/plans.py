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
class GraphPlan:
    """What a query about a network would cost, and how exact it would be. Nothing was spent or read."""

    graph: str
    verb: str
    unit: str
    """What one unit of the cost protects: a person, or one edge."""
    protects: str
    epsilon: float
    mechanisms: tuple[str, ...]
    within: float | None
    """Half-width of each number's 95 % interval; None if only the answer can say it."""
    asked_before: bool
    """Whether it would be free."""
    charged: Mapping[str, bool]
    """The accounts that would be charged, and whether their caps allow it now."""
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


@dataclass(frozen=True, slots=True)
class PlannedQueries:
    """Queries over the same columns, and how exact their answers would be."""

    columns: tuple[str, ...]
    queries: int
    within: float
    """The half-width of the least exact answer, at 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPlan(RunPlan):
    """What would be measured for a workload or a tree, how exact the answers would be, and the cost."""

    strategy: str
    typical_error: float
    """The root of the expected squared error of a query, on average over the workload."""
    tables: tuple[PlannedQueries, ...]


@dataclass(frozen=True, slots=True)
class PlannedMeasurement:
    """One measurement for a model, before it is taken."""

    what: str
    numbers: int
    norm: float
    """How far one person can move all numbers together: in rows, of columns that are scaled from -1 to 1."""
    within: float
    """Half-width of each number's 95 % interval, in the same unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPlan(RunPlan):
    """What a model or an evaluation would measure, how exactly, and what it would cost. Nothing was spent or read."""

    measurements: tuple[PlannedMeasurement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan(RunPlan):
    """What a session would cost, and its error bound. Nothing was spent or read."""

    cells: int
    """The number of cells of the table over all columns."""
    queries: int
    alarms: int | None
    """None, as `within`, if it is known only after the number of rows is measured."""
    within: float | None
    """In rows: with probability 95 %, no checked answer is further off."""

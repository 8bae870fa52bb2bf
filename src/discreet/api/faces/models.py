"""What an analyst sees of a curator about learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Protocol, TypedDict, TypeVar, Unpack

from discreet.api.plans import RunPlan
from discreet.core.documenting import Told
from discreet.core.exact import Number
from discreet.learning.data.features import Feature
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Model
from discreet.learning.models.product_moments import Moments
from discreet.learning.runs.evaluation import Evaluation
from discreet.sql.builder import Table
from discreet.sql.reader.query_text import Parameters

Kind = TypeVar("Kind", bound=Model)


class LearningOptions(TypedDict, total=False):
    """One price, and what the source takes."""

    epsilon: Annotated[
        Number | None, "What all of it may cost, at the account's delta unless another is given. There is no default."
    ]
    delta: Annotated[Number | None, "At which epsilon is converted; it is not spent."]
    rho: Annotated[Number | None, "The price as zCDP, instead of both."]
    parameters: Annotated[Parameters, "A mapping for :name, or a sequence for ?."]


@dataclass(frozen=True, slots=True)
class PlannedLook:
    """One noisy release of a model, before it is drawn."""

    what: str
    numbers: int
    norm: float
    """How far one person can move all of them together: in rows, of columns that are scaled from -1 to 1."""
    within: float
    """No number is further off in 95 % of all releases, in the same unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPlan(RunPlan):
    """What a model would look at, how exactly, and what it would cost; nothing was spent or read."""

    looks: tuple[PlannedLook, ...]


class LearningFace(Told, Protocol):
    """What an analyst can do, wherever the data is."""

    def learn(
        self,
        model: Kind,
        source: str | Table,
        *,
        name: str | None = None,
        request_id: str | None = None,
        **price: Unpack[LearningOptions],
    ) -> Kind:
        """Learn a model from a table, or from a SELECT that yields people's rows: all of it is charged once before the first look.

        Args:
            model: What to learn, by the names of columns, such as `LogisticRegression(target="died", features=["age", "ward"])`.
            source: A table's name, or a SELECT of rows.
            name: What the release is looked up by.
            request_id: A name for this call: repeated under it, it is paid for once.
            **price: What it may cost.
        """

    def plan_learning(self, model: Model, source: str | Table, **price: Unpack[LearningOptions]) -> LearningPlan:
        """What `learn` would look at and cost, or its refusal. Nothing is read and nothing is spent.

        Args:
            model: What to learn.
            source: A table's name, or a SELECT of rows.
            **price: What it may cost.
        """

    def moments(
        self,
        source: str | Table,
        *columns: Feature,
        name: str | None = None,
        request_id: str | None = None,
        **price: Unpack[LearningOptions],
    ) -> Moments:
        """How many rows there are, the sums of columns and of their products, in one release: `LinearRegression.from_moments` for any of the
        columns and `PCA.from_moments` cost nothing more.

        Args:
            source: A table's name, or a SELECT of rows.
            *columns: Their names; `Number("age", bins=16)` and `Category("ward")` say how they are seen.
            name: What the release is looked up by.
            request_id: A name for this call: repeated under it, it is paid for once.
            **price: What it may cost.
        """

    def evaluate(
        self,
        model: Classifier,
        source: str | Table,
        *,
        name: str | None = None,
        request_id: str | None = None,
        **price: Unpack[LearningOptions],
    ) -> Evaluation:
        """How well a model that was learned decides about people's rows: a noisy table of decided and true classes, paid for once.

        Args:
            model: That a curator has learned.
            source: A table's name, or a SELECT of rows with the same columns.
            name: What the release is looked up by.
            request_id: A name for this call: repeated under it, it is paid for once.
            **price: What it may cost.
        """

    def plan_evaluation(self, model: Classifier, source: str | Table, **price: Unpack[LearningOptions]) -> LearningPlan:
        """What `evaluate` would count, how exactly, and what it would cost, or its refusal. Nothing is read and nothing is spent.

        Args:
            model: That a curator has learned.
            source: A table's name, or a SELECT of rows with the same columns.
            **price: What it may cost.
        """

"""What every model is: parameters, what it looks at through a measurer, and what it concludes from the looks.

`measure` sees rows through a `SumMeasurer` and in no other way, on arrays as on protected tables; `conclude` has the transcript of its looks alone. So a
model on a curator's rows and one on rows at hand are the same code, and nothing private is in either.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.in_memory_account import Account
from discreet.core.documenting import inherit_parameter_docs
from discreet.core.exact import Number as Real
from discreet.core.loss import Loss, Neighbours, read_neighbours
from discreet.errors import BadData, BadInput, NeedsDelta
from discreet.learning.data.features import (
    MOST_BINS,
    Category,
    Feature,
    Number,
    codes_in,
    column_of,
    columns_in,
    feature_to_json,
    name_of,
)
from discreet.learning.runs.measurement_plan import NoisyLook, Work
from discreet.learning.runs.model_card import Card, Learned
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Domain, domain_from_json
from discreet.measurement.feature_vectors import SumMeasurer
from discreet.measurement.in_memory_run import transcript_of
from discreet.measurement.run_budget import budget_of
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.noise import SYSTEM_BITS

PURPOSE = "learn"
Floats = NDArray[np.float64]
_bits = SYSTEM_BITS


@dataclass(kw_only=True, eq=False, repr=False)
class Model(ABC):
    """A model that is learned privately. There is no default epsilon, and nothing is read off the rows but what is paid for.

    Args:
        features: What it sees of a row: `Number("age", 17, 90, bins=16)`, `Category("sex", ["F", "M"])`; names where a curator knows the rest.
        epsilon: What learning may cost on rows at hand; a curator is told its own.
        delta: At which epsilon is converted to rho; it is not spent.
        rho: The price as zCDP, instead of both.
    """

    features: Sequence[Feature]
    epsilon: Real | None = None
    delta: Real | None = None
    rho: Real | None = None
    _transcript: Transcript | None = field(default=None, init=False)
    domain: Domain = field(init=False)
    """What is public about the rows it was learned from."""
    receipt: str = field(default="", init=False)
    """Under which the ledger has the charge, where there is one."""
    replayed: bool = field(default=False, init=False)

    needs_rho: ClassVar[bool] = False
    """Whether it is Gaussian noise or nothing."""
    bins: ClassVar[int | None] = None
    """Of numbers that have none of their own; none where they stay numbers."""

    def __init_subclass__(cls) -> None:
        inherit_parameter_docs(cls)

    def __post_init__(self) -> None:
        if isinstance(self.features, str) or not list(self.features):
            raise BadInput("A model needs features.", next_step="Name one column at least that it sees.")
        names = [name_of(feature) for feature in self.wanted]
        if len(set(names)) < len(names):
            raise BadInput("A model names each column once.", next_step="Leave the second out.")

    # What it is about

    @property
    def wanted(self) -> list[Feature]:
        """All columns that it looks at: features, then the target if there is one."""
        return list(self.features)

    @property
    def label(self) -> str | None:
        """The column whose missing values leave a row out."""
        return None

    @property
    def described(self) -> dict[str, Any]:
        """What makes two models the same query, as JSON has it."""
        return {
            "kind": PURPOSE,
            "model": type(self).__name__,
            "columns": [feature_to_json(feature) for feature in self.wanted],
            "target": self.label is not None,
            **self._settings(),
        }

    def described_for(self, domain: Domain) -> dict[str, Any]:  # noqa: ARG002  most are described by themselves
        """The same, where what it does is known by the rows it is about."""
        return self.described

    def _settings(self) -> dict[str, Any]:
        return {}

    def bins_in(self, feature: Feature) -> int | None:
        """How many bins a curator shall put a column into, if it is of numbers: many for a line.

        Args:
            feature: What the model was told of it.
        """
        if isinstance(feature, Category):
            return None
        return (feature.bins if isinstance(feature, Number) else None) or self.bins or MOST_BINS

    def work(self, domain: Domain) -> Work:
        """What its looks take an engine, and what is computed between them.

        Args:
            domain: What is public about the rows.
        """
        return Work(len(domain.columns))

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Refuse, from public facts, what cannot be learned from such rows.

        Args:
            domain: What is public about them.
        """

    @abstractmethod
    def looks(self, measurer: SumMeasurer) -> list[NoisyLook[Any]]:
        """What every look will be and its noise, from public facts alone: nothing is drawn.

        Args:
            measurer: Of the rows, or of nobody's.
        """

    @abstractmethod
    def measure(self, measurer: SumMeasurer) -> None:
        """Every look, in order, with the noise that `looks` says; each depends on public facts and earlier outcomes alone.

        Args:
            measurer: Of the rows.
        """

    @abstractmethod
    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        """Set what was learned.

        Args:
            domain: What is public about the rows.
            transcript: Of the looks.
        """

    def burden(self, numbers: int) -> int:
        """How many numbers are worked on, at each turn, where so many were drawn.

        Args:
            numbers: That were drawn.
        """
        return numbers

    @property
    @abstractmethod
    def learned(self) -> list[Learned]:
        """Every number that was learned, with the deviation of its error."""

    @property
    def remarks(self) -> list[str]:
        """What ± covers, and what else should be known."""
        return []

    # Learning

    def fit(
        self,
        rows: Any,
        y: Any = None,
        *,
        account: Account | None = None,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """Learn from rows at hand, one row a person.

        Args:
            rows: A frame of pandas or polars, a mapping of columns, or an array with a column for each feature.
            y: The target of each row, where the model has one.
            account: What pays for it; nothing is drawn unless it does.
            neighbours: What a person changes: a row that comes or goes, or one that is replaced.
        """
        budget = self.budget(epsilon=self.epsilon, delta=self.delta, rho=self.rho, is_pure=self._is_pure)
        domain = Domain(tuple(self._columns_at_hand()), 1, read_neighbours(neighbours))
        self.check(domain)
        codes = self._codes(domain, rows, y)
        if account is not None:
            account.charge([budget])
        learn = partial(transcript_of, domain=domain, budget=budget, purpose=self.described, measure=self.measure)
        return self.take(learn(codes, bits=_bits))

    @property
    def _is_pure(self) -> bool:
        return self.delta is None and self.rho is None

    @classmethod
    def budget(cls, *, epsilon: Real | None, delta: Real | None, rho: Real | None, is_pure: bool) -> AdaptiveBudget:
        """What may be spent, or a refusal.

        Args:
            epsilon: Alone where it is pure, else with a delta.
            delta: At which epsilon is converted to rho.
            rho: Instead of both.
            is_pure: Whether only pure epsilons are counted.
        """
        budget = budget_of(epsilon=epsilon, delta=delta, rho=rho, is_pure_account=is_pure)
        if cls.needs_rho and not isinstance(budget, Adaptive):
            raise NeedsDelta(
                f"{cls.__name__} is learned with Gaussian noise, which has no pure epsilon.",
                next_step="Give a delta such as 1e-6 on an account that has one; on a pure account use NaiveBayes, DecisionTree, KMeans or FiniteClass.",
            )
        return budget

    def _columns_at_hand(self) -> list[Any]:
        return [column_of(feature, bins=self.bins) for feature in self.features]

    def _codes(self, domain: Domain, rows: Any, y: Any) -> NDArray[np.int64]:
        values = columns_in(rows, self.features)
        if (y is None) != (len(domain.columns) == len(values)):
            raise BadData("A model with a target takes y, and one without takes none.", next_step="Look at its target.")
        columns = [*values, *([] if y is None else [y])]
        codes = [codes_in(column, each) for column, each in zip(domain.columns, columns, strict=True)]
        if len({len(each) for each in codes}) > 1:
            raise BadData("Columns have different lengths.", next_step="Give one value of each column for every row.")
        stacked = np.stack(codes, axis=1)
        return stacked[(stacked >= 0).all(axis=1)]

    def learned_from(self, stored: bytes, *, receipt: str, replayed: bool) -> Self:
        """A model of the same parameters from a stored transcript.

        Args:
            stored: Its bytes.
            receipt: Under which the ledger has the charge.
            replayed: Whether it was learned before.
        """
        model = copy(self)
        model.receipt, model.replayed = receipt, replayed
        return model.take(Transcript.decoded(stored))

    def take(self, transcript: Transcript) -> Self:
        """Learn from looks that were taken.

        Args:
            transcript: Of them.
        """
        self._transcript, self.domain = transcript, domain_from_json(transcript.facts["domain"])
        self.conclude(self.domain, transcript)
        return self

    def follow(self, other: Model) -> None:
        """Take over what another looked at and paid for.

        Args:
            other: The model that did.
        """
        self._transcript, self.domain, self.receipt, self.replayed = other.transcript, other.domain, other.receipt, True

    # What was learned

    @property
    def has_learned(self) -> bool:
        """Whether there is anything to predict with."""
        return self._transcript is not None

    @property
    def transcript(self) -> Transcript:
        """Every noisy number that was drawn, in order: all that the model was made of."""
        if self._transcript is None:
            raise BadInput("This model has learned nothing yet.", next_step="Call fit, or let a curator learn it.")
        return self._transcript

    @property
    def loss(self) -> Loss:
        """What it cost: an epsilon; of Gaussian noise one with the delta of conversion, 1e-6 unless it was given."""
        budget = mechanism_from_json_as(AdaptiveBudget, self.transcript.facts["budget"])  # type: ignore[type-abstract]
        if isinstance(budget, Adaptive):
            delta = float(self.delta or 1e-6)
            return Loss(budget.epsilon_at(delta), delta)
        return Loss(budget.pure_epsilon)

    def card(self) -> Card:
        """Every number with its ±, as table and plot, and the price."""
        return Card(
            loss=self.loss,
            replayed=self.replayed,
            receipt=self.receipt,
            learned=tuple(self.learned),
            remarks=tuple(self.remarks),
        )

    def codes(self, rows: Any) -> NDArray[np.int64]:
        """New rows as the codes of the features.

        Args:
            rows: As `fit` takes them.
        """
        columns = self.domain.columns[: len(list(self.features))]
        values = columns_in(rows, self.features)
        return np.stack([codes_in(column, each) for column, each in zip(columns, values, strict=True)], axis=1)

    # As scikit-learn has it

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  its signature
        """The parameters by name.

        Args:
            deep: Nothing is nested.
        """
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters.

        Args:
            **parameters: By name.
        """
        known = self.get_params()
        if not parameters.keys() <= known.keys():
            raise BadInput("There is no such parameter.", next_step=f"Use one of {', '.join(known)}.")
        for name, value in parameters.items():
            setattr(self, name, value)
        self.__post_init__()
        return self

    def __repr__(self) -> str:
        given = {name: value for name, value in self.get_params().items() if value is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _by_column(self, tables: Mapping[str, Any], codes: NDArray[np.int64]) -> Any:
        """The sum over columns of the entry at each row's code; nothing for a code that there is none of."""
        total: Any = 0.0
        for at, feature in enumerate(self.features):
            table = np.asarray(tables[name_of(feature)])
            entries = table[np.maximum(codes[:, at], 0)]
            known = codes[:, at] >= 0
            total = total + entries * (known if entries.ndim == 1 else known[:, None])
        return total

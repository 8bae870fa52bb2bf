"""What all models share: parameters, measurements of rows, and the computation of the model from their noisy outcomes.

`measure` reads rows only through a `SumMeasurer`, both for arrays and for protected tables, and `conclude` gets only
the transcript of noisy outcomes. The same code therefore learns from a curator's rows and from rows in memory, and a
model contains nothing private.
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
from discreet.learning.runs.measurement_plan import NoisyMeasurement, Work
from discreet.learning.runs.model_card import Card, LearnedNumber
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
    """A model that is learned privately. There is no default epsilon.

    Args:
        features: Columns of a row: `Number("age", 17, 90, bins=16)`, `Category("sex", ["F", "M"])`; names if a curator
            learns.
        epsilon: Privacy cost of learning from rows in memory. For a curator, give it to `learn`.
        delta: The delta at which epsilon is converted to rho; it is not spent.
        rho: Privacy cost as zCDP, instead of epsilon and delta.
    """

    features: Sequence[Feature]
    epsilon: Real | None = None
    delta: Real | None = None
    rho: Real | None = None
    _transcript: Transcript | None = field(default=None, init=False)
    domain: Domain = field(init=False)
    """Public description of the rows that it was learned from."""
    receipt: str = field(default="", init=False)
    """Receipt of the charge in the ledger; empty without one."""
    replayed: bool = field(default=False, init=False)

    needs_rho: ClassVar[bool] = False
    """Whether it requires Gaussian noise."""
    bins: ClassVar[int | None] = None
    """Default number of bins of a numeric column; None if it stays one number."""

    def __init_subclass__(cls) -> None:
        inherit_parameter_docs(cls)

    def __post_init__(self) -> None:
        if isinstance(self.features, str) or not list(self.features):
            raise BadInput("A model needs features.", next_step="Name at least one column.")
        names = [name_of(feature) for feature in self.all_features]
        if len(set(names)) < len(names):
            raise BadInput("A model names a column twice.", next_step="Name each column once.")

    # Description

    @property
    def all_features(self) -> list[Feature]:
        """All its columns: features, then the target if there is one."""
        return list(self.features)

    @property
    def label(self) -> str | None:
        """Rows without a value in this column are dropped."""
        return None

    @property
    def described(self) -> dict[str, Any]:
        """The model as JSON. Two models with the same description are the same query."""
        return {
            "kind": PURPOSE,
            "model": type(self).__name__,
            "columns": [feature_to_json(feature) for feature in self.all_features],
            "target": self.label is not None,
            **self._settings(),
        }

    def described_for(self, domain: Domain) -> dict[str, Any]:  # noqa: ARG002  overridden by a model that depends on it
        """The description, for a model that depends on the domain."""
        return self.described

    def _settings(self) -> dict[str, Any]:
        return {}

    def bins_in(self, feature: Feature) -> int | None:
        """Return the number of bins of a numeric column for a curator. A column with one weight has many.

        Args:
            feature: A feature of the model.
        """
        if isinstance(feature, Category):
            return None
        return (feature.bins if isinstance(feature, Number) else None) or self.bins or MOST_BINS

    def work(self, domain: Domain) -> Work:
        """Return the work of its measurements and of the computation between them.

        Args:
            domain: Public description of the rows.
        """
        return Work(len(domain.columns))

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Refuse, from public values alone, a model that cannot be learned from such rows.

        Args:
            domain: Public description of the rows.
        """

    @abstractmethod
    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Any]]:
        """Return all measurements with their noise, from public values alone. Nothing is drawn.

        Args:
            measurer: Measures the rows, or plans without rows.
        """

    @abstractmethod
    def measure(self, measurer: SumMeasurer) -> None:
        """Take all measurements in order, with the noise of `measurements`.

        Each depends on public values and earlier outcomes alone.

        Args:
            measurer: Measures the rows.
        """

    @abstractmethod
    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        """Compute the model.

        Args:
            domain: Public description of the rows.
            transcript: Noisy outcomes of the measurements.
        """

    def burden(self, numbers: int) -> int:
        """Return how many numbers `conclude` computes with in each round.

        Args:
            numbers: Number of noisy outcomes.
        """
        return numbers

    @property
    @abstractmethod
    def learned(self) -> list[LearnedNumber]:
        """Every learned number, with the standard deviation of its error."""

    @property
    def remarks(self) -> list[str]:
        """What the intervals cover, and other remarks for the card."""
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
        """Learn from rows in memory, one row per person.

        Args:
            rows: A pandas or polars frame, a mapping of columns, or an array with one column per feature.
            y: Target of each row, if the model has a target.
            account: Charged before any noise is drawn. Without it nothing is charged.
            neighbours: What a neighbour changes: it adds or removes a row, or replaces one.
        """
        budget = self.budget(epsilon=self.epsilon, delta=self.delta, rho=self.rho, is_pure=self._is_pure)
        domain = Domain(tuple(self._declared_columns()), 1, read_neighbours(neighbours))
        self.check(domain)
        codes = self._codes(domain, rows, y)
        if account is not None:
            account.charge([budget])
        learn = partial(transcript_of, domain=domain, budget=budget, purpose=self.described, measure=self.measure)
        return self.set_transcript(learn(codes, bits=_bits))

    @property
    def _is_pure(self) -> bool:
        return self.delta is None and self.rho is None

    @classmethod
    def budget(cls, *, epsilon: Real | None, delta: Real | None, rho: Real | None, is_pure: bool) -> AdaptiveBudget:
        """Read the budget, or refuse one that the model cannot use.

        Args:
            epsilon: With a delta, unless it is a pure epsilon.
            delta: The delta at which epsilon is converted to rho.
            rho: Instead of both.
            is_pure: Whether the account counts only pure epsilon.
        """
        budget = budget_of(epsilon=epsilon, delta=delta, rho=rho, is_pure_account=is_pure)
        if cls.needs_rho and not isinstance(budget, Adaptive):
            raise NeedsDelta(
                f"{cls.__name__} needs Gaussian noise, which has no pure epsilon.",
                next_step="Give a delta such as 1e-6 on an account that has one. "
                "On an account of pure epsilon use NaiveBayes, DecisionTree, KMeans or FiniteClass.",
            )
        return budget

    def _declared_columns(self) -> list[Any]:
        return [column_of(feature, bins=self.bins) for feature in self.features]

    def _codes(self, domain: Domain, rows: Any, y: Any) -> NDArray[np.int64]:
        values = columns_in(rows, self.features)
        if (y is None) != (len(domain.columns) == len(values)):
            raise BadData(
                "y is needed exactly if the model has a target.",
                next_step="Give y if the model has a target, and only then.",
            )
        columns = [*values, *([] if y is None else [y])]
        codes = [codes_in(column, each) for column, each in zip(domain.columns, columns, strict=True)]
        if len({len(each) for each in codes}) > 1:
            raise BadData("Columns have different lengths.", next_step="Give one value per row in each column.")
        stacked = np.stack(codes, axis=1)
        return stacked[(stacked >= 0).all(axis=1)]

    def learned_from(self, stored: bytes, *, receipt: str, replayed: bool) -> Self:
        """Return a copy that is computed from a stored transcript.

        Args:
            stored: Bytes of the transcript.
            receipt: Receipt of the charge.
            replayed: Whether it was free, because it had been learned before.
        """
        model = copy(self)
        model.receipt, model.replayed = receipt, replayed
        return model.set_transcript(Transcript.decoded(stored))

    def set_transcript(self, transcript: Transcript) -> Self:
        """Compute the model from noisy outcomes.

        Args:
            transcript: Noisy outcomes of the measurements.
        """
        self._transcript, self.domain = transcript, domain_from_json(transcript.facts["domain"])
        self.conclude(self.domain, transcript)
        return self

    def adopt(self, other: Model) -> None:
        """Take over the measurements and the charge of another model.

        Args:
            other: A learned model.
        """
        self._transcript, self.domain, self.receipt, self.replayed = other.transcript, other.domain, other.receipt, True

    # The learned model

    @property
    def has_learned(self) -> bool:
        """Whether it can predict."""
        return self._transcript is not None

    @property
    def transcript(self) -> Transcript:
        """All noisy outcomes in order. The model is computed from them alone."""
        if self._transcript is None:
            raise BadInput("This model has not been learned.", next_step="Call fit, or let a curator learn it.")
        return self._transcript

    @property
    def loss(self) -> Loss:
        """Privacy cost. For Gaussian noise, an epsilon at the delta of conversion, by default 1e-6."""
        budget = mechanism_from_json_as(AdaptiveBudget, self.transcript.facts["budget"])  # type: ignore[type-abstract]
        if isinstance(budget, Adaptive):
            delta = float(self.delta or 1e-6)
            return Loss(budget.epsilon_at(delta), delta)
        return Loss(budget.pure_epsilon)

    def card(self) -> Card:
        """Return every number with its interval, as table and plot, and the cost."""
        return Card(
            loss=self.loss,
            replayed=self.replayed,
            receipt=self.receipt,
            learned=tuple(self.learned),
            remarks=tuple(self.remarks),
        )

    def codes(self, rows: Any) -> NDArray[np.int64]:
        """Return new rows as codes of the features.

        Args:
            rows: In a form that `fit` reads.
        """
        columns = self.domain.columns[: len(list(self.features))]
        values = columns_in(rows, self.features)
        return np.stack([codes_in(column, each) for column, each in zip(columns, values, strict=True)], axis=1)

    # The interface of scikit-learn

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  signature of scikit-learn
        """Return the parameters by name.

        Args:
            deep: Ignored: no parameter is nested.
        """
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters.

        Args:
            **parameters: By name.
        """
        known = self.get_params()
        if not parameters.keys() <= known.keys():
            raise BadInput("The model has no such parameter.", next_step=f"Use one of {', '.join(known)}.")
        for name, value in parameters.items():
            setattr(self, name, value)
        self.__post_init__()
        return self

    def __repr__(self) -> str:
        given = {name: value for name, value in self.get_params().items() if value is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _by_column(self, tables: Mapping[str, Any], codes: NDArray[np.int64]) -> Any:
        """Sum, over columns, the table entry at each row's code. A code of -1 adds 0."""
        total: Any = 0.0
        for at, feature in enumerate(self.features):
            table = np.asarray(tables[name_of(feature)])
            entries = table[np.maximum(codes[:, at], 0)]
            known = codes[:, at] >= 0
            total = total + entries * (known if entries.ndim == 1 else known[:, None])
        return total

"""What an analyst sees of a curator, near or far: one protocol, and the dataclasses that it speaks in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.exact import Number
from discreet.loss import Loss
from discreet.sql.builder import Table
from discreet.sql.text import Parameters

CONFIDENCE = 0.95
"""The share of answers that shown ± cover."""


@dataclass(frozen=True, slots=True)
class Balance:
    """An account: what may be spent, what is spent, and whether it is stopped."""

    account: str
    cap: Loss
    spent: Loss
    frozen: bool


@dataclass(frozen=True, slots=True)
class PastRelease:
    """A release that was paid for. `epsilon` is None where it has no pure one; `replayed` where nothing was charged for it."""

    time: str
    mechanisms: tuple[str, ...]
    epsilon: float | None
    rho: float
    delta: float
    replayed: bool
    receipt: str
    sql: str | None = None
    """The text, for those who asked it."""
    analyst: str | None = None


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A group key: how many values are public of it, None where groups are selected privately."""

    name: str
    values: int | None


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """One measure of one grouping: by which mechanism, how far a person moves it, and how wide its noise is.

    `scale` is the noise's scale (Laplace) or deviation (Gaussian), `half_width` the ± at 95 %, in the measure's own unit; None for quantiles,
    whose error is `ranks`.
    """

    measure: str
    by: tuple[str, ...]
    mechanism: str
    sensitivity: float
    scale: float | None
    half_width: float | None
    ranks: float | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a question would read, measure and cost. Nothing of it depends on a protected row."""

    tables: tuple[str, ...]
    person: str
    rows_per_person: int
    bounding: str
    data_version: int
    keys: tuple[GroupFacts, ...]
    groups: int | None
    measures: tuple[MeasureFacts, ...]
    columns: tuple[str, ...]
    half_widths: Mapping[str, float | None]
    confidence: float
    loss: Loss
    in_words: str
    asked_before: bool
    accounts: tuple[Balance, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CatalogFacts:
    """The public facts of a dataset: tables with their columns, types, bounds and values."""

    dataset: str
    version: int
    tables: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Card:
    """For everybody: what was spent on what, without a question's text and without anybody's name."""

    dataset: str
    data_version: int
    person: tuple[str, ...]
    neighbours: str
    cap: Loss
    spent: Loss
    in_words: str
    releases: tuple[PastRelease, ...]
    head: str


class Shown(Protocol):
    """An answer, near or far."""

    @property
    def columns(self) -> list[str]: ...

    @property
    def rows(self) -> list[dict[str, Any]]: ...

    @property
    def loss(self) -> Loss: ...

    @property
    def replayed(self) -> bool: ...

    @property
    def receipt(self) -> str: ...

    def half_widths(self, level: float) -> list[dict[str, float | None]]: ...

    def intervals(self, level: float) -> list[dict[str, tuple[float, float] | None]]: ...

    def to_arrow(self) -> Any: ...


class CuratorFace(Protocol):
    """What an analyst can do, wherever the data is."""

    def ask(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        request_id: str | None = None,
    ) -> Shown: ...

    def explain(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
    ) -> Explanation: ...

    def budget(self) -> list[Balance]: ...

    def history(self) -> list[PastRelease]: ...

    def catalog(self) -> CatalogFacts: ...

    def card(self) -> Card: ...

"""What an analyst sees of a curator, near or far: one protocol, and the dataclasses that it speaks in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.answering.shown import Ends, Interval, Shown
from discreet.documenting import tell_arguments
from discreet.exact import Number
from discreet.figures import CONFIDENCE
from discreet.loss import Loss
from discreet.sql.builder import Table
from discreet.sql.text import Parameters

__all__ = [
    "CONFIDENCE",
    "Balance",
    "Card",
    "CatalogFacts",
    "CuratorFace",
    "Ends",
    "Explanation",
    "GroupFacts",
    "Interval",
    "MeasureFacts",
    "PastRelease",
    "ReleaseTotals",
    "Shown",
]

PAGE = 100
"""How many questions of the past are told at a time, unless somebody says so."""


@dataclass(frozen=True, slots=True)
class Balance:
    """An account: what may be spent, what is spent, whether it is stopped, and by which theorem it adds up."""

    account: str
    cap: Loss
    spent: Loss
    frozen: bool
    kept_by: str

    def after(self, loss: Loss) -> float:
        """The epsilon that is left when so much more is spent, added up plainly."""
        return max(self.cap.epsilon - self.spent.epsilon - loss.epsilon, 0.0)


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
    paid_by: tuple[str, ...] = ()
    """The accounts that were charged; like names and texts, not on the card."""
    number: int = 0
    """Of its entry in the books: what came before it is asked for by this."""


@dataclass(frozen=True, slots=True)
class ReleaseTotals:
    """All releases by the same mechanisms, and what they cost in all; `epsilon` is None where they have no pure one."""

    mechanisms: tuple[str, ...]
    releases: int
    epsilon: float | None
    rho: float
    delta: float


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A group key: how many values are public of it, None where groups are selected privately."""

    name: str
    values: int | None


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """One measure of one grouping: what is measured, by which keys, by which mechanism, how far a person moves it, how wide its noise is.

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
    """The most rows of one person that count in any part of the question."""
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
    pays: tuple[str, ...] = ()
    """The accounts that would be charged: none where it was asked before."""
    beyond: tuple[str, ...] = ()
    """Those of them whose cap does not allow it now, or which are frozen or not there: asked now, it would be refused."""


@dataclass(frozen=True, slots=True)
class CatalogFacts:
    """The public facts of a dataset: tables with their columns, types, bounds and values."""

    dataset: str
    version: int
    tables: tuple[Mapping[str, Any], ...]


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
    totals: tuple[ReleaseTotals, ...]
    releases: tuple[PastRelease, ...]
    """The last few, newest first."""
    head: str


class CuratorFace(Protocol):
    """What an analyst can do, wherever the data is."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        tell_arguments(cls)

    def table(self, name: str) -> Table:
        """A question built step by step instead of written.

        Args:
            name: Of a table in the catalog.
        """

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
    ) -> Shown:
        """Ask, pay, and get an answer with its ±.

        Args:
            sql: One SELECT, or a table with steps.
            epsilon: What it may cost; or say how exact it must be. There is no default.
            within: How exact: every number within ± this much.
            confidence: In which share of all answers, such as 0.95; goes with `within`.
            delta: For groups whose values are not declared.
            mechanism: "laplace", "gaussian" or "choose".
            parameters: A mapping for :name, or a sequence for ?.
            request_id: A name for this call: repeated under it, it is paid for once.
        """

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
    ) -> Explanation:
        """What a question would read, measure and cost. Spends nothing.

        Args:
            sql: One SELECT, or a table with steps.
            epsilon: What it may cost; or say how exact it must be. There is no default.
            within: How exact: every number within ± this much.
            confidence: In which share of all answers, such as 0.95; goes with `within`.
            delta: For groups whose values are not declared.
            mechanism: "laplace", "gaussian" or "choose".
            parameters: A mapping for :name, or a sequence for ?.
        """

    def budget(self) -> list[Balance]:
        """The accounts that pay, and what is left of them."""

    def history(self, *, before: int | None = None, limit: int = PAGE) -> list[PastRelease]:
        """What was asked, newest first.

        Args:
            before: The number of a release: only what came before it.
            limit: How many at most.
        """

    def catalog(self) -> CatalogFacts:
        """What is public about the data."""

    def card(self) -> Card:
        """What was spent on what, for everybody."""

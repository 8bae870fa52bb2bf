"""What is told about queries, accounts and datasets: dataclasses, and the same as JSON. Light, for commands that only look at books."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.loss import Loss

PAGE = 100
"""How many queries of the past are told at a time, unless somebody says so."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """A cap that holds for each period: which period it is, when the next begins, and what all of them come to."""

    every: str
    """The period as a word, such as month."""
    begun: str
    next: str
    """The first days of this period and of the next, in UTC."""
    lifetime_spent: Loss
    """By everything that was ever charged."""
    most_in_a_year: int
    """How many periods begin in a calendar year at most."""
    a_year: Loss
    """What may be spent in them."""


@dataclass(frozen=True, slots=True)
class Balance:
    """An account: what may be spent, what is spent, whether it is stopped, and by which theorem it adds up.

    Where its cap renews, `cap` and `spent` are of one period.
    """

    account: str
    cap: Loss
    spent: Loss
    frozen: bool
    kept_by: str
    renewal: Renewal | None = None
    unit: str = "person"
    """Whom it is about: what is spent on an edge protects nobody as a person, and adds up with nothing else."""

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
    unit: str = "person"
    """Whom its price is about: a person, or one edge of a network, where k edges of a person cost k times as much."""


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
    """What a query would read, measure and cost. Nothing of it depends on a protected row."""

    tables: tuple[str, ...]
    person: str
    rows_per_person: int
    """The most rows of one person that count in any part of the query."""
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
    """The accounts for which it would be refused, asked now: their cap does not allow it, they are not there, or they are frozen, which also
    keeps back what was paid for."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The answer of a watch for one data version."""

    version: int
    above: bool


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """A watch as the ledger has it: its evaluations, oldest version first, and why it ended (None while it goes on)."""

    receipt: str
    data_version: int
    """The version that is served."""
    evaluations: tuple[Evaluation, ...]
    ended: str | None


@dataclass(frozen=True, slots=True)
class CatalogFacts:
    """The public facts of a dataset: tables with their columns, types, bounds and values."""

    dataset: str
    version: int
    tables: tuple[Mapping[str, Any], ...]
    trees: tuple[Mapping[str, Any], ...] = ()
    graphs: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """A release that the owner shows to all, free: by its name, and since when."""

    name: str
    time: str


@dataclass(frozen=True, slots=True)
class EdgeBalance:
    """What may be and what was spent on one edge of a network; whoever has k edges there has k times that."""

    edges: str
    cap: Loss
    spent: Loss
    in_words: str
    renewal: Renewal | None = None
    """What a cap that renews comes to; None for one that holds for ever."""


@dataclass(frozen=True, slots=True)
class Card:
    """For everybody: what was spent on what, without a query's text and without anybody's name."""

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
    renewal: Renewal | None = None
    """Where `cap`, `spent` and `in_words` are of one period."""
    published: tuple[PublishedRelease, ...] = ()
    invariants: tuple[str, ...] = ()
    """What the owner has declared to be published as it is, outside of any epsilon."""
    edges: tuple[EdgeBalance, ...] = ()
    """What was spent on edges of networks, beside what was spent on people: neither is in the other."""

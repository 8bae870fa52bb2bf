"""Descriptions of queries, accounts and datasets. The module is light: commands that only read a ledger import it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.loss import Loss

PAGE = 100
"""Default number of queries on one page of the history."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """A cap that renews each period: the current period, the next one, and the loss over all periods."""

    every: str
    """The period as a word, such as month."""
    begun: str
    next: str
    """The first days of this period and of the next, in UTC."""
    lifetime_spent: Loss
    """By everything that was ever charged."""
    most_in_a_year: int
    """The most periods that start in one calendar year."""
    a_year: Loss
    """The loss that these periods allow."""


@dataclass(frozen=True, slots=True)
class Balance:
    """An account: its cap, what is spent, whether it is frozen, and by which theorem charges are composed (`kept_by`).

    If the cap renews, `cap` and `spent` are those of one period.
    """

    account: str
    cap: Loss
    spent: Loss
    frozen: bool
    kept_by: str
    renewal: Renewal | None = None
    unit: str = "person"
    """The privacy unit. A loss about edges says nothing about people, and is not added to other losses."""

    def after(self, loss: Loss) -> float:
        """Return the epsilon that remains after spending `loss` too, by basic composition."""
        return max(self.cap.epsilon - self.spent.epsilon - loss.epsilon, 0.0)


@dataclass(frozen=True, slots=True)
class PastRelease:
    """A release in the history. `epsilon` is None if it has no pure epsilon; `replayed`: it was not charged again."""

    time: str
    mechanisms: tuple[str, ...]
    epsilon: float | None
    rho: float
    delta: float
    replayed: bool
    receipt: str
    sql: str | None = None
    """The text of the query, only for the analyst who sent it."""
    analyst: str | None = None
    paid_by: tuple[str, ...] = ()
    """The accounts that were charged. Like names and texts, they are not on the card."""
    number: int = 0
    """The number of its ledger entry. The previous page of the history is requested with it."""
    unit: str = "person"
    """The privacy unit: a person, or one edge of a network. A person with k edges then loses k times as much."""


@dataclass(frozen=True, slots=True)
class ReleaseTotals:
    """All releases by the same mechanisms and their total cost; `epsilon` is None if they have no pure epsilon."""

    mechanisms: tuple[str, ...]
    releases: int
    epsilon: float | None
    rho: float
    delta: float


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A group key and the number of its public values; None if its groups are selected privately."""

    name: str
    values: int | None


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """One measure of one grouping set: keys, mechanism, sensitivity and noise.

    `scale` is the scale (Laplace) or standard deviation (Gaussian) of the noise, `half_width` the ± at 95 %, both in the unit of the
    measure. They are None for quantiles, whose error is `ranks`.
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
    """What a query would read, measure and cost. It depends on public values only."""

    tables: tuple[str, ...]
    person: str
    rows_per_person: int
    """The most rows of one person in any part of the query."""
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
    """The accounts that would be charged; none if the query was charged before."""
    beyond: tuple[str, ...] = ()
    """The accounts that would refuse the query now: the cap does not allow it, or the account is missing or frozen.

    A frozen account gets no stored answers either.
    """


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
    """The public description of a dataset: tables with their columns, types, bounds and values."""

    dataset: str
    version: int
    tables: tuple[Mapping[str, Any], ...]
    trees: tuple[Mapping[str, Any], ...] = ()
    graphs: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """A release that the owner has published, free for everyone, and when."""

    name: str
    time: str


@dataclass(frozen=True, slots=True)
class EdgeBalance:
    """The cap and the loss about one edge of a network. A person with k edges has k times that loss."""

    edges: str
    cap: Loss
    spent: Loss
    in_words: str
    renewal: Renewal | None = None
    """The renewal of the cap; None if it does not renew."""


@dataclass(frozen=True, slots=True)
class Card:
    """The public privacy card: what was spent on what, without texts of queries and names of analysts."""

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
    """Set if `cap`, `spent` and `in_words` are those of one period."""
    published: tuple[PublishedRelease, ...] = ()
    invariants: tuple[str, ...] = ()
    """Exact sums that the owner has declared public, outside of any epsilon."""
    edges: tuple[EdgeBalance, ...] = ()
    """What was spent on edges of networks. It is separate from what was spent on people."""

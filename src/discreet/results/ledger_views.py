"""What the books say, for whoever may look: balances, queries, and the card for everybody."""

from __future__ import annotations

import math
from functools import lru_cache

from discreet.accounting import Composed
from discreet.catalog import Catalog
from discreet.core.exact import UNIT
from discreet.core.loss import Loss
from discreet.errors import BadInput
from discreet.ledger import Account, Entry, Ledger
from discreet.ledger.accounts.account_rows import edge_table, is_edge_account
from discreet.ledger.accounts.totals import QueryCounts, ReleaseTotal
from discreet.ledger.charges.release_json import mechanism_from_json
from discreet.mechanisms import Mechanism
from discreet.results.models import (
    PAGE,
    Balance,
    Card,
    EdgeBalance,
    PastRelease,
    PublishedRelease,
    ReleaseTotals,
    Renewal,
)

_LARGEST_PAGE = 1000


def balances(ledger: Ledger, analyst: str | None) -> list[Balance]:
    """The dataset's account and the analyst's; all of them for the owner."""
    return [
        Balance(
            holder(account.name),
            account.cap,
            account.spent,
            account.frozen,
            account.filter.kind,
            renewal_of(account),
            unit="edge" if is_edge_account(account.name) else "person",
        )
        for account in ledger.accounts(analyst=analyst)
    ]


def renewal_of(account: Account) -> Renewal | None:
    """What a cap that renews comes to; None for one that holds for ever."""
    renews, begun, following = account.filter.renews, account.begun, account.renews_on
    if renews is None or begun is None or following is None:
        return None
    most = renews.most_in_a_year
    return Renewal(
        renews.noun, begun.isoformat(), following.isoformat(), account.lifetime_spent, most, account.cap.times(most)
    )


def holder(account: str) -> str:
    """Whose an account is, as people say it."""
    return f"edges of {edge_table(account)}" if is_edge_account(account) else account.removeprefix("analyst:")


def history(ledger: Ledger, analyst: str | None, *, before: int | None = None, limit: int = PAGE) -> list[PastRelease]:
    """The last queries, newest first, with who paid for them; of one analyst, or of all for the owner.

    Asked again with `before` the last number of one page, it tells the next.
    """
    if not 1 <= limit <= _LARGEST_PAGE:
        raise BadInput(
            f"A page of the history has 1 to {_LARGEST_PAGE:,} questions.",
            next_step="Ask for less at a time, and for what came before by the number of the last.",
        )
    charges = ledger.charges(analyst=analyst, before=before, limit=limit)
    return [_release(entry, worded=worded, tell=True) for entry, worded in charges]


def asked(ledger: Ledger, analyst: str | None) -> QueryCounts:
    """How many queries there were, of one analyst or of all, and how many of them were free."""
    by_analyst = ledger.totals().asked
    if analyst is not None:
        return by_analyst.get(analyst, QueryCounts())
    counts = by_analyst.values()
    return QueryCounts(sum(each.queries for each in counts), sum(each.free for each in counts))


def _release(entry: Entry, *, worded: Entry, tell: bool) -> PastRelease:
    """A charge as people may see it, with the entry that has its words and its price; `tell` also the text and who asked."""
    releases = worded.body["releases"]
    cost = _cost(tuple(map(mechanism_from_json, releases)))
    return PastRelease(
        time=entry.time,
        mechanisms=tuple(sorted({release["mechanism"] for release in releases})),
        epsilon=cost.pure_epsilon if math.isfinite(cost.pure_epsilon) else None,
        rho=cost.rho,
        delta=float(cost.delta),
        replayed=not entry.body["accounts"],
        receipt=entry.hash,
        sql=worded.body["label"] if tell else None,
        analyst=entry.body["analyst"] if tell else None,
        paid_by=tuple(map(holder, entry.body["accounts"])) if tell else (),
        number=entry.seq,
        unit=entry.body.get("unit", "person"),
    )


@lru_cache(maxsize=1024)
def _cost(releases: tuple[Mechanism, ...]) -> Composed:
    """Once for all that are alike: most queries of a history are."""
    return Composed.of(releases)


def card(ledger: Ledger, catalog: Catalog, *, dataset: str, version: int) -> Card:
    """Public: no query's text and nobody's name."""
    running, (account, *of_edges), latest = ledger.latest()
    units = {table.unit.column for table in catalog.tables.values() if table.unit is not None}
    return Card(
        dataset=dataset,
        data_version=version,
        person=tuple(sorted(units)),
        neighbours=catalog.neighbours.value,
        cap=account.cap,
        spent=account.spent,
        in_words=Loss(account.cap.epsilon, account.cap.delta).in_words(),
        totals=tuple(_totals(names, released) for names, released in sorted(running.released.items())),
        releases=tuple(_release(entry, worded=entry, tell=False) for entry in latest),
        head=f"{running.head.seq}:{running.head.hash}" if running.head else "0:",
        renewal=renewal_of(account),
        published=tuple(PublishedRelease(name, release.time) for name, release in sorted(running.published.items())),
        invariants=tuple(
            f"totals of {tree.of} by {tree.invariant}, in {tree.name}"
            for tree in catalog.trees.values()
            if tree.invariant
        ),
        edges=tuple(map(_edges, of_edges)),
    )


def _edges(account: Account) -> EdgeBalance:
    cap, renewal = account.cap, renewal_of(account)
    bounded = (
        f"about one edge: {cap.in_words('whether a given edge is in the network')}; about somebody with k edges, k times epsilon {cap.epsilon:g}"
        + ("" if renewal is None else f"; all of it again each {renewal.every}")
    )
    return EdgeBalance(edge_table(account.name), cap, account.spent, bounded, renewal)


def _totals(mechanisms: tuple[str, ...], released: ReleaseTotal) -> ReleaseTotals:
    cost = released.cost
    return ReleaseTotals(
        mechanisms,
        released.times,
        None if cost.pure is None else cost.pure / UNIT,
        cost.rho / UNIT,
        cost.delta / UNIT,
    )

"""What the books say, for whoever may look: balances, questions, and the card for everybody."""

from __future__ import annotations

import math

from discreet.accounting import Composed
from discreet.answering.face import Balance, Card, PastRelease
from discreet.catalog import Catalog
from discreet.ledger import Entry, Ledger
from discreet.ledger.releases import rebuild
from discreet.loss import Loss


def balances(ledger: Ledger, analyst: str | None) -> list[Balance]:
    """The dataset's account and the analyst's; all of them for the owner."""
    shown = [
        account for account in ledger.accounts() if analyst is None or holder(account.name) in ("dataset", analyst)
    ]
    return [
        Balance(holder(account.name), account.cap, account.spent, account.frozen, account.filter.kind)
        for account in shown
    ]


def holder(account: str) -> str:
    """Whose an account is, as people say it."""
    return account.removeprefix("analyst:")


def history(ledger: Ledger, analyst: str | None) -> list[PastRelease]:
    """Questions in order, with who paid for them; of one analyst, or all for the owner."""
    charges = [entry for entry in ledger.history() if entry.kind == "charge"]
    return [_release(entry, tell=True) for entry in charges if analyst is None or entry.body["analyst"] == analyst]


def _release(entry: Entry, *, tell: bool) -> PastRelease:
    """A charge as people may see it; `tell` also the text and who asked."""
    cost = Composed.of([rebuild(release) for release in entry.body["releases"]])
    return PastRelease(
        time=entry.time,
        mechanisms=tuple(sorted({release["mechanism"] for release in entry.body["releases"]})),
        epsilon=cost.pure_epsilon if math.isfinite(cost.pure_epsilon) else None,
        rho=cost.rho,
        delta=float(cost.delta),
        replayed=not entry.body["accounts"],
        receipt=entry.body["question"],
        sql=entry.body["label"] if tell else None,
        analyst=entry.body["analyst"] if tell else None,
        paid_by=tuple(map(holder, entry.body["accounts"])) if tell else (),
    )


def card(ledger: Ledger, catalog: Catalog, *, dataset: str, version: int) -> Card:
    """Public: no question's text and nobody's name."""
    account, head = ledger.account(), ledger.head()
    units = {table.unit.column for table in catalog.tables.values() if table.unit is not None}
    charges = [entry for entry in ledger.history() if entry.kind == "charge" and entry.body["accounts"]]
    return Card(
        dataset=dataset,
        data_version=version,
        person=tuple(sorted(units)),
        neighbours=catalog.neighbours.value,
        cap=account.cap,
        spent=account.spent,
        in_words=Loss(account.cap.epsilon, account.cap.delta).in_words(),
        releases=tuple(_release(entry, tell=False) for entry in charges),
        head=f"{head.seq}:{head.hash}" if head else "0:",
    )

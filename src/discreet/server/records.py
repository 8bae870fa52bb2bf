"""What the books say, for the API and the page: balances, questions, and the card for everybody."""

from __future__ import annotations

import math
from typing import Any

from discreet.accounting import Composed
from discreet.curator import Curator
from discreet.ledger import Account, Entry, Ledger
from discreet.ledger.releases import rebuild
from discreet.loss import Loss


def balances(ledger: Ledger, analyst: str | None) -> list[dict[str, Any]]:
    """The dataset's account and the analyst's; all of them for the owner."""
    accounts = ledger.accounts()
    shown = [a for a in accounts if analyst is None or _name(a) in ("dataset", analyst)]
    return [
        {
            "account": _name(account),
            "cap": {"epsilon": account.cap.epsilon, "delta": account.cap.delta},
            "spent": {"epsilon": account.spent.epsilon, "delta": account.spent.delta},
            "frozen": account.frozen,
        }
        for account in shown
    ]


def _name(account: Account) -> str:
    return account.name.removeprefix("analyst:")


def history(ledger: Ledger, analyst: str | None) -> list[dict[str, Any]]:
    """Questions in order, with who paid for them."""
    charges = [entry for entry in ledger.history() if entry.kind == "charge"]
    shown = [entry for entry in charges if analyst is None or entry.body["analyst"] == analyst]
    return [{**_release(entry), "sql": entry.body["label"], "analyst": entry.body["analyst"]} for entry in shown]


def _release(entry: Entry) -> dict[str, Any]:
    cost = Composed.of([rebuild(release) for release in entry.body["releases"]])
    return {
        "time": entry.time,
        "mechanisms": sorted({release["mechanism"] for release in entry.body["releases"]}),
        "epsilon": cost.pure_epsilon if math.isfinite(cost.pure_epsilon) else None,
        "rho": cost.rho,
        "delta": float(cost.delta),
        "replayed": not entry.body["accounts"],
        "receipt": entry.body["question"],
    }


def transparency(curator: Curator, dataset: str) -> dict[str, Any]:
    """Public: no question's text and nobody's name."""
    ledger = curator.ledger
    account, head = ledger.account(), ledger.head()
    units = sorted({table.unit.column for table in curator.catalog.tables.values() if table.unit is not None})
    releases = [_release(entry) for entry in ledger.history() if entry.kind == "charge" and entry.body["accounts"]]
    return {
        "dataset": dataset,
        "data_version": curator.version,
        "person": units,
        "neighbours": curator.catalog.neighbours.value,
        "cap": {"epsilon": account.cap.epsilon, "delta": account.cap.delta},
        "spent": {"epsilon": account.spent.epsilon, "delta": account.spent.delta},
        "in_words": Loss(account.cap.epsilon, account.cap.delta).in_words(),
        "releases": releases,
        "head": f"{head.seq}:{head.hash}" if head else "0:",
    }

"""Accounts: a filter with its cap, and the totals charged so far, as one row of a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from discreet.accounting import Charge
from discreet.accounting.filters import Filter, Kind, largest_pure_epsilon, open_filter
from discreet.errors import AccountFrozen, BudgetExceeded, DiscreetError, LedgerDamaged, UnknownAccount
from discreet.exact import exact
from discreet.ledger.releases import fraction
from discreet.loss import Loss
from discreet.mechanisms import Mechanism
from discreet.store import Transaction

_COLUMNS = "name, kind, epsilon, delta, frozen, spent_pure, spent_rho, spent_delta, spent_renyi"
_SAVE = (
    f"INSERT INTO ledger_accounts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "  # noqa: S608
    + ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS.split(", ")[1:])
)
DATASET = "dataset"
"""The account that binds all analysts together, as if they colluded."""


def analyst_account(analyst: str) -> str:
    """The name of an analyst's own account."""
    return f"analyst:{analyst}"


@dataclass(frozen=True, slots=True)
class Account:
    """Who may spend how much, and what was spent."""

    name: str
    filter: Filter
    total: Charge
    frozen: bool

    @property
    def cap(self) -> Loss:
        return self.filter.cap

    @property
    def spent(self) -> Loss:
        """The smallest loss that covers everything charged."""
        return self.filter.spent(self.total)

    @property
    def left(self) -> float:
        """A pure epsilon that would still be granted, whatever the mechanism; within 1e-4 of the cap of the largest."""
        return largest_pure_epsilon(self.filter, self.total)

    def check_open(self) -> None:
        """Refuse when frozen."""
        if self.frozen:
            raise AccountFrozen("This account is frozen.", next_step="Ask the owner of the data to look at it.")

    def allows(self, releases: Sequence[Mechanism]) -> bool:
        """Whether one more charge would be granted."""
        return not self.frozen and self.filter.allows(self.total + self.filter.price(releases))

    def charged(self, releases: Sequence[Mechanism]) -> Account:
        """The account after one more charge, or a refusal."""
        total = self.total + self.filter.price(releases)
        if not self.filter.allows(total):
            whose = "the dataset's account" if self.name == DATASET else "this account"
            raise BudgetExceeded(
                f"The answer would bring {whose} above its cap of epsilon {self.cap.epsilon:g}"
                + (f", delta {self.cap.delta:g}" if self.cap.delta else "")
                + f"; epsilon {self.spent.epsilon:.4g} is spent.",
                next_step=(
                    "Ask for a smaller epsilon, repeat an earlier question (free), or ask the owner to raise the cap."
                ),
            )
        return replace(self, total=total)


def load(t: Transaction, name: str, *, like: Account | None) -> Account:
    """Read an account, or refuse. Where its row is that of the account it should be `like`, that one is returned."""
    rows = t.run(f"SELECT {_COLUMNS} FROM ledger_accounts WHERE name = ?", name)  # noqa: S608
    if not rows:
        raise UnknownAccount("There is no account under that name.", next_step="Ask the owner of the data to open one.")
    return like if like is not None and rows[0] == row_of(like) else account_of(rows[0])


def load_all(t: Transaction) -> list[Account]:
    """Every account there is, by name."""
    return [account_of(row) for row in t.run(f"SELECT {_COLUMNS} FROM ledger_accounts ORDER BY name")]  # noqa: S608


def load_some(t: Transaction, *names: str) -> list[Account]:
    """Those accounts that there are of some."""
    marks = ", ".join("?" * len(names))
    return [account_of(row) for row in t.run(f"SELECT {_COLUMNS} FROM ledger_accounts WHERE name IN ({marks})", *names)]  # noqa: S608


def save(t: Transaction, account: Account) -> None:
    """Write an account, new or known."""
    t.run(_SAVE, *row_of(account))


def account_of(row: Sequence[Any]) -> Account:
    """The account that a row holds, or a refusal."""
    try:
        name, kind, epsilon, delta, frozen, pure, rho, aside, renyi = row
        account_filter = _filter(kind, epsilon, delta)
        orders = json.loads(renyi)
        total = Charge(
            None if pure is None else int(pure),
            int(rho),
            int(aside),
            None if orders is None else tuple(int(amount) for amount in orders),
        )
    except (ValueError, TypeError, ZeroDivisionError, DiscreetError):
        raise LedgerDamaged("An account cannot be read.", next_step="Ask the owner to verify the books.") from None
    return Account(name, account_filter, account_filter.kept(total), bool(frozen))


@lru_cache(maxsize=4096)
def _filter(kind: Kind, epsilon: str, delta: str) -> Filter:
    return open_filter(fraction(epsilon), fraction(delta), kind=kind)


def row_of(account: Account) -> tuple[str | int | None, ...]:
    """The row that holds an account."""
    total = account.total
    return (
        account.name,
        account.filter.kind,
        *_cap_texts(account.cap),
        int(account.frozen),
        None if total.pure is None else str(total.pure),
        str(total.rho),
        str(total.delta),
        json.dumps(total.renyi),
    )


@lru_cache(maxsize=4096)
def _cap_texts(cap: Loss) -> tuple[str, str]:
    return str(exact(cap.epsilon)), str(exact(cap.delta))

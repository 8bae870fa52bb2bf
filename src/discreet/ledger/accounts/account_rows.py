"""Accounts: a filter with its cap and the totals charged so far, stored as one row of a table.

If a cap renews, the filter applies to the charges of the current period. The charges of earlier periods are stored
beside them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import Any

from discreet.accounting import Charge
from discreet.accounting.filters import Filter, Kind, largest_pure_epsilon, open_filter
from discreet.core.exact import exact
from discreet.core.loss import Loss
from discreet.errors import AccountFrozen, BudgetExceeded, DiscreetError, LedgerDamaged, UnknownAccount
from discreet.ledger.charges.release_json import fraction
from discreet.mechanisms import Mechanism
from discreet.store import Transaction

_COLUMNS = "name, kind, epsilon, delta, frozen, spent_pure, spent_rho, spent_delta, spent_renyi, renews, begun, earlier"
_AGAIN = "ON CONFLICT (name) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in _COLUMNS.split(", ")[1:]
)
DATASET = "dataset"
"""The account that bounds all analysts together, as if they colluded."""


_EDGES = "edges:"


def shared_account(edges: str | None) -> str:
    """Return the shared account: of the dataset, or of a table of edges that are protected one by one."""
    return DATASET if edges is None else f"{_EDGES}{edges}"


def is_shared(account: str) -> bool:
    """Return whether an account bounds all analysts together."""
    return account == DATASET or is_edge_account(account)


def is_edge_account(account: str) -> bool:
    """Return whether an account counts charges about single edges instead of persons."""
    return account.startswith(_EDGES)


def edge_table(account: str) -> str:
    """Return the table of edges that an account is about."""
    return account.removeprefix(_EDGES)


def analyst_account(analyst: str) -> str:
    """Return the name of an analyst's own account."""
    return f"analyst:{analyst}"


@dataclass(frozen=True, slots=True)
class Account:
    """A budget holder: its cap and its charges."""

    name: str
    filter: Filter
    total: Charge
    """Sum of the charges that count against the cap; only those of the current period if the cap renews."""
    frozen: bool
    begun: date | None = None
    """First day of the current period; `None` if the cap does not renew."""
    earlier: Charge = field(default_factory=Charge)
    """Sum of the charges before the current period."""

    @property
    def cap(self) -> Loss:
        return self.filter.cap

    @property
    def spent(self) -> Loss:
        """The smallest loss that covers everything charged against the cap."""
        return self.filter.spent(self.total)

    @property
    def lifetime_spent(self) -> Loss:
        """The smallest loss that covers the charges of all periods."""
        return self.filter.spent(self.lifetime_total)

    @property
    def lifetime_total(self) -> Charge:
        """Sum of the charges of all periods."""
        return self.earlier + self.total

    @property
    def renews_on(self) -> date | None:
        """The first day of the next period."""
        renews = self.filter.renews
        return None if renews is None or self.begun is None else renews.next_first_day(self.begun)

    @property
    def left(self) -> float:
        """A pure epsilon that would still be granted for any mechanism, within 1e-4 of the cap of the largest one."""
        return largest_pure_epsilon(self.filter, self.total)

    def check_open(self) -> None:
        """Raise an error if the account is frozen."""
        if self.frozen:
            raise AccountFrozen("This account is frozen.", next_step="Ask the data owner to unfreeze it.")

    def on(self, day: date) -> Account:
        """Return the account on a day: a new period starts with no charges.

        A day of an earlier period changes nothing.
        """
        renews = self.filter.renews
        if renews is None or self.begun is None or renews.first_day(day) <= self.begun:
            return self
        return replace(self, begun=renews.first_day(day), earlier=self.lifetime_total, total=Charge())

    def reaches_back(self, cap: Filter, day: date) -> bool:
        """Return whether the period of a new cap starts before the current one, and so may include earlier charges."""
        if cap.renews is None or cap.renews is self.filter.renews or self.begun is None:
            return False
        return cap.renews.first_day(day) < self.begun

    def with_cap(self, cap: Filter, day: date, *, counts_all: bool = False) -> Account:
        """Return the account with a new cap.

        Charges that count against the present cap count against the new one until it renews.

        With `counts_all`, all earlier charges count too: needed if the period of the new cap `reaches_back`.
        """
        total, earlier, begun = self.total, self.earlier, self.begun
        if cap.renews is None or counts_all:
            total, earlier = self.lifetime_total, Charge()
        if cap.renews is None:
            begun = None
        elif cap.renews is not self.filter.renews or begun is None:
            begun = cap.renews.first_day(day)
        return replace(self, filter=cap, total=cap.kept(total), earlier=cap.kept(earlier), begun=begun)

    def allows(self, releases: Sequence[Mechanism]) -> bool:
        """Return whether one more charge would be granted."""
        return not self.frozen and self.filter.allows(self.total + self.filter.price(releases))

    def charged(self, releases: Sequence[Mechanism]) -> Account:
        """Return the account after one more charge, or raise `BudgetExceeded`."""
        total = self.total + self.filter.price(releases)
        if not self.filter.allows(total):
            raise self._exceeded()
        return replace(self, total=total)

    def _exceeded(self) -> BudgetExceeded:
        whose = "this account"
        if is_shared(self.name):
            whose = (
                f"the account of the edges of {edge_table(self.name)}"
                if is_edge_account(self.name)
                else "the dataset's account"
            )
        delta = f", delta {self.cap.delta:g}" if self.cap.delta else ""
        choices = ["Ask for a smaller epsilon", "repeat an earlier query (free)"]
        period = ""
        if self.filter.renews is not None:
            noun = self.filter.renews.noun
            period = f" for this {noun}"
            choices.append(f"wait for the next {noun}, which starts on {self.renews_on} (UTC)")
        return BudgetExceeded(
            f"The answer would bring {whose} above its cap of epsilon {self.cap.epsilon:g}{delta}{period}; "
            f"epsilon {self.spent.epsilon:.4g} is spent.",
            next_step=f"{', '.join(choices)}, or ask the data owner to raise the cap.",
        )


def new_account(name: str, cap: Filter, day: date) -> Account:
    """Return an account without charges."""
    return Account(name, cap, Charge(), frozen=False).with_cap(cap, day)


def load(t: Transaction, name: str, *, like: Account | None) -> Account:
    """Read an account. If its row equals that of the expected account `like`, return `like`, which saves parsing."""
    rows = t.run(f"SELECT {_COLUMNS} FROM ledger_accounts WHERE name = ?", name)  # noqa: S608
    if not rows:
        raise unknown_account()
    return like if like is not None and rows[0] == row_of(like) else account_of(rows[0])


def load_all(t: Transaction) -> list[Account]:
    """Return all accounts, ordered by name."""
    return [account_of(row) for row in t.run(f"SELECT {_COLUMNS} FROM ledger_accounts ORDER BY name")]  # noqa: S608


def load_some(t: Transaction, *names: str) -> list[Account]:
    """Return those of the named accounts that exist."""
    marks = ", ".join("?" * len(names))
    return [account_of(row) for row in t.run(f"SELECT {_COLUMNS} FROM ledger_accounts WHERE name IN ({marks})", *names)]  # noqa: S608


def save(t: Transaction, several: Sequence[Account]) -> None:
    """Insert or update accounts."""
    t.insert(f"ledger_accounts ({_COLUMNS})", [row_of(account) for account in several], otherwise=_AGAIN)


def account_of(row: Sequence[Any]) -> Account:
    """Read an account from its row."""
    try:
        name, kind, epsilon, delta, frozen, pure, rho, aside, renyi, renews, begun, before = row
        account_filter = _filter(kind, epsilon, delta, renews)
        total = _charge(pure, rho, aside, json.loads(renyi))
        earlier = _charge(*json.loads(before)) if before is not None else Charge()
        first_day = None if begun is None else date.fromisoformat(begun)
    except (ValueError, TypeError, ZeroDivisionError, DiscreetError):
        raise LedgerDamaged(
            "An account cannot be read.", next_step="Ask the data owner to verify the ledger."
        ) from None
    kept = account_filter.kept
    return Account(name, account_filter, kept(total), bool(frozen), begun=first_day, earlier=kept(earlier))


def _charge(pure: str | int | None, rho: str | int, aside: str | int, orders: Sequence[int] | None) -> Charge:
    return Charge(
        None if pure is None else int(pure),
        int(rho),
        int(aside),
        None if orders is None else tuple(int(amount) for amount in orders),
    )


@lru_cache(maxsize=4096)
def _filter(kind: Kind, epsilon: str, delta: str, renews: str | None) -> Filter:
    return open_filter(fraction(epsilon), fraction(delta), kind=kind, renews=renews)


def row_of(account: Account) -> tuple[str | int | None, ...]:
    """Return the row of an account."""
    total, earlier, renews = account.total, account.earlier, account.filter.renews
    return (
        account.name,
        account.filter.kind,
        *_cap_texts(account.cap),
        int(account.frozen),
        None if total.pure is None else str(total.pure),
        str(total.rho),
        str(total.delta),
        json.dumps(total.renyi),
        renews and renews.value,
        None if account.begun is None else account.begun.isoformat(),
        renews and json.dumps([earlier.pure, earlier.rho, earlier.delta, earlier.renyi]),
    )


@lru_cache(maxsize=4096)
def _cap_texts(cap: Loss) -> tuple[str, str]:
    return str(exact(cap.epsilon)), str(exact(cap.delta))


def unknown_account() -> UnknownAccount:
    """Return the error for an analyst whose account does not exist or was closed."""
    return UnknownAccount("There is no account under that name.", next_step="Ask the data owner to open one.")

"""A unit of work: the ledger as the jobs of one transaction read and change it.

Reads are checked against the totals; every change is an entry.

Rows are written together: at the end, or before a read that needs them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from discreet.errors import UnknownAccount
from discreet.ledger.accounts import account_rows
from discreet.ledger.accounts.account_rows import Account, analyst_account
from discreet.ledger.accounts.totals import LedgerTotals
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain import entry_clock as clock
from discreet.ledger.chain.entries import Entry
from discreet.ledger.chain.entry_clock import Clock, day_of
from discreet.ledger.chain.seals import Seals
from discreet.store import Transaction


class UnitOfWork:
    """The ledger within one transaction. `totals` is a copy that replaces the shared one after the commit."""

    def __init__(self, t: Transaction, totals: LedgerTotals, *, clock: Clock, seals: Seals) -> None:
        self.totals, self.seals = totals, seals
        self._t, self._clock = t, clock
        self._now = clock.now()
        """One time for the whole transaction, so that checks and entries fall into the same period."""
        self._accounts: dict[str, Account] = {}
        """Accounts that were read. They stay valid, because this transaction holds the writer lock."""
        self._changed: dict[str, Account] = {}
        """Accounts whose rows are not written yet."""
        self._rows: dict[tuple[str, str], list[Sequence[object]]] = {}
        self._keys: set[str] = set()
        """Lookup keys of the rows that are not written yet."""
        self._change_count = 0

    @property
    def t(self) -> Transaction:
        """The transaction, after all waiting rows are written."""
        self.write()
        return self._t

    def for_keys(self, *keys: str) -> Transaction:
        """The transaction, to read query rows by these keys: waiting rows with other keys are not written for that."""
        return self._t if self._keys.isdisjoint(keys) else self.t

    @property
    def change_count(self) -> int:
        """A number that differs after every change."""
        return self._change_count + self._t.changes

    def write(self) -> None:
        """Write all waiting rows. This is no further change: `add` and `append` have counted them."""
        if not self._rows and not self._changed:
            return
        rows, changed, before = self._rows, self._changed, self._t.changes
        self._rows, self._changed, self._keys = {}, {}, set()
        for (into, otherwise), several in rows.items():
            self._t.insert(into, several, otherwise=otherwise)
        account_rows.save(self._t, list(changed.values()))
        self._change_count -= self._t.changes - before

    def add(self, into: str, row: Sequence[object], *, keys: Sequence[str] = (), otherwise: str = "") -> None:
        """Add a row to write later.

        `keys` are what it is looked up by; `otherwise` is the SQL for a row that exists.
        """
        self._change_count += 1
        self._rows.setdefault((into, otherwise), []).append(row)
        self._keys.update(keys)

    @property
    def today(self) -> date:
        """The day that caps renew by: the clock's, but never before the last day in the ledger."""
        return max(self.totals.day, day_of(self._now.isoformat()))

    def account(self, name: str) -> Account:
        """Return an account today; refuse if its row does not match the entries."""
        if name not in self._accounts:
            try:
                account = account_rows.load(self._t, name, like=self.totals.accounts.get(name))
            except UnknownAccount:
                if name in self.totals.accounts:
                    entry_chain.refuse_damaged("An account is missing.")
                raise
            self._check(account)
            self._accounts[name] = account.on(self.today)
        return self._accounts[name]

    def accounts(self, *names: str) -> list[Account]:
        """Return those of the named accounts that exist, or all accounts, checked in the same way."""
        rows = account_rows.load_some(self.t, *names) if names else account_rows.load_all(self.t)
        for account in rows:
            self._check(account)
        opened = self.totals.accounts
        if len(rows) != len(opened.keys() & set(names) if names else opened):
            entry_chain.refuse_damaged("An account is missing.")
        return [account.on(self.today) for account in rows]

    def check_open(self, analyst: str | None) -> None:
        """Refuse an analyst whose account is frozen, closed or missing."""
        if analyst is not None:
            name = analyst_account(analyst)
            if name in self.totals.closed:
                raise account_rows.unknown_account()
            self.account(name).check_open()

    def save(self, account: Account) -> None:
        """Change an account's row, after the entry that explains it."""
        self._check(account)
        self._accounts[account.name] = self._changed[account.name] = account

    def append(self, kind: str, body: Mapping[str, Any]) -> Entry:
        """Append an entry, after a clock entry if the clock is far behind."""
        remark = self._clock.remark(self.totals.head, self._now)
        if remark is not None:
            self._append(clock.KIND, remark, self._now)
        return self._append(kind, body, self._now)

    def _append(self, kind: str, body: Mapping[str, Any], now: datetime) -> Entry:
        """Append one entry with a salt.

        The hash may be public, as a receipt or head, and must not allow guesses about the entry.
        """
        salted = {**body, "salt": os.urandom(16).hex()}
        last = self.totals.head
        entry = Entry.following(last, time=clock.time_after(last, now), kind=kind, body=salted)
        entry = replace(entry, seal=self.seals.of(entry))
        self.add(entry_chain.INTO, entry_chain.row_of(entry))
        problems = self.totals.apply_entry(entry)
        if problems:
            entry_chain.refuse_damaged(f"The ledger would not add up: {'; '.join(problems)}.")
        return entry

    def _check(self, account: Account) -> None:
        if not self.totals.matches(account):
            entry_chain.refuse_damaged("An account does not match its entries.")


def catch_up(t: Transaction, totals: LedgerTotals, seals: Seals) -> LedgerTotals:
    """Return the totals at the last entry, of any process; refuse a changed, unsealed or unlinked entry."""
    last = entry_chain.last_entry(t)
    if last == totals.head:
        return totals
    if totals.head is not None and entry_chain.entry_at(t, totals.head.seq) != totals.head:
        entry_chain.refuse_damaged(f"Entry {totals.head.seq} was changed, or is missing.")
    further = totals.fork()
    for _ in replay(t, further, seals):
        pass
    return further


def replay(t: Transaction, totals: LedgerTotals, seals: Seals) -> Iterator[Entry]:
    """Apply every later entry to the totals, and yield each after it was applied."""
    for entry in entry_chain.entries_after(t, totals.head.seq if totals.head else 0):
        seals.check(entry)
        problems = totals.follow(entry)
        if problems:
            entry_chain.refuse_damaged(f"The ledger does not add up: {'; '.join(problems)}.")
        yield entry

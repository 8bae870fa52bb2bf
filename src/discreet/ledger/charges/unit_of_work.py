"""A draft: the books as the jobs of one transaction see and change them. What is read is held against the running books, what changes is an entry.

Rows are written together: at the end, or before anybody looks at the tables that they belong to.
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
    """The books of one transaction; `running` is its own copy, and counts once all is committed."""

    def __init__(self, t: Transaction, totals: LedgerTotals, *, clock: Clock, seals: Seals) -> None:
        self.totals, self.seals = totals, seals
        self._t, self._clock = t, clock
        self._now = clock.now()
        """One moment for all: what is decided and what is written fall into the same period."""
        self._accounts: dict[str, Account] = {}
        """Those whose rows were looked at: meanwhile nobody else writes."""
        self._changed: dict[str, Account] = {}
        """Those whose rows are to be written."""
        self._rows: dict[tuple[str, str], list[Sequence[object]]] = {}
        self._keys: set[str] = set()
        """What the rows that are not written yet are looked up by."""
        self._marks = 0

    @property
    def t(self) -> Transaction:
        """The transaction, to look at any table."""
        self.write()
        return self._t

    def for_keys(self, *keys: str) -> Transaction:
        """The same, to look up rows of queries by these keys alone: those under other keys need not be written for that."""
        return self._t if self._keys.isdisjoint(keys) else self.t

    @property
    def marks(self) -> int:
        """Another number after every change."""
        return self._marks + self._t.changes

    def write(self) -> None:
        """Write all rows that wait for it: whoever added them has made the mark."""
        if not self._rows and not self._changed:
            return
        rows, changed, before = self._rows, self._changed, self._t.changes
        self._rows, self._changed, self._keys = {}, {}, set()
        for (into, otherwise), several in rows.items():
            self._t.insert(into, several, otherwise=otherwise)
        account_rows.save(self._t, list(changed.values()))
        self._marks -= self._t.changes - before

    def add(self, into: str, row: Sequence[object], *, keys: Sequence[str] = (), otherwise: str = "") -> None:
        """A row that goes into a table and its columns, and is looked up by these keys; `otherwise` is what is done where it is there already."""
        self._marks += 1
        self._rows.setdefault((into, otherwise), []).append(row)
        self._keys.update(keys)

    @property
    def today(self) -> date:
        """The day that a cap renews by: what the clock says, and never before a day that the books have seen."""
        return max(self.totals.day, day_of(self._now.isoformat()))

    def account(self, name: str) -> Account:
        """An account as its row has it today, refused where the entries say otherwise: rows can be edited, sums cannot."""
        if name not in self._accounts:
            try:
                account = account_rows.load(self._t, name, like=self.totals.accounts.get(name))
            except UnknownAccount:
                if name in self.totals.accounts:
                    entry_chain.refuse_damaged("An account is not there any more.")
                raise
            self._check(account)
            self._accounts[name] = account.on(self.today)
        return self._accounts[name]

    def accounts(self, *names: str) -> list[Account]:
        """Those accounts that there are of some, or all of them, in the same way."""
        rows = account_rows.load_some(self.t, *names) if names else account_rows.load_all(self.t)
        for account in rows:
            self._check(account)
        opened = self.totals.accounts
        if len(rows) != len(opened.keys() & set(names) if names else opened):
            entry_chain.refuse_damaged("An account is not there any more.")
        return [account.on(self.today) for account in rows]

    def check_open(self, analyst: str | None) -> None:
        """Refuse an analyst whose account is frozen, closed, or not there."""
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
        """The next entry, to go on from; before it, what is to be remarked about the clock."""
        remark = self._clock.remark(self.totals.head, self._now)
        if remark is not None:
            self._append(clock.KIND, remark, self._now)
        return self._append(kind, body, self._now)

    def _append(self, kind: str, body: Mapping[str, Any], now: datetime) -> Entry:
        """Every entry is salted, so that its hash, which may be public as a receipt or a head, tells nothing about it."""
        salted = {**body, "salt": os.urandom(16).hex()}
        last = self.totals.head
        entry = Entry.following(last, time=clock.time_after(last, now), kind=kind, body=salted)
        entry = replace(entry, seal=self.seals.of(entry))
        self.add(entry_chain.INTO, entry_chain.row_of(entry))
        problems = self.totals.apply_entry(entry)
        if problems:
            entry_chain.refuse_damaged(f"The books would not add up: {'; '.join(problems)}.")
        return entry

    def _check(self, account: Account) -> None:
        if not self.totals.matches(account):
            entry_chain.refuse_damaged("An account is not what its entries add up to.")


def catch_up(t: Transaction, totals: LedgerTotals, seals: Seals) -> LedgerTotals:
    """The running books at the last entry, whoever wrote it; refused where an entry is not as it was, not sealed, or does not follow."""
    last = entry_chain.last_entry(t)
    if last == totals.head:
        return totals
    if totals.head is not None and entry_chain.entry_at(t, totals.head.seq) != totals.head:
        entry_chain.refuse_damaged(f"Entry {totals.head.seq} of the books was changed, or is missing.")
    further = totals.fork()
    for _ in replay(t, further, seals):
        pass
    return further


def replay(t: Transaction, totals: LedgerTotals, seals: Seals) -> Iterator[Entry]:
    """Go on with running books through every entry that was written since, each told once it was taken in."""
    for entry in entry_chain.entries_after(t, totals.head.seq if totals.head else 0):
        seals.check(entry)
        problems = totals.follow(entry)
        if problems:
            entry_chain.refuse_damaged(f"The books do not add up: {'; '.join(problems)}.")
        yield entry

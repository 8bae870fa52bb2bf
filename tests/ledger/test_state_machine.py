"""Any sequence of events against a model in fractions: grant, ask, retry, crash, restart, revoke, edit, another process."""

import itertools
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from discreet.accounting import open_filter
from discreet.accounting.filters import UNIT
from discreet.errors import AccountFrozen, BudgetExceeded, LedgerDamaged, RequestConflict, UnknownAccount
from discreet.ledger import Ledger, Request, verify
from discreet.mechanisms import Laplace
from discreet.store import open_store
from tests.ledger.test_crashes import STEPS

pytestmark = pytest.mark.slow

ANALYSTS = ["ann", "bob"]
PRICES = [Fraction(1, 10), Fraction(1, 4), Fraction(3, 10), Fraction(1, 2)]
CAPS = [Fraction(1, 2), Fraction(1), Fraction(2)]


class Crash(BaseException):
    """The process is gone."""


class Books(RuleBasedStateMachine):
    """The model keeps what each account spent, who paid for what, which ids exist, and every answer ever seen."""

    @initialize(cap=st.sampled_from(CAPS))
    def begin(self, cap):
        self.folder = tempfile.TemporaryDirectory()
        self.crash_at = None
        self.ids = itertools.count()
        self.caps, self.spent = {None: cap}, {None: Fraction(0)}
        self.frozen, self.paid, self.requests, self.seen = set(), set(), {}, {}
        self.open()
        self.ledger.open_account(open_filter(cap))

    def open(self):
        """Two processes, one of which is asked at a time; both go on from checkpoints."""
        self.ledger, self.other = (
            Ledger(open_store(Path(self.folder.name) / "books.sqlite"), secret=b"s" * 64, on_step=self.step)
            for _ in range(2)
        )

    def step(self, name):
        if name == self.crash_at:
            raise Crash

    def teardown(self):
        self.ledger.close()
        self.other.close()
        self.folder.cleanup()

    @rule(analyst=st.sampled_from(ANALYSTS), cap=st.sampled_from(CAPS))
    def grant(self, analyst, cap):
        self.ledger.open_account(open_filter(cap), analyst=analyst)
        self.caps[analyst] = cap
        self.spent.setdefault(analyst, Fraction(0))

    @rule(analyst=st.sampled_from([None, *ANALYSTS]), query=st.integers(0, 4), price=st.sampled_from(PRICES))
    def ask(self, analyst, query, price):
        self.send(analyst, f"id-{next(self.ids)}", query, price)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def retry(self, data):
        (analyst, name), (query, price) = data.draw(st.sampled_from(sorted(self.requests.items(), key=repr)))
        self.send(analyst, name, query, price)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def reuse_an_id_for_another_query(self, data):
        (analyst, name), (query, price) = data.draw(st.sampled_from(sorted(self.requests.items(), key=repr)))
        if analyst not in self.frozen:
            try:
                self.ledger.reserve(self.request(analyst, name, query + 100, price))
            except RequestConflict:
                return
            raise AssertionError("another question was let in under an old id")

    @rule(step=st.sampled_from(STEPS), query=st.integers(0, 4), price=st.sampled_from(PRICES))
    def crash_and_restart(self, step, query, price):
        self.crash_at = step
        self.send(None, f"id-{next(self.ids)}", query, price)
        self.crash_at = None
        self.ledger.close()
        self.other.close()
        self.open()

    @rule()
    def ask_the_other_process(self):
        self.ledger, self.other = self.other, self.ledger

    @rule(amount=st.sampled_from(["0", "1", "-1"]))
    def edit_a_total(self, amount):
        with self.ledger._store.transaction() as t:
            ((spent,),) = t.run("SELECT spent_rho FROM ledger_accounts WHERE name = 'dataset'")
            t.run("UPDATE ledger_accounts SET spent_rho = ? WHERE name = 'dataset'", amount)
        try:
            self.ledger.open_account(open_filter(self.caps[None]))
            assert spent == amount
        except LedgerDamaged:
            assert spent != amount
        with self.ledger._store.transaction() as t:
            t.run("UPDATE ledger_accounts SET spent_rho = ? WHERE name = 'dataset'", spent)

    @precondition(lambda self: any(name for name in self.spent))
    @rule(data=st.data())
    def revoke_or_restore(self, data):
        analyst = data.draw(st.sampled_from(sorted(name for name in self.spent if name)))
        self.ledger.freeze(analyst, frozen=analyst not in self.frozen)
        self.frozen ^= {analyst}

    def request(self, analyst, name, query, price):
        return Request(id=name, query=str(query), releases=(Laplace(sensitivity=1, epsilon=price),), analyst=analyst)

    def send(self, analyst, name, query, price):
        """One client's attempt, and what the model says must happen to it."""
        key, known = (query, price), (analyst, name) in self.requests
        charged = [] if known else [who for who in dict.fromkeys((None, analyst)) if (who, key) not in self.paid]
        fits = all(self.spent.get(who, 0) + price <= self.caps.get(who, 0) for who in charged)
        try:
            reservation = self.ledger.reserve(self.request(analyst, name, query, price))
            self.settle(analyst, name, key, charged)
            answer = reservation.answer or self.ledger.finish(reservation, f"answer {next(self.ids)}".encode())
        except Crash:
            if self.crash_at == "reserve: committed" and not known:
                self.settle(analyst, name, key, charged)
            return
        except UnknownAccount:
            assert analyst is not None
            assert analyst not in self.caps
            return
        except AccountFrozen:
            assert analyst in self.frozen
            return
        except BudgetExceeded:
            assert not fits
            return
        assert fits
        assert analyst not in self.frozen
        assert self.seen.setdefault(key, answer) == answer

    def settle(self, analyst, name, key, charged):
        self.requests[analyst, name] = key
        for who in charged:
            self.spent[who] += key[1]
            self.paid.add((who, key))

    @invariant()
    def the_books_are_the_model(self):
        for who, spent in self.spent.items():
            assert Fraction(self.ledger.account(who).total.pure, UNIT) == spent
            assert spent <= max(CAPS)
        assert verify(self.ledger).sound
        assert verify(self.other, from_checkpoint=True).sound


TestBooks = Books.TestCase
TestBooks.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)

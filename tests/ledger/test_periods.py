"""Caps that renew: exact at the edges of periods, and nothing is gained by straddling, by a clock, a restart or a changed cap."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from discreet.accounting import open_filter
from discreet.accounting.periods import Period
from discreet.errors import BadInput, BudgetExceeded, LedgerDamaged
from discreet.ledger import verify
from discreet.ledger.accounts.caps import CATALOG
from discreet.mechanisms import Gaussian
from tests.ledger.asking import a_request, ask, forge, open_ledger

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
LAST = datetime(2026, 11, 30, 23, 59, 59, 999_999, tzinfo=UTC)
FIRST = datetime(2026, 12, 1, tzinfo=UTC)


class Books:
    """A ledger with a clock that a test sets."""

    def __init__(self, where, *, now=NOON, dataset=None, alice=None):
        self.where, self.now, self._asked = where, now, 0
        self.ledger = self.opened()
        self.ledger.open_account(open_filter(100) if dataset is None else dataset, by=CATALOG)
        self.ledger.open_account(alice or open_filter(1, renews="monthly"), analyst="alice", by=CATALOG)

    def opened(self):
        return open_ledger(self.where, now=lambda: self.now)

    def ask(self, epsilon):
        self._asked += 1
        return ask(self.ledger, a_request(self._asked, epsilon=epsilon))

    def is_full(self):
        with pytest.raises(BudgetExceeded):
            self.ask(0.0001)
        return True

    @property
    def alice(self):
        return self.ledger.account("alice")


@pytest.mark.parametrize("period", Period)
def test_every_day_is_in_one_period_and_the_next_follows_at_once(period):
    days = [date(2023, 12, 20) + timedelta(days=number) for number in range(800)]
    for day in days:
        assert period.first_day(day) <= day < period.next_first_day(day)
        assert period.first_day(period.next_first_day(day) - timedelta(days=1)) == period.first_day(day)


@pytest.mark.parametrize("period", Period)
def test_no_year_has_days_of_more_periods_than_are_reckoned_with_and_some_year_of_as_many(period):
    """After 400 years the calendar begins again."""
    days = [date(2000, 1, 1) + timedelta(days=number) for number in range(146_097)]
    touched = Counter(year for year, _ in {(day.year, period.first_day(day)) for day in days})
    assert max(touched.values()) == period.most_in_a_year


def test_a_cap_is_exact_up_to_the_last_microsecond_and_whole_again_with_the_first(where):
    books = Books(where, now=LAST)
    for _ in range(10):
        books.ask(0.1)
    with pytest.raises(BudgetExceeded, match="for this month") as refusal:
        books.ask(0.0001)
    assert "next month, which starts on 2026-12-01 (UTC)" in refusal.value.next_step
    books.now = FIRST
    assert (books.alice.spent.epsilon, books.alice.left) == (0.0, 1.0)
    for _ in range(10):
        books.ask(0.1)
    assert books.is_full()
    assert books.alice.lifetime_spent.epsilon == 2.0
    assert books.ledger.account().spent.epsilon == 2.0  # the dataset's own cap does not renew
    assert verify(books.ledger).sound


def test_a_dataset_that_renews_binds_all_analysts_in_each_period(where):
    books = Books(where, dataset=open_filter(0.5, renews="weekly"))
    books.ask(0.5)
    with pytest.raises(BudgetExceeded, match="the dataset's account above its cap"):
        books.ask(0.1)
    books.now += timedelta(days=7)
    books.ask(0.5)
    assert books.is_full()  # a second week of the month: now the dataset's is full again, and alice's too
    assert books.ledger.account().lifetime_spent.epsilon == 1.0


def test_what_is_paid_in_one_period_and_answered_in_the_next_counts_once_where_it_was_paid(where):
    books = Books(where, now=LAST)
    paid = books.ledger.reserve(a_request(99, epsilon=1))
    books.now = FIRST
    assert books.ledger.finish(paid, b"answer") == b"answer"
    assert books.alice.spent.epsilon == 0
    assert books.ledger.reserve(a_request(99, epsilon=1)).answer == b"answer"  # asked again: free in every period
    books.now = LAST  # nobody goes back to a period that was left
    books.ask(1)
    assert books.is_full()
    assert books.alice.begun == date(2026, 12, 1)


def test_a_question_is_charged_in_the_period_that_its_entry_is_of(where):
    """The clock passes midnight between any two looks at it: what is decided is what is written."""
    books = Books(where, now=LAST)
    books.ask(1)
    ticks = iter(range(1000))
    books.ledger._clock.now = lambda: LAST if next(ticks) % 2 else FIRST
    for number in range(100, 106):
        try:
            ask(books.ledger, a_request(number, epsilon=0.5))
        except BudgetExceeded:
            continue
    books.ledger._clock.now = lambda: books.now
    assert books.alice.lifetime_spent.epsilon == 2.0
    assert verify(books.ledger).sound


def test_a_clock_that_was_ahead_renews_nothing_a_second_time(where):
    books = Books(where)
    books.ask(1)
    books.now = NOON + timedelta(days=400)
    books.ask(1)
    for back in (NOON, NOON + timedelta(days=20), NOON + timedelta(days=390)):
        books.now = back
        assert books.is_full()
        assert books.alice.renews_on == date(2028, 1, 1)
    books.ledger.freeze("alice")  # an entry that says that the clock was set back
    books.ledger.freeze("alice", frozen=False)
    books.ledger = books.opened()
    assert books.is_full()
    books.now = datetime(2028, 1, 1, tzinfo=UTC)
    books.ask(1)
    assert verify(books.ledger).sound


def test_periods_survive_a_restart_with_and_without_a_checkpoint(where):
    books = Books(where)
    books.ask(0.75)
    books.now = FIRST
    books.ask(0.5)
    for with_checkpoint in (False, True):
        if with_checkpoint:
            verify(books.ledger)  # sound books get one
        books.ledger.close()
        books.ledger = books.opened()
        assert (books.alice.spent.epsilon, books.alice.lifetime_spent.epsilon) == (0.5, 1.25)
    books.ask(0.5)
    assert books.is_full()
    assert verify(books.ledger, from_checkpoint=True).sound


def test_a_changed_catalog_renews_nothing_by_itself(where):
    books = Books(where)
    books.ask(1)
    for renews in ("daily", None, "weekly", "yearly", "monthly"):
        books.ledger.open_account(open_filter(1, renews=renews), analyst="alice", by=CATALOG)
        books.ledger = books.opened()
        assert books.is_full()
    books.now = FIRST
    books.ask(1)
    assert books.is_full()
    books.ledger.open_account(open_filter(1.5), analyst="alice", by=CATALOG)  # now for ever: all periods count
    assert books.alice.spent.epsilon == 2.0
    assert books.is_full()
    books.now += timedelta(days=400)
    assert books.is_full()
    assert verify(books.ledger).sound


@pytest.mark.parametrize(
    ("first", "meanwhile", "last"),
    [("monthly", "weekly", "monthly"), ("daily", "daily", "yearly"), ("weekly", "daily", "quarterly")],
)
def test_no_change_of_periods_gives_a_period_more_than_its_cap(where, first, meanwhile, last):
    books = Books(where, now=datetime(2026, 3, 2, 12, tzinfo=UTC), alice=open_filter(1, renews=first))
    books.ask(1)
    books.now += timedelta(days=1)
    books.ledger.open_account(open_filter(1, renews=meanwhile), analyst="alice", by=CATALOG)
    books.now += timedelta(days=7)
    books.ledger.open_account(open_filter(1, renews=last), analyst="alice", by=CATALOG)
    assert books.is_full(), "what was paid in a period that had ended was paid in this one too"
    books.ledger = books.opened()
    assert books.is_full()
    books.now = datetime.combine(books.alice.renews_on, NOON.timetz())
    books.ask(1)
    assert books.is_full()
    assert verify(books.ledger).sound


def test_a_lowered_cap_holds_at_once_and_in_the_next_period(where):
    books = Books(where)
    books.ask(0.6)
    books.ledger.open_account(open_filter(0.5, renews="monthly"), analyst="alice", by=CATALOG)
    assert books.is_full()
    books.now = FIRST
    books.ask(0.5)
    assert books.is_full()
    assert verify(books.ledger).sound


def test_the_catalog_renews_nothing_faster_than_somebody_allowed(where):
    books = Books(where)
    books.ledger.open_account(open_filter(2, renews="monthly"), analyst="alice", by="key 1")
    books.ledger.open_account(open_filter(3, renews="daily"), analyst="alice", by=CATALOG)
    assert books.alice.filter == open_filter(2, renews="monthly")
    books.ledger.open_account(open_filter(3), analyst="alice", by="key 1")
    books.ledger.open_account(open_filter(2, renews="yearly"), analyst="alice", by=CATALOG)
    assert books.alice.filter == open_filter(2)


def test_a_cap_goes_back_to_pure_epsilons_only_if_no_period_ever_had_others(where):
    wide = open_filter(1, 1e-6, renews="daily")
    books = Books(where, dataset=open_filter(100, 1e-3), alice=wide)
    release = Gaussian(sensitivity=1, variance=200)
    ask(books.ledger, replace(a_request(1), releases=(release,)))
    books.now += timedelta(days=2)
    with pytest.raises(BadInput, match="no pure epsilon"):
        books.ledger.open_account(open_filter(1, renews="daily"), analyst="alice")


@pytest.mark.parametrize(
    "edit",
    [
        "SET begun = '2026-10-01'",
        "SET earlier = '[0, 0, 0, null]'",
        "SET renews = 'daily'",
        "SET renews = NULL, begun = NULL, earlier = NULL",
        "SET begun = 'soon'",
    ],
)
def test_a_period_that_was_edited_in_its_row_grants_nothing(where, edit):
    books = Books(where)
    books.ask(0.5)
    books.now = FIRST
    books.ask(0.5)
    with books.ledger._store.transaction() as t:
        t.run(f"UPDATE ledger_accounts {edit} WHERE name = 'analyst:alice'")
    with pytest.raises(LedgerDamaged):
        books.ask(0.1)
    assert not verify(books.ledger).sound


def test_verification_prices_each_period_by_itself(where):
    """An entry, sealed as only who holds the secret can, that charges more than was left in its month."""
    books = Books(where)
    books.ask(0.75)
    ((charge, _),) = books.ledger.charges(limit=1)
    forge(books.ledger, "charge", {**charge.body, "request": "forged", "question": "forged"})
    assert any("granted above a cap" in problem for problem in verify(books.opened()).problems)

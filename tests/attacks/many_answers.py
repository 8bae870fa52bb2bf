"""What is asked of attacks that live on many answers, beside `promises`."""

import pytest

from discreet.attacks.lab import confidence
from discreet.attacks.lab.analyst_access import Analyst, ProtectedWorld
from discreet.core.loss import Loss
from tests.attacks.promises import SURE

RICH = 1e7


def right_bits_are_no_more_than_coins_of_the_bound_would_be(found):
    """Stronger than a mean of few runs, and true for pure budgets and independent fair bits only.

    Given the answers and any other bits, a bit is guessed right with at most the bound's probability; so the number of right
    bits, one after the other, is never likelier to be large than for that many independent coins.
    """
    bits = found.people * found.trials
    right = round(sum(found.scores) * found.people)
    assert confidence.rate_interval(right, bits, SURE)[0] <= found.bound, found


@pytest.fixture
def generous(monkeypatch):
    """A curator that takes the price it was offered and answers as if it were ten million."""
    honest_ask, honest_catalog = Analyst.ask, ProtectedWorld._declared

    def ask(self, sql, *, epsilon, **details):
        return honest_ask(self, sql, epsilon=RICH, **details)

    def with_all_the_budget(self, ledger):
        self._budget = Loss(RICH * 10)
        return honest_catalog(self, ledger)

    monkeypatch.setattr(Analyst, "ask", ask)
    monkeypatch.setattr(ProtectedWorld, "_declared", with_all_the_budget)

"""The lab notices: with a curator that gives far more than was paid for, every promise on Discreet is seen to be broken."""

import pytest

from discreet import attacks
from discreet.attacks.lab.analyst_access import Analyst, ProtectedWorld
from discreet.core.loss import Loss
from tests.attacks.promises import SURE

TRIALS = {
    "differencing": 40,
    "averaging": 40,
    "linkage": 14,
    "netflix": 14,
    "big-bang": 12,
    "dictionary": 14,
    "homogeneity": 40,
    "sampling": 40,
    "auditing": 40,
    "lowbits": 40,
    "timing": 40,
    "prng": 40,
    "name-and-shame": 40,
}
GENEROUS = 60


@pytest.fixture
def generous(monkeypatch):
    """A curator whose noise is that of a price sixty times higher, at the least: nearly none."""
    honest_ask, honest_catalog = Analyst.ask, ProtectedWorld._declared

    def ask(self, sql, *, epsilon, **details):
        return honest_ask(self, sql, epsilon=max(GENEROUS, epsilon), **details)

    def with_all_the_budget(self, ledger):
        self._budget = Loss(GENEROUS * 5)
        return honest_catalog(self, ledger)

    monkeypatch.setattr(Analyst, "ask", ask)
    monkeypatch.setattr(ProtectedWorld, "_declared", with_all_the_budget)


@pytest.mark.parametrize("name", TRIALS)
def test_a_curator_without_noise_is_noticed(name, generous):
    found = attacks.run(name, against="discreet", epsilon=0.1, size="small", trials=TRIALS[name], seed=20)
    assert found.success > 0.9
    assert not found.holds(SURE), found

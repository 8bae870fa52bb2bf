"""Spend it twice, at once."""

import pytest

from discreet import attacks
from discreet.attacks.implementation import ledger_race, racer
from tests.attacks.promises import is_kept_within_the_bound, succeeds


@pytest.mark.parametrize("release", ["read-check-write", "check-then-charge"])
def test_a_ledger_that_looks_before_it_writes_grants_more_than_its_cap(release):
    found = succeeds("ledger-race", against=release, at_least=1.0)
    assert found.details["different answers to one request, retried 5 times"] == "5"


@pytest.mark.parametrize(("epsilon", "processes"), [(0.1, 0), (1, 2), (10, 0)])
def test_discreet_never_grants_more_than_its_cap_and_answers_a_request_once(epsilon, processes):
    found = is_kept_within_the_bound("ledger-race", epsilon=epsilon, processes=processes, trials=2)
    assert found.success == 0
    assert found.details["answers granted"] == "10"
    assert found.details["answers charged in the ledger"] == "10"
    assert found.details["different answers to one request, sent by every thread"] == "1"


def test_one_race_won_would_be_one_too_many(monkeypatch):
    monkeypatch.setattr(
        ledger_race, "open_shared_ledger", lambda race: racer.open_shared_ledger(race._replace(cap=2 * race.cap))
    )
    found = attacks.run("ledger-race", against="discreet", epsilon=1, trials=1, processes=0)
    assert found.success == 1
    assert not found.holds()

"""The lab itself: intervals, results, refusals, and the door that attackers go through."""

import json

import numpy as np
import pytest

from discreet import attacks
from discreet.api.opening import curators_with_new_ledgers
from discreet.attacks.lab import confidence
from discreet.attacks.lab.analyst_access import ProtectedWorld
from discreet.attacks.lab.result import Result
from discreet.attacks.lab.scene import people_catalog, people_table
from discreet.catalog import load_catalog
from discreet.core.loss import Loss
from discreet.errors import BadEpsilon, BadInput, BudgetExceeded
from discreet.samples import clinic, write_clinic
from tests.support.opening import open_curator


def result(scores, bound=None, **changes):
    fields = {"attack": "a", "against": "discreet", "baseline": 0.5, "epsilon": 1.0, "delta": None, "people": 1000}
    fields |= {"measure": "right guesses", "transcript": (), "seconds": 0.0, "seed": 1}
    return Result(scores=tuple(scores), bound=bound, **(fields | changes))


@pytest.mark.parametrize(("right", "trials"), [(0, 10), (10, 10), (3, 10), (500, 1000), (999, 1000), (4321, 60_000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 1 - 1e-9])
def test_the_interval_of_a_rate_is_clopper_and_pearsons(right, trials, level):
    from scipy.stats import binomtest

    expected = binomtest(right, trials).proportion_ci(level, method="exact")
    assert confidence.rate_interval(right, trials, level) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.9999])
def test_the_interval_of_whole_runs_is_students(level):
    from scipy.stats import t

    scores = [0.5, 0.55, 0.61, 0.48, 0.52]
    low, high = t.interval(level, 4, np.mean(scores), np.std(scores, ddof=1) / 5**0.5)
    assert result(scores).interval(level) == pytest.approx((max(low, 0), min(high, 1)), abs=1e-9)
    assert result(scores).standard_error == pytest.approx(np.std(scores, ddof=1) / 5**0.5)
    assert result([0.7]).interval(level) == (0, 1)
    assert result([1.0] * 5, whole_runs=True, people=100).interval(level)[0] > result([1.0] * 5).interval(level)[0]


def test_a_result_holds_unless_its_lower_limit_is_above_the_bound():
    assert result([1] * 62 + [0] * 38, bound=0.5).holds() is False
    assert result([1] * 62 + [0] * 38, bound=0.5).holds(comparisons=100) is True
    assert result([1] * 55 + [0] * 45, bound=0.5).holds() is True
    assert result([1] * 62 + [0] * 38).holds() is None


def test_a_result_is_told_as_json_as_a_picture_and_in_words():
    one = result([1, 0, 1, 1], bound=0.9)
    details = json.loads(one.to_json())
    assert (details["success"], details["trials"], details["bound"], details["holds"]) == (0.75, 4, 0.9, True)
    assert details["interval"][0] < 0.75 < details["interval"][1]
    svg = one.plot().svg
    assert "75.0 %" in svg
    assert 'class="bound"' in svg
    assert 'class="bound"' not in result([1, 0]).plot().svg
    assert "75.0 % right guesses in 4 trials" in repr(one)
    assert "<svg" in one._repr_html_()


def test_what_cannot_be_run_is_refused_with_what_to_do_next():
    with pytest.raises(BadInput, match="Choose one of: differencing"):
        attacks.run("bribery")
    with pytest.raises(BadInput, match=r"Choose one of: weak, minimum-size, .*discreet"):
        attacks.run("differencing", against="everybody")
    with pytest.raises(BadEpsilon, match="budget is missing"):
        attacks.run("differencing", against="discreet")
    with pytest.raises(BadEpsilon):
        attacks.run("differencing", against="discreet", epsilon=-1)
    with pytest.raises(BadInput, match="no option volume"):
        attacks.run("differencing", volume=11)
    with pytest.raises(BadInput, match="trials must be"):
        attacks.run("differencing", trials=0)


def test_the_same_seed_is_the_same_attack_and_progress_is_told():
    seen = []
    one = attacks.run("differencing", trials=5, seed=3, on_progress=lambda done, of: seen.append((done, of)))
    assert seen == [(number, 5) for number in range(1, 6)]
    assert one.transcript == attacks.run("differencing", trials=5, seed=3).transcript


def test_every_attack_of_the_lab_says_what_it_is():
    assert [attack.name for attack in attacks.list_attacks()] == list(attacks.names())
    for attack in attacks.list_attacks():
        details = attack.as_dict()
        json.dumps(details)
        assert all(details[key] for key in ("title", "wants", "sees", "lesson", "citation", "releases", "bound"))
        assert attack.priced <= set(attack.releases)
        assert attack.small.trials <= attack.full.trials


@pytest.mark.parametrize("durable", [False, True], ids=["in memory", "in a file"])
def test_an_analyst_has_exactly_the_budget_and_the_next_one_has_it_again(durable):
    secrets = np.array([True, False, True])
    with ProtectedWorld({"people": people_table(secrets)}, people_catalog(3), budget=Loss(1.0)) as world:
        for _ in range(2):
            analyst = world.analyst(durable=durable)
            analyst.number("SELECT COUNT(*) AS n FROM people", epsilon=0.5)
            analyst.number("SELECT COUNT(*) AS n FROM people", epsilon=0.5)  # asked before: free
            analyst.number("SELECT COUNT(*) AS n FROM people WHERE id > 0", epsilon=0.5)
            with pytest.raises(BudgetExceeded):
                analyst.number("SELECT COUNT(*) AS n FROM people WHERE id > 1", epsilon=1e-6)
            kinds = [step.kind for step in analyst.steps]
            assert kinds == ["asked", "answered"] * 3 + ["asked", "refused"]
            assert "free" in analyst.steps[3].text


def test_books_that_are_kept_are_never_begun_anew(tmp_path):
    config = write_clinic(tmp_path, patients=10, visits=20)
    with open_curator(config) as curator:
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.5)
    with pytest.raises(BadInput, match="spent budget stays spent"):
        next(curators_with_new_ledgers(load_catalog(config), frames=clinic(patients=10, visits=20)))
    with open_curator(config) as curator:
        assert curator.ledger.account().spent.epsilon == 0.5

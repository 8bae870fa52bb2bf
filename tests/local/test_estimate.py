"""Estimates: unbiased and honest about their error; post-processing apart; what fakes can do."""

import math

import numpy as np
import pytest

from discreet import errors
from discreet.local import Collector, Task, auto, collect, simulate
from discreet.local.tasks.protocol_choice import best_line
from discreet.local.tasks.task import Task as SameTask
from tests.support.sources import SeededBits


def crowd(size, people):
    return np.arange(people) ** 2 % size


def test_intervals_of_the_top_hold_together():
    """100 collections of 100 values; all intervals of `top` hold at once in about 95 or more."""
    asked = Task.frequency("numbers", domain=range(100), epsilon=1.0)
    values = crowd(100, 2000)
    truth = np.bincount(values, minlength=100)
    bits = SeededBits(5)
    held = 0
    for _ in range(100):
        found = simulate(asked, values, bits=bits).top(100)
        held += all(one.low <= truth[one.value] <= one.high for one in found)
    assert held >= 88  # 95 expected; fewer than 88 has probability 1e-3, and the draw is seeded


def test_top_is_in_order_and_as_long_as_asked():
    found = simulate(Task.frequency("n", domain=range(10), epsilon=4.0), crowd(10, 3000), bits=SeededBits(2))
    best = found.top(3)
    assert [one.estimate for one in best] == sorted(found.raw.values(), reverse=True)[:3]


def test_post_processing_is_kept_apart_and_sums_to_the_people():
    found = simulate(Task.frequency("n", domain=range(50), epsilon=0.5), crowd(50, 500), bits=SeededBits(2))
    assert min(found.raw.values()) < 0
    tidy = found.non_negative()
    assert min(tidy.values()) == 0
    assert sum(tidy.values()) == pytest.approx(500)


@pytest.mark.parametrize("protocol", ["grr", "subset", "pgr", "oue", "sue", "hadamard", "cms", "hcms", "rappor"])
def test_fakes_move_an_estimate_no_further_than_the_bound(protocol):
    """Every legal single report is tried where there are few; random ones otherwise."""
    small = {"rows": 16, "columns": 16} if protocol in {"cms", "hcms"} else {}
    asked = Task.frequency("n", domain=range(12), epsilon=1.0, protocol=protocol, parameters=small)
    honest = collect(asked, crowd(12, 300), bits=SeededBits(9))
    before = honest.estimate().counts
    bound = honest.estimate().manipulation_bound(1)
    worst = 0.0
    rng = np.random.default_rng(1)
    for _ in range(200):
        other = collect(asked, rng.integers(0, 12, 1), bits=SeededBits(int(rng.integers(2**60))))
        moved = Collector.with_tally(asked, honest.tally, reports=honest.reports)
        moved.merge(other)
        worst = max(worst, np.abs(moved.estimate().counts - before).max())
    assert worst <= bound * (1 + 1e-9)
    if protocol in {"grr", "pgr", "subset", "oue", "sue"}:
        assert worst > bound / 3  # the bound is not empty


def test_the_default_is_near_the_best_line_and_short_everywhere():
    """Must show: low-frequency variance ≤ 1.03 × 4e^ε/(e^ε−1)² and payload ≤ 4 bytes, d in [2, 10⁶], ε in [0.5, 6]."""
    sizes = [*range(2, 140), *(round(10 ** (k / 8)) for k in range(17, 49))]
    for epsilon in np.linspace(0.5, 6, 23):
        for size in sizes:
            chosen = auto(size, float(epsilon)).chosen
            assert chosen.variance <= 1.03 * best_line(float(epsilon)), (size, epsilon, chosen)
            assert chosen.bits <= 32


@pytest.mark.parametrize(("size", "epsilon"), [(2, 0.5), (30, 1.0), (100, 1.0), (100, 4.0), (3000, 2.5), (10_000, 6.0)])
def test_the_table_of_the_choice_says_what_the_protocol_does(size, epsilon):
    """Variance and bits in the table are those of the protocol that is built from it."""
    asked = Task.frequency("n", domain=range(size), epsilon=epsilon)
    chosen = asked.choice().chosen
    assert asked.spec["protocol"] == chosen.protocol
    assert asked.randomizer.bits == chosen.bits
    exact = asked.protocol.variance(np.zeros(2), 1, np.arange(2))[0]
    assert exact == pytest.approx(chosen.variance, rel=1e-9)


@pytest.mark.parametrize("protocol", ["subset", "olh", "sue", "oue", "hadamard", "grr"])
def test_the_other_rows_of_the_table_are_right_too(protocol):
    size, epsilon = 64, 1.5
    row = next(option for option in auto(size, epsilon).options if option.protocol == protocol)
    asked = Task.frequency("n", domain=range(size), epsilon=epsilon, protocol=protocol)
    assert asked.randomizer.bits == row.bits
    if protocol != "hadamard":  # whose variance depends on who shares a block
        exact = asked.protocol.variance(np.zeros(2), 1, np.arange(2))[0]
        assert exact == pytest.approx(row.variance, rel=1e-6)


def test_explain_names_what_was_taken_and_why_the_others_were_not():
    text = auto(10_000, 4).explain()
    assert text.splitlines()[1].startswith("pgr")
    assert "taken" in text
    assert "more than 32 bits a report" in text


def test_a_huge_domain_is_hashed():
    assert auto(10**9, 4).protocol == "olh"


def test_a_mean_is_unbiased_with_an_interval_and_a_bound_for_fakes():
    asked = Task.mean("age", lower=0, upper=110, epsilon=1.0)
    values = np.linspace(10, 90, 5000)
    found = simulate(asked, values, bits=SeededBits(4))
    low, high = found.interval(0.9999)
    assert low < 50 < high
    assert found.manipulation_bound(0) == 0
    assert found.manipulation_bound(50) > 50 / 5000 * 110
    with pytest.raises(errors.BadInput):
        found.manipulation_bound(5001)


def test_a_distribution_is_estimated_and_smoothed():
    asked = Task.distribution("age", lower=0, upper=100, epsilon=2.0, bins=16)
    found = simulate(asked, np.full(4000, 40.0), bits=SeededBits(4))
    tidy = found.non_negative()
    assert sum(tidy.values()) == pytest.approx(4000)
    assert max(tidy, key=tidy.get) == pytest.approx(40)


def test_heavy_hitters_are_found_without_a_list():
    asked = Task.heavy_hitters("words", epsilon=4.0, length=4)
    words = ["rain"] * 9000 + ["snow"] * 6000 + [f"w{i % 900:03x}" for i in range(5000)]
    found = simulate(asked, words, bits=SeededBits(4), most=16)
    assert [one.value for one in found.top(2)] == ["rain", "snow"]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Task.frequency("n", domain=["a"], epsilon=1), errors.BadTask),
        (lambda: Task.frequency("n", domain=["a", "a"], epsilon=1), errors.BadTask),
        (lambda: Task.frequency("n", domain=["a", 1.5], epsilon=1), errors.BadTask),
        (lambda: Task.frequency("n", domain=["a", "b", "c"], epsilon=1, protocol="warner"), errors.BadTask),
        (lambda: Task.frequency("n", domain=["a", "b"], epsilon=1, protocol="magic"), errors.BadTask),
        (lambda: Task.frequency("n", domain=["a", "b"], epsilon=1, protocol="coin"), errors.BadTask),
        (lambda: Task.frequency("n", domain=["a", "b"], epsilon=0), errors.BadEpsilon),
        (lambda: Task.frequency("n", domain=["a", "b"], epsilon=math.inf), errors.BadEpsilon),
        (lambda: Task.frequency("n", epsilon=1, protocol="grr"), errors.BadTask),
        (lambda: Task.frequency("n", domain=range(9), epsilon=1, protocol="loloha", first=2), errors.BadEpsilon),
        (lambda: Task.frequency("n", domain=range(9), epsilon=1, colour="red"), errors.BadTask),
        (lambda: Task.mean("n", lower=1, upper=0, epsilon=1), errors.BadBounds),
        (lambda: SameTask.from_json("[]"), errors.BadTask),
        (lambda: SameTask.from_json("{}"), errors.BadTask),
        (lambda: SameTask.from_json("no"), errors.BadTask),
    ],
)
def test_a_task_that_cannot_be_is_refused_by_name(call, error):
    with pytest.raises(error):
        call()


def test_texts_and_numbers_may_stand_in_one_domain_and_others_are_refused():
    asked = Task.frequency("mixed", domain=["a", 1, 2], epsilon=4.0)
    found = simulate(asked, ["a", 1, 1] * 500, bits=SeededBits(1))
    assert abs(found.raw[1] - 1000) < 6 * found.standard_error[1]
    with pytest.raises(errors.BadData):
        simulate(asked, ["a", "1"])


def test_a_coin_flip_costs_ln_3():
    asked = Task.frequency("xyz", domain=["no", "yes"], epsilon=math.log(3), protocol="coin")
    assert asked.epsilon == pytest.approx(math.log(3))


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 101, 355, 1e9, 1e300])
def test_an_epsilon_that_no_task_has_is_refused_by_name(epsilon):
    with pytest.raises(errors.BadTask):
        auto(2, epsilon)
    with pytest.raises(errors.BadTask):
        Task.frequency("coins", domain=["heads", "tails"], epsilon=epsilon)

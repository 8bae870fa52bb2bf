"""Tasks that a hostile collector writes so that a device would state little and tell much: all are refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from discreet.errors import BadTask
from discreet.local import Client, ClientRefused, Task
from discreet.local.device.client import (
    LEAST_EPSILON,
    MOST_BITS,
    RANDOMIZERS,
    WORD,
    Draw,
    Ratio,
    build_randomizer,
    check_promise,
)
from discreet.local.tasks.task_rules import validate_task
from tests.local.cases import CASES, randomizer_for
from tests.local.laws import device_law
from tests.local.test_histories import TASKS
from tests.mutants import randomizers

NUMBER, LISTED, TEXTS = {"lower": "0", "upper": "1"}, {"values": ["yes", "no"]}, {"length": 4}


def written(protocol: str, epsilon: str, domain, kind: str = "frequency", **parameters):
    """A specification as anybody may write it, past the checks of `Task.frequency` and the others."""
    caps = {"per_epoch": 1000, "lifetime": 1000}
    rules = {"epoch_seconds": 0, "min_batch": 1, "memoize": False, "assigned": False, "seed": 0}
    spec = {"version": 1, "name": "q", "kind": kind, "protocol": protocol, "epsilon": epsilon, "domain": domain}
    return {**spec, "parameters": parameters, "caps": caps, **rules}


HOSTILE = {
    "one bit, step below zero": written("duchi", "0." + "0" * 49 + "1", NUMBER, "mean", steps=2**63 + 1),
    "one bit, too fine": written("duchi", "0.001", NUMBER, "mean", steps=2**63),
    "kept branch hangs": written("piecewise", "0.01", NUMBER, "mean", steps=2**64 - 1, width=2**64 + 1),
    "same, square wave": written("square-wave", "0.01", NUMBER, "distribution", steps=2**64 - 1, width=2**64 + 1),
    "same, hybrid": written("hybrid", "0.01", NUMBER, "mean", steps=2**33, width=2**64 + 1, share=WORD),
    "lying branch hangs": written("pgr", "0.01", LISTED, size=2, order=3, dimension=42),
    "same, Hadamard": written("hadamard", "0.01", LISTED, size=2, blocks=2, columns=2**65),
    "Hadamard, product": written("hadamard", "0.01", LISTED, size=2, blocks=2**32, columns=2**32),
    "many values": written("grr", "1", {"range": 2**64 + 2}, size=2**64 + 2),
    "dimension without end": written("pgr", "1", LISTED, size=2, order=2, dimension=10**9),
    "a name for life": written("rappor", "2", LISTED, size=2, filter_bits=8, hashes=1, cohorts=2**64, first="1"),
    "hashes without end": written("rappor", "2", LISTED, size=2, filter_bits=8, hashes=2**30, cohorts=1, first="1"),
    "bits without end": written("oue", "1", {"range": 2**30}, size=2**30),
    "rows of bits without end": written("cms", "1", {"open": True}, rows=2, columns=2**30),
    "buckets": written("olh", "1", {"open": True}, buckets=2**65),
    "text without end": written("pem", "1", {"length": 2**40}, "heavy-hitters", length=2**40, prefixes=[8], buckets=2),
    "puzzle": written("sfp", "1", {"length": 2**40}, "heavy-hitters", length=2**40, piece=1, rows=2, columns=2),
    "first of nothing": written("loloha", "2", {"open": True}, buckets=3, first="0." + "0" * 30 + "1"),
}


@pytest.mark.parametrize("spec", HOSTILE.values(), ids=HOSTILE)
def test_a_task_that_was_written_to_get_the_truth_is_refused_by_device_task_and_collector(spec):
    with pytest.raises(ClientRefused) as refused:
        Client(spec)
    assert refused.value.code == "bad-task"
    with pytest.raises(BadTask):
        Task(spec)
    with pytest.raises(BadTask):
        validate_task(spec)


@pytest.mark.parametrize("protocol", TASKS)
def test_the_least_epsilon_is_taken_and_less_is_refused(protocol):
    spec = json.loads(TASKS[protocol][0]().to_json())
    if protocol != "coin":  # it costs ln 3
        shape = {name: given for name, given in spec["parameters"].items() if name != "first"}
        first = {"first": str(LEAST_EPSILON)} if "first" in spec["parameters"] else {}
        epsilon = LEAST_EPSILON * (2 if first else 1)
        build_randomizer({**spec, "epsilon": str(epsilon), "parameters": {**shape, **first}})
    for too_small in (LEAST_EPSILON * Fraction(999, 1000), Fraction(1, 10**50)):
        with pytest.raises(ClientRefused, match="epsilon of at least 1/1048576"):
            Client({**spec, "epsilon": str(too_small)})


def likelihoods(case) -> Fraction:
    laws = [device_law(case.randomizer, code, slot=case.slot) for code in case.codes]
    return max(max(law[sent] for law in laws) / min(law[sent] for law in laws) for sent in laws[0])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_checked_of_a_randomizer_is_its_exact_law(case):
    """The ratios that it names, against every draw played: bits that are flipped by themselves count twice."""
    check_promise(case.randomizer)
    named = [Fraction(ratio.larger, ratio.smaller) for ratio in case.randomizer.ratios()]
    if case.protocol == "loloha":
        assert named[1] == likelihoods(case), "of one report"
    elif case.protocol == "cms":
        assert named[0] ** 2 == likelihoods(case)
    else:
        assert max(named) == likelihoods(case)


@pytest.mark.parametrize(
    ("kind", "protocol", "parameters"),
    [
        (randomizers.UnaryAtFullEpsilon, "sue", {"size": 4}),
        (randomizers.ThresholdRoundedUp, "grr", {"size": 4}),
        (randomizers.SubsetThatAlwaysTells, "subset", {"size": 4, "width": 2}),
        (randomizers.PlaneCountedTwice, "pgr", {"size": 4, "order": 2, "dimension": 3}),
    ],
)
def test_thresholds_with_a_mistake_are_refused(kind, protocol, parameters, monkeypatch):
    monkeypatch.setitem(RANDOMIZERS, protocol, kind)
    with pytest.raises(ClientRefused, match="too small for so many outputs"):
        check_promise(randomizer_for(protocol, "1", parameters))


@pytest.mark.parametrize(
    "ratio", [Ratio(2, 1, Fraction(1)), Ratio(1, 2, Fraction(3)), Ratio(1, 0, Fraction(3)), Ratio(-1, -2, Fraction(3))]
)
def test_one_ratio_that_is_wrong_is_enough(ratio, monkeypatch):
    randomizer = randomizer_for("grr", "1", {"size": 4})
    monkeypatch.setattr(randomizer, "ratios", lambda: iter([ratio]))
    with pytest.raises(ClientRefused):
        check_promise(randomizer)


def test_a_report_has_no_more_bits_than_a_device_draws_in_a_moment():
    largest = Task.frequency("many", domain=range(MOST_BITS), epsilon=1, protocol="oue")
    assert len(Client(largest).report(5)) > MOST_BITS // 8
    with pytest.raises(BadTask):
        Task.frequency("many", domain=range(MOST_BITS + 1), epsilon=1, protocol="oue")


class Counted(Draw):
    """Words from a list."""

    def __init__(self, words):
        self.words = iter(words)

    def word(self):
        return next(self.words)


@pytest.mark.parametrize("bound", [1, 2, 3, WORD - 1, WORD, WORD + 1, 3 * WORD + 1, WORD**2, WORD**2 + 1, 10**100])
def test_numbers_below_any_bound_are_drawn_evenly_and_end(bound):
    assert all(0 <= Draw().below(bound) < bound for _ in range(20))
    words = max(1, -(-(bound - 1).bit_length() // 64))
    rounds = WORD**words // bound
    last = rounds * bound - 1  # the last number that is taken; the one after it is drawn again
    for drawn, expected in ((0, 0), (last, bound - 1)):
        digits = [drawn >> 64 * i & WORD - 1 for i in reversed(range(words))]
        assert Counted(digits).below(bound) == expected
    if rounds * bound < WORD**words:
        digits = [(last + 1) >> 64 * i & WORD - 1 for i in reversed(range(words))]
        assert Counted([*digits, *[0] * words]).below(bound) == 0

"""Shuffled reports: the bounds against brute force, against direct sums, against the published figures."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadDelta, BadEpsilon, BadInput
from discreet.local import Task
from discreet.local.device.client import WORD, Draw, Randomizer
from discreet.local.shuffling import amplification
from tests.local.cases import randomizer_for

Law = dict[object, float]


def randomizer(protocol: str, epsilon: object, **parameters: object) -> Randomizer:
    return randomizer_for(protocol, str(epsilon), parameters, seed=1)


class Played(Draw):
    """Plays one path through the draws; the first draw that is not on the path tells its branches."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.at = path, 0

    def pick(self, chances: list[Fraction]) -> int:
        if self.at == len(self.path):
            raise Open(chances)
        self.at += 1
        return self.path[self.at - 1]

    def chance(self, threshold: int) -> bool:
        return bool(self.pick([1 - Fraction(threshold, WORD), Fraction(threshold, WORD)]))

    def below(self, bound: int) -> int:
        return self.pick([Fraction(1, bound)] * bound)


class Open(Exception):
    def __init__(self, chances: list[Fraction]) -> None:
        self.chances = chances


def paths(device: Randomizer, value: int, slot: int) -> Iterator[tuple[int, Fraction]]:
    left = [((), Fraction(1))]
    while left:
        path, chance = left.pop()
        try:
            yield device.randomize(value, Played(path), slot=slot), chance
        except Open as found:
            left += [((*path, i), chance * share) for i, share in enumerate(found.chances) if share]


def exact_law(device: Randomizer, value: int, *, slots: int = 1) -> Law:
    """What a device sends, and how likely: all draws played."""
    law: dict[object, Fraction] = defaultdict(Fraction)
    for slot in range(slots):
        for report, chance in paths(device, value, slot):
            law[report] += chance / slots
    return {report: float(chance) for report, chance in law.items()}


def shuffled(laws: list[Law]) -> Law:
    """The law of the multiset of one report from each."""
    sums: Law = {(): 1.0}
    for law in laws:
        further: Law = defaultdict(float)
        for (reports, chance), (report, share) in itertools.product(sums.items(), law.items()):
            further[tuple(sorted((*reports, report)))] += chance * share
        sums = further
    return sums


def divergence(one: Law, other: Law, epsilon: float) -> float:
    return sum(max(0.0, chance - math.exp(epsilon) * other.get(output, 0.0)) for output, chance in one.items())


def worst_delta(laws: list[Law], n: int, epsilon: float) -> float:
    """Over everything that the other people may say, and every pair of values, in both orders."""
    worst = 0.0
    for others in itertools.combinations_with_replacement(laws, n - 1):
        crowds = [shuffled([law, *others]) for law in laws]
        worst = max(worst, *(divergence(a, b, epsilon) for a, b in itertools.permutations(crowds, 2)))
    return worst


SMALL = [
    ("warner", 1.5, {"size": 2}, 2),
    ("grr", 2, {"size": 3}, 3),
    ("subset", 1, {"size": 4, "width": 2}, 4),
    ("pgr", 1, {"size": 2, "order": 2, "dimension": 2}, 2),
    ("pgr", 1, {"size": 4, "order": 2, "dimension": 3}, 4),
    ("hadamard", 1, {"size": 3, "blocks": 1, "columns": 4}, 3),
    ("hadamard", 2, {"size": 4, "blocks": 2, "columns": 4}, 4),
    ("square-wave", 1, {"steps": 3, "width": 2}, 4),
    ("piecewise", 2, {"steps": 2, "width": 3}, 3),
]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("protocol", "epsilon0", "parameters", "values"), SMALL[:2])
def test_no_bound_is_below_the_truth_for_a_few_people(protocol, epsilon0, parameters, values, n):
    device = randomizer(protocol, epsilon0, **parameters)
    laws = [exact_law(device, value) for value in range(values)]
    for epsilon in (0.01, 0.2, 0.7, 1.4):
        truth = worst_delta(laws, n, epsilon)
        blanket = amplification.blanket_delta(device, n=n, epsilon=epsilon)
        assert truth <= blanket * (1 + 1e-9)
        assert truth <= amplification.clones_delta(epsilon0, n=n, epsilon=epsilon) * (1 + 1e-9)
        if n == 1:
            assert blanket == pytest.approx(truth, rel=1e-3)  # one person alone: nothing is lost


@pytest.mark.parametrize(("protocol", "epsilon0", "parameters", "values"), SMALL[2:])
def test_the_blanket_is_not_below_the_truth_for_three_people(protocol, epsilon0, parameters, values):
    device = randomizer(protocol, epsilon0, **parameters)
    laws = [exact_law(device, value) for value in range(values)]
    for epsilon in (0.05, 0.5):
        assert worst_delta(laws, 3, epsilon) <= amplification.blanket_delta(device, n=3, epsilon=epsilon) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("protocol", "epsilon0", "parameters", "values"), [*SMALL, ("hcms", 1, {"rows": 2, "columns": 4}, 4)]
)
def test_the_two_levels_are_those_that_devices_have(protocol, epsilon0, parameters, values):
    device = randomizer(protocol, epsilon0, **parameters)
    law = amplification.blanket_of(device)
    sent = [exact_law(device, value) for value in range(values)]
    outputs = set().union(*sent)
    if protocol == "pgr":
        outputs |= set(range(device.points))
    for chances in sent:
        own = {output for output in outputs if chances[output] * len(outputs) > 1}
        assert len(own) == law.inside * len(outputs)
        for output in outputs:
            level = law.high if output in own else law.low
            assert chances[output] * len(outputs) == pytest.approx(float(level), rel=1e-12)
    shared = [
        sum(one[output] * len(outputs) > 1 < other[output] * len(outputs) for output in outputs)
        for one, other in itertools.combinations(sent, 2)
    ]
    assert min(shared) >= law.both * len(outputs)


def test_hashed_values_collide_as_often_as_the_blanket_says():
    device = randomizer("olh", 1, buckets=4)
    law = amplification.blanket_of(device)
    slots = 2000
    one, other = exact_law(device, 17, slots=slots), exact_law(device, 10**6, slots=slots)
    high = float(law.high)
    assert all(chance * 4 * slots == pytest.approx(high) or chance * 4 * slots < 1 for chance in one.values())
    shared = sum(chance * 4 * slots > 1 < other[output] * 4 * slots for output, chance in one.items())
    assert shared / slots / 4 == pytest.approx(float(law.both), abs=0.015)  # 6 standard deviations
    assert 0.998 / 16 < law.both < 1 / 16


def test_a_permanent_and_a_fresh_lie_make_one_lie():
    device = randomizer("loloha", 3, buckets=3, first="1")
    law = amplification.blanket_of(device)
    chances = exact_law(device, 5)
    assert max(chances.values()) == pytest.approx(float(law.keep), rel=1e-12)
    assert math.log(law.high / law.low) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("n", "epsilon"), [(5, 0.3), (60, 0.2), (400, 0.1)])
def test_the_blanket_of_two_answers_is_the_direct_sum(n, epsilon):
    keep = math.exp(1.5) / (1 + math.exp(1.5))
    lie = 1 - keep
    values = 2 * (keep - math.exp(epsilon) * lie), 2 * (lie - math.exp(epsilon) * keep)
    blanket, total = 2 * lie, 0.0
    for people in range(1, n + 1):
        drawn = math.comb(n, people) * blanket**people * (1 - blanket) ** (n - people) if n <= 5 else None
        if drawn is None:
            drawn = float(np.exp(log_chance(n, people, blanket)))
        first = np.arange(people + 1)
        chances = np.exp([log_chance(people, k, 0.5) for k in first])
        total += drawn * float(chances @ np.maximum(0, first * values[0] + (people - first) * values[1]))
    found = amplification.blanket_delta(randomizer("warner", 1.5, size=2), n=n, epsilon=epsilon)
    assert total / (n * blanket) <= found
    assert found == pytest.approx(total / (n * blanket), rel=1e-4)


def log_chance(count: int, k: int, chance: float) -> float:
    ways = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
    return ways + k * math.log(chance) + (count - k) * math.log1p(-chance)


@pytest.mark.parametrize(("n", "epsilon0", "epsilon"), [(2, 1, 0.1), (40, 2, 0.3), (2000, 1, 0.05), (5000, 4, 0.6)])
def test_the_clones_are_the_direct_sum_in_both_directions(n, epsilon0, epsilon):
    high = math.exp(epsilon0) / (1 + math.exp(epsilon0))
    deltas = np.zeros(2)
    for clones in range(n):
        weight = math.exp(log_chance(n - 1, clones, math.exp(-epsilon0)))
        if weight < 1e-14:
            continue
        halves = np.exp([log_chance(clones, k, 0.5) for k in range(clones + 1)])
        up, down = np.append(0, halves), np.append(halves, 0)
        one, other = high * up + (1 - high) * down, high * down + (1 - high) * up
        for i, (p, q) in enumerate([(one, other), (other, one)]):
            deltas[i] += weight * np.maximum(0, p - math.exp(epsilon) * q).sum()
    assert deltas[0] == pytest.approx(deltas[1], rel=1e-6)
    found = amplification.clones_delta(epsilon0, n=n, epsilon=epsilon)
    assert found == pytest.approx(deltas.max(), rel=1e-6)


TABLE = [  # n, delta, epsilon0: closed form, clones, two answers, a hundred answers, subsets or planes, hashing
    (10**4, 1e-6, 1, 0.214, 0.053, 0.0432, 0.0072, 0.0297, 0.0293),
    (10**4, 1e-6, 4, 4, 0.601, 0.411, 0.234, 0.279, 0.278),
    (10**5, 1e-6, 1, 0.0726, 0.0153, 0.0124, 0.0020, 0.0085, 0.0084),
    (10**5, 1e-6, 4, 0.535, 0.170, 0.118, 0.0684, 0.0814, 0.0813),
    (10**6, 1e-7, 4, 0.214, 0.0572, 0.0400, 0.0233, 0.0277, 0.0276),
]


@pytest.mark.parametrize("row", TABLE)
def test_the_bounds_are_the_published_figures(row):
    n, delta, epsilon0, *figures = row
    odds = math.exp(epsilon0)
    devices = [
        randomizer("warner", epsilon0, size=2),
        randomizer("grr", epsilon0, size=100),
        randomizer("subset", epsilon0, size=1000, width=round(1000 / (odds + 1))),
        randomizer("olh", epsilon0, buckets=round(odds) + 1),
    ]
    found = [
        amplification.closed_form_epsilon(epsilon0, n=n, delta=delta),
        amplification.clones_epsilon(epsilon0, n=n, delta=delta),
        *(amplification.blanket_epsilon(device, n=n, delta=delta) for device in devices),
    ]
    assert found == pytest.approx(figures, rel=0.015)


@pytest.mark.parametrize(
    ("domain", "protocol", "parameters"),
    [(range(10**4), "pgr", {"order": 53, "dimension": 4}), (None, "olh", {"buckets": 56})],
)
def test_our_protocols_are_nearly_twice_as_private_as_any(domain, protocol, parameters):
    task = Task.frequency("t", epsilon=4, domain=domain, protocol=protocol, parameters=parameters)
    ours = amplification.epsilon_after_shuffling(task.randomizer, n=10**5, delta=1e-6)
    assert 1.9 * ours <= amplification.clones_epsilon(4, n=10**5, delta=1e-6)


def test_more_people_or_a_larger_delta_never_cost_more():
    device = randomizer("pgr", 2, size=50, order=8, dimension=3)
    for bound in (amplification.epsilon_after_shuffling, lambda _, **k: amplification.clones_epsilon(2, **k)):
        by_n = [bound(device, n=n, delta=1e-6) for n in (1, 10, 1000, 10**6, 10**8)]
        assert by_n == sorted(by_n, reverse=True)
        assert by_n[0] <= 2
        by_delta = [bound(device, n=5000, delta=delta) for delta in (1e-15, 1e-6, 1e-3, 0.1)]
        assert by_delta == sorted(by_delta, reverse=True)


@pytest.mark.parametrize("epsilon0", [0.01, 0.5, 3, 8])
@pytest.mark.parametrize("n", [3, 1000, 10**6])
def test_no_bound_is_above_what_holds_without_a_shuffler_nor_above_the_clones(epsilon0, n):
    clones = amplification.clones_epsilon(epsilon0, n=n, delta=1e-7)
    assert clones <= min(epsilon0, amplification.closed_form_epsilon(epsilon0, n=n, delta=1e-7) * (1 + 1e-5))
    for device in (randomizer("warner", epsilon0, size=2), randomizer("olh", epsilon0, buckets=5)):
        ours = amplification.epsilon_after_shuffling(device, n=n, delta=1e-7)
        assert ours <= clones
        if 0 < ours < clones:
            assert amplification.blanket_delta(device, n=n, epsilon=ours) <= 1e-7


def test_a_protocol_of_more_levels_gets_the_bound_that_holds_for_any():
    device = randomizer("oue", 2, size=5)
    assert amplification.blanket_of(device) is None
    expected = amplification.clones_epsilon(2, n=1000, delta=1e-6)
    assert amplification.blanket_epsilon(device, n=1000, delta=1e-6) == expected
    assert amplification.epsilon_after_shuffling(device, n=1000, delta=1e-6) == expected
    assert amplification.blanket_delta(device, n=1000, epsilon=0.5) == amplification.clones_delta(
        2, n=1000, epsilon=0.5
    )


def test_a_report_that_carries_an_assigned_slot_hides_in_no_crowd():
    drawn = randomizer("olh", 2, buckets=8)
    assigned = type(drawn)({**drawn.spec, "assigned": True})
    assert amplification.epsilon_after_shuffling(drawn, n=10**5, delta=1e-6) < 0.1
    assert 1.999 < amplification.epsilon_after_shuffling(assigned, n=10**5, delta=1e-6) <= 2
    laws = [exact_law(assigned, value) for value in range(3)]
    assert worst_delta(laws, 1, 0.5) <= amplification.blanket_delta(assigned, n=10**5, epsilon=0.5)


@pytest.mark.parametrize(
    ("change", "error"),
    [({"n": 0}, BadInput), ({"n": 1.5}, BadInput), ({"delta": 0}, BadDelta), ({"epsilon0": -1}, BadEpsilon)],
)
def test_what_makes_no_sense_is_refused(change, error):
    arguments = {"epsilon0": 1, "n": 100, "delta": 1e-6, **change}
    with pytest.raises(error):
        amplification.clones_epsilon(arguments.pop("epsilon0"), **arguments)
    with pytest.raises(BadInput):
        amplification.epsilon_after_shuffling("emoji", n=100, delta=1e-6)

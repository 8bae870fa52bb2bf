"""What a device says it has given away, held against the exact law of all that it sent.

Neighbours are any two histories of one person: two values for every report, changed at will between reports, inside of
the task or outside. Every draw of the device's own client is played, so the law of its messages' payloads is exact.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.local import Task
from discreet.local.device import client as device
from discreet.local.device.client import HEADER, RANDOMIZERS, Client, Store, TwoRounds, epoch_loss, lifetime_loss
from tests.local.cases import LN_3
from tests.local.laws import Law, PlayedDraw, law_of
from tests.support.laws import exp_of

TICKET = "00000005" + 16 * "ab"
NEAR = Fraction(1, 10**9)
OUTSIDE = object()
EPOCH = 100
ONE_EPOCH, TWO_EPOCHS = (0, 1), (0, EPOCH)


def frequency(protocol, epsilon, size, **asked):
    return lambda **rules: Task.frequency(
        protocol, domain=range(size), epsilon=Fraction(epsilon), protocol=protocol, **asked, **rules
    )


def number(protocol, **asked):
    make = Task.distribution if protocol == "square-wave" else Task.mean
    named = {} if protocol == "square-wave" else {"protocol": protocol, "steps": 2}
    return lambda **rules: make(protocol, lower=0, upper=1, epsilon=1, **named, **asked, **rules)


def words(protocol, **parameters):
    return lambda **rules: Task.heavy_hitters(
        protocol, epsilon=2, length=2, protocol=protocol, parameters=parameters, seed=2, **rules
    )


RAPPOR = {"filter_bits": 2, "hashes": 1, "cohorts": 1}
TASKS = {
    "coin": (frequency("coin", LN_3, 2), (0, 1, OUTSIDE)),
    "warner": (frequency("warner", "1", 2), (0, 1, OUTSIDE)),
    "grr": (frequency("grr", "1", 3), (0, 1, 2, OUTSIDE)),
    "subset": (frequency("subset", "1", 3, parameters={"width": 1}), (0, 1, OUTSIDE)),
    "pgr": (frequency("pgr", "1", 3, parameters={"order": 3, "dimension": 2}), (0, 1, 2, OUTSIDE)),
    "olh": (frequency("olh", "1", 2, parameters={"buckets": 3}, seed=2), (0, 1, OUTSIDE)),
    "loloha": (frequency("loloha", "2", 2, parameters={"buckets": 3}, seed=2), (0, 1, OUTSIDE)),
    "sue": (frequency("sue", "1", 2), (0, 1, OUTSIDE)),
    "oue": (frequency("oue", "1", 2), (0, 1, OUTSIDE)),
    "cms": (frequency("cms", "2", 2, parameters={"rows": 1, "columns": 2}, seed=2), (0, 1, OUTSIDE)),
    "hcms": (frequency("hcms", "2", 2, parameters={"rows": 1, "columns": 2}, seed=2), (0, 1, OUTSIDE)),
    "hadamard": (frequency("hadamard", "1", 3, parameters={"blocks": 1, "columns": 4}), (0, 1, OUTSIDE)),
    "rappor": (frequency("rappor", "2", 2, parameters=RAPPOR, seed=3), (0, 1, OUTSIDE)),
    "duchi": (number("duchi"), (0, 0.5, 1, float("inf"), OUTSIDE)),
    "piecewise": (number("piecewise"), (-7, 1, float("nan"))),
    "hybrid": (number("hybrid"), (0, 1, OUTSIDE)),
    "square-wave": (number("square-wave", bins=3), (0, 0.5, OUTSIDE)),
    "pem": (words("pem", prefixes=[16], buckets=3), ("a", "b", "too long")),
    "sfp": (words("sfp", rows=1, columns=2), ("a", "c", "too long")),
}
"""A small task of every protocol, and what its people report; in each some two values are as far apart as may be."""

every_task = pytest.mark.parametrize("protocol", TASKS)


class Scripted(PlayedDraw):
    """The text that stands in for one outside of the task is one text here: there are too many to play them all."""

    def word(self) -> int:
        return 7


class Again(Store):
    """A store that can be put back to its beginning."""

    def begin(self) -> None:
        self._state = {**self._state, "tasks": {}}


def law_of_history(client: Client, store: Again, history: tuple) -> Law:
    def play(script):
        store.begin()
        client._draw = Scripted(script)
        return tuple(client.report(value)[HEADER:-4] for value in history)

    return law_of(play)


def worst_of(task: Task, values, times: tuple, kind: type[Client] = Client) -> tuple[Fraction, Fraction, Client]:
    """The largest ratio of the laws of two histories, what the device said it had spent, and the device."""
    store, now = Again(), itertools.cycle(times)
    client = kind({**task.spec, "assigned": True}, store=store, clock=lambda: next(now), slot=TICKET, budget=1000)
    laws = [law_of_history(client, store, history) for history in itertools.product(values, repeat=len(times))]
    assert all(sum(law.values()) == 1 for law in laws)
    assert all(law.keys() == laws[0].keys() for law in laws), "some report gives a history away"
    worst = max(max(law[sent] for law in laws) / min(law[sent] for law in laws) for sent in laws[0])
    return worst, Fraction(client.spent), client


def held(task: Task, values, times: tuple) -> Client:
    """The device as it stands after its claim was found true, and no larger than it must be."""
    worst, spent, client = worst_of(task, values, times)
    assert worst <= exp_of(spent) * (1 + NEAR), "the device gave away more than it says"
    assert worst >= exp_of(spent) * (1 - NEAR), "the device says it gave away more than it did"
    assert client.spent <= task.lifetime_epsilon
    return client


def test_every_protocol_has_a_task_here():
    assert set(TASKS) == set(RANDOMIZERS)


@every_task
@pytest.mark.parametrize("times", [ONE_EPOCH, TWO_EPOCHS], ids=["one epoch", "two epochs"])
@pytest.mark.parametrize("memoize", [False, True], ids=["fresh", "memoized"])
def test_what_two_reports_tell_is_what_the_device_says(protocol, times, memoize, monkeypatch):
    make, values = TASKS[protocol]
    task = make(memoize=memoize, epoch_seconds=EPOCH, lifetime=2)
    if isinstance(task.randomizer, TwoRounds) and times == TWO_EPOCHS:  # too many draws to play with a third value
        monkeypatch.setattr(device, "substitute_value", lambda spec, draw: None)
        values = (0, 1)
    client = held(task, values, times)
    if memoize:
        one = float(client.randomizer.loss(1))
        assert client.spent == pytest.approx(one if times == ONE_EPOCH else 2 * one)


@pytest.mark.parametrize(
    ("protocol", "times"), [("rappor", (0, 1, 2)), ("loloha", (0, 1, 2)), ("loloha", (0, 1, EPOCH))]
)
def test_what_three_reports_of_one_permanent_answer_tell_is_what_the_device_says(protocol, times, monkeypatch):
    monkeypatch.setattr(device, "substitute_value", lambda spec, draw: None)  # nobody is outside here: it is not used
    make, _ = TASKS[protocol]
    held(make(epoch_seconds=EPOCH, lifetime=3), (0, 1), times)


class OneAnswerAValue(Client):
    """A device as in the papers: it remembers an answer for each value, for ever."""

    def _randomized(self, account, code):
        answers = account.setdefault("answers", {})
        account["answer"] = answers.get(code)
        report = super()._randomized(account, code)
        answers[code] = account["answer"]
        return report


def test_a_memory_for_each_value_would_tell_that_a_value_changed():
    make, _ = TASKS["grr"]
    with pytest.raises(AssertionError, match="gives a history away"):
        worst_of(make(memoize=True, lifetime=2), (0, 1), ONE_EPOCH, kind=OneAnswerAValue)


def test_a_memory_for_each_value_would_cost_more_than_two_reports_say(monkeypatch):
    monkeypatch.setattr(device, "substitute_value", lambda spec, draw: None)
    make, _ = TASKS["rappor"]
    worst, spent, client = worst_of(make(lifetime=2), (0, 1), ONE_EPOCH, kind=OneAnswerAValue)
    assert worst > exp_of(spent) * (1 + NEAR)
    assert Fraction(client.spent) == spent


def test_filters_with_two_hashes_cost_no_more_than_the_device_says():
    """Two filters that share a bit, as small ones do, differ in fewer bits than the claim is for."""
    task = frequency("rappor", "2", 2, parameters={"filter_bits": 3, "hashes": 2, "cohorts": 1})(lifetime=1)
    worst, spent, _ = worst_of(task, (0, 1), (0,))
    assert 1 < worst <= exp_of(spent)


@pytest.mark.parametrize("epoch_seconds", [0, EPOCH])
@pytest.mark.parametrize("per_epoch", [1, 3, 7])
@pytest.mark.parametrize(
    ("protocol", "asked"), [("rappor", {}), ("loloha", {}), ("loloha", {"first": "1"}), ("grr", {})]
)
def test_no_way_of_spreading_reports_over_epochs_costs_more_than_a_lifetime(protocol, asked, per_epoch, epoch_seconds):
    parameters = {"buckets": 50} if protocol == "loloha" else {}
    asked = {name: Fraction(epsilon) for name, epsilon in asked.items()}
    task = frequency(protocol, "6", 60, parameters=parameters, **asked)(
        lifetime=7, per_epoch=per_epoch, epoch_seconds=epoch_seconds
    )
    randomizer, most = task.randomizer, min(7, per_epoch)
    spreads = [spread for spread in itertools.product(range(most + 1), repeat=4) if sum(spread) <= 7]
    if not epoch_seconds:
        spreads = [(most,)]
    dearest = max(sum(epoch_loss(randomizer, reports) for reports in spread) for spread in spreads)
    assert dearest <= lifetime_loss(randomizer, lifetime=7, per_epoch=per_epoch)
    if not epoch_seconds:
        assert dearest == lifetime_loss(randomizer, lifetime=7, per_epoch=per_epoch)


def test_reports_of_one_permanent_answer_can_cost_more_than_their_number_times_the_first():
    """So first times reports was no bound: with many buckets two reports that agree tell more than twice one."""
    randomizer = frequency("loloha", "6", 60, parameters={"buckets": 50}, first=1)().randomizer
    assert randomizer.loss(2) > 2 * randomizer.loss(1)
    assert randomizer.loss(3) / 3 == randomizer.max_loss_per_report(7) == randomizer.max_loss_per_report(1000)


def test_a_lifetime_that_nobody_names_costs_at_most_twenty():
    for make, _ in TASKS.values():
        for rules in ({}, {"epoch_seconds": EPOCH}, {"memoize": True}):
            task = make(**rules)
            assert 0 < task.lifetime_epsilon <= 20
            assert "gives away ε" in task.explain()
    assert frequency("grr", "3", 3)().spec["caps"]["lifetime"] == 6
    assert frequency("grr", "30", 3)().lifetime_epsilon == 30, "one report is the least that can be asked for"
    assert "devices stop at ε 20" in frequency("grr", "30", 3)().explain()


@pytest.mark.parametrize("protocol", ["olh", "grr", "subset", "cms", "duchi"])
def test_a_parameter_of_another_protocol_is_refused(protocol):
    """`first` in a task of local hashing once made the device state a tiny loss for a large one."""
    make, _ = TASKS[protocol]
    spec = json.loads(make().to_json())
    spec["parameters"]["first"] = "0.001"
    with pytest.raises(device.ClientRefused, match="no parameter 'first'"):
        Client(spec)


@pytest.mark.parametrize("protocol", ["rappor", "loloha"])
def test_the_table_of_the_docs_is_what_devices_count(protocol):
    randomizer = Task.frequency("mood", domain=range(3), epsilon=2, first=1, protocol=protocol).randomizer
    page = Path(__file__).parents[2] / "docs" / "explanation" / "local.md"
    row = next(line for line in page.read_text().splitlines() if line.startswith(f"| `{protocol}`"))
    told = [Fraction(cell.strip()) for cell in row.split("|")[2:-1]]
    counted = [randomizer.loss(reports) for reports in (1, 2, 3, 10, 1000)]
    assert all(0 <= shown - exact < Fraction(1, 1000) for shown, exact in zip(told, counted, strict=True))

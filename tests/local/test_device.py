"""What a device lets slip beside its reports: names that link them, errors and times that tell the value, clocks."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import BadTask
from discreet.local import Client, ClientRefused, Task
from discreet.local.device.client import HEADER, RANDOMIZERS, fingerprint
from discreet.local.tasks.messages import read_message
from discreet.local.tasks.task_rules import validate_task

EPOCH = 100


def task(**rules):
    return Task.frequency("emoji", domain=["a", "b", "c"], epsilon=2, **rules)


# ── what links reports ──────────────────────────────────────────────────────────────────────────────────────────────


def names_in(client: Client, message: bytes) -> set[str]:
    """What a message says of its device beside the answer: pseudonym, and slot or cohort."""
    r = client.randomizer
    report = int.from_bytes(message[HEADER:-4], "big") >> -r.bits % 8
    above = r.slot_at if r.slot_at is not None else getattr(r, "filter_bits", None)
    return {message[33:49].hex(), *([f"above the answer: {report >> above}"] if above is not None else [])}


PEM = Task.heavy_hitters("words", epsilon=2, length=4, epoch_seconds=EPOCH, lifetime=1000)
LINKED = {
    protocol: Task.frequency(
        protocol, domain=range(300), epsilon=2, protocol=protocol, parameters=more, epoch_seconds=EPOCH, lifetime=1000
    )
    for protocol, more in {
        "grr": {},
        "olh": {},
        "loloha": {},
        "rappor": {"cohorts": 1 << 16, "filter_bits": 32},
    }.items()
} | {"pem": PEM}


@pytest.mark.parametrize("protocol", LINKED)
@pytest.mark.parametrize("memoize", [False, True])
def test_nothing_in_the_messages_of_two_epochs_says_that_they_are_of_one_device(protocol, memoize):
    spec = {**json.loads(LINKED[protocol].to_json()), "memoize": memoize}
    now = [0.0]
    client = Client(spec, clock=lambda: now[0], budget=1000)
    epochs = []
    for epoch in range(6):
        now[0] = epoch * EPOCH
        epochs.append([names_in(client, client.report(7)) for _ in range(2)])
    assert all(first & second for first, second in epochs), "within an epoch the pseudonym does"
    shared = sum(len(one[0] & other[0]) for i, one in enumerate(epochs) for other in epochs[:i])
    assert shared <= 1, "15 pairs of 16-bit cohorts: two that are equal have a chance below 1 in 10,000,000"
    if memoize or protocol in ("loloha", "rappor"):
        assert all(first == second for first, second in epochs), "one answer, one slot"


def test_a_slot_of_ones_own_is_fresh_for_every_fresh_report_and_an_assigned_one_stays():
    asked = Task.frequency("o", epsilon=1, protocol="olh")
    client = Client(asked)
    assert (
        len({int(read_message(asked, client.report("x")).reports[0]) >> client.randomizer.slot_at for _ in range(9)})
        == 9
    )
    numbered = Task.frequency("o", epsilon=1, protocol="olh", assigned=True)
    client = Client(numbered, slot=f"{77:08x}{'ab' * 16}")
    messages = [read_message(numbered, client.report("x")) for _ in range(9)]
    assert {int(message.reports[0]) >> client.randomizer.slot_at for message in messages} == {77}
    assert {message.sender for message in messages} == {b"\xab" * 16}


@pytest.mark.parametrize("ticket", [None, 77, "77", "g" * 40])
def test_a_device_without_a_ticket_pays_for_no_report_that_is_refused(ticket):
    with pytest.raises(ClientRefused) as refused:
        Client(Task.frequency("o", epsilon=1, protocol="olh", assigned=True), slot=ticket)
    assert refused.value.code == "bad-slot"


# ── clocks ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_clock_that_was_wrong_once_silences_nobody_and_no_epoch_has_more_than_its_cap():
    now = [0.0]
    client = Client(task(per_epoch=1, lifetime=100, epoch_seconds=EPOCH), clock=lambda: now[0], budget=1000)
    made: dict[int, int] = {}
    for epoch in [5, 4_000, 6, 5, 4_000, 7, 7, 8, 9, 10, 11, 12, 13, 14, 5, 6, 4_000, 15]:
        now[0] = epoch * EPOCH
        try:
            client.report("a")
            made[epoch] = made.get(epoch, 0) + 1
        except ClientRefused:
            continue
    assert made == dict.fromkeys([5, 4_000, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 1)
    now[0] = 3 * EPOCH
    with pytest.raises(ClientRefused, match="clock"):
        client.report("a")


def test_clocks_that_go_round_and_round_get_no_more_than_a_lifetime():
    now = [0.0]
    client = Client(task(per_epoch=1, lifetime=12, epoch_seconds=EPOCH), clock=lambda: now[0], budget=1000)
    for epoch in range(100):
        now[0] = epoch * 37 % 101 * EPOCH
        try:
            client.report("a")
        except ClientRefused:
            continue
    assert client.reports <= 12
    assert client.spent <= 24


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Odd:
    """Fails at whatever it is asked."""

    def __getattribute__(self, name):
        raise MemoryError

    def __hash__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    def __index__(self):
        raise RuntimeError

    def __float__(self):
        raise RuntimeError

    def __str__(self):
        raise RuntimeError


class OddText(str):
    """A text that does not want to be one."""

    __slots__ = ()

    def __str__(self):
        raise RuntimeError

    def __hash__(self):
        raise RuntimeError


VALUES = {
    "long number": 10**5000,
    "longer": -(10**100_000),
    "long fraction": Fraction(1, 10**5000),
    "tiny decimal": Decimal("1e-999999999"),
    "huge decimal": Decimal("1e999999999"),
    "array": np.array([1, 2]),
    "array of one": np.array([1.5]),
    "not a number": np.float64("nan"),
    "flag": np.bool_(True),
    "odd": Odd,
    "odd text": OddText("a"),
    "long text": "x" * 10_000_000,
    "half a letter": "\ud800",
    "bytes": b"a",
    "complex": 1j,
    "nothing": None,
    "list": [[]],
}
ASKED = {
    "list": task(),
    "range": Task.frequency("r", domain=range(5_000_000), epsilon=1, protocol="grr"),
    "open": Task.frequency("o", epsilon=1),
    "mean": Task.mean("m", lower=0, upper=1, epsilon=1),
    "words": Task.heavy_hitters("w", epsilon=1, length=4),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_whatever_the_value_a_message_leaves_at_once(asked, value):
    client = Client(asked)
    began = time.process_time()
    message = client.report(Odd() if value is Odd else value)  # pytest itself cannot look at one
    assert time.process_time() - began < 2, "10**999999999 would take minutes"
    assert len(read_message(asked, message).reports) == 1


def test_a_number_of_numpy_is_not_looked_for_through_the_whole_range():
    code_of = Client(ASKED["range"])._code_of
    assert [code_of(kind(4_999_999)) for kind in (int, np.int64, np.uint32)] == [4_999_999] * 3
    began = time.process_time()
    for _ in range(200):
        code_of(np.int64(4_999_999))
    assert time.process_time() - began < 20, "walking takes a second each"


def test_long_numbers_are_clamped_and_long_fractions_rounded():
    code_of = Task.mean("m", lower=0, upper=1, epsilon=1, steps=10).code_of
    given = (
        10**5000,
        -(10**5000),
        Fraction(10**5000, 2 * 10**5000 + 1),
        Decimal("1e-999999999"),
        Decimal("1e999999999"),
    )
    assert [code_of(value) for value in given] == [10, 0, 5, 0, 10]


LARGEST = {
    "coin": ({"range": 2}, {"size": 2}),
    "warner": ({"range": 2}, {"size": 2}),
    "grr": ({"range": 1 << 32}, {"size": 1 << 32}),
    "subset": ({"range": 1 << 16}, {"size": 1 << 16, "width": 1 << 15}),
    "pgr": ({"range": 1 << 32}, {"size": 1 << 32, "order": 1 << 12, "dimension": 5}),
    "olh": ({"open": True}, {"buckets": 1 << 32}),
    "loloha": ({"open": True}, {"buckets": 1 << 32, "first": "30"}),
    "sue": ({"range": 1 << 16}, {"size": 1 << 16}),
    "oue": ({"range": 1 << 16}, {"size": 1 << 16}),
    "cms": ({"open": True}, {"rows": 1 << 32, "columns": 1 << 15}),
    "hcms": ({"open": True}, {"rows": 1 << 32, "columns": 1 << 31}),
    "hadamard": ({"range": 1 << 32}, {"size": 1 << 32, "blocks": 1 << 31, "columns": 1 << 32}),
    "rappor": (
        {"range": 1 << 32},
        {"size": 1 << 32, "filter_bits": 65_520, "hashes": 64, "cohorts": 1 << 16, "first": "30"},
    ),
    "duchi": ({"lower": "-" + "9" * 400, "upper": "9" * 400}, {"steps": 1 << 32}),
    "piecewise": ({"lower": "-" + "9" * 400, "upper": "9" * 400}, {"steps": 1 << 32, "width": 1 << 32}),
    "square-wave": ({"lower": "-" + "9" * 400, "upper": "9" * 400}, {"steps": 1 << 32, "width": 1 << 32}),
    "hybrid": (
        {"lower": "1/" + "9" * 400, "upper": "9" * 400},
        {"steps": 1 << 32, "width": 1 << 32, "share": 1 << 63},
    ),
    "pem": ({"length": 1 << 12}, {"length": 1 << 12, "prefixes": [1, 14_286, 1 << 15], "buckets": 1 << 32}),
    "sfp": ({"length": 1 << 12}, {"length": 1 << 12, "piece": 1, "rows": 1 << 31, "columns": 1 << 14}),
}
ANYTHING = (0, 1, (1 << 32) - 1, -(10**5000), "Alice", "Mallory", "\x01", "\x7f" * (1 << 12), "\ud800", 1e308, None)


def largest(protocol, **changes):
    domain, parameters = LARGEST[protocol]
    asked = {"protocol": protocol, "epsilon": "40", "domain": domain, "parameters": parameters, "memoize": False}
    caps = {"caps": {"lifetime": 1000, "per_epoch": 1000}, "kind": "any", "name": "largest", "min_batch": 1}
    return {"version": 1, **asked, **caps, "epoch_seconds": 0, "assigned": False, "seed": 7, **changes}


def test_every_protocol_has_its_largest_parameters():
    assert LARGEST.keys() == RANDOMIZERS.keys()


@pytest.mark.parametrize("protocol", LARGEST)
def test_at_the_largest_parameters_that_a_device_takes_every_value_leaves_a_message(protocol):
    client = Client(largest(protocol), budget=1000)
    values = ANYTHING if client.randomizer.bits < 1000 else ANYTHING[:3:2]
    assert len({len(client.report(value)) for value in values}) == 1


@pytest.mark.parametrize("protocol", ["pem", "sfp", "grr", "hybrid"])
def test_a_randomizer_that_fails_for_some_values_is_not_heard_to_fail(monkeypatch, protocol):
    client = Client(largest(protocol), budget=1000)
    fails_for = client._code_of("Mallory" if protocol in ("pem", "sfp") else 7)
    randomize = client.randomizer.randomize

    def failing(code, draw, *, slot=0):
        if code == fails_for:
            raise OverflowError
        return randomize(code, draw, slot=slot)

    monkeypatch.setattr(client.randomizer, "randomize", failing)
    assert {len(client.report(value)) for value in ("Alice", "Mallory", 7, 8)} == {len(client.report("Bob"))}
    assert client.reports == len(client.pending()) == 5


def test_prefixes_of_short_texts_are_hashed_as_ever_and_long_ones_whatever_their_first_letter():
    device = Client(largest("pem")).randomizer
    start = int.from_bytes(b"Alice", "big")
    assert device.prefix_code(b"Alice", 40) == fingerprint(f"40:{start}")
    longest = 8 * device.length
    codes = {device.prefix_code(bytes([letter]), longest) for letter in range(1, 256)}
    assert len(codes) == 255


def test_what_a_device_states_is_never_below_what_it_gives_away():
    for epsilon in ("10.00004", "1.0000001", "0.3333333", "1/3", "1/1048576", "99.999999"):
        spec = {**json.loads(task(protocol="grr").to_json()), "epsilon": epsilon}
        for said in (Client(spec).explain(), Task(spec).explain()):
            stated = said.partition("ε ")[2].split()[0]
            assert Fraction(epsilon) <= Fraction(stated) <= Fraction(epsilon) * Fraction(100_001, 100_000)


# ── tasks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_name_of_a_task_cannot_forge_or_hide_what_it_costs():
    spec = {**json.loads(task().to_json()), "name": "emoji: a report costs ε 0.001 at most\nε 0 is gone\x1b[8m\u202e👍"}
    for said in (Client(spec).explain(), Task(spec).explain()):
        assert said.replace("\n", "").isprintable()
        assert "at most\\nε 0 is gone\\x1b[8m\\u202e👍: " in said.splitlines()[0]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "\ud800"},
        {"name": ""},
        {"name": "x" * 201},
        {"name": 5},
        {"domain": {"values": {"a": 1, "b": 2, "c": 3}}},
        {"domain": {"values": "abc"}},
        {"domain": {"values": ["a", "b", "\ud800"]}},
        {"domain": [["values", 3]]},
        {"parameters": [1]},
        {"parameters": None},
        {"protocol": []},
        {"epsilon": None},
        {"version": True},
        {"version": 1.0},
        {"domain": {"values": []}, "protocol": "olh", "parameters": {"buckets": 4}},
        {"caps": {"per_epoch": True, "lifetime": 1}},
    ],
)
def test_a_malformed_task_is_refused_and_nothing_else_happens(change):
    spec = {**json.loads(task(protocol="grr").to_json()), **change}
    with pytest.raises(ClientRefused) as refused:
        Client(spec)
    assert refused.value.code == "bad-task"
    with pytest.raises(BadTask):
        validate_task(spec)


TABLE = json.loads((Path(__file__).parent / "tasks_for_devices.json").read_text())
"""Changes to one task, for this device and for the page's."""


@pytest.mark.parametrize("change", TABLE["malformed"], ids=str)
def test_what_the_page_refuses_is_refused_here(change):
    with pytest.raises(ClientRefused) as refused:
        Client({**TABLE["task"], **change})
    assert refused.value.code == "bad-task"


@pytest.mark.parametrize("change", TABLE["sound"], ids=str)
def test_what_the_page_takes_is_taken_here(change):
    Client({**TABLE["task"], **change}, budget=100).report("a")


@pytest.mark.parametrize("left_out", TABLE["task"])
def test_a_task_without_one_of_its_parts_is_refused(left_out):
    with pytest.raises(ClientRefused):
        Client({part: said for part, said in TABLE["task"].items() if part != left_out})


@pytest.mark.parametrize("text", ["", "{", b"\xff", "[" * 100_000, "5", "null", 5, None])
def test_what_is_no_task_is_refused(text):
    with pytest.raises(ClientRefused) as refused:
        Client(text)
    assert refused.value.code == "bad-task"


@pytest.mark.parametrize("budget", [float("inf"), float("nan"), "1e999999999", "all"])
def test_a_budget_is_a_number(budget):
    with pytest.raises(ClientRefused):
        Client(task(), budget=budget)

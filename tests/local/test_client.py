"""The device: one file of the standard library, caps that hold, secrets that stay, permanent lies that are remembered."""

import json
import math
import shutil
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import BadData, BadTask
from discreet.local import Client, ClientRefused, Task
from discreet.local.device import client as device
from discreet.local.device.client import odds_below
from discreet.local.tasks.messages import read_message

EMOJI = ["😀", "😂", "🥰"]


def task(**rules):
    return Task.frequency("emoji", domain=EMOJI, epsilon=2.0, **rules)


def test_the_file_runs_alone_on_a_device_without_anything_of_ours(tmp_path):
    """Copied into an empty folder and run by a Python without site-packages."""
    shutil.copy(device.__file__, tmp_path / "client.py")
    (tmp_path / "task.json").write_text(task().to_json())
    code = "import client; print(client.Client(open('task.json').read()).report('😂').hex())"
    run = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    message = read_message(task(), bytes.fromhex(run.stdout.strip()))
    assert len(message.reports) == 1


def test_the_same_task_has_the_same_name_and_another_epsilon_another():
    assert task().id == task().id
    assert task().id != Task.frequency("emoji", domain=EMOJI, epsilon=2.1).id
    assert Task.from_json(task().to_json()).digest == task().digest


def test_a_device_stops_at_its_lifetime_cap_and_remembers_it_after_a_restart(tmp_path):
    store = tmp_path / "device.json"
    for _ in range(3):
        Client(task(lifetime=3), store=store).report("😀")
    with pytest.raises(ClientRefused, match="lifetime cap") as refused:
        Client(task(lifetime=3), store=store).report("😀")
    assert refused.value.code == "cap-reached"
    assert store.stat().st_mode & 0o077 == 0


def test_a_device_waits_for_the_next_epoch_and_never_goes_back_in_time():
    now = [0.0]
    client = Client(task(per_epoch=2, lifetime=5, epoch_seconds=100), clock=lambda: now[0])
    client.report("😀")
    client.report("😀")
    with pytest.raises(ClientRefused, match="one epoch"):
        client.report("😀")
    now[0] = 150.0
    client.report("😀")
    now[0] = 50.0
    with pytest.raises(ClientRefused):
        client.report("😀")
    now[0] = 250.0
    client.report("😀")
    client.report("😀")
    assert client.reports == 5
    assert client.spent == pytest.approx(10)
    now[0] = 350.0
    with pytest.raises(ClientRefused, match="lifetime cap"):
        client.report("😀")


@pytest.mark.parametrize("value", ["secret disease", True, None, ["😀"], 3, float("nan")])
def test_a_value_that_is_not_asked_for_leaves_a_message_like_any_other(value):
    client = Client(task(lifetime=1))
    assert not client.covers(value)
    assert len(read_message(task(lifetime=1), client.report(value)).reports) == 1
    assert client.reports == 1
    with pytest.raises(ClientRefused, match="lifetime cap"):
        client.report(value)


@pytest.mark.parametrize("value", ["much too long a text", "", "a\0b", "\ud800" * 9, b"bytes"])
def test_a_text_that_does_not_fit_leaves_a_message_too(value):
    asked = Task.heavy_hitters("words", epsilon=2, length=4)
    client = Client(asked)
    assert not client.covers(value)
    assert len(read_message(asked, client.report(value)).reports) == 1


def test_senders_cannot_be_linked_between_tasks_or_epochs_and_messages_never_repeat():
    now = [0.0]
    rules = {"epoch_seconds": 10}
    client = Client(task(**rules), clock=lambda: now[0])
    first, second = (read_message(task(**rules), client.report("😀")) for _ in range(2))
    assert first.sender == second.sender
    assert first.id != second.id
    now[0] = 10.0
    assert read_message(task(**rules), client.report("😀")).sender != first.sender
    assert Client(task(**rules), clock=lambda: 0.0).report("😀")[33:49] != first.sender


def test_a_memoizing_device_repeats_itself_whatever_its_value_so_that_averaging_learns_nothing_new():
    client = Client(task(memoize=True))
    reports = {client.report(EMOJI[i % 3])[53:-4] for i in range(50)}
    assert len(reports) == 1
    assert client.spent == 2
    assert len({Client(task(memoize=True)).report("😀")[53:-4] for _ in range(200)}) == 3


@pytest.mark.parametrize("epsilon", ["1/1000000", "1/2", "1", "4", "30"])
def test_odds_never_exceed_e_to_the_epsilon(epsilon):
    from decimal import Decimal, localcontext

    exact = Fraction(epsilon)
    with localcontext() as context:
        context.prec = 120
        power = Fraction((Decimal(exact.numerator) / Decimal(exact.denominator)).exp())
    assert 1 - Fraction(1, 10**44) < odds_below(exact) / power < 1


def test_a_collector_cannot_make_a_device_use_other_probabilities():
    """Thresholds are the device's own: a specification that names one is not a task."""
    spec = json.loads(task().to_json())
    spec["parameters"]["keep"] = 2**64
    with pytest.raises(ClientRefused) as refused:
        Client(spec).report("😀")
    assert refused.value.code == "bad-task"


@pytest.mark.parametrize("protocol", ["grr", "subset", "pgr", "sue", "oue", "hadamard", "rappor"])
@pytest.mark.parametrize("more", [-1, 1])
def test_a_collector_cannot_single_out_a_value_by_a_size_that_does_not_fit(protocol, more):
    """With six values and a size of five, a report of the sixth would come from one value only."""
    spec = json.loads(Task.frequency("n", domain=range(6), epsilon=2.0, protocol=protocol).to_json())
    Client(spec)
    spec["parameters"]["size"] += more
    with pytest.raises(ClientRefused) as refused:
        Client(spec)
    assert refused.value.code == "bad-task"


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"domain": {"open": True}},
        {"domain": {"values": EMOJI, "open": True}},
        {"domain": {}},
        {"epsilon": "1000"},
        {"protocol": "pgr", "parameters": {"size": 3, "order": 10007, "dimension": 2}},
        {"domain": {"lower": "0", "upper": "1"}},
        {"domain": None},
        {"more": 1},
        {"caps": {"per_epoch": 1, "lifetime": 10**400}},
        {"caps": {"per_epoch": 1, "lifetime": "many"}},
        {"caps": {"per_epoch": 0, "lifetime": 1}},
        {"caps": {"lifetime": 1}},
        {"epoch_seconds": -1},
        {"memoize": "no"},
        {"epsilon": "1e999999999"},
        {"epsilon": 2},
        {"seed": 2**64},
        {"protocol": "olh", "parameters": {"buckets": 4, "size": 2}},
        {"protocol": "olh", "parameters": {"buckets": 4, "size": 3, "first": "0.001"}},
        {
            "protocol": "hybrid",
            "parameters": {"steps": 2, "width": 1, "share": -1},
            "domain": {"lower": "0", "upper": "1"},
        },
        {"protocol": "duchi", "parameters": {"steps": 2}, "domain": {"lower": "1", "upper": "1"}},
        {"domain": {"length": 4}},
        {"domain": {"values": ["😀"]}, "parameters": {"size": 1}},
        {"protocol": "subset", "parameters": {"size": 3, "width": 3}},
        {"protocol": "subset", "parameters": {"size": 3, "width": 0}},
        {"protocol": "olh", "parameters": {"buckets": 1, "size": 3}},
        {"protocol": "duchi", "parameters": {"steps": 10}},
        {"protocol": "cms", "parameters": {"rows": 4, "columns": 1, "size": 3}},
        {"protocol": "grr", "parameters": {"size": True}},
        {"protocol": "grr", "parameters": {"size": 3.0}},
        {"epsilon": "0"},
        {"epsilon": "-1"},
        {"epsilon": "nan"},
        {"protocol": "plain"},
        {"parameters": {}},
        {"protocol": "coin", "parameters": {"size": 2}, "epsilon": "1"},
        {"protocol": "pgr", "parameters": {"size": 3, "order": 6, "dimension": 2}},
        {"protocol": "rappor", "parameters": {"size": 3, "filter_bits": 8, "hashes": 2, "cohorts": 2, "first": "3"}},
    ],
)
def test_a_device_refuses_a_task_that_is_not_sound(change):
    spec = {**json.loads(task().to_json()), **change}
    with pytest.raises(ClientRefused) as refused:
        Client(spec)
    assert refused.value.code == "bad-task"
    with pytest.raises(BadTask):
        Task(spec)


@pytest.mark.parametrize(("digits", "taken"), [("1.09861228866810969139", False), ("1.09861228866810969140", True)])
def test_coin_flips_cost_ln_3_and_not_a_digit_less(digits, taken):
    spec = {**json.loads(task().to_json()), "protocol": "coin", "parameters": {"size": 2}, "epsilon": digits}
    spec["domain"] = {"values": ["yes", "no"]}
    if taken:
        assert Client(spec).randomizer.keep == 3 * 2**62
        return
    with pytest.raises(ClientRefused, match="ln 3"):
        Client(spec)
    with pytest.raises(BadTask, match="ln 3"):
        Task.frequency("coin", domain=["yes", "no"], protocol="coin", epsilon=Fraction(digits))


def test_numbers_are_clamped_and_put_on_the_grid_exactly():
    code = Task.mean("age", lower=0, upper=100, epsilon=1, steps=10).code_of
    assert [code(value) for value in (-5, 0, 4.99, 5, 95, 94.9, 100, 1e300, Fraction(1, 3))] == [
        0,
        0,
        0,
        1,
        10,
        9,
        10,
        10,
        0,
    ]
    beyond = (math.inf, -math.inf, 10**400, -(10**400), Decimal("1e999999"))
    assert [code(value) for value in beyond] == [10, 0, 10, 0, 10]
    assert [code(value) for value in (np.float32(50), np.int64(50), Decimal(50))] == [5, 5, 5]
    for value in (math.nan, Decimal("nan"), Decimal("snan"), "5", None, True, 1j, [5]):
        with pytest.raises(BadData):
            code(value)


def test_the_device_imports_only_the_standard_library():
    import ast

    tree = ast.parse(Path(device.__file__).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)

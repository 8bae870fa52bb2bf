"""The collector: what cannot be counted is refused by name, counted as refused, and changes nothing else."""

import subprocess
import sys
import zlib

import numpy as np
import pytest

from discreet import errors
from discreet.local import Client, Collector, Task, collect, simulate
from discreet.local.device.client import build_message, pack
from discreet.local.protocols.draws import Draws
from discreet.local.tasks.messages import NO_SENDER, read_message, write_batch
from tests.support.sources import SeededBits

EMOJI = ["😀", "😂", "🥰"]


def task(**rules):
    return Task.frequency("emoji", domain=EMOJI, epsilon=4.0, **rules)


def sealed(body):
    return body + zlib.crc32(body).to_bytes(4, "big")


def altered(message, at, value):
    return sealed(message[:at] + bytes([value]) + message[at + 1 : -4])


def state(collector):
    return collector.reports, collector.tally.tolist(), dict(collector._senders), set(collector._messages)


@pytest.fixture
def collector():
    found = Collector(task())
    found.add(Client(task()).report("😀"))
    return found


WRONG = {
    "wrong-task": lambda message: altered(message, 5, message[5] ^ 1),
    "wrong-version": lambda message: altered(message, 0, 2),
    "truncated": lambda message: message[:-1],
    "corrupt": lambda message: message[:-1] + bytes([message[-1] ^ 1]),
    "out-of-domain": lambda message: altered(message, 53, 0b11000000),
}


@pytest.mark.parametrize("code", WRONG)
def test_a_message_that_is_wrong_is_refused_by_name_counted_and_changes_nothing(collector, code):
    before = state(collector)
    with pytest.raises(errors.ReportRefused) as refused:
        collector.add(WRONG[code](Client(task()).report("😂")))
    assert refused.value.code == code
    assert state(collector) == before
    assert collector.refused == {code: 1}


def test_a_replayed_message_is_refused(collector):
    message = Client(task()).report("😂")
    collector.add(message)
    before = state(collector)
    with pytest.raises(errors.ReplayedReport):
        collector.add(message)
    assert state(collector) == before
    assert collector.refused == {"replayed": 1}


def test_the_report_beyond_the_cap_is_refused_by_the_device_and_by_the_collector():
    client, collector = Client(task(lifetime=5)), Collector(task(lifetime=5))
    for _ in range(5):
        collector.add(client.report("😂"))
    with pytest.raises(Exception, match="lifetime cap") as refused:
        client.report("😂")
    assert refused.value.code == "cap-reached"
    digest, sender = client.digest, next(iter(collector._senders))
    forged = build_message(digest, sender, pack(1, 2), count=1, message_id=b"a message no cap")
    before = state(collector)
    with pytest.raises(errors.TooManyReports):
        collector.add(forged)
    assert state(collector) == before
    assert collector.refused == {"too-many-reports": 1}


def test_a_message_without_a_sender_is_taken_from_a_shuffler_only():
    collector, batch = Collector(task()), write_batch(task(), np.array([0, 1, 1], np.uint64))
    with pytest.raises(errors.OutOfDomain):
        collector.add(batch)
    assert collector.add(batch, from_shuffler=True) == 3
    assert collector.reports == 3


@pytest.mark.parametrize("length", [0, 1, 20, 56])
def test_any_beginning_of_a_message_is_refused(length):
    collector = Collector(task())
    with pytest.raises(errors.TruncatedReport):
        collector.add(Client(task()).report("😀")[:length])
    assert collector.reports == 0


def test_padding_that_is_not_zero_is_refused():
    message = Client(task()).report("😀")
    with pytest.raises(errors.OutOfDomain):
        Collector(task()).add(altered(message, 53, message[53] | 1))


@pytest.mark.parametrize(
    "protocol", ["grr", "subset", "pgr", "oue", "hadamard", "olh", "cms", "hcms", "rappor", "loloha"]
)
def test_a_batch_survives_its_message_bit_for_bit(protocol):
    asked = Task.frequency("numbers", domain=range(20), epsilon=1.0, protocol=protocol)
    from discreet.local.protocols.draws import Draws
    from discreet.local.tasks.simulate import codes_of

    codes = codes_of(asked, np.arange(500) % 20)
    reports = asked.protocol.encode(codes, Draws(SeededBits(1)), slots=np.arange(500))
    assert np.array_equal(read_message(asked, write_batch(asked, reports)).reports, reports)


def test_shards_merge_to_the_same_estimate_and_share_no_message():
    one, two, whole = Collector(task()), Collector(task()), Collector(task())
    for i in range(60):
        message = Client(task()).report(EMOJI[i % 3])
        whole.add(message)
        (one if i % 2 else two).add(message)
    twin = Collector(task())
    twin.add(message)
    one.merge(two)
    assert one.estimate().raw == whole.estimate().raw
    with pytest.raises(errors.ReplayedReport):
        one.merge(twin)
    assert one.reports == 60


def test_collections_of_two_tasks_do_not_merge():
    with pytest.raises(errors.WrongTask):
        Collector(task()).merge(Collector(task(min_batch=2)))


def test_nothing_is_estimated_from_fewer_reports_than_promised():
    collector = Collector(task(min_batch=3))
    for _ in range(2):
        collector.add(Client(task(min_batch=3)).report("😀"))
    with pytest.raises(errors.TooFewReports):
        collector.estimate()
    collector.add(Client(task(min_batch=3)).report("😀"))
    assert collector.estimate().reports == 3


def test_a_task_that_assigns_numbers_takes_those_on_its_tickets_for_a_life_and_no_other():
    asked = Task.frequency("sites", domain=range(50), epsilon=2.0, protocol="olh", assigned=True, lifetime=2)
    collector = Collector(asked)
    ticket = collector.assign()
    client = Client(asked, slot=ticket)
    for _ in range(2):
        collector.add(client.report(7))
    with pytest.raises(errors.TooManyReports):
        collector.add(Client(asked, slot=ticket).report(7))
    for bad in (Collector(asked).assign(), "00000001" + ticket[8:]):
        with pytest.raises(errors.OutOfDomain):
            collector.add(Client(asked, slot=bad).report(7))
    assert collector.reports == 2


def test_devices_and_the_simulation_agree_on_a_crowd():
    """The same randomizer: both estimates are within six standard errors of the truth."""
    asked = task(lifetime=3000)
    client, collector = Client(asked, budget=10_000), Collector(asked)
    values = [EMOJI[i % 5 % 3] for i in range(2000)]
    for value in values:
        collector.add(client.report(value))
    simulated = simulate(asked, values, bits=SeededBits(3))
    for found in (collector.estimate(), simulated):
        for value, count in found.raw.items():
            assert abs(count - values.count(value)) < 6 * found.standard_error[value]


def test_an_open_domain_is_estimated_for_the_candidates_that_are_given():
    asked = Task.frequency("words", epsilon=4.0)
    values = ["yes"] * 3000 + ["no"] * 1000
    found = collect(asked, values, bits=SeededBits(1)).estimate(candidates=["yes", "no", "perhaps"])
    assert abs(found.raw["yes"] - 3000) < 6 * found.standard_error["yes"]
    assert abs(found.raw["perhaps"]) < 6 * found.standard_error["perhaps"]
    with pytest.raises(errors.BadInput):
        collect(asked, values, bits=SeededBits(1)).estimate()


def test_the_response_rate_is_reports_per_person_invited():
    collector = Collector(task(), invited=4)
    collector.add(Client(task()).report("😀"))
    assert collector.estimate().response_rate == 0.25
    assert NO_SENDER not in collector._senders


_EIGHT_MEGABYTES = """
import resource, sys, zlib
from discreet.errors import ReportRefused
from discreet.local import Task
from discreet.local.device.client import HEADER
from discreet.local.tasks.messages import LONGEST_MESSAGE, read_message

task = Task.frequency("coin", domain=["a", "b"], epsilon=2.0, protocol="warner", lifetime=2**31)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)
for size, sender in [(8 * 10**6, b"s" * 16), (LONGEST_MESSAGE, b"s" * 16)]:
    payload = size - HEADER - 4
    body = bytes([1]) + task.digest + bytes(16) + sender + (8 * payload).to_bytes(4, "big") + bytes(payload)
    try:
        print(len(read_message(task, body + zlib.crc32(body).to_bytes(4, "big")).reports))
    except ReportRefused as refused:
        print(refused.code)
"""


def test_a_message_of_8_megabytes_is_refused_and_the_longest_is_read_in_little_memory():
    said = subprocess.run([sys.executable, "-c", _EIGHT_MEGABYTES], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["too-long", str(8 * (2**20 - 57))]


def test_more_reports_than_a_device_may_make_are_refused_before_they_are_unpacked(monkeypatch):
    monkeypatch.setattr("discreet.local.tasks.messages.read_payload", None)
    many = build_message(task().digest, b"s" * 16, bytes(251), count=1001, message_id=b"m" * 16)
    with pytest.raises(errors.TooManyReports):
        read_message(task(), many)


@pytest.mark.parametrize(("bits", "protocol"), [(2, "grr"), (70, "oue")])
def test_a_long_batch_is_the_same_after_it_was_read_in_parts(bits, protocol):
    asked = Task.frequency("x", domain=range(4 if bits == 2 else bits), epsilon=1.0, protocol=protocol)
    reports = simulate_reports(asked, 40_000)
    assert np.array_equal(read_message(asked, write_batch(asked, reports)).reports, reports)


def simulate_reports(asked, count):
    codes = np.arange(count) % len(asked.values)
    return asked.protocol.encode(codes, Draws(SeededBits(7)), slots=np.arange(count))


@pytest.mark.parametrize("bits", [3, 8, 13])
def test_bits_behind_the_last_report_are_refused(bits):
    asked = Task.frequency("x", domain=range(2**bits), epsilon=1.0, protocol="grr")
    for count in (1, 5):
        body = write_batch(asked, np.zeros(count, np.uint64))[:-4]
        spare = -count * bits % 8
        if spare:
            with pytest.raises(errors.OutOfDomain):
                read_message(asked, sealed(body[:-1] + bytes([body[-1] | 1 << spare - 1])))

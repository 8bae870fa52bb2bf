"""The shuffler: a crowd leaves whole, mixed and nameless; what was acknowledged is neither lost nor doubled."""

import os
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from discreet import errors
from discreet.local import Client, Collector, Task
from discreet.local.collector.intake import Quota
from discreet.local.collector.report_store import ReportStore
from discreet.local.device.client import Draw, build_message
from discreet.local.shuffling import shuffler as shuffler_module
from discreet.local.shuffling.amplification import epsilon_after_shuffling
from discreet.local.shuffling.shuffler import ShufflerStore, permutation
from discreet.local.tasks.messages import HEADER, NO_SENDER, read_message
from discreet.store import open_store
from tests.local.test_collector import EMOJI, WRONG

TASK = Task.frequency("emoji", domain=EMOJI, epsilon=4.0)
WIDE = Task.frequency("wide", domain=range(20_000), epsilon=1.0, protocol="oue")


class SeededDraw(Draw):
    def __init__(self, seed):
        self._words = np.random.default_rng(seed)

    def word(self):
        return int(self._words.integers(0, 2**64, dtype=np.uint64))


@pytest.fixture
def shuffler(tmp_path):
    shuffler_store = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [TASK], batch=10)
    yield shuffler_store
    shuffler_store.close()


def send(shuffler_store, messages, task=TASK):
    """Each from a place of its own."""
    done = [shuffler_store.receive(task, [message], address=os.urandom(8).hex()) for message in messages]
    return sum(received.reports for received in done)


def reports(count, task=TASK):
    return [Client(task).report(task.values[i % 3]) for i in range(count)]


def batches(shuffler_store):
    while waiting := shuffler_store.next_batches():
        for batch in waiting:
            yield batch
            shuffler_store.mark_delivered(batch)


def test_nothing_leaves_before_the_crowd_is_together(shuffler):
    assert send(shuffler, reports(9)) == 9
    assert shuffler.mix() == []
    assert shuffler.next_batches() == []
    send(shuffler, reports(3))
    assert shuffler.mix() == [(TASK, 12, 12)]
    assert shuffler.mix() == []


def test_what_leaves_has_the_same_reports_and_neither_senders_nor_numbers(shuffler):
    messages = reports(300)
    send(shuffler, messages)
    shuffler.mix()
    (batch,) = batches(shuffler)
    read = read_message(TASK, batch.message)
    sent = [int(read_message(TASK, message).reports[0]) for message in messages]
    assert Counter(read.reports.tolist()) == Counter(sent)
    assert batch.crowd == 300
    assert read.sender == NO_SENDER
    for message in messages:
        assert message[17:33] not in batch.message, "a number came through"
        assert message[33:49] not in batch.message, "a sender came through"


def test_one_sender_has_one_report_in_a_crowd_and_the_others_wait(tmp_path):
    shuffler = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [TASK], batch=3)
    often = Client(TASK)
    send(shuffler, [often.report("😀") for _ in range(4)])
    assert shuffler.mix() == [], "four reports of one device are no crowd"
    for _ in range(4):
        send(shuffler, reports(2))
        assert shuffler.mix() == [(TASK, 3, 3)]
    shuffler.close()


def test_a_crowd_that_does_not_fit_one_message_leaves_in_parts_that_say_how_large_it_is(tmp_path):
    shuffler = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [WIDE], batch=50)
    send(shuffler, reports(60, WIDE), WIDE)
    shuffler.mix()
    parts = list(batches(shuffler))
    assert len(parts) == 3
    assert {part.crowd for part in parts} == {60}
    assert all(len(part.message) <= 64_000 for part in parts)
    collector = Collector(WIDE)
    assert sum(collector.add(part.message, from_shuffler=True) for part in parts) == 60
    shuffler.close()


def test_every_order_is_as_likely_as_any_other():
    draw, trials = SeededDraw(1), 24_000
    seen = Counter(tuple(permutation(4, draw)) for _ in range(trials))
    expected = trials / 24
    statistic = sum((seen[order] - expected) ** 2 / expected for order in permutations(range(4)))
    assert statistic < chi2.isf(1e-9, 23)


def test_mixing_uses_the_order_that_was_drawn(tmp_path):
    sent = Task.frequency("numbers", domain=range(500), epsilon=20.0, protocol="grr")
    orders = []
    for seed in (1, 2):
        path = tmp_path / f"{seed}.sqlite"
        shuffler = ShufflerStore(open_store(path), [sent], batch=2, draw=SeededDraw(seed))
        send(shuffler, [Client(sent).report(value) for value in range(200)], sent)
        shuffler.mix()
        (batch,) = batches(shuffler)
        orders.append(read_message(sent, batch.message).reports.tolist())
        shuffler.close()
    assert orders[0] != orders[1]
    assert all(order != sorted(order) for order in orders)


@pytest.mark.parametrize("code", WRONG)
def test_what_a_collector_would_refuse_is_refused_here(shuffler, code):
    done = shuffler.receive(TASK, [WRONG[code](reports(1)[0])], address="a")
    assert [refusal.code for refusal in done.refusals] == [code]


def test_a_message_counts_once_and_names_one_sender_and_one_report(shuffler):
    message = reports(1)[0]
    many = build_message(TASK.digest, b"s" * 16, bytes(1), count=2, message_id=b"m" * 16)
    nobody = build_message(TASK.digest, NO_SENDER, bytes(1), count=1, message_id=b"m" * 16)
    done = shuffler.receive(TASK, [message, message, many, nobody], address="a")
    assert [refusal and refusal.code for refusal in done.refusals] == [
        None,
        "replayed",
        "out-of-domain",
        "out-of-domain",
    ]
    send(shuffler, reports(9))
    shuffler.mix()
    list(batches(shuffler))
    assert shuffler.receive(TASK, [message], address="a").refusals[0].code == "replayed", "it has left already"


def test_a_shuffler_that_was_restored_from_a_backup_loses_no_later_batch(tmp_path):
    collector = ReportStore.open(str(tmp_path / "reports.sqlite"))
    collector.publish(TASK)
    path = tmp_path / "shuffler.sqlite"
    shuffler = ShufflerStore(open_store(path), [TASK], batch=5)
    shuffler.close()
    backup = path.read_bytes()
    for counted in (5, 10):
        path.write_bytes(backup)
        shuffler = ShufflerStore(open_store(path), [TASK], batch=5)
        send(shuffler, reports(5))
        shuffler.mix()
        for batch in batches(shuffler):
            collector.receive_batch(TASK, batch.message, crowd=batch.crowd)
        shuffler.close()
        assert collector.collector(TASK).reports == counted
    collector.close()


def test_a_batch_that_is_sent_again_counts_once(shuffler, tmp_path):
    collector = ReportStore.open(str(tmp_path / "reports.sqlite"))
    collector.publish(TASK)
    counted = 0
    for _ in range(3):
        send(shuffler, reports(10))
        shuffler.mix()
        (batch,) = shuffler.next_batches()
        counted += collector.receive_batch(TASK, batch.message, crowd=batch.crowd).reports
        again = collector.receive_batch(TASK, batch.message, crowd=batch.crowd)  # killed before it was noted
        assert again.refusals[0].code == "replayed"
        shuffler.mark_delivered(batch)
    assert counted == collector.collector(TASK).reports == 30
    assert collector.shuffled(TASK) == (30, 10)
    collector.close()


LINKABLE = {
    "memoized": {"protocol": "grr", "memoize": True},
    "permanent answer": {"protocol": "rappor"},
    "permanent bucket": {"protocol": "loloha"},
    "own slot": {"protocol": "olh"},
    "assigned slot": {"protocol": "olh", "assigned": True},
}


@pytest.mark.parametrize("rules", LINKABLE.values(), ids=LINKABLE)
def test_reports_that_can_be_linked_are_neither_shuffled_nor_said_to_be_hidden(tmp_path, rules):
    asked = Task.frequency("sites", domain=range(50), epsilon=2.0, **rules)
    with pytest.raises(errors.BadTask):
        ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [asked], batch=10)
    collector = ReportStore.open(str(tmp_path / "reports.sqlite"))
    collector.publish(asked)
    with pytest.raises(errors.BadTask):
        collector.receive_batch(asked, b"", crowd=1000)
    collector.close()
    assert epsilon_after_shuffling(asked, 10**5, 1e-6) == 2


def test_texts_by_prefixes_carry_a_slot_and_texts_by_pieces_do_not():
    assert Task.heavy_hitters("words", epsilon=2.0, protocol="pem").is_linkable
    assert not Task.heavy_hitters("words", epsilon=2.0, protocol="sfp").is_linkable


@pytest.mark.parametrize("count", [30, 400])
def test_once_a_crowd_has_left_no_file_tells_whose_report_is_whose(tmp_path, count):
    sent = Task.frequency("numbers", domain=range(2**24), epsilon=30.0, protocol="grr")
    shuffler = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [sent], batch=20, per_address=count)
    # Values without zero bytes: free space behind a kept identifier is zeros, which would look like a report of 0.
    messages = [Client(sent, budget=100).report(7_654_321 + i) for i in range(count)]
    for start in range(0, count, 100):
        shuffler.receive(sent, messages[start : start + 100], address="a")

    def told():
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        return sum(message[33:49] + message[53:-4] in kept for message in messages)

    assert told() == count
    shuffler.mix()
    assert told() == 0
    late = Client(sent, budget=100).report(1)
    shuffler.receive(sent, [late], address="b")
    assert shuffler.next_batches()
    shuffler.close()


def test_one_address_has_its_share_of_a_crowd_and_is_one_of_those_that_are_stated(tmp_path):
    shuffler = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [TASK], batch=40)
    shuffler.receive(TASK, reports(500), address="a")
    send(shuffler, reports(37))
    assert shuffler.mix() == [], "one address made up the rest"
    send(shuffler, reports(1))
    assert shuffler.mix() == [(TASK, 40, 39)]
    assert shuffler.next_batches()[0].crowd == 39
    shuffler.close()


def test_a_batch_is_a_head_and_reports_and_nothing_else(shuffler):
    send(shuffler, reports(16))
    shuffler.mix()
    (batch,) = batches(shuffler)
    assert len(batch.message) == HEADER + 4 + 4


DAILY = Task.frequency("emoji", domain=EMOJI, epsilon=4.0, epoch_seconds=86400)


@pytest.fixture
def now():
    return [86400.0 * 20_000]


def daily_shuffler(tmp_path, now, **options):
    return ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [DAILY], clock=lambda: now[0], **options)


def waiting_in(shuffler_store):
    with shuffler_store._store.transaction() as t:
        kept = t.run("SELECT waiting, bytes FROM shuffler_counts")
        assert kept == t.run("SELECT COUNT(*), SUM(LENGTH(payload)) FROM shuffler_waiting"), "the count is true"
    return kept[0][0]


def test_what_waits_has_an_end_for_an_address_and_for_a_task(tmp_path, now, monkeypatch):
    monkeypatch.setattr(shuffler_module, "_LEAST_AHEAD", 8)
    monkeypatch.setattr(shuffler_module, "_CROWDS_AHEAD", 2)
    shuffler_store = daily_shuffler(tmp_path, now, batch=100, quota=Quota(bytes_in_all=16))
    for _ in range(5):
        done = shuffler_store.receive(DAILY, reports(6, DAILY), address="a")
        now[0] += 86400
    assert {refusal.code for refusal in done.refusals} == {"over-quota"}
    assert waiting_in(shuffler_store) == 10
    assert send(shuffler_store, reports(9, DAILY), DAILY) == 6, "others go on, to the end of the quota"
    assert waiting_in(shuffler_store) == 16
    shuffler_store.close()


def test_a_message_that_waits_is_known_however_long_it_waits(tmp_path, now):
    shuffler_store = daily_shuffler(tmp_path, now, batch=100)
    message, *others = reports(3, DAILY)
    for number, another in enumerate([None, *others]):
        done = shuffler_store.receive(DAILY, [message, *([another] if another else [])], address="a")
        assert [refusal and refusal.code for refusal in done.refusals] == ([None] if not number else ["replayed", None])
        now[0] += 10 * 86400
    assert waiting_in(shuffler_store) == 3
    shuffler_store.close()


def test_a_neighbour_cannot_keep_a_device_out_of_all_crowds_by_its_choice_of_numbers(tmp_path):
    shuffler_store = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [TASK], batch=10, per_address=1)
    victim = reports(1)[0]
    shuffler_store.receive(TASK, [victim], address="shared")
    for crowd in range(64):
        first = build_message(TASK.digest, os.urandom(16), bytes(1), count=1, message_id=crowd.to_bytes(16, "big"))
        shuffler_store.receive(TASK, [first], address="shared")
        send(shuffler_store, reports(10))
        assert len(shuffler_store.mix()) == 1
        with shuffler_store._store.transaction() as t:
            if not t.run("SELECT 1 FROM shuffler_waiting WHERE message = ?", victim[17:33]):
                break
    else:
        raise AssertionError("it waits for ever")  # by chance: 2 ** -64
    shuffler_store.close()

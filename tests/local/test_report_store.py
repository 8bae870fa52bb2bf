"""Books of collections: a message counts once, on disk before it is acknowledged, whoever asks and however often."""

import threading

import numpy as np
import pytest

from discreet import errors
from discreet.local import Client, Collector, Task
from discreet.local.collector import tallies
from discreet.local.collector.intake import Quota
from discreet.local.collector.report_store import ReportStore
from discreet.local.tasks.messages import write_batch
from discreet.store import open_store
from tests.local.tasks import rows_in, task
from tests.local.test_collector import EMOJI, WRONG


def test_a_published_task_is_found_by_name_and_by_id_and_another_of_its_name_is_refused(report_store):
    report_store.publish(task())
    assert report_store.task("emoji").digest == report_store.task(task().id).digest == task().digest
    assert [record.task.name for record in report_store.records()[0]] == ["emoji"]
    with pytest.raises(errors.BadTask):
        report_store.publish(task(min_batch=7))
    with pytest.raises(errors.UnknownTask):
        report_store.task("nobody")


def test_books_and_a_collector_in_memory_agree(report_store):
    collector = Collector(task())
    messages = [Client(task()).report(EMOJI[i % 3]) for i in range(30)]
    for message in messages:
        collector.add(message)
    done = report_store.receive(task(), messages)
    assert done.reports == 30
    assert done.refusals == [None] * 30
    assert report_store.collector(task()).estimate().raw == collector.estimate().raw


@pytest.mark.parametrize("code", [*WRONG, "replayed"])
def test_what_is_wrong_is_refused_by_name_and_counted(report_store, code):
    good = Client(task()).report("😀")
    report_store.receive(task(), [good])
    bad = good if code == "replayed" else WRONG[code](Client(task()).report("😂"))
    fine = Client(task()).report("🥰")
    done = report_store.receive(task(), [bad, fine])
    assert [refusal and refusal.code for refusal in done.refusals] == [code, None]
    found = report_store.collector(task())
    assert found.reports == 2
    assert found.refused == {code: 1}


def test_the_same_message_twice_in_one_batch_counts_once(report_store):
    message = Client(task()).report("😀")
    done = report_store.receive(task(), [message, message])
    assert done.reports == 1
    assert done.refusals[1].code == "replayed"


def test_a_sender_beyond_its_cap_is_refused(where):
    report_store = ReportStore.open(where)
    capped = task(per_epoch=2, lifetime=5)
    report_store.publish(capped)
    cheat = Client(task(per_epoch=2, lifetime=5))
    cheat.spec = {**cheat.spec, "caps": {"per_epoch": 9, "lifetime": 9}}
    done = report_store.receive(capped, [cheat.report("😀") for _ in range(4)])
    assert [refusal and refusal.code for refusal in done.refusals] == [
        None,
        None,
        "too-many-reports",
        "too-many-reports",
    ]
    report_store.close()


def test_folding_forgets_payloads_and_changes_no_estimate(where):
    report_store = ReportStore(open_store(where), fold_after=10)
    other = ReportStore(open_store(where), fold_after=10**9)
    report_store.publish(task())
    messages = [Client(task()).report(EMOJI[i % 3]) for i in range(50)]
    for start in range(0, 50, 7):
        report_store.receive(task(), messages[start : start + 7])
        assert other.collector(task()).reports <= 50
        report_store.collector(task())
    assert report_store.collector(task()).tally.tolist() == other.collector(task()).tally.tolist()
    with open_store(where).transaction() as t:
        left = t.run("SELECT COUNT(*) FROM collection_waiting")[0][0]
    assert left < 10
    assert report_store.receive(task(), messages).reports == 0, "a folded message was counted again"
    fresh = ReportStore.open(where)
    assert fresh.collector(task()).tally.tolist() == report_store.collector(task()).tally.tolist()
    for one in (report_store, other, fresh):
        one.close()


def test_many_threads_and_two_processes_worth_of_books_lose_and_double_nothing(where):
    shards = [ReportStore.open(where) for _ in range(2)]
    shards[0].publish(task())
    messages = [Client(task()).report(EMOJI[i % 3]) for i in range(120)]
    counted = []

    def send(number):
        twice = messages[number::4] + messages[(number + 1) % 4 :: 4]  # every message comes by two ways
        counted.extend(shards[number % 2].receive(task(), [message]).reports for message in twice)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counted) == 120
    assert {shard.collector(task()).reports for shard in shards} == {120}
    for shard in shards:
        shard.close()


def test_batches_of_a_shuffler_count_once_in_any_order_and_say_the_smallest_crowd(where):
    report_store = ReportStore(open_store(where), quota=Quota(numbers=4))
    report_store.publish(task())
    batches = [write_batch(task(), np.zeros(reports, np.uint64)) for reports in (30, 5, 6, 40, 7)]
    done = [
        report_store.receive_batch(task(), batches[number], crowd=crowd)
        for number, crowd in [(2, 20), (0, 0), (1, 25), (2, 20), (0, 0), (3, 0)]
    ]
    assert [received.reports for received in done] == [6, 30, 5, 0, 0, 40]
    assert report_store.shuffled(task()) == (81, 20)
    assert report_store.collector(task()).reports == 81
    assert report_store.receive_batch(task(), batches[4]).refusals[0].code == "over-quota", (
        "no number is kept without bound"
    )
    report_store.close()


def test_a_fold_of_reports_that_are_appended_writes_what_is_new(where):
    asked = Task.frequency("sites", domain=range(50), epsilon=2.0, protocol="olh")
    report_store = ReportStore(open_store(where), fold_after=10)
    others = [ReportStore(open_store(where), fold_after=10) for _ in range(2)]
    report_store.publish(asked)
    expected = Collector(asked)
    for number in range(47):
        message = Client(asked).report(number)
        expected.add(message)
        report_store.receive(asked, [message])
        if number % 7 == 3:  # it knows a part of what is folded later
            assert others[0].collector(asked).tally.tolist() == expected.tally.tolist()
    for known in (report_store, *others):
        assert known.collector(asked).tally.tolist() == expected.tally.tolist()
        assert known.collector(asked).reports == 47
    with open_store(where).transaction() as t:
        pieces = t.run("SELECT number, reports, LENGTH(tally) FROM collection_tallies ORDER BY number")
        (kept,) = t.run("SELECT tally_bytes FROM collection_counts WHERE task = ?", asked.id)
    assert [piece[:2] for piece in pieces] == [(10, 10), (20, 20), (30, 30), (40, 40)]
    assert kept[0] == sum(size for _, _, size in pieces)
    for opened in (report_store, *others):
        opened.close()


def test_folded_and_deleted_messages_leave_no_bytes_in_the_file(tmp_path):
    asked = Task.frequency("numbers", domain=range(2**16), epsilon=30.0, protocol="olh")
    report_store = ReportStore(open_store(tmp_path / "reports.sqlite"), fold_after=40)
    report_store.publish(asked)
    messages = [Client(asked, budget=100).report(i) for i in range(40)]

    def kept(part):
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        return sum(message[part] in files for message in messages)

    report_store.receive(asked, messages[:39])
    assert kept(slice(53, -4)) == kept(slice(33, 49)) == 39
    report_store.receive(asked, messages[39:])
    assert kept(slice(53, -4)) == 0, "a payload beside its sender's number"
    report_store.delete_task(asked.name)
    assert kept(slice(33, 49)) == 0
    report_store.close()


@pytest.mark.parametrize("protocol", ["grr", "olh"])
def test_messages_that_wait_are_added_up_piece_by_piece(where, protocol, monkeypatch):
    monkeypatch.setattr(tallies, "_BYTES_AT_ONCE", 64)
    monkeypatch.setattr(tallies, "_MESSAGES_AT_ONCE", 3)
    asked = Task.frequency("emoji", domain=EMOJI, epsilon=4.0, protocol=protocol)
    report_store, expected = ReportStore(open_store(where), fold_after=40), Collector(asked)
    report_store.publish(asked)
    for _ in range(2):
        messages = [Client(asked).report("😀") for _ in range(40)]
        for message in messages:
            expected.add(message)
        report_store.receive(asked, messages[:30])
        report_store.collector(asked)
        report_store.receive(asked, messages[30:])
        assert rows_in(where)["collection_waiting"] == 0
        fresh = ReportStore.open(where)
        for one in (report_store, fresh):
            assert sorted(one.collector(asked).tally.tolist()) == sorted(expected.tally.tolist())
            assert one.collector(asked).reports == expected.reports
        fresh.close()
    report_store.close()

"""Books of collections: a message counts once, on disk before it is acknowledged, whoever asks and however often."""

import dataclasses
import json
import os
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from discreet import errors
from discreet.catalog.reader import _QUOTAS
from discreet.local import Client, Collector, Task, folding, intake
from discreet.local.allowance import Allowance
from discreet.local.books import CollectorBooks
from discreet.local.intake import Quota
from discreet.local.records import insert_record
from discreet.local.rules import sound_task
from discreet.local.wire import write_batch
from discreet.store import open_store
from discreet.store.postgres import PostgresStore
from discreet.store.sqlite import SQLiteStore
from tests.local.earlier import keep_as_before
from tests.local.test_collector import EMOJI, WRONG

DAY = 86400


def task(**rules):
    return Task.frequency("emoji", domain=EMOJI, epsilon=4.0, **rules)


@pytest.fixture
def books(where):
    found = CollectorBooks.open(where)
    found.publish(task())
    yield found
    found.close()


def test_a_published_task_is_found_by_name_and_by_id_and_another_of_its_name_is_refused(books):
    books.publish(task())
    assert books.task("emoji").digest == books.task(task().id).digest == task().digest
    assert [record.task.name for record in books.records()[0]] == ["emoji"]
    with pytest.raises(errors.BadTask):
        books.publish(task(min_batch=7))
    with pytest.raises(errors.UnknownTask):
        books.task("nobody")


def test_books_and_a_collector_in_memory_agree(books):
    collector = Collector(task())
    messages = [Client(task()).report(EMOJI[i % 3]) for i in range(30)]
    for message in messages:
        collector.add(message)
    done = books.receive(task(), messages)
    assert done.reports == 30
    assert done.refusals == [None] * 30
    assert books.collector(task()).estimate().raw == collector.estimate().raw


@pytest.mark.parametrize("code", [*WRONG, "replayed"])
def test_what_is_wrong_is_refused_by_name_and_counted(books, code):
    good = Client(task()).report("😀")
    books.receive(task(), [good])
    bad = good if code == "replayed" else WRONG[code](Client(task()).report("😂"))
    fine = Client(task()).report("🥰")
    done = books.receive(task(), [bad, fine])
    assert [refusal and refusal.code for refusal in done.refusals] == [code, None]
    found = books.collector(task())
    assert found.reports == 2
    assert found.refused == {code: 1}


def test_the_same_message_twice_in_one_batch_counts_once(books):
    message = Client(task()).report("😀")
    done = books.receive(task(), [message, message])
    assert done.reports == 1
    assert done.refusals[1].code == "replayed"


def test_a_sender_beyond_its_cap_is_refused(where):
    books = CollectorBooks.open(where)
    capped = task(per_epoch=2, lifetime=5)
    books.publish(capped)
    cheat = Client(task(per_epoch=2, lifetime=5))
    cheat.spec = {**cheat.spec, "caps": {"per_epoch": 9, "lifetime": 9}}
    done = books.receive(capped, [cheat.report("😀") for _ in range(4)])
    assert [refusal and refusal.code for refusal in done.refusals] == [
        None,
        None,
        "too-many-reports",
        "too-many-reports",
    ]
    books.close()


def test_folding_forgets_payloads_and_changes_no_estimate(where):
    books = CollectorBooks(open_store(where), fold_after=10)
    other = CollectorBooks(open_store(where), fold_after=10**9)
    books.publish(task())
    messages = [Client(task()).report(EMOJI[i % 3]) for i in range(50)]
    for start in range(0, 50, 7):
        books.receive(task(), messages[start : start + 7])
        assert other.collector(task()).reports <= 50
        books.collector(task())
    assert books.collector(task()).tally.tolist() == other.collector(task()).tally.tolist()
    with open_store(where).transaction() as t:
        left = t.run("SELECT COUNT(*) FROM collection_waiting")[0][0]
    assert left < 10
    assert books.receive(task(), messages).reports == 0, "a folded message was counted again"
    fresh = CollectorBooks.open(where)
    assert fresh.collector(task()).tally.tolist() == books.collector(task()).tally.tolist()
    for one in (books, other, fresh):
        one.close()


NUMBERED = Task.frequency(
    "sites", domain=range(50), epsilon=2.0, protocol="olh", assigned=True, lifetime=3, per_epoch=1, epoch_seconds=DAY
)


def codes_of(done):
    return [refusal and refusal.code for refusal in done.refusals]


def test_a_number_serves_the_device_that_has_its_ticket_and_nobody_else(where):
    books = CollectorBooks.open(where)
    books.publish(NUMBERED)
    tickets = [books.assign(NUMBERED) for _ in range(3)]
    assert [int(ticket[:8], 16) for ticket in tickets] == [0, 1, 2]
    with_anothers_number = tickets[0][:8] + tickets[1][8:]
    made_up = [f"{number:08x}{os.urandom(16).hex()}" for number in range(3)]
    strangers = [Client(NUMBERED, slot=ticket).report(3) for ticket in (with_anothers_number, *made_up)]
    assert set(codes_of(books.receive(NUMBERED, strangers))) == {"out-of-domain"}
    honest = [Client(NUMBERED, slot=ticket).report(3) for ticket in tickets]
    assert codes_of(books.receive(NUMBERED, honest)) == [None] * 3
    books.close()


def test_a_device_with_a_number_is_counted_whenever_it_reports_and_when_it_sends_again_it_is_told_so(where, clock):
    books = CollectorBooks(open_store(where), clock=clock)
    books.publish(NUMBERED)
    ticket = books.assign(NUMBERED)
    client = Client(NUMBERED, slot=ticket, clock=clock)
    messages = []
    for _ in range(3):
        messages.append(client.report(3))
        assert codes_of(books.receive(NUMBERED, messages[-1:] * 2)) == [None, "replayed"]
        clock.now += DAY
    clock.now += 100 * DAY
    greedy = Client(NUMBERED, slot=ticket, clock=clock).report(3)
    assert codes_of(books.receive(NUMBERED, [greedy])) == ["too-many-reports"], "its life is over"
    books.close()


def test_one_address_has_so_many_numbers_a_day(where, clock):
    books = CollectorBooks(open_store(where), clock=clock, quota=Quota(slots_a_day_per_address=2, numbers=4))
    books.publish(NUMBERED)
    for place in "aab":
        books.assign(NUMBERED, place=place)
    with pytest.raises(errors.OverQuota, match="tomorrow"):
        books.assign(NUMBERED, place="a")
    clock.now += DAY
    books.assign(NUMBERED, place="a")
    with pytest.raises(errors.OverQuota, match="all its numbers"):
        books.assign(NUMBERED, place="a")
    books.close()


def test_what_is_old_is_forgotten_in_pieces_and_the_count_of_numbers_stays_true(where, clock, monkeypatch):
    for name in ("_OLD_NUMBERS", "_OLD_SENDERS"):
        monkeypatch.setattr(intake, name, getattr(intake, name).replace("1000", "4"))
    asked = task(epoch_seconds=DAY)
    books = CollectorBooks(open_store(where), clock=clock, quota=Quota(numbers=12))
    books.publish(asked)
    books.receive(asked, [Client(asked).report("😀") for _ in range(10)])
    clock.now += 5 * DAY
    for left in (7, 4, 3):
        assert books.receive(asked, [Client(asked).report("😀")]).reports == 1
        assert rows_in(where)["intake_numbers"] == rows_in(where)["intake_senders"] == left
    assert books.receive(asked, [Client(asked).report("😀") for _ in range(12)]).reports == 9
    books.close()


def test_many_threads_and_two_processes_worth_of_books_lose_and_double_nothing(where):
    shards = [CollectorBooks.open(where) for _ in range(2)]
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


class Clock:
    """Midnight of some day, until it is moved."""

    def __init__(self):
        self.now = 20_000 * DAY

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def rows_in(where):
    with open_store(where).transaction() as t:
        tables = ("intake_numbers", "intake_senders", "collection_waiting", "collection_tallies", "intake_counts")
        return {table: t.run(f"SELECT COUNT(*) FROM {table}")[0][0] for table in tables}


def test_what_is_kept_does_not_grow_with_what_was_counted(where, clock):
    books, asked = CollectorBooks(open_store(where), fold_after=20, clock=clock), task(epoch_seconds=DAY)
    books.publish(asked)
    kept = []
    for _ in range(5):
        for _ in range(3):
            books.receive(asked, [Client(asked).report("😀") for _ in range(20)])
        kept.append(rows_in(where))
        clock.now += DAY
    assert books.collector(asked).reports == 300
    assert kept[1] == kept[2] == kept[3] == kept[4]
    assert kept[4]["intake_numbers"] == kept[4]["intake_senders"] == 120, "today's and yesterday's"
    assert kept[4]["collection_waiting"] == 0
    books.close()


@pytest.mark.parametrize(("epoch_seconds", "days"), [(3600, 1), (10 * DAY, 10)])
def test_a_message_is_known_for_a_day_or_for_its_epoch_and_then_it_is_a_new_one(where, clock, epoch_seconds, days):
    asked = task(epoch_seconds=epoch_seconds)
    books = CollectorBooks(open_store(where), clock=clock)
    books.publish(asked)
    clock.now += DAY - 1
    message = Client(asked).report("😀")
    assert books.receive(asked, [message]).reports == 1
    clock.now += days * DAY
    assert books.receive(asked, [message]).refusals[0].code == "replayed"
    clock.now += DAY
    assert books.receive(asked, [message]).reports == 1
    books.close()


def test_where_the_epoch_never_ends_a_message_is_known_until_the_task_is_closed(where, clock):
    asked = task(per_epoch=1, lifetime=1)
    books = CollectorBooks(open_store(where), clock=clock, quota=Quota(numbers=3))
    books.publish(asked)
    message = Client(asked).report("😀")
    assert books.receive(asked, [message]).reports == 1
    for _ in range(3):
        clock.now += 400 * DAY
        assert books.receive(asked, [message]).refusals[0].code == "replayed"
    assert books.receive(asked, [Client(asked).report("😀") for _ in range(2)]).reports == 2
    clock.now += 400 * DAY
    (refusal,) = books.receive(asked, [Client(asked).report("😀")]).refusals
    assert (refusal.code, refusal.next_step) == ("over-quota", "Report to another task.")
    assert rows_in(where)["intake_numbers"] == 3
    books.close_task(asked.name)
    assert rows_in(where)["intake_numbers"] == rows_in(where)["intake_senders"] == 0
    assert books.collector(asked).reports == 3
    books.close()


def test_a_clock_that_ran_ahead_forgets_nothing_for_good_and_blocks_nothing(where, clock):
    asked = task(epoch_seconds=DAY)
    books = CollectorBooks(open_store(where), clock=clock, quota=Quota(messages_a_day=2))
    books.publish(asked)
    clock.now += 1000 * DAY
    message = Client(asked).report("😀")
    assert books.receive(asked, [message, Client(asked).report("😀")]).reports == 2
    clock.now -= 1000 * DAY
    done = books.receive(asked, [message, Client(asked).report("😀")])
    assert [refusal and refusal.code for refusal in done.refusals] == ["replayed", None]
    clock.now += 2 * DAY
    books.receive(asked, [Client(asked).report("😀")])
    assert rows_in(where)["intake_numbers"] == 1
    books.close()


@pytest.mark.parametrize("quota", [{"messages_a_day": 3}, {"bytes_a_day": 3}, {"numbers": 3}, {"bytes_in_all": 3}])
def test_beyond_its_quota_a_task_refuses_by_name_and_another_task_does_not(where, clock, quota):
    books = CollectorBooks(open_store(where), clock=clock, quota=Quota(**quota))
    other = Task.frequency("other", domain=EMOJI, epsilon=1.0)
    books.publish(task())
    books.publish(other)
    done = books.receive(task(), [Client(task()).report("😀") for _ in range(5)])
    assert [refusal and refusal.code for refusal in done.refusals] == [None] * 3 + ["over-quota"] * 2
    assert books.collector(task()).refused == {"over-quota": 2}
    assert books.receive(other, [Client(other).report("😀")]).reports == 1
    clock.now += 2 * DAY
    tomorrow = books.receive(task(), [Client(task()).report("😀")])
    assert tomorrow.reports == (0 if quota.keys() & {"bytes_in_all", "numbers"} else 1)
    books.close()


def test_one_address_sends_so_many_messages_a_day_and_others_go_on(where, clock):
    books = CollectorBooks(open_store(where), clock=clock, quota=Quota(messages_a_day_per_address=4))
    books.publish(task())

    def sent(place, count):
        done = books.receive(task(), [Client(task()).report("😀") for _ in range(count)], place=place)
        return [refusal and refusal.code for refusal in done.refusals]

    assert sent("a", 6) == [None] * 4 + ["over-quota"] * 2
    assert sent("b", 4) == [None] * 4
    clock.now += DAY - clock.now % DAY - 1
    assert sent("a", 1) == ["over-quota"], "it would have twice its share of the day"
    clock.now += 1
    assert sent("a", 5) == [None] * 4 + ["over-quota"]
    assert books.collector(task()).refused == {"over-quota": 4}
    books.close()


@pytest.mark.parametrize("quota", [{"messages_a_day": 100}, {"bytes_a_day": 6000}])
def test_few_addresses_do_not_take_what_a_task_takes_in_a_day(where, clock, quota):
    books = CollectorBooks(open_store(where), clock=clock, quota=Quota(**quota))
    books.publish(task())
    for place in "abcdefghij":
        books.receive(task(), [Client(task()).report("😀") for _ in range(20)], place=place)
    assert books.receive(task(), [Client(task()).report("😀")], place="honest").reports == 1
    assert books.collector(task()).reports <= 51
    books.close()


def test_places_are_forgotten_when_there_are_too_many(clock):
    allowance = Allowance(a_day=1, clock=clock)
    assert all(allowance.take(str(place)) for place in range(60_000))
    assert len(allowance._places) == 50_000
    assert not allowance.take("59999")


def test_a_message_larger_than_an_address_may_send_in_a_day_goes_once_and_then_not_for_days(clock):
    allowance = Allowance(a_day=10, clock=clock)
    assert allowance.take("a", 25)
    clock.now += 2 * DAY
    assert not allowance.take("a", 25)
    clock.now += DAY
    assert allowance.take("a", 25)


def test_the_catalog_knows_every_quota():
    assert set(_QUOTAS) == {field.name for field in dataclasses.fields(Quota)}


def test_a_closed_task_refuses_and_keeps_its_estimate_and_a_deleted_one_leaves_nothing(where, clock):
    books, other = (CollectorBooks(open_store(where), clock=clock) for _ in range(2))
    books.publish(task())
    message = Client(task()).report("😀")
    books.receive(task(), [message])
    assert other.collector(task()).reports == 1
    books.close_task("emoji")
    with pytest.raises(errors.TaskClosed):
        other.receive(task(), [Client(task()).report("😀")])
    assert other.collector(task()).reports == 1
    assert other.record("emoji").state == "closed"
    books.delete_task("emoji")
    for forgotten in (other.receive, other.collector):
        with pytest.raises(errors.UnknownTask):
            forgotten(task(), [message]) if forgotten == other.receive else forgotten(task())
    assert set(rows_in(where).values()) == {0}
    books.publish(task())
    assert other.receive(task(), [Client(task()).report("😂")]).reports == 1
    assert other.collector(task()).reports == 1, "it begins at nothing, whatever a process remembers"
    for one in (books, other):
        one.close()


def test_after_its_days_all_that_a_task_collected_is_deleted(where, clock):
    books = CollectorBooks(open_store(where), clock=clock)
    books.publish(task(), retention_days=30)
    books.receive(task(), [Client(task()).report("😀")])
    clock.now += 30 * DAY - 1
    assert books.collector(task()).reports == 1
    clock.now += 1
    assert books.record("emoji").state == "expired"
    assert set(rows_in(where).values()) == {0}
    with pytest.raises(errors.TaskClosed):
        books.collector(task())
    with pytest.raises(errors.TaskClosed):
        books.receive(task(), [Client(task()).report("😀")])
    books.close()


BAD = {
    "caps.per_epoch": {"caps": {"per_epoch": "many", "lifetime": 3}},
    "caps.lifetime": {"caps": {"per_epoch": 1, "lifetime": 10**400}},
    "caps": {"caps": None},
    "epoch_seconds": {"epoch_seconds": 1.5},
    "min_batch": {"min_batch": None},
    "memoize": {"memoize": "no"},
    "name": {"name": 7},
    "kind": {"kind": "mean"},
    "domain": {"domain": {"values": ["a", ["b"], "c"]}},
    "parameters": {"parameters": {"size": 3, "more": 1}},
}


@pytest.mark.parametrize("wrong", BAD)
def test_a_task_is_checked_whole(wrong):
    with pytest.raises(errors.BadTask):
        sound_task({**task().spec, **BAD[wrong]})


def test_bad_tasks_that_are_in_the_books_are_left_out_named_for_the_owner_and_can_be_deleted(books, where):
    with open_store(where).transaction() as t:
        for number, (name, change) in enumerate(BAD.items()):
            insert_record(t, f"{number:032x}", name, json.dumps({**task().spec, **change}), expires=None)
        insert_record(t, "f" * 32, "no json", "{", expires=None)
    records, unsound = books.records()
    assert [record.task.name for record in records] == ["emoji"]
    assert set(unsound) == {*BAD, "no json"}
    for name in unsound:
        with pytest.raises(errors.UnknownTask):
            books.record(name)
        books.delete_task(name)
    assert books.records()[1] == []


def test_batches_of_a_shuffler_count_once_in_any_order_and_say_the_smallest_crowd(where):
    books = CollectorBooks(open_store(where), quota=Quota(numbers=4))
    books.publish(task())
    batches = [write_batch(task(), np.zeros(reports, np.uint64)) for reports in (30, 5, 6, 40, 7)]
    done = [
        books.receive_batch(task(), batches[number], crowd=crowd)
        for number, crowd in [(2, 20), (0, 0), (1, 25), (2, 20), (0, 0), (3, 0)]
    ]
    assert [received.reports for received in done] == [6, 30, 5, 0, 0, 40]
    assert books.shuffled(task()) == (81, 20)
    assert books.collector(task()).reports == 81
    assert books.receive_batch(task(), batches[4]).refusals[0].code == "over-quota", "no number is kept without bound"
    books.close()


def test_the_last_batch_before_numbers_were_random_still_counts_once(where):
    store = open_store(where)
    store.migrate("intake", intake._SCHEMA[:1])
    raw = bytes([0, 7, 255, 0, 128, 10, 0, 1])
    with store.transaction() as t:
        t.run("INSERT INTO intake_batches VALUES (?, ?, ?)", task().id, raw, bytes(8))
    store.close()
    books = CollectorBooks.open(where)
    with open_store(where).transaction() as t:
        assert [bytes(batch) for (batch,) in t.run("SELECT batch FROM intake_batches")] == [raw + bytes(8)]
    books.close()


def test_a_fold_of_reports_that_are_appended_writes_what_is_new(where):
    asked = Task.frequency("sites", domain=range(50), epsilon=2.0, protocol="olh")
    books = CollectorBooks(open_store(where), fold_after=10)
    others = [CollectorBooks(open_store(where), fold_after=10) for _ in range(2)]
    books.publish(asked)
    expected = Collector(asked)
    for number in range(47):
        message = Client(asked).report(number)
        expected.add(message)
        books.receive(asked, [message])
        if number % 7 == 3:  # it knows a part of what is folded later
            assert others[0].collector(asked).tally.tolist() == expected.tally.tolist()
    for known in (books, *others):
        assert known.collector(asked).tally.tolist() == expected.tally.tolist()
        assert known.collector(asked).reports == 47
    with open_store(where).transaction() as t:
        pieces = t.run("SELECT number, reports, LENGTH(tally) FROM collection_tallies ORDER BY number")
        (kept,) = t.run("SELECT tally_bytes FROM collection_counts WHERE task = ?", asked.id)
    assert [piece[:2] for piece in pieces] == [(10, 10), (20, 20), (30, 30), (40, 40)]
    assert kept[0] == sum(size for _, _, size in pieces)
    for opened in (books, *others):
        opened.close()


def test_folded_and_deleted_messages_leave_no_bytes_in_the_file(tmp_path):
    asked = Task.frequency("numbers", domain=range(2**16), epsilon=30.0, protocol="olh")
    books = CollectorBooks(open_store(tmp_path / "reports.sqlite"), fold_after=40)
    books.publish(asked)
    messages = [Client(asked, budget=100).report(i) for i in range(40)]

    def kept(part):
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        return sum(message[part] in files for message in messages)

    books.receive(asked, messages[:39])
    assert kept(slice(53, -4)) == kept(slice(33, 49)) == 39
    books.receive(asked, messages[39:])
    assert kept(slice(53, -4)) == 0, "a payload beside its sender's number"
    books.delete_task(asked.name)
    assert kept(slice(33, 49)) == 0
    books.close()


@pytest.mark.parametrize("cut_short", [False, True])
def test_collections_in_a_ledger_of_the_release_before_move_and_count_once(where, tmp_path, cut_short):
    assigned = Task.frequency("sites", domain=range(50), epsilon=2.0, protocol="olh", assigned=True)
    messages = [Client(task()).report(EMOJI[i % 3]) for i in range(50)]
    with_slots = [Client(assigned, slot=f"{slot:08x}{os.urandom(16).hex()}").report(3) for slot in range(4)]
    keep_as_before(where, [(task(), messages), (assigned, with_slots)], folded=30, slots=6)
    place = str(tmp_path / "reports.sqlite")
    if cut_short:
        with pytest.raises(RuntimeError), die_before("DROP TABLE"):
            CollectorBooks.open(place, earlier=where)
        assert open_store(where).has("collector")
    for _ in range(2):
        books = CollectorBooks.open(place, earlier=where)
        assert books.collector(task()).reports == 50
        expected = Collector(task())
        for message in messages:
            expected.add(message)
        assert books.collector(task()).tally.tolist() == expected.tally.tolist()
        assert books.collector(task()).refused == {"replayed": 7}
        assert books.receive(task(), messages).reports == 0, "a message that moved was counted again"
        assert books.collector(assigned).reports == 4
        with open_store(place).transaction() as t:
            t.run("DELETE FROM intake_refusals WHERE code = 'replayed'")
            t.run("INSERT INTO intake_refusals VALUES (?, 'replayed', 7)", task().id)
        books.close()
    books = CollectorBooks.open(place, earlier=where)
    tickets = ["00000005" + os.urandom(16).hex(), books.assign(assigned)]
    again = books.receive(assigned, [Client(assigned, slot=ticket).report(3) for ticket in tickets])
    assert codes_of(again) == ["out-of-domain", None], "numbers of the release before could be guessed"
    assert tickets[1].startswith("00000006")
    assert not open_store(where).has("collector")
    books.close()


@contextmanager
def die_before(words):
    """Whatever store runs a statement with these words falls over."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (SQLiteStore, PostgresStore):
            begin = kind._begin

            def begun(self, connection, begin=begin):
                transaction = begin(self, connection)
                run = transaction.run

                def guarded(sql, *values):
                    if sql.startswith(words):
                        raise RuntimeError(words)
                    return run(sql, *values)

                transaction.run = guarded
                return transaction

            patch.setattr(kind, "_begin", begun)
        yield


def test_nothing_is_moved_from_a_ledger_that_is_not_there(tmp_path):
    CollectorBooks.open(str(tmp_path / "reports.sqlite"), earlier=str(tmp_path / "ledger.sqlite")).close()
    assert not (tmp_path / "ledger.sqlite").exists()


def published(**changes):
    spec = {**NUMBERED.spec, "assigned": False, **changes}
    return sound_task({**spec, "name": spec.get("name", "t")})


MUCH = {
    "candidates for every report": {"domain": {"range": 1 << 32}, "parameters": {"buckets": 4, "size": 1 << 32}},
    "hashes of every value": {
        "protocol": "cms",
        "domain": {"range": 1 << 32},
        "parameters": {"rows": 2, "columns": 2, "size": 1 << 32},
    },
    "no values": {"domain": {"values": []}, "parameters": {"buckets": 4, "size": 0}},
    "a distribution's matrix": {
        "kind": "distribution",
        "protocol": "square-wave",
        "domain": {"lower": "0", "upper": "1"},
        "parameters": {"steps": 1 << 12, "width": 1 << 12},
    },
    "bounds beyond doubles": {
        "kind": "mean",
        "protocol": "duchi",
        "domain": {"lower": "0", "upper": "1" + "0" * 399},
        "parameters": {"steps": 8},
    },
    "bounds apart beyond doubles": {
        "kind": "mean",
        "protocol": "duchi",
        "domain": {"lower": "-1" + "0" * 308, "upper": "1" + "0" * 308},
        "parameters": {"steps": 8},
    },
    "a regression": {
        "protocol": "rappor",
        "domain": {"range": 1 << 26},
        "parameters": {"size": 1 << 26, "filter_bits": 16, "hashes": 2, "cohorts": 2, "first": "1/2"},
    },
    **{
        f"prefixes {prefixes}": {
            "kind": "heavy-hitters",
            "protocol": "pem",
            "domain": {"length": 8},
            "parameters": {"length": 8, "prefixes": prefixes, "buckets": 4},
        }
        for prefixes in ([40], [64], [16, 8], [16, 32, 48, 64], [8, 8, 64])
    },
    "long pieces": {
        "kind": "heavy-hitters",
        "protocol": "sfp",
        "domain": {"length": 8},
        "parameters": {"length": 8, "piece": 8, "rows": 2, "columns": 2},
    },
    "the number of another": {"name": "0123456789abcdef" * 2},
}


@pytest.mark.parametrize("changes", MUCH.values(), ids=MUCH)
def test_a_task_that_cannot_be_estimated_or_found_is_not_published(changes):
    with pytest.raises(errors.BadTask):
        published(**changes)


def test_tasks_as_they_are_written_can_be_published():
    for asked in (
        NUMBERED,
        *(
            Task.frequency("f", domain=range(1000), epsilon=2, protocol=name)
            for name in ("grr", "pgr", "rappor", "cms")
        ),
        Task.frequency("million", domain=range(1_000_000), epsilon=2),
        Task.mean("m", lower=-1e300, upper=1e300, epsilon=1),
        Task.distribution("d", lower=0, upper=1, epsilon=1, bins=1024),
        *(Task.heavy_hitters("w", epsilon=2, length=20, protocol=name) for name in ("pem", "sfp")),
    ):
        sound_task(asked.spec)


@pytest.mark.parametrize("protocol", ["grr", "olh"])
def test_messages_that_wait_are_added_up_piece_by_piece(where, protocol, monkeypatch):
    monkeypatch.setattr(folding, "_BYTES_AT_ONCE", 64)
    monkeypatch.setattr(folding, "_MESSAGES_AT_ONCE", 3)
    asked = Task.frequency("emoji", domain=EMOJI, epsilon=4.0, protocol=protocol)
    books, expected = CollectorBooks(open_store(where), fold_after=40), Collector(asked)
    books.publish(asked)
    for _ in range(2):
        messages = [Client(asked).report("😀") for _ in range(40)]
        for message in messages:
            expected.add(message)
        books.receive(asked, messages[:30])
        books.collector(asked)
        books.receive(asked, messages[30:])
        assert rows_in(where)["collection_waiting"] == 0
        fresh = CollectorBooks.open(where)
        for one in (books, fresh):
            assert sorted(one.collector(asked).tally.tolist()) == sorted(expected.tally.tolist())
            assert one.collector(asked).reports == expected.reports
        fresh.close()
    books.close()

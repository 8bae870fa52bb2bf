"""Books of collections: a message counts once, on disk before it is acknowledged, whoever asks and however often."""

import threading

import pytest

from discreet import errors
from discreet.local import Client, Collector, Task
from discreet.local.books import CollectorBooks
from discreet.store import open_store
from tests.local.test_collector import EMOJI, WRONG


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
    assert [one.name for one in books.tasks()] == ["emoji"]
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
        left = t.run("SELECT COUNT(*) FROM collector_messages WHERE payload IS NOT NULL")[0][0]
    assert left < 10
    assert books.receive(task(), messages).reports == 0, "a folded message was counted again"
    fresh = CollectorBooks.open(where)
    assert fresh.collector(task()).tally.tolist() == books.collector(task()).tally.tolist()
    for one in (books, other, fresh):
        one.close()


def test_numbers_are_assigned_once_and_used_once(where):
    books = CollectorBooks.open(where)
    asked = Task.frequency("sites", domain=range(50), epsilon=2.0, protocol="olh", assigned=True)
    books.publish(asked)
    slots = [books.assign(asked) for _ in range(3)]
    assert len(set(slots)) == 3
    clients = [Client(asked, slot=slot) for slot in (slots[0], slots[0], 99)]
    done = books.receive(asked, [client.report(3) for client in clients])
    assert [refusal and refusal.code for refusal in done.refusals] == [None, "out-of-domain", "out-of-domain"]
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

"""What a device remembers: one budget for all tasks, one count for all processes, messages kept until acknowledged."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

from discreet.local import Client, ClientRefused, Collector, Task
from discreet.local.device.client import Draw, Store

EMOJI = ["😀", "😂", "🥰"]


def task(name="emoji", epsilon=2.0, **rules):
    return Task.frequency(name, domain=EMOJI, epsilon=epsilon, **rules)


REPORT = """
import sys
from discreet.local.device.client import Client, ClientRefused
task, store = open(sys.argv[1]).read(), sys.argv[2]
client = Client(task, store=store)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    try:
        print(client.report("😀").hex(), flush=True)
    except ClientRefused as refused:
        print(refused.code, flush=True)
"""


def device_process(tmp_path, script=REPORT):
    command = [sys.executable, "-c", script, str(tmp_path / "task.json"), str(tmp_path / "device.json")]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_processes_that_share_a_store_share_its_caps(tmp_path):
    (tmp_path / "task.json").write_text(task(lifetime=9).to_json())
    processes = [device_process(tmp_path) for _ in range(4)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    outputs = [process.communicate("go\n")[0].split() for process in processes]
    said = [line for output in outputs for line in output]
    assert said.count("cap-reached") == 4 * 20 - 9
    client = Client(task(lifetime=9), store=tmp_path / "device.json")
    assert client.reports == 9
    assert {message.hex() for message in client.pending()} == set(said) - {"cap-reached"}
    assert len({message[33:49] for message in client.pending()}) == 1, "one secret, whoever was first"


def test_two_clients_and_two_threads_of_one_process_share_them_too(tmp_path):
    refused = []

    def report():
        try:
            Client(task(lifetime=1), store=tmp_path / "device.json").report("😀")
        except ClientRefused as error:
            refused.append(error.code)

    threads = [threading.Thread(target=report) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == ["cap-reached"] * 5


def test_a_store_that_is_replaced_while_it_is_opened_is_read_as_it_was(tmp_path, monkeypatch):
    place = tmp_path / "device.json"
    Client(task(lifetime=2), store=place).report("😀")
    honest = os.fstat

    def replaced_meanwhile(number):
        place.with_name("newer").write_bytes(place.read_bytes())
        place.with_name("newer").replace(place)
        return honest(number)

    monkeypatch.setattr(os, "fstat", replaced_meanwhile)
    assert Client(task(lifetime=2), store=place).reports == 1
    place.with_name("second").hardlink_to(place)
    monkeypatch.undo()
    with pytest.raises(ClientRefused, match="second name"):
        Client(task(lifetime=2), store=place)


def test_a_device_that_is_killed_has_counted_and_kept_what_it_said(tmp_path):
    (tmp_path / "task.json").write_text(task(lifetime=500).to_json())
    endless = REPORT.replace("range(20)", "range(500)").replace("store=store", "store=store, budget=1000")
    process = device_process(tmp_path, endless)
    process.stdout.readline()
    process.stdin.write("go\n")
    process.stdin.flush()
    said = [process.stdout.readline().strip() for _ in range(5)]
    process.send_signal(signal.SIGKILL)
    said += process.communicate()[0].split()
    client = Client(task(lifetime=500), store=tmp_path / "device.json")
    kept = [message.hex() for message in client.pending()]
    assert kept[: len(said)] == said
    assert len(kept) <= client.reports <= len(said) + 1  # a report is counted before its first coin falls
    assert client.spent == 2 * client.reports


class Crash(Draw):
    """Fails where it is to choose between truth and lie."""

    def chance(self, threshold):
        raise KeyboardInterrupt


@pytest.mark.parametrize("rules", [{}, {"memoize": True}, {"protocol": "loloha"}], ids=["fresh", "memoized", "loloha"])
@pytest.mark.parametrize("in_a_file", [False, True])
def test_a_draw_that_fails_leaves_nothing_and_is_counted_all_the_same(tmp_path, in_a_file, rules):
    """Else whoever makes one branch of a randomizer fail would learn which one was taken, for nothing."""
    store, asked = tmp_path / "device.json" if in_a_file else Store(), task(lifetime=4, **rules)
    client = Client(asked, store=store, draw=Crash())
    first = client.randomizer.loss(1)
    for crashes in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            client.report("😀")
        assert (client.reports, client.pending()) == (crashes, [])
        assert first * crashes <= client.spent < first * crashes + Fraction(1, 1000)
    client = Client(asked, store=store)
    client.report("😀")
    assert first * 3 <= client.spent < first * 3 + Fraction(1, 1000), "the answer that was lost was paid for"
    client.report("😀")
    more = asked.randomizer.loss(2) - first if rules.get("protocol") else 0 if rules else first
    assert client.spent == pytest.approx(float(first * 3 + more))
    with pytest.raises(ClientRefused, match="lifetime cap"):
        client.report("😀")


# ── one budget ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_tasks_of_a_device_share_one_budget_that_no_task_can_raise(tmp_path):
    store = tmp_path / "device.json"
    for number in range(3):
        Client(task(f"task {number}", 6.0), store=store).report("😀")
    client = Client(task("one more", 6.0, lifetime=1000), store=store)
    assert client.lifetime_spent == 18
    with pytest.raises(ClientRefused, match="at most ε 20 in all") as refused:
        client.report("😀")
    assert refused.value.code == "budget-spent"
    assert (client.reports, client.lifetime_spent) == (0, 18)
    Client(task("a small one"), store=store).report("😀")
    assert Client(task("one more", 6.0, lifetime=1000), store=store, budget=26).report("😀")
    assert client.lifetime_spent == 26


def test_a_memoizing_task_is_paid_for_once_an_epoch():
    now = [0.0]
    client = Client(task(memoize=True, epoch_seconds=10, lifetime=100), clock=lambda: now[0], budget=5)
    for _ in range(30):
        client.report("😀")
    assert client.spent == 2
    now[0] = 10.0
    client.report("😂")
    assert client.spent == 4
    now[0] = 20.0
    with pytest.raises(ClientRefused, match="ε 5 in all"):
        client.report("🥰")
    assert client.reports == 31


def test_what_will_be_given_away_is_said_before_the_first_report():
    client = Client(task(epsilon=0.5, lifetime=30))
    assert client.reports == 0
    said = client.explain()
    for words in ("a report costs ε 0.5 at most", "at most 30 reports, ε 15 together", "at most ε 20 in all", "ε 0 is"):
        assert words in said
    client.report("😀")
    assert "1 made, ε 0.5 given away" in client.explain()


# ── messages that wait ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_message_is_kept_over_a_dead_server_and_sent_again_byte_by_byte(tmp_path):
    asked, store = task(lifetime=3), tmp_path / "device.json"
    message = Client(asked, store=store).report("😀")
    sent = []

    def dead(given):
        sent.append(given)
        raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError):
        Client(asked, store=store).send(dead)
    client, collector = Client(asked, store=store), Collector(asked)
    assert client.pending() == [message]
    assert client.send(lambda given: bool(sent.append(given))) == 1, "not taken, so it is kept"
    assert client.send(lambda given: collector.add(given) == 1) == 0
    assert sent == [message, message]
    assert client.pending() == Client(asked, store=store).pending() == []
    assert (client.reports, client.spent, collector.reports) == (1, 2, 1)


def test_the_cap_counts_what_waits(tmp_path):
    client = Client(task(lifetime=2), store=tmp_path / "device.json")
    waiting = [client.report("😀"), client.report("😂")]
    with pytest.raises(ClientRefused, match="lifetime cap"):
        client.report("🥰")
    client.acknowledge(waiting[0])
    with pytest.raises(ClientRefused, match="lifetime cap"):
        client.report("🥰")
    assert client.pending() == waiting[1:]


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"secret": "00", "tasks": {}}', '{"version": 1}'])
def test_a_store_that_cannot_be_read_is_not_begun_anew(tmp_path, text):
    store = tmp_path / "device.json"
    store.write_text(text)
    with pytest.raises(ClientRefused) as refused:
        Client(task(), store=store)
    assert refused.value.code == "bad-store"
    assert store.read_text() == text


def test_a_folder_that_is_gone_gives_nothing(tmp_path):
    folder = tmp_path / "device"
    folder.mkdir()
    client = Client(task(), store=folder / "store.json")
    shutil.rmtree(folder)
    with pytest.raises(ClientRefused, match="cannot write"):
        client.report("😀")


def test_a_disk_that_does_not_sync_gives_nothing(tmp_path, monkeypatch):
    store = tmp_path / "device.json"
    client = Client(task(), store=store)
    before = store.read_text()

    def fails(_descriptor):
        raise OSError

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(ClientRefused) as refused:
        client.report("😀")
    assert refused.value.code == "bad-store"
    assert store.read_text() == before


def test_the_file_is_the_owners_alone_and_holds_no_truth(tmp_path):
    store = tmp_path / "device.json"
    asked = Task.heavy_hitters("words", epsilon=2, length=8, memoize=True)
    Client(asked, store=store).report("illness")
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}
    text = store.read_text()
    assert "illness" not in text
    assert b"illness".hex() not in text
    assert Fraction(json.loads(text)["tasks"][asked.id]["spent"]) == 2


def drained(client):
    """How many reports it makes till its budget is spent."""
    before = client.reports
    with pytest.raises(ClientRefused, match="in all"):
        [client.report("😀") for _ in range(100)]
    return client.reports - before


def test_a_store_is_one_store_by_whatever_name_it_is_called(tmp_path, monkeypatch):
    for folder in ("home", "app", "away"):
        (tmp_path / folder).mkdir()
    asked, store = task(epsilon=5.0, lifetime=1000), tmp_path / "home" / "device.json"
    monkeypatch.chdir(tmp_path / "home")
    relative = Client(asked, store="device.json")
    (tmp_path / "app" / "device.json").symlink_to(store)
    linked, by_path = Client(asked, store=tmp_path / "app" / "device.json"), Client(asked, store=store)
    linked.report("😀")
    monkeypatch.chdir(tmp_path / "away")
    relative.report("😀")
    assert drained(by_path) == 2
    assert drained(linked) == drained(relative) == 0
    assert (tmp_path / "app" / "device.json").is_symlink()
    assert list((tmp_path / "away").iterdir()) == []


def test_a_link_to_a_store_that_is_not_there_yet_begins_it_where_it_points(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "store.json")
    Client(task(lifetime=1), store=tmp_path / "link.json").report("😀")
    with pytest.raises(ClientRefused, match="lifetime cap"):
        Client(task(lifetime=1), store=tmp_path / "store.json").report("😀")


def test_a_store_that_vanished_is_not_begun_anew_by_who_uses_it(tmp_path):
    store = tmp_path / "device.json"
    client = Client(task(), store=store)
    client.report("😀")
    store.rename(tmp_path / "elsewhere")
    with pytest.raises(ClientRefused, match="is gone") as refused:
        client.report("😀")
    assert refused.value.code == "bad-store"
    assert not store.exists()
    (tmp_path / "elsewhere").rename(store)
    client.report("😀")
    assert client.reports == 2


def test_a_store_with_a_second_name_is_refused_by_both(tmp_path):
    first, second = tmp_path / "device.json", tmp_path / "other.json"
    client = Client(task(), store=first)
    os.link(first, second)
    with pytest.raises(ClientRefused, match="hard link") as refused:
        client.report("😀")
    assert refused.value.code == "bad-store"
    for name in (first, second):
        with pytest.raises(ClientRefused, match="hard link"):
            Client(task(), store=name)
    second.unlink()
    client.report("😀")
    assert Client(task(), store=first).reports == 1

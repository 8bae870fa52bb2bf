"""From devices through a shuffler to a collector, each a process of its own that may be killed at any moment."""

import base64
import contextlib
import os
import stat
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from types import SimpleNamespace

import httpx
import pytest

from discreet.catalog import load_catalog
from discreet.errors import StoreUnavailable
from discreet.local import Client, Collector, Task
from discreet.local.collector.report_store import ReportStore
from discreet.local.device.client import format_loss
from discreet.local.shuffling.amplification import epsilon_after_shuffling
from discreet.local.shuffling.shuffler import ShufflerStore
from discreet.server.http.server_limits import Limits
from discreet.server.shuffler_app import Courier, create_shuffler
from discreet.store import open_store
from tests.local.test_collector import EMOJI
from tests.server.conftest import PATIENCE, Server, client_of, free_port, wait_until, wait_until_up
from tests.server.test_collecting import owner, publish

TASK = Task.frequency("emoji", domain=EMOJI, epsilon=2.0, protocol="grr")
QUIET = Task.frequency("quiet", domain=EMOJI, epsilon=2.0, protocol="grr")


class Shuffler:
    """`discreet shuffle` for one task."""

    def __init__(self, server, task, *, batch):
        self.folder = server.config.parent / task.name
        self.folder.mkdir()
        (self.folder / "task.json").write_text(task.to_json())
        publish(server, task)
        body = {"name": "mixer", "role": "shuffler"}
        key = httpx.post(f"{server.url}/v1/keys", json=body, headers=owner(server)).json()["key"]
        (self.folder / "shuffler.key").write_text(key + "\n")
        self.collector, self.batch, self.port = server.url, batch, free_port()
        self.url = f"http://127.0.0.1:{self.port}"

        self.per_address = None

    def start(self):
        self.log = (self.folder / "shuffler.log").open("a")
        flags = {"to": self.collector, "batch": self.batch, "wait": 0.1, "port": self.port, "proxy": "127.0.0.1"}
        files = {"key-file": self.folder / "shuffler.key", "state": self.folder / "shuffler.sqlite"}
        if self.per_address:
            flags["per-address"] = self.per_address
        options = [text for name, value in {**flags, **files}.items() for text in (f"--{name}", str(value))]
        command = [sys.executable, "-m", "discreet", "shuffle", str(self.folder / "task.json"), *options]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        wait_until_up(self.url, self.process)
        return self

    def stop(self, *, kill=False):
        (self.process.kill if kill else self.process.terminate)()
        self.process.wait(PATIENCE)
        self.log.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("shuffled")).start()
    yield server
    server.stop()


def counted(server, task=TASK):
    with contextlib.closing(ReportStore.from_catalog(load_catalog(server.config))) as books:
        return books.collector(task).reports


def send_until_acknowledged(shuffler, messages, done):
    """Each piece again and again until every message of it is taken, or was taken before."""
    with httpx.Client(timeout=30) as http:
        for start in range(0, len(messages), 50):
            elsewhere = {"X-Forwarded-For": new_address()}
            body = {"messages": [base64.b64encode(message).decode() for message in messages[start : start + 50]]}
            while True:
                with contextlib.suppress(httpx.TransportError):
                    response = http.post(f"{shuffler.url}/v1/tasks/{TASK.id}/reports", json=body, headers=elsewhere)
                    if response.status_code == 202:
                        assert set(response.json()["refused"]) <= {None, "replayed"}
                        break
                time.sleep(0.02)
            done.append(start)


def new_address():
    return str(IPv4Address(int.from_bytes(os.urandom(3), "big") + (10 << 24)))


@pytest.mark.slow
def test_3000_reports_are_counted_exactly_while_shuffler_and_collector_are_killed(served):
    messages = [Client(TASK).report(EMOJI[i % 3]) for i in range(3000)]
    shuffler, done = Shuffler(served, TASK, batch=200), []
    shuffler.per_address = 50
    shuffler.start()
    threads = [
        threading.Thread(target=send_until_acknowledged, args=(shuffler, messages[part::3], done)) for part in range(3)
    ]
    for thread in threads:
        thread.start()
    for process, after in [(shuffler, 5), (served, 20), (shuffler, 40)]:
        wait_until(lambda after=after: len(done) >= after)
        process.stop(kill=True)
        process.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: counted(served) > 2800)
    shuffler.stop(kill=True)
    shuffler.batch = 2  # so that the last ones, fewer than a crowd, leave too
    shuffler.start()
    wait_until(lambda: counted(served) >= 3000)
    time.sleep(0.3)
    shuffler.stop()
    expected = Collector(TASK)
    for message in messages:
        expected.add(message)
    facts = served.get(f"/v1/tasks/{TASK.id}/estimate").json()
    assert facts["reports"] == facts["shuffled"]["reports"] == 3000
    truth = expected.estimate().raw
    assert {row["value"]: pytest.approx(row["estimate"]) for row in facts["estimates"]} == truth


def test_a_shuffler_says_what_it_hides_keeps_its_file_to_itself_and_waits_for_the_crowd(served):
    shuffler = Shuffler(served, QUIET, batch=40).start()
    with httpx.Client(base_url=f"{shuffler.url}/v1/tasks", timeout=30) as http:
        for _ in range(39):
            message = Client(QUIET).report("😀")
            answer = http.post("/quiet/reports", content=message, headers={"X-Forwarded-For": new_address()})
            assert answer.json()["reports"] == 1
        time.sleep(0.5)
        assert counted(served, QUIET) == 0
        assert http.post("/quiet/reports", content=message).status_code == 409
        assert http.post("/quiet/reports", content=bytes(200_000)).status_code == 413
        assert http.get("/nobody").status_code == 404
        assert Task(http.get("/quiet").json()["spec"]).id == QUIET.id
        for path in shuffler.folder.glob("shuffler.sqlite*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        http.post("/quiet/reports", content=Client(QUIET).report("😂"), headers={"X-Forwarded-For": new_address()})
    wait_until(lambda: counted(served, QUIET) == 40)
    shuffler.stop()
    said = (shuffler.folder / "shuffler.log").read_text()
    hidden, fewer = (format_loss(epsilon_after_shuffling(QUIET, crowd, 1e-6)) for crowd in (40, 32))
    assert f"among 40 honest people, one report each, ε {hidden} at δ 1e-06" in said
    assert f"quiet: 40 reports of 40 addresses mixed, at most ε {fewer} each at δ 1e-06" in said


class OddCollector:
    """Answers by task, whatever a test likes; a real socket."""

    def __init__(self, answers):
        self.asked = asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                task = self.path.split("/")[3]
                asked.append(task)
                status, body = answers[task]
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):  # nobody reads so much
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


ODD = {
    "over its quota": (429, b'{"error": {"code": "over-quota"}}'),
    "deep": (500, b"[" * 200_000),
    "endless": (500, b" " * 50_000_000),
    "no error": (500, b'{"error": {"code": "\\u001b[2J"}}'),
}


@pytest.mark.parametrize("answer", ODD.values(), ids=ODD)
def test_a_task_whose_batch_is_refused_again_and_again_keeps_no_other_waiting(tmp_path, answer):
    collector = OddCollector({TASK.id: answer, QUIET.id: (202, b"{}")})
    books = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [TASK, QUIET], batch=3)
    courier = Courier(books, collector=collector.url, key="k", wait=0.05, delta=1e-6)
    courier.start()
    for crowd in range(2):
        for task in (TASK, QUIET):
            for _ in range(3):
                assert books.receive(task, [Client(task).report(EMOJI[0])], address=os.urandom(8).hex()).reports == 1
        wait_until(
            lambda crowd=crowd: (
                collector.asked.count(QUIET.id) > crowd and {batch.task for batch in books.next_batches()} == {TASK.id}
            )
        )
        assert collector.asked.count(QUIET.id) == crowd + 1
        courier.check()
    assert 1 <= collector.asked.count(TASK.id) <= 8, "it is tried again, and ever more seldom"
    assert {batch.task for batch in books.next_batches()} == {TASK.id}
    courier.stop()
    with pytest.raises(StoreUnavailable):
        courier.check()
    collector.server.shutdown()
    collector.server.server_close()
    books.close()


def test_whatever_fails_in_between_the_courier_goes_on(tmp_path, monkeypatch):
    collector = OddCollector({TASK.id: (202, b"{}")})
    books = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [TASK], batch=1)
    failures = iter([RecursionError, MemoryError, KeyError])

    def failing(real=books.mix):
        for failure in failures:
            raise failure
        return real()

    monkeypatch.setattr(books, "mix", failing)
    courier = Courier(books, collector=collector.url, key="k", wait=0.05, delta=1e-6)
    courier.start()
    books.receive(TASK, [Client(TASK).report(EMOJI[0])], address="a")
    wait_until(lambda: collector.asked)
    assert collector.asked == [TASK.id]
    courier.stop()
    collector.server.shutdown()
    collector.server.server_close()
    books.close()


@pytest.mark.usefixtures("_clock_stands_still")
@pytest.mark.parametrize("path", ["/healthz", f"/v1/tasks/{TASK.id}"])
def test_who_looks_at_a_shuffler_is_limited_by_address(tmp_path, path):
    books = ShufflerStore(open_store(tmp_path / "shuffler.sqlite"), [TASK], batch=3)
    app = create_shuffler(books, SimpleNamespace(check=lambda: None), Limits())
    with client_of(app, address="192.0.2.1") as client:
        assert {client.get(path).status_code for _ in range(200)} == {200, 429}
    with client_of(app, address="192.0.2.2") as client:
        assert client.get(path).status_code == 200
    with client_of(app, address="127.0.0.1") as client:
        assert {client.get("/healthz").status_code for _ in range(200)} == {200}

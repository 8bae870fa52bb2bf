"""Attacks on a real server by those who have no key: an analyst is answered all the while, memory stays small, nothing is lost, and it stops when told."""

import contextlib
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from discreet.ledger import Ledger
from discreet.ledger.chain.verify import verify
from tests.server.conftest import Server, wait_until

SCALE = int(os.environ.get("DOOR_SCALE", "1"))
"""More of everything, and no slack, where `make soak` has the machine for itself."""
CROWD = 300 * min(SCALE, 5)
MEGABYTES = 60 * SCALE
SOON = 30.0 if SCALE == 1 else 2.0
"""Seconds for an answer: on a busy machine only less than who is kept out would wait."""
HEALTHY = 0.05
"""Seconds for half of all looks at /healthz, in the soak."""
MOST_MEMORY = 500
STRANGERS = Path(__file__).with_name("unauthenticated_load.py")


def memory_of(server):
    """Resident megabytes, the most there ever were."""
    with open(f"/proc/{server.process.pid}/status") as file:
        return max(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def connect(server, *, source="127.0.0.1"):
    made = socket.create_connection(("127.0.0.1", server.port), timeout=10, source_address=(source, 0))
    made.settimeout(10)
    return made


def heads(*lines, method="POST", path="/v1/ask"):
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", "Host: x", "Content-Type: application/json", *lines, "", ""]
    ).encode()


def status_of(connection):
    """The status that comes back, None where the connection is closed without one."""
    with contextlib.suppress(OSError):
        line = connection.recv(100)
        return int(line.split()[1]) if line else None


def is_closed(connection):
    with contextlib.suppress(TimeoutError):
        try:
            return connection.recv(1) == b""
        except ConnectionError:
            return True
    return False


class Analyst:
    """Asks new questions, one after another, and remembers the slowest answer."""

    answers = 0
    """Of all analysts together."""

    def __init__(self, server):
        self.server, self.slowest, self.looks = server, 0.0, []

    def ask(self):
        Analyst.answers += 1
        began = time.monotonic()
        sql = f"SELECT COUNT(*) FROM patients WHERE age <> {Analyst.answers}.5"
        response = self.server.ask({"sql": sql, "epsilon": 0.0001})
        assert response.status_code == 200, response.text
        self.slowest = max(self.slowest, time.monotonic() - began)

    def health(self):
        began = time.monotonic()
        assert httpx.get(f"{self.server.url}/healthz", timeout=30, verify=False).status_code == 200
        self.looks.append(time.monotonic() - began)


COLUMNS = ", ".join(f"COUNT(*) * {number} AS c{number}" for number in range(1, 12))
LARGE = {
    "sql": f"SELECT date, ward, sex, {COLUMNS} FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY date, ward, sex",
    "epsilon": 0.001,
}
"""184,000 cells."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("door"), epsilon="1e6")
    made.start("--patience", "2", "--public-rate", "10", "--proxy", "127.0.0.9", "--seconds-a-minute", "600")
    yield made
    made.stop()


@pytest.fixture
def analyst(served):
    """Whatever the attack of a test is: these are the claims."""
    made = Analyst(served)
    made.ask()
    yield made
    made.ask()
    for _ in range(2):
        made.health()
    assert max(made.slowest, *made.looks) < SOON
    assert SCALE == 1 or statistics.median(made.looks) < HEALTHY
    assert memory_of(served) < MOST_MEMORY
    assert served.process.poll() is None


def test_headers_that_never_end_keep_nobody_out(served, analyst):
    """Even from the analyst's own address: who keeps us waiting longest makes room."""
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(connect(served)) for _ in range(CROWD)]
        for connection in slow:
            with contextlib.suppress(OSError):
                connection.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        analyst.ask()
        for _ in range(4):
            time.sleep(1)
            for connection in slow[-20:]:
                with contextlib.suppress(OSError):
                    connection.sendall(b"x")
            analyst.ask()
        assert all(is_closed(connection) for connection in slow), "trickling does not stop the clock"


def test_connections_that_say_nothing_are_closed(served, analyst):
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(connect(served, source=f"127.0.0.{2 + number % 50}")) for number in range(CROWD)]
        analyst.ask()
        assert all(is_closed(connection) for connection in idle)


def test_a_body_without_end_is_not_read(served, analyst):
    """Chunked, so that no header says how long it is: without a key not at all, with one as far as a question may be long."""
    for line in ("X-No: key", f"Authorization: Bearer {served.alice}"):
        with connect(served) as connection:
            connection.sendall(heads(line, "Transfer-Encoding: chunked"))
            sent, piece = 0, b"100000\r\n" + b"x" * 2**20 + b"\r\n"
            with contextlib.suppress(OSError):
                for _ in range(MEGABYTES):
                    connection.sendall(piece)
                    sent += 1
            assert sent < MEGABYTES
        analyst.ask()
    too_long = {"sql": "x" * 200_000, "epsilon": 1}
    assert served.ask(too_long).status_code == 413
    assert served.ask(too_long, key="dk_no_key").status_code == 401
    chunked = httpx.post(f"{served.url}/v1/ask", content=iter([b"x" * 60_000] * 2), headers={"Authorization": f"Bearer {served.alice}"})  # fmt: skip
    assert chunked.status_code == 413
    assert chunked.json()["error"]["code"] == "too-large"


def test_a_body_that_stops_half_way_is_given_up(served, analyst):
    with contextlib.ExitStack() as stack:
        half = [stack.enter_context(connect(served)) for _ in range(40)]
        for connection in half:
            connection.sendall(heads(f"Authorization: Bearer {served.alice}", "Content-Length: 100") + b"{")
        analyst.ask()
        assert {status_of(connection) for connection in half} == {408}


@contextlib.contextmanager
def flooding(work, *, threads=8):
    """`work(client)` over and over while the test goes on; what came back, by status."""
    counts, done = {}, threading.Event()

    def go_on():
        with httpx.Client(timeout=30) as client:
            while not done.is_set():
                with contextlib.suppress(httpx.TransportError):
                    status = work(client).status_code
                    counts[status] = counts.get(status, 0) + 1

    running = [threading.Thread(target=go_on) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield counts
    finally:
        done.set()
        for thread in running:
            thread.join()


def ask_until_slowed(analyst, counts):
    """However busy the machine is, a flood is slowed down in the end; at least a few questions are asked during it."""
    end = time.monotonic() + 20
    for number in itertools.count():
        analyst.ask()
        analyst.health()
        if (number > 4 and 429 in counts) or time.monotonic() > end:
            return


def test_a_flood_of_wrong_keys_is_slowed_down(served, analyst):
    def guess(client):
        key = f"dk_{time.monotonic_ns():x}_wrong"
        return client.get(f"{served.url}/v1/budget", headers={"Authorization": f"Bearer {key}"})

    with flooding(guess) as counts:
        ask_until_slowed(analyst, counts)
    assert set(counts) == {401, 429}


def test_a_flood_of_public_routes_has_a_share_of_its_own(served, analyst):
    pages = itertools.cycle(["/v1/transparency", "/v1/tasks", "/", "/page/page.js", "/openapi.json"])
    with flooding(lambda client: client.get(served.url + next(pages))) as counts:
        ask_until_slowed(analyst, counts)
    assert set(counts) == {200, 429}


@pytest.fixture(scope="module")
def roomless(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("small"), epsilon="1e6").start(
        "--connections", "40", "--public-rate", "1", "--proxy", "127.0.0.9"
    )
    yield made
    made.stop()


@pytest.fixture
def small(roomless):
    """With room for few, and nobody there any more."""
    wait_until(lambda: "discreet_connections 1\n" in metrics_of(roomless))
    return roomless


def metrics_of(server):
    return server.get("/metrics", key=server.owner).text


def crowd_of(server, request, source):
    """Twice as many connections as there is room for, each with this sent."""
    crowd = []
    for number in range(80):
        with contextlib.suppress(OSError):
            crowd.append(connect(server, source=source(number)))
            crowd[-1].sendall(request)
    return crowd


HALF = heads("Content-Length: 90", path="/session") + b"{"
OFTEN = heads("X-Forwarded-For: 6.6.6.6", method="GET", path="/v1/transparency") * 2


@pytest.mark.parametrize(
    ("request_", "source"),
    [
        (HALF, lambda number: f"127.0.1.{1 + number // 8}"),
        (OFTEN, lambda number: f"127.0.1.{1 + number // 20}"),
        (OFTEN, lambda _: "127.0.0.9"),
    ],
    ids=["half-sent bodies", "refused", "refused through a proxy"],
)
def test_strangers_who_wait_make_room_for_who_has_a_key(small, request_, source):
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            for connection in crowd_of(small, request_, source):
                stack.enter_context(connection)
            assert small.get("/v1/budget").status_code == 200


UNKNOWN = {
    "no key": heads(method="GET", path="/v1/budget") * 20,
    "wrong keys": (heads("Authorization: Bearer dk_no_key", "Content-Length: 2") + b"{}") * 10,
    "public": heads(method="GET", path="/v1/transparency") * 20,
    "no route": heads(method="GET", path="/nowhere") * 20,
}


@contextlib.contextmanager
def strangers(server, request, *, connections):
    """A crowd for as long as this lasts; afterwards the list has how often it was refused."""
    command = [sys.executable, STRANGERS, str(server.port), str(connections)]
    refusals = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as crowd:
        crowd.stdin.write(request)
        crowd.stdin.close()
        time.sleep(1)
        try:
            yield refusals
        finally:
            crowd.terminate()
            refusals.append(int(crowd.stdout.read()))


@pytest.mark.parametrize("request_", UNKNOWN.values(), ids=UNKNOWN)
def test_a_crowd_of_strangers_keeps_nobody_out_who_has_a_key(served, analyst, request_):
    with strangers(served, request_, connections=600) as refusals:
        for _ in range(3):
            analyst.ask()
    assert sum(refusals)


def test_who_is_gone_is_not_waited_for(small):
    """A refusal that takes its time ends with its connection: else the next would find no room to wait in."""
    for _ in range(40):
        with connect(small) as connection:
            connection.sendall(heads(method="GET", path="/v1/tasks"))
    assert 429 in {httpx.get(f"{small.url}/v1/tasks").status_code for _ in range(2)}
    assert "discreet_connections 1" in metrics_of(small)


def test_who_sends_more_requests_than_may_wait_is_hung_up_on_after_these(served, analyst):
    """What arrives in one go would all be kept in memory."""
    key = f"Authorization: Bearer {served.alice}"
    for sent, answered in ((500, 5), (5, 5)):
        with connect(served) as connection:
            connection.sendall(heads(key, method="GET", path="/v1/budget") * sent)
            answers = b""
            with contextlib.suppress(ConnectionError):
                while answers.count(b"HTTP/1.1 200") < answered or sent > answered:
                    piece = connection.recv(2**16)
                    if not piece:
                        break
                    answers += piece
            assert answers.count(b"HTTP/1.1 200") == answered


def test_headers_that_are_too_long_end_a_connection(served, analyst):
    for size in (20_000, 400_000):
        with connect(served) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(heads(f"X-Long: {'x' * size}", method="GET", path="/healthz"))
            assert status_of(connection) in (400, None)


def test_who_comes_too_often_is_hung_up_on(small):
    answers = [httpx.get(f"{small.url}/v1/tasks") for _ in range(8)]
    assert {answer.headers.get("connection") for answer in answers if answer.status_code == 429} == {"close"}


def test_large_answers_and_slow_readers_of_them_keep_nobody_waiting(served, analyst):
    whole = served.ask(LARGE, key=served.owner)
    assert whole.status_code == 200
    assert len(whole.content) > 5_000_000
    body = json.dumps(LARGE).encode()
    request = heads(f"Authorization: Bearer {served.owner}", f"Content-Length: {len(body)}") + body
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.socket()) for _ in range(4 * SCALE)]
        for connection in slow:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", served.port))
            connection.sendall(request)
        for _ in range(4):
            analyst.ask()
            analyst.health()
        read = len(slow[0].recv(1))  # it has begun
        time.sleep(4)
        with contextlib.suppress(ConnectionError):
            while piece := slow[0].recv(2**20):
                read += len(piece)
        assert read < len(whole.content), "who does not read is given up"


def test_nonsense_is_one_sentence_and_no_traceback(served, analyst):
    for parameter in ("1" + "0" * 400, "1e999", "-1" + "0" * 30, "NaN", "[" * 50_000):
        query = {"sql": "SELECT COUNT(*) FROM patients WHERE age > ?", "epsilon": 0.1, "parameters": ["HERE"]}
        body = json.dumps(query).replace('"HERE"', parameter)
        headers = {"Authorization": f"Bearer {served.alice}", "Content-Type": "application/json"}
        response = httpx.post(f"{served.url}/v1/ask", content=body, headers=headers)
        assert response.status_code == 422
        assert response.json()["error"]["code"] == "bad-input"
    with connect(served) as connection:
        connection.sendall(b"\x00\xff nonsense\r\n\r\n")
        assert status_of(connection) == 400
    assert "Traceback" not in log_of(served)


def log_of(server):
    return (server.config.parent / "server.log").read_text()


def test_an_address_is_believed_from_a_named_proxy_only(served):
    def statuses(source):
        transport = httpx.HTTPTransport(local_address=source)
        with httpx.Client(transport=transport, base_url=served.url, timeout=30) as client:
            names = (f"10.0.{number}.7" for number in range(30))
            return {
                client.get("/v1/tasks", headers={"X-Forwarded-For": f"1.2.3.4, {name}"}).status_code for name in names
            }

    assert statuses("127.0.0.9") == {200}, "each of them is another client"
    assert 429 in statuses("127.0.0.8"), "whatever it says, it is one address"


def test_a_refusal_in_a_stream_is_noted_by_its_code(served):
    headers = {"Authorization": f"Bearer {served.alice}", "Accept": "application/x-ndjson"}
    body = {"sql": "SELECT * FROM visits", "epsilon": 1}
    httpx.post(f"{served.url}/v1/ask", json=body, headers=headers)
    end = time.monotonic() + 10
    while '"code": "not-allowed"' not in log_of(served) and time.monotonic() < end:
        time.sleep(0.05)  # the line is written when the answer has left
    noted = [json.loads(line) for line in log_of(served).splitlines() if '"code": "not-allowed"' in line]
    assert [line["route"] for line in noted] == ["/v1/ask"]
    counted = metrics_of(served)
    assert 'discreet_refusals_total{code="not-allowed"}' in counted
    assert "discreet_connections 1" in counted


def test_half_sent_bodies_do_not_keep_a_server_from_stopping_and_nothing_is_lost(served):
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(connect(served))
            connection.sendall(heads(f"Authorization: Bearer {served.alice}", "Content-Length: 100") + b"{")
        began = time.monotonic()
        served.stop()
        assert time.monotonic() - began < 15
    ledger = Ledger.open(served.config.parent / "ledger.sqlite")
    assert len(ledger.charges(limit=10_000)) >= Analyst.answers
    assert verify(ledger).sound
    ledger.close()

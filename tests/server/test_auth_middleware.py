"""The gate: what is no head says nothing, the event loop waits for no database, and strangers are counted wherever they knock."""

import asyncio
import contextlib
import re
import socket
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from discreet.accounting import open_filter
from discreet.concurrency.token_bucket import TokenBuckets
from discreet.local import Client, Task
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.roles import ROUTES
from discreet.server.http import serializers
from discreet.server.http.http_app import create_app
from discreet.server.http.server_limits import Limits
from discreet.server.http.telemetry import Telemetry
from discreet.store import Store
from discreet.store.group_commit import GroupCommit
from tests.server.conftest import InProcess, Server, client_of
from tests.support.opening import open_curator, start_ledger

PROXY, HEADER = "127.0.0.9", "X-User"
QUERY = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1}
WATCH = {"sql": "SELECT COUNT(*) FROM visits", "threshold": 10**9, "epsilon": 0.1}
TASK = Task.frequency("colours", domain=["red", "blue"], epsilon=2.0)
ELSEWHERE = "203.0.113.5"


class RunningServer:
    """A service in this process."""

    def __init__(self, folder, *, rate=1e6, **limits):
        config = write_clinic(folder, patients=20, visits=50)
        self.ledger = start_ledger(config)
        self.book, self.curator = KeyStore.open(self.ledger), open_curator(config)
        self.key = {"Authorization": f"Bearer {self.book.create('olga', role='owner')}"}
        self.app = create_app(self.curator, self.book, class_ms=0, rate=rate, config=config, limits=Limits(**limits))

    def close(self):
        self.curator.close()
        self.book.close()


@pytest.fixture
def running(tmp_path):
    made = RunningServer(tmp_path)
    yield made
    made.close()


# Trailers


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("proxied"))
    book = KeyStore.open(str(made.config.parent / "ledger.sqlite"))
    book.set_user("boss", "owner")
    book.close()
    yield made.start("--proxy", PROXY, "--user-header", HEADER, "--public-rate", "2")
    made.stop()


def status_of(server, *heads, trailer=""):
    """Of a request with a body in chunks, from the proxy."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20, source_address=(PROXY, 0)) as connection:
        head = "\r\n".join([*heads, "Host: x", "Transfer-Encoding: chunked", "", ""])
        connection.sendall(f"{head}2\r\n{{}}\r\n0\r\n{trailer}\r\n".encode())
        return int(connection.recv(100).split()[1])


def test_nobody_is_named_in_a_trailer(proxied):
    """A proxy replaces the header, and lets trailers through."""
    source, owner = "GET /v1/catalog/source HTTP/1.1", f"{HEADER}: boss"
    assert status_of(proxied, source, owner) == 200
    assert status_of(proxied, source, trailer=f"{owner}\r\n") == 401
    assert status_of(proxied, source, f"{HEADER}: nobody", trailer=f"{owner}\r\n") == 401
    key = f"Authorization: Bearer {proxied.owner}\r\n"
    assert status_of(proxied, source, trailer=key) == 401


def test_an_address_in_a_trailer_is_not_believed(proxied):
    def knock(number):
        there, forged = "X-Forwarded-For: 198.51.100.7", f"X-Forwarded-For: 203.0.113.{number}\r\n"
        return status_of(proxied, "GET /nowhere HTTP/1.1", there, trailer=forged)

    with ThreadPoolExecutor(20) as threads:
        seen = Counter(threads.map(knock, range(20)))
    assert seen[429] > 10, seen


# Who is refused


@pytest.mark.usefixtures("_clock_stands_still")
def test_who_is_refused_with_a_key_is_slowed_down_like_a_stranger_and_nobody_else_is(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.server.auth.auth_middleware._DELAY", 0.0)
    running = RunningServer(tmp_path, rate=5, public_rate=3)
    mallory, anna = (running.book.create(name, role="metrics") for name in ("mallory", "anna"))
    running.book._ledger.open_account(open_filter(1), analyst="bob")
    removed = running.book.create("bob")
    running.book._ledger.record(lambda _: [("close", {"account": "analyst:bob"})], by="catalog")
    assert len(running.book.all()) == 4  # and has read on

    with contextlib.closing(running), client_of(running.app) as client:

        def refused(key, times):
            answers = [client.get("/v1/keys", headers={"Authorization": f"Bearer {key}"}) for _ in range(times)]
            return Counter((answer.status_code, answer.headers.get("connection")) for answer in answers)

        assert refused(mallory, 40) == {(403, None): 20, (429, "close"): 20}
        assert refused(anna, 5) == {(403, None): 5}
        assert refused(removed, 20) == {(403, None): 6, (429, "close"): 14}


def test_nobody_fills_the_log(caplog):
    telemetry = Telemetry()

    async def noted():
        for _ in range(1_000):
            telemetry.record("/v1/keys", 401, holder=None, code="no-access")
            telemetry.record("/v1/keys", 403, holder="key 1", code="forbidden")
        telemetry.record("/v1/keys", 200, holder="key 2", code=None)
        await asyncio.sleep(0)

    with caplog.at_level("INFO", logger="discreet.server"):
        asyncio.run(noted())
    seconds = 2  # that it may have taken
    text = "\n".join(record.getMessage() for record in caplog.records)
    assert text.count('"status": 401') <= 50 * seconds
    assert text.count('"status": 403') <= 100 * seconds
    assert text.count('"status": 200') == 1
    assert 'status="403"} 1000' in telemetry.text()


# What is shown to everybody


def test_the_card_is_made_once_for_many(running, monkeypatch):
    made, card = [], running.curator.card
    monkeypatch.setattr(type(running.curator), "card", lambda _: made.append(1) or card())
    monkeypatch.setattr("discreet.server.http.cached_response._MAX_AGE", 3600.0)
    with client_of(running.app) as client:
        seen = {client.get("/v1/transparency").json()["dataset"] for _ in range(20)}
    assert seen == {running.curator.dataset}
    assert len(made) <= 2, "once more where the first look found entries that this process had not seen"


# The event loop


@pytest.fixture
def touched(monkeypatch):
    """What reached a database from a thread that has an event loop."""
    seen = []

    def watched(kind, name):
        original = getattr(kind, name)

        def call(self, *given, **named):
            if asyncio._get_running_loop() is not None:
                seen.append(name)
            return original(self, *given, **named)

        monkeypatch.setattr(kind, name, call)

    for name in ("transaction", "reading", "snapshot", "scrub"):
        watched(Store, name)
    watched(GroupCommit, "run")
    return seen


def requests_of(number, message):
    """Every route, with something that it can do."""
    bodies = {
        "POST /v1/ask": QUERY,
        "POST /v1/explain": QUERY,
        "POST /v1/recall": QUERY,
        "POST /v1/watch": WATCH,
        "POST /v1/watch/evaluate": WATCH,
        "POST /v1/watch/recall": WATCH,
        "POST /v1/saved": {"name": "n", "query": QUERY},
        "POST /v1/keys": {"name": "eve"},
        "PUT /v1/users/{name}": {"role": "analyst"},
        "PUT /v1/analysts/{name}": {"epsilon": 1},
        "POST /v1/attacks/{name}": {"trials": 1},
        "POST /v1/tasks/{name}/rehearsal": {"truth": [5, 5]},
    }
    for route in sorted(ROUTES, key=lambda route: (route.startswith("DELETE"), route)):
        method, path = route.split()
        path = path.replace("{number}", number)
        path = re.sub("{name}", "colours" if "/tasks/" in path else "eve", path)
        is_message = route.endswith("/reports")
        yield route, method, path, {"content": message} if is_message else {"json": bodies.get(route)}


def test_no_route_and_nothing_before_it_reaches_a_database_from_the_event_loop(running, touched, monkeypatch):
    monkeypatch.setattr("discreet.server.auth.keys._REMEMBERED", -1.0)  # every request has something to catch up with
    with client_of(running.app) as client:
        client.headers.update(running.key)
        assert client.post("/v1/tasks", json={"spec": dict(TASK.spec)}).status_code == 201
        saved = client.post("/v1/saved", json={"name": "shared", "query": QUERY, "shared": True}).json()
        for route, method, path, given in requests_of(saved["number"], Client(TASK).report("red")):
            for headers in ({}, {"Authorization": "Bearer dk_1_2"}, {"Cookie": "discreet_session=x"}):
                assert client.request(method, path, **given, headers=headers).status_code < 500, route
            assert touched == [], route


def test_a_saved_answer_is_counted_before_it_is_looked_up(tmp_path):
    running = RunningServer(tmp_path)
    running.app.state.service.rate_limit._requests = TokenBuckets(capacity=4, rate=2)
    with client_of(running.app) as client:
        seen = {client.get("/v1/saved/none/answer", headers=running.key).status_code for _ in range(12)}
    assert seen == {404, 429}
    running.close()


def test_strangers_are_refused_and_do_not_pile_up_while_somebody_keeps_the_database(tmp_path, monkeypatch):
    running = RunningServer(tmp_path, public_rate=1.0, public_at_once=2)
    monkeypatch.setattr("discreet.server.auth.keys._REMEMBERED", -1.0)
    monkeypatch.setattr("discreet.server.auth.auth_middleware._DELAY", 0.0)
    is_held, may_go = threading.Event(), threading.Event()

    def hold():
        with sqlite3.connect(running.ledger, isolation_level=None) as database:
            database.execute("BEGIN IMMEDIATE")
            is_held.set()
            may_go.wait(30)
            database.execute("ROLLBACK")
        database.close()

    async def knock():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(running.app), base_url="http://x") as client:
            keyless = [asyncio.ensure_future(client.get("/v1/budget")) for _ in range(20)]
            answers = asyncio.as_completed(keyless)
            early = Counter([(await next(answers)).status_code for _ in range(18)])
            may_go.set()
            return early, Counter([(await answer).status_code for answer in answers])

    with ThreadPoolExecutor() as threads:
        threads.submit(hold)
        is_held.wait(10)
        early, late = asyncio.run(asyncio.wait_for(knock(), 20))
    assert (early, late) == ({429: 18}, {401: 2})
    running.close()


# Wherever strangers knock


@pytest.mark.usefixtures("_clock_stands_still")
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/nowhere"), ("PATCH", "/v1/ask"), ("GET", "/page/dom.js"), ("GET", "/page/none"), ("GET", "/v1/budget"), ("GET", "/healthz")],
)  # fmt: skip
def test_every_route_and_none_counts_those_without_a_key(tmp_path, monkeypatch, method, path):
    monkeypatch.setattr("discreet.server.auth.auth_middleware._DELAY", 0.0)
    running = RunningServer(tmp_path, public_rate=3.0)
    running.app.state.service.health_requests._requests = TokenBuckets(capacity=6, rate=3, now=lambda: 0.0)
    with client_of(running.app, address=ELSEWHERE) as client:
        assert [client.request(method, path).status_code for _ in range(8)].count(429) >= 1
        other = "/nowhere" if path == "/healthz" else "/healthz"
        assert client.get(other).status_code != 429, "health and all else have limits of their own"
    running.close()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_a_machine_that_watches_its_own_health_is_never_refused(running, address):
    running.app.state.service.health_requests._rate = 1.0
    with httpx.Client(transport=InProcess(running.app, address=address), base_url="http://x") as client:
        assert {client.get("/healthz").status_code for _ in range(8)} == {200}


LISTS = ("/v1/keys", "/v1/users", "/v1/tasks", "/v1/collections", "/v1/ledger")


@pytest.mark.parametrize("path", LISTS)
def test_lists_that_grow_are_written_in_threads_and_counted_like_answers(running, path, monkeypatch):
    threads, dumped = set(), serializers.render_json

    def noting(value):
        threads.add(threading.get_ident())
        return dumped(value)

    running.app.state.service.collections.publish(TASK)
    running.book.set_user("boss", "owner")
    monkeypatch.setattr(serializers, "render_json", noting)
    with client_of(running.app) as client:
        answer = client.get(path, headers=running.key)
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()[path.rpartition("/")[2].replace("ledger", "entries")]
        assert threads
        assert threading.get_ident() not in threads, "the event loop is in this thread"
        monkeypatch.setattr(running.app.state.service.long_answers, "each", 10)
        assert client.get(path, headers=running.key).json()["error"]["code"] == "too-large"

"""Answers on their way are counted: of one analyst, in all, and until they have left."""

import asyncio
import contextlib
import json
import socket
from types import SimpleNamespace

import httpx
import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import TooLarge, TooMany
from discreet.pipeline.call import Call
from discreet.planning.answer_size import AnswerLimit
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.http import serializers
from discreet.server.http.access_log import AccessLog
from discreet.server.http.serializers import Form
from discreet.server.http.streaming import LongAnswerQuota
from discreet.server.http.telemetry import Telemetry
from discreet.server.http.thread_pools import ThreadPools
from discreet.server.jobs.running_queries import RunningQueries
from discreet.server.jobs.time_budget import TimeBudget
from tests.server.conftest import Server
from tests.server.test_unauthenticated_load import LARGE, heads

FORM = Form("text/plain", lambda answer, file: file.write(answer.text), AnswerLimit(2**28))


def prepared(service, size, form=FORM):
    return form.prepare(SimpleNamespace(text=b"a" * size, replayed=False), service=service, analyst="alice")


def service_with(writing):
    return SimpleNamespace(long_answers=writing, pools=ThreadPools())


async def sent(service, answer):
    return b"".join([piece async for piece in answer.pieces(service)])


def test_an_analyst_has_a_share_and_so_have_all_together_beside_a_reserve_for_each():
    writing = LongAnswerQuota(each=2**21, together=3 * 2**20, reserve=2**18)
    writing.take("alice", 2**21)
    for refused in (lambda: writing.check("alice"), lambda: writing.take("alice", 1)):
        with pytest.raises(TooMany):
            refused()
    writing.take("bob", 2**20)
    with pytest.raises(TooMany, match="waiting to be read"):
        writing.take("bob", 1)
    writing.take("carol", 2**18)  # whatever others have
    with pytest.raises(TooMany, match="waiting to be read"):
        writing.take("carol", 1)
    for name, size in (("alice", 2**21), ("bob", 2**20), ("carol", 2**18)):
        writing.release(name, size)
    assert not writing._sizes


def test_what_waits_to_be_read_is_in_a_file_without_a_name_and_closed_when_it_has_left():
    service = service_with(LongAnswerQuota())
    short, long = (prepared(service, size) for size in (10, 2**20))
    assert not short.file._file._rolled
    assert long.file._file._rolled
    assert service.long_answers._sizes == {"alice": 2**20}
    assert asyncio.run(sent(service, short)) == b"a" * 10
    assert asyncio.run(sent(service, long)) == b"a" * 2**20
    assert short.file.closed
    assert long.file.closed
    assert not service.long_answers._sizes


def test_what_nobody_reads_is_given_back():
    service = service_with(LongAnswerQuota())
    prepared(service, 2**20)
    assert not service.long_answers._sizes


@pytest.mark.parametrize("kind", serializers.TABLES)
def test_writing_stops_where_an_answer_is_too_long(kind):
    """In the middle of a file: what is refused was never written."""
    service, tables = service_with(LongAnswerQuota(each=2**20)), []

    def endless():
        while True:
            tables.append(pa.table({"number": np.random.default_rng(len(tables)).random(2**12)}))
            yield tables[-1]

    form = Form(kind, lambda _, file: serializers.TABLES[kind](endless(), file), AnswerLimit(2**20))
    with pytest.raises(TooLarge, match="1 MiB"):
        form.prepare(None, service=service, analyst="alice")
    assert len(tables) < 100
    assert not service.long_answers._sizes


def test_who_reads_a_long_answer_too_slowly_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(serializers, "_GRACE", -100.0)
    service = service_with(LongAnswerQuota())
    with pytest.raises(TimeoutError):
        asyncio.run(sent(service, prepared(service, 2**20)))
    assert not service.long_answers._sizes


def test_a_disk_that_is_full_is_a_refusal():
    def full(_answer, _file):
        raise OSError

    with pytest.raises(TooMany):
        prepared(service_with(LongAnswerQuota()), 1, Form("text/plain", full, AnswerLimit(2**28)))


def test_who_waits_when_the_server_stops_hears_json():
    """uvicorn takes back what is under way, and would say so in plain text."""
    messages = []

    async def waits(_scope, _receive, _send):
        await asyncio.sleep(60)

    async def send(message):
        messages.append(message)

    async def stopped():
        scope = {"type": "http", "headers": [], "method": "POST"}
        task = asyncio.ensure_future(AccessLog(waits, Telemetry())(scope, None, send))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    assert messages[0]["status"] == 500
    assert json.loads(messages[1]["body"])["error"]["code"] == "failure"


def test_a_question_that_found_no_thread_is_not_under_way():
    time_budget = TimeBudget(unit=0.001, longest=1, seconds_per_minute=60)
    queries = RunningQueries(None, rate_limit=RateLimit(rate=10, at_once=2), time_budget=time_budget)
    queries._at_work = 2**20
    alice = SimpleNamespace(name="alice", id="1", charged_analyst="alice")
    with pytest.raises(TooMany, match="too many queries"):
        asyncio.run(queries.ask(None, holder=alice, call=Call(request_id="key"), then=None))
    assert len(queries) == 0


def test_who_does_not_read_a_long_answer_keeps_nobody_from_theirs(tmp_path):
    server = Server(tmp_path, epsilon="1e6").start("--patience", "60", "--seconds-a-minute", "600")
    try:
        assert server.ask(LARGE).status_code == 200
        body = json.dumps(LARGE).encode()
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(heads(f"Authorization: Bearer {server.alice}", f"Content-Length: {len(body)}") + body)
            slow.recv(10)
            for kind, key in (("application/json", server.owner), ("application/vnd.apache.parquet", server.alice)):
                assert server.ask(LARGE, key=key, Accept=kind).status_code == 200
            assert httpx.get(f"{server.url}/healthz", timeout=5).status_code == 200
    finally:
        with contextlib.suppress(Exception):
            server.stop()

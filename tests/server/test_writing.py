"""Answers on their way are counted: of one analyst, in all, and until they have left."""

import asyncio
import contextlib
import json
import socket
from types import SimpleNamespace

import httpx
import pytest

from discreet.errors import TooMany
from discreet.server import bytes_of
from discreet.server.bytes_of import Form
from discreet.server.shares import Shares
from discreet.server.writing import Writing
from tests.server.conftest import Server
from tests.server.test_door import LARGE, heads


def test_an_analyst_has_a_share_and_nobody_uses_up_another_s():
    writing = Writing(each=2**21)
    with writing.held("alice", 2**20), writing.held("alice", 2**20):
        for refused in (lambda: writing.check_room("alice"), lambda: writing.held("alice", 1).__enter__()):
            with pytest.raises(TooMany):
                refused()
        writing.check_room("bob")
    with writing.held("alice", 2**30), writing.held("bob", 2**30):
        writing.check_room("carol")
    assert not writing._sizes


def test_what_waits_to_be_read_is_in_a_file_without_a_name_and_closed_when_it_has_left():
    form, service = (
        Form("text/plain", lambda answer, file: file.write(answer.text)),
        SimpleNamespace(writing=Writing(), shares=Shares()),
    )
    short, long = (form.prepare(SimpleNamespace(text=b"a" * size, replayed=False)) for size in (10, 2**20))
    assert not short.file._rolled
    assert long.file._rolled

    async def sent(prepared):
        return b"".join([piece async for piece in prepared.pieces(service, analyst="alice")])

    assert asyncio.run(sent(short)) == b"a" * 10
    assert asyncio.run(sent(long)) == b"a" * 2**20
    assert short.file.closed
    assert long.file.closed
    assert not service.writing._sizes


def test_who_reads_a_long_answer_too_slowly_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(bytes_of, "_GRACE", -100.0)
    form, service = (
        Form("text/plain", lambda answer, file: file.write(answer.text)),
        SimpleNamespace(writing=Writing(), shares=Shares()),
    )

    async def sent():
        prepared = form.prepare(SimpleNamespace(text=b"a" * 2**20, replayed=False))
        async for _ in prepared.pieces(service, analyst="alice"):
            pass

    with pytest.raises(TimeoutError):
        asyncio.run(sent())
    assert not service.writing._sizes


def test_a_disk_that_is_full_is_a_refusal():
    def full(_answer, _file):
        raise OSError

    with pytest.raises(TooMany):
        Form("text/plain", full).prepare(None)


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

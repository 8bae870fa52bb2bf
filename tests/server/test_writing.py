"""Answers on their way are counted: of one analyst, in all, and until they have left."""

import contextlib
import json
import socket

import pytest

from discreet.errors import TooMany
from discreet.server.writing import Writing
from tests.server.conftest import Server
from tests.server.test_door import LARGE, heads


def test_one_analyst_has_a_share_and_all_together_a_limit():
    writing = Writing(most=2**22, each=2**21)
    with writing.held("alice", 2**14), writing.held("alice", 2**14):
        for refused in (lambda: writing.check_room("alice"), lambda: writing.held("alice", 1).__enter__()):
            with pytest.raises(TooMany):
                refused()
        writing.check_room("bob")
        with writing.held("bob", 2**15), pytest.raises(TooMany):
            writing.check_room("carol")
    with writing.held("alice", 2**20), pytest.raises(TooMany):
        writing.check_room("bob")
    assert not writing._sizes


def test_who_does_not_read_an_answer_gets_no_other_and_who_hangs_up_does(tmp_path):
    server = Server(tmp_path, epsilon="1e6").start("--patience", "60", "--seconds-a-minute", "600")
    try:
        assert server.ask(LARGE).status_code == 200
        body = json.dumps(LARGE).encode()
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(heads(f"Authorization: Bearer {server.alice}", f"Content-Length: {len(body)}") + body)
            slow.recv(10)
            for kind in ("application/json", "application/vnd.apache.parquet"):
                assert server.ask(LARGE, Accept=kind).status_code == 429
            assert server.ask(LARGE, key=server.owner).status_code == 200, "others are not kept from theirs"
        answers = (server.ask(LARGE).status_code for _ in range(50))
        assert 200 in answers
    finally:
        with contextlib.suppress(Exception):
            server.stop()

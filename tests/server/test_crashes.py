"""kill -9 in the middle of everything: what was seen was paid for, and a retried id gets the same bytes."""

import time

import httpx
import pytest

from discreet.ledger import Ledger
from discreet.ledger.chain.verify import verify
from tests.server.conftest import Server, work_while_it_dies
from tests.server.mixed_load import mixed_load


def crash(folder, *, kills, clients):
    """Answers by request id, as clients saw them, while the server dies again and again."""
    server = Server(folder, epsilon="1e6").start()
    seen: dict[str, bytes] = {}
    differing = []

    def client(number, done):
        turn = 0
        while not done.is_set():
            name, turn = f"{number}-{turn}", turn + 1
            body = {"sql": f"SELECT COUNT(*) FROM patients WHERE age <> {number} AND age > -{turn}", "epsilon": 0.01}
            while not done.is_set():
                try:
                    response = server.ask(body, **{"Idempotency-Key": name})
                except httpx.TransportError:
                    time.sleep(0.02)
                    continue
                if response.status_code != 200:
                    time.sleep(0.02)
                    continue
                if seen.setdefault(name, response.content) != response.content:
                    differing.append(name)
                break

    work_while_it_dies(server, client, clients=clients, kills=kills, seen=seen)
    again = {name: server.ask({"sql": f"SELECT COUNT(*) FROM patients WHERE age <> {name.split('-')[0]} AND age > -{int(name.split('-')[1]) + 1}", "epsilon": 0.01}, **{"Idempotency-Key": name}).content for name in list(seen)[:20]}  # fmt: skip
    server.stop()
    ledger = Ledger.open(server.config.parent / "ledger.sqlite")
    with ledger._store.transaction() as t:
        paid = t.run("SELECT COUNT(*) FROM ledger_paid WHERE analyst = 'alice'")[0][0]
    sound = verify(ledger).sound
    ledger.close()
    return seen, differing, again, paid, sound


@pytest.mark.slow
def test_a_killed_server_owes_nobody_an_answer_and_gives_none_for_free(tmp_path):
    seen, differing, again, paid, sound = crash(tmp_path, kills=2, clients=8)  # `make soak` does a hundred
    assert len(seen) > 5
    assert differing == []
    assert all(seen[name] == content for name, content in again.items())
    assert paid >= len(seen)
    assert sound


@pytest.mark.slow
def test_analysts_devices_and_strangers_at_once_lose_nothing_when_it_dies(tmp_path):
    assert "none lost; 1 kills" in mixed_load(tmp_path, analysts=6, devices=8, strangers=4, seconds=7, kill_every=4)

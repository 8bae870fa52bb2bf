"""A long question is told as it happens, can be taken back, and costs its price all the same."""

import json
import threading
import time

import httpx
import pytest

from discreet.curator import Asking, open_curator
from discreet.errors import Cancelled
from discreet.samples import write_clinic

FOREVER = "SELECT count(*) FROM range(1000000000) a, range(1000000) b WHERE a.range + b.range = 7"


def test_steps_are_told_and_the_last_line_is_the_answer(server):
    headers = {"Authorization": f"Bearer {server.alice}", "Accept": "application/x-ndjson"}
    body = {"sql": "SELECT COUNT(*) AS n FROM patients WHERE age > 77", "epsilon": 0.01}
    with httpx.stream("POST", f"{server.url}/v1/ask", json=body, headers=headers) as response:
        lines = [json.loads(line) for line in response.iter_lines()]
    assert [line.get("state") for line in lines[:2]] == ["planned", "paid"]
    assert lines[-1]["columns"] == ["n"]
    assert server.ask(body).json() == lines[-1]


def test_a_refusal_is_the_last_line_too(server):
    headers = {"Authorization": f"Bearer {server.alice}", "Accept": "application/x-ndjson"}
    with httpx.stream("POST", f"{server.url}/v1/ask", json={"sql": "SELECT * FROM visits", "epsilon": 1}, headers=headers) as response:  # fmt: skip
        lines = [json.loads(line) for line in response.iter_lines()]
    assert [line["error"]["code"] for line in lines] == ["not-allowed"]


@pytest.fixture
def curator(tmp_path):
    with open_curator(write_clinic(tmp_path, patients=50, visits=200)) as made:
        yield made


def test_a_question_that_is_taken_back_stops_stays_paid_and_is_free_when_asked_again(curator, monkeypatch):
    monkeypatch.setattr("discreet.engines.duck.integers", lambda plan, one: FOREVER)
    monkeypatch.setattr(curator._engine, "bind", lambda plan: None)
    paid, stopped = threading.Event(), []
    asking = Asking(lambda step: paid.set() if step == "paid" else None)

    def ask():
        try:
            curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.5, analyst="alice", asking=asking)
        except Cancelled as error:
            stopped.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert paid.wait(30)
    time.sleep(0.5)
    curator.take_back(asking)
    thread.join(30)
    assert len(stopped) == 1
    monkeypatch.undo()
    assert not curator.ledger.account("alice").frozen
    assert curator.ledger.account("alice").spent.epsilon == 0.5
    assert curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.5, analyst="alice").rows
    assert curator.ledger.account("alice").spent.epsilon == 0.5


def test_taking_back_one_question_disturbs_no_other(curator):
    other = Asking()
    curator.take_back(other)
    assert curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.1).rows
    with pytest.raises(Cancelled):
        curator.ask("SELECT COUNT(*) FROM patients", epsilon=0.1, asking=other)


def test_only_ones_own_questions_can_be_taken_back(server):
    for key in (server.alice, server.owner):
        response = httpx.delete(f"{server.url}/v1/ask/somebody-elses", headers={"Authorization": f"Bearer {key}"})
        assert response.status_code == 204  # whether there is such a question is not told
    assert httpx.delete(f"{server.url}/v1/ask/x").status_code == 401

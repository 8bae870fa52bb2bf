"""Watches over HTTP: looking never pays, steps are told as for any question, and a watch goes on when newer data is served."""

import json

import pyarrow.parquet as pq
import pytest

from discreet.samples import clinic, write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from tests.server.conftest import client_of
from tests.support.opening import open_curator, start_ledger

WATCH = {"sql": "SELECT COUNT(*) FROM visits", "threshold": 10**9, "epsilon": 0.25}


@pytest.fixture
def ask(tmp_path):
    """Ask the application as alice or as the owner."""
    config = write_clinic(tmp_path, patients=50, visits=200)
    keys = KeyStore.open(start_ledger(config))
    bearers = {"alice": keys.create("alice"), "owner": keys.create("olga", role="owner")}
    app = create_app(open_curator(config), keys, config=config, class_ms=0)

    def send(who, path, body=None, **headers):
        return client.post(path, json=body, headers={"Authorization": f"Bearer {bearers[who]}", **headers})

    with client_of(app) as client:
        yield send
    app.state.service.close()


def spent(ask):
    told = ask("owner", "/v1/explain", {"sql": "SELECT COUNT(*) FROM patients", "epsilon": 0.1}).json()
    return {account["account"]: account["spent"]["epsilon"] for account in told["accounts"]}


@pytest.mark.parametrize("path", ["/v1/watch/evaluate", "/v1/watch/recall"])
def test_who_looks_at_a_watch_without_having_paid_is_refused_and_pays_nothing(ask, path):
    for begun in (False, True):
        refused = ask("alice", path, WATCH)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not-answered")
        assert spent(ask) == {"dataset": 0.25 if begun else 0, "alice": 0}
        if not begun:
            assert ask("owner", "/v1/watch", WATCH).json()["evaluations"] == []
            assert ask("owner", "/v1/watch/evaluate", WATCH).json()["evaluations"] == [{"version": 1, "above": False}]


def test_a_watch_goes_on_when_newer_data_is_served_and_costs_nothing_more(ask, tmp_path):
    begun = ask("alice", "/v1/watch", WATCH)
    assert begun.json()["data_version"] == 1
    assert "discreet-replayed" not in begun.headers
    assert ask("alice", "/v1/watch/evaluate", WATCH).headers["discreet-replayed"] == "true"
    pq.write_table(clinic(patients=60, visits=300, seed=1)["visits"], tmp_path / "visits.parquet")
    assert ask("owner", "/v1/refresh").json()["version"] == 2
    assert ask("alice", "/v1/watch/recall", WATCH).json()["evaluations"] == [{"version": 1, "above": False}]
    newer = ask("alice", "/v1/watch/evaluate", WATCH).json()
    assert newer == {
        "receipt": begun.json()["receipt"],
        "data_version": 2,
        "evaluations": [{"version": 1, "above": False}, {"version": 2, "above": False}],
        "ended": None,
    }
    assert spent(ask) == {"dataset": 0.25, "alice": 0.25}


def test_steps_are_told_as_they_happen(ask):
    def states(path):
        lines = ask("alice", path, WATCH, accept="application/x-ndjson").text.splitlines()
        assert "evaluations" in json.loads(lines[-1])
        return [json.loads(line)["state"] for line in lines[:-1]]

    assert states("/v1/watch") == ["planned", "paid"]
    assert states("/v1/watch/evaluate") == ["planned"]
    assert states("/v1/watch") == ["planned", "asked before"]


def test_what_is_no_watch_is_refused_with_what_is_wrong(ask):
    for wrong in (
        {"threshold": "5"},
        {"threshold": None},
        {"threshold": True},
        {"run": 1.5},
        {"run": 0},
        {"mechanism": "laplace"},
    ):
        assert ask("alice", "/v1/watch", {**WATCH, **wrong}).status_code == 422, wrong
    assert spent(ask) == {"dataset": 0, "alice": 0}

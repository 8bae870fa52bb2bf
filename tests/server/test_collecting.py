"""Collections over HTTP: devices without keys, estimates with one, and no acknowledged report is ever lost."""

import base64
import contextlib
import json
import sqlite3
import time

import httpx
import numpy as np
import pytest

from discreet.catalog import load_catalog
from discreet.local import Client, Task
from discreet.local.collector.collection_records import insert_record
from discreet.local.collector.report_store import ReportStore
from discreet.local.shuffling.amplification import epsilon_after_shuffling
from discreet.local.tasks.messages import write_batch
from discreet.store import open_store
from tests.local.test_collector import EMOJI, WRONG
from tests.server.conftest import Server, work_while_it_dies

TASK = Task.frequency("emoji", domain=EMOJI, epsilon=4.0)
BYTES = {"Content-Type": "application/octet-stream"}


def publish(server, task=TASK, **details):
    body = {"spec": dict(task.spec), **details}
    return httpx.post(f"{server.url}/v1/tasks", json=body, headers={"Authorization": f"Bearer {server.owner}"})


def send(server, message, task=TASK, *, through=httpx, **headers):
    return through.post(f"{server.url}/v1/tasks/{task.id}/reports", content=message, headers={**BYTES, **headers})


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("collecting")).start()
    assert publish(made).status_code == 201
    yield made
    made.stop()


def test_only_the_owner_begins_a_collection(served):
    for key in (served.alice, "dk_no_key"):
        bearer = {"Authorization": f"Bearer {key}"}
        response = httpx.post(f"{served.url}/v1/tasks", json={"spec": dict(TASK.spec)}, headers=bearer)
        assert response.status_code in {401, 403}


def test_a_device_fetches_the_task_without_a_key_checks_its_name_and_reports(served):
    facts = httpx.get(f"{served.url}/v1/tasks/emoji").json()
    task = Task(facts["spec"])
    assert task.id == facts["id"] == TASK.id
    before = served.get(f"/v1/tasks/{TASK.id}/estimate").json().get("reports", 0)
    response = send(served, Client(task).report("😂"))
    assert response.status_code == 202
    assert response.json() == {"reports": 1, "refused": []}
    after = served.get(f"/v1/tasks/{TASK.id}/estimate").json()
    assert after["reports"] == before + 1
    assert [row["value"] for row in after["estimates"]] == EMOJI
    assert all(row["low"] < row["estimate"] < row["high"] for row in after["estimates"])


@pytest.mark.parametrize("code", [*WRONG, "replayed"])
def test_a_wrong_message_is_refused_by_name(served, code):
    good = Client(TASK).report("😀")
    send(served, good)
    bad = good if code == "replayed" else WRONG[code](Client(TASK).report("😂"))
    counted = served.get(f"/v1/tasks/{TASK.id}/estimate").json()["reports"]
    response = send(served, bad)
    assert response.status_code in {409, 422}
    assert response.json()["error"]["code"] == code
    after = served.get(f"/v1/tasks/{TASK.id}/estimate").json()
    assert after["reports"] == counted
    assert after["refused"][code] >= 1


def test_several_messages_come_back_with_what_became_of_each(served):
    good = [Client(TASK).report("🥰") for _ in range(3)]
    body = {"messages": [base64.b64encode(one).decode() for one in [*good, good[0]]]}
    response = httpx.post(f"{served.url}/v1/tasks/{TASK.id}/reports", json=body)
    assert response.json() == {"reports": 3, "refused": [None, None, None, "replayed"]}


def owner(server):
    return {"Authorization": f"Bearer {server.owner}"}


@pytest.fixture(scope="module")
def shuffler(served):
    body = {"name": "mixer", "role": "shuffler"}
    key = httpx.post(f"{served.url}/v1/keys", json=body, headers=owner(served)).json()["key"]
    return {"Authorization": f"Bearer {key}"}


def test_a_shuffled_batch_is_taken_from_the_shuffler_only_and_once_and_the_estimate_says_what_it_hides(
    served, shuffler
):
    asked = Task.frequency("hidden", domain=EMOJI, epsilon=2.0, protocol="grr")
    publish(served, asked)
    batch = write_batch(asked, np.arange(3000, dtype=np.uint64) % np.uint64(3))
    place = f"{served.url}/v1/tasks/hidden/batches"
    assert send(served, batch, asked).status_code == 422
    for key in ({}, {"Authorization": f"Bearer {served.alice}"}, owner(served)):
        assert httpx.post(place, content=batch, headers=key).status_code in {401, 403}
    assert httpx.post(place, content=batch, headers=shuffler).json() == {"reports": 3000}
    again = httpx.post(place, content=batch, headers=shuffler)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "replayed")
    facts = served.get("/v1/tasks/hidden/estimate").json()
    assert facts["reports"] == 3000
    expected = epsilon_after_shuffling(asked, 3000, 1e-6)
    assert facts["shuffled"] == {"reports": 3000, "least_crowd": 3000, "epsilon": expected, "delta": 1e-6}
    assert 0 < expected < 0.5
    part = write_batch(asked, np.zeros(10, np.uint64))
    httpx.post(place, params={"crowd": 500}, content=part, headers=shuffler)
    facts = served.get("/v1/tasks/hidden/estimate?delta=0.001").json()["shuffled"]
    assert (facts["least_crowd"], facts["delta"]) == (500, 0.001)
    linkable = Task.frequency("repeated", domain=EMOJI, epsilon=2.0, protocol="grr", memoize=True)
    publish(served, linkable)
    batch = write_batch(linkable, np.zeros(3000, np.uint64))
    refused = httpx.post(f"{served.url}/v1/tasks/repeated/batches", content=batch, headers=shuffler)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad-task")


def test_a_shuffler_does_nothing_but_send_batches(served, shuffler):
    for path in ("/v1/budget", "/v1/tasks/emoji/estimate", "/v1/collections", "/metrics"):
        assert httpx.get(f"{served.url}{path}", headers=shuffler).status_code == 403


def test_a_collection_is_closed_and_deleted_by_its_owner(served):
    asked = Task.frequency("brief", domain=EMOJI, epsilon=2.0)
    publish(served, asked)
    place = f"{served.url}/v1/tasks/brief"
    assert send(served, Client(asked).report("😀"), asked).status_code == 202
    alice = {"Authorization": f"Bearer {served.alice}"}
    for refused in (
        httpx.put(f"{place}/closed", headers=alice),
        httpx.delete(place, headers=alice),
        httpx.delete(place),
    ):
        assert refused.status_code in {401, 403}
    assert httpx.put(f"{place}/closed", headers=owner(served)).status_code == 204
    late = send(served, Client(asked).report("😀"), asked)
    assert (late.status_code, late.json()["error"]["code"]) == (410, "task-closed")
    assert served.get("/v1/tasks/brief/estimate").json()["reports"] == 1
    assert httpx.get(place).json()["state"] == "closed"
    assert httpx.delete(place, headers=owner(served)).status_code == 204
    assert httpx.get(place).status_code == send(served, b"", asked).status_code == 404
    assert httpx.put(f"{place}/closed", headers=owner(served)).status_code == 404


@pytest.mark.parametrize("caps", [None, {}, {"per_epoch": "x", "lifetime": 1}, {"per_epoch": 1, "lifetime": -1}])
def test_bad_caps_are_refused_when_they_are_published_and_never_stop_the_list(served, caps):
    body = {"spec": {**TASK.spec, "name": "bad", "caps": caps}}
    response = httpx.post(f"{served.url}/v1/tasks", json=body, headers=owner(served))
    assert (response.status_code, response.json()["error"]["code"]) == (422, "bad-task")
    with open_store(load_catalog(served.config).reports).transaction() as t:
        t.run("DELETE FROM collection_tasks WHERE name = 'bad'")
        insert_record(t, "0" * 32, "bad", json.dumps(body["spec"]), expires=None)
    listed = httpx.get(f"{served.url}/v1/tasks")
    assert listed.status_code == 200
    assert "bad" not in [facts["name"] for facts in listed.json()["tasks"]]
    assert served.get("/v1/collections", key=served.owner).json()["unsound"] == ["bad"]
    assert served.get("/v1/collections").status_code == 403


def test_messages_without_a_key_never_touch_the_ledgers_database(served):
    catalog = load_catalog(served.config)
    assert not open_store(catalog.ledger).has("collections")
    before = _rows_by_table(catalog.ledger)
    for _ in range(20):
        assert send(served, Client(TASK).report("😀")).status_code == 202
    assert _rows_by_table(catalog.ledger) == before


def _rows_by_table(ledger):
    """How many, in every table: health rewrites one row, and nothing else may come or go."""
    with contextlib.closing(sqlite3.connect(ledger)) as books:
        names = [name for (name,) in books.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: books.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names}


def test_estimates_need_a_key_and_unknown_tasks_are_not_found(served):
    assert httpx.get(f"{served.url}/v1/tasks/{TASK.id}/estimate").status_code == 401
    assert served.get("/v1/tasks/nobody/estimate").status_code == 404
    assert httpx.get(f"{served.url}/v1/tasks/nobody").status_code == 404


def test_a_rehearsal_adds_up_and_leaves_nothing_behind(served):
    before = served.get(f"/v1/tasks/{TASK.id}/estimate").json()["reports"]
    bearer = {"Authorization": f"Bearer {served.alice}"}
    place = f"{served.url}/v1/tasks/{TASK.id}/rehearsal"
    first = httpx.post(place, json={"truth": [500, 300, 200]}, headers=bearer).json()
    again = {"truth": [500, 300, 200], "tally": first["tally"], "people_before": 1000}
    second = httpx.post(place, json=again, headers=bearer).json()
    assert (first["reports"], second["reports"]) == (1000, 2000)
    assert sum(second["tally"]) == 2000
    assert abs(second["estimates"][0]["estimate"] - 1000) < 200
    assert served.get(f"/v1/tasks/{TASK.id}/estimate").json()["reports"] == before


def test_numbers_for_devices(served):
    assigned = Task.frequency("sites", domain=range(50), epsilon=2.0, protocol="olh", assigned=True)
    publish(served, assigned)
    slots = [httpx.post(f"{served.url}/v1/tasks/{assigned.id}/slots").json()["slot"] for _ in range(2)]
    assert [int(slot[:8], 16) for slot in slots] == [0, 1]
    assert send(served, Client(assigned, slot=slots[1]).report(7), assigned).status_code == 202
    assert send(served, Client(assigned, slot=slots[1][:8] + "0" * 31 + "1").report(7), assigned).status_code == 422
    assert httpx.post(f"{served.url}/v1/tasks/{TASK.id}/slots").status_code == 422


def lose_nothing(folder, *, kills, clients):
    """Acknowledged messages, and what is in the books afterwards."""
    server = Server(folder).start()
    publish(server)
    acknowledged, http = [], httpx.Client(timeout=30)

    def device(_, done):
        while not done.is_set():
            message = Client(TASK).report("😂")
            while not done.is_set():
                with contextlib.suppress(httpx.TransportError):
                    response = send(server, message, through=http)
                    if response.status_code in {202, 409}:  # 409: it was counted, and the acknowledgement was lost
                        acknowledged.append(message)
                        break
                time.sleep(0.02)

    work_while_it_dies(server, device, clients=clients, kills=kills, seen=acknowledged)
    http.close()
    server.stop()
    books = ReportStore.from_catalog(load_catalog(server.config))
    counted = books.collector(TASK).reports
    again = books.receive(TASK, acknowledged).reports
    books.close()
    return acknowledged, counted, again


@pytest.mark.slow
def test_a_killed_collector_loses_no_acknowledged_message(tmp_path):
    acknowledged, counted, again = lose_nothing(tmp_path, kills=2, clients=6)  # `make soak` does a hundred
    assert len(acknowledged) > 5
    assert len(acknowledged) <= counted <= len(acknowledged) + 6, "one on its way for each client, at most"
    assert again == 0, "an acknowledged message was not in the books"

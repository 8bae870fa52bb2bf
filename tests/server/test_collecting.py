"""Collections over HTTP: devices without keys, estimates with one, and no acknowledged report is ever lost."""

import base64
import contextlib
import time

import httpx
import pytest

from discreet.local import Client, Task
from discreet.local.books import CollectorBooks
from discreet.local.wire import write_batch
from tests.local.test_collector import EMOJI, WRONG
from tests.server.conftest import Server, work_while_it_dies

TASK = Task.frequency("emoji", domain=EMOJI, epsilon=4.0)
BYTES = {"Content-Type": "application/octet-stream"}


def publish(server, task=TASK):
    body = {"spec": dict(task.spec)}
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


def test_a_shuffled_batch_is_taken_from_the_owner_only(served):
    import numpy as np

    batch = write_batch(TASK, np.array([0, 1, 2, 1], np.uint64))
    assert send(served, batch).status_code == 422
    assert send(served, batch, Authorization=f"Bearer {served.alice}").status_code == 422
    assert send(served, batch, Authorization=f"Bearer {served.owner}").json()["reports"] == 4


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
    assert slots == [0, 1]
    assert send(served, Client(assigned, slot=1).report(7), assigned).status_code == 202
    assert send(served, Client(assigned, slot=1).report(7), assigned).status_code == 422
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
    books = CollectorBooks.open(str(server.config.parent / "ledger.sqlite"))
    counted = books.collector(TASK).reports
    again = books.receive(TASK, acknowledged).reports
    books.close()
    return acknowledged, counted, again


@pytest.mark.slow
def test_a_killed_collector_loses_no_acknowledged_message(tmp_path):
    acknowledged, counted, again = lose_nothing(tmp_path, kills=3, clients=6)
    assert len(acknowledged) > 10
    assert len(acknowledged) <= counted <= len(acknowledged) + 6, "one on its way for each client, at most"
    assert again == 0, "an acknowledged message was not in the books"

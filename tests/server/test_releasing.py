"""Synthetic data over HTTP: priced before, paid once, seen by who paid, and refused by name."""

import io
import json

import httpx
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from discreet.answering.release_files import MEDIA_TYPE, read_release
from discreet.server.keys import KeyBook
from discreet.server.releasing import MOST_ROWS
from discreet.synthetic.release import SyntheticRelease
from tests.opening import CAP
from tests.server.conftest import PATIENCE, Server

WANTED = {"source": "SELECT sex, age FROM patients", "rho": 0.02, "workload": 2, "name": "patients-2026"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One whose answers leave at once: a run is given half a minute, since so many looks may be needed."""
    started = Server(tmp_path_factory.mktemp("releasing")).start("--class-ms", "0")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def bob(server):
    book = KeyBook.open(server.config.parent / "ledger.sqlite")
    key = book.create("bob", cap=CAP)
    book.close()
    return key


def send(server, body, *, key=None, **headers):
    bearer = {"Authorization": f"Bearer {key or server.alice}"}
    return httpx.post(f"{server.url}/v1/synthesize", json=body, headers={**bearer, **headers}, timeout=PATIENCE)


def get(server, path, *, key=None, **headers):
    bearer = {"Authorization": f"Bearer {key or server.alice}"}
    return httpx.get(f"{server.url}/v1/releases{path}", headers={**bearer, **headers}, timeout=PATIENCE)


def spent(server):
    return [account["spent"] for account in server.get("/v1/budget", key=server.owner).json()["accounts"]]


@pytest.fixture(scope="module")
def made(server):
    return send(server, WANTED, Accept="application/x-ndjson", **{"Idempotency-Key": "once"})


def test_a_dry_run_says_the_price_and_spends_nothing(server):
    before = spent(server)
    plan = send(server, {**WANTED, "dry": True}).json()
    assert (plan["columns"]["sex"], plan["tables"], plan["rho"]) == (2, 1, 0.02)
    assert set(plan["charged"]) == {"dataset", "alice"}
    assert spent(server) == before


def test_it_is_told_as_it_happens_but_for_its_looks_and_paid_for_once(server, made):
    lines = [json.loads(line) for line in made.text.splitlines()]
    states = [line["state"] for line in lines[:-1]]
    assert [state for state in states if state != "reading"] == ["planned", "paid"]
    assert (lines[-1]["name"], lines[-1]["kind"], lines[-1]["method"]) == ("patients-2026", "synthesize", "aim")
    bill = spent(server)
    for name in ("once", "twice"):
        again = send(server, WANTED, **{"Idempotency-Key": name})
        assert again.headers["Discreet-Replayed"] == "true"
        assert again.json() | {"receipt": None} == lines[-1] | {"receipt": None}
    assert spent(server) == bill
    assert send(server, {**WANTED, "rho": 0.03}, **{"Idempotency-Key": "once"}).status_code == 409


def test_a_release_and_its_rows_are_seen_by_who_paid_and_by_the_owner_alone(server, made, bob):
    for key in (server.alice, server.owner):
        assert get(server, "", key=key).json() == {"releases": ["patients-2026"]}
        assert get(server, "/patients-2026", key=key).json()["looks"] == json.loads(made.text.splitlines()[-1])["looks"]
    rows = pa_csv.read_csv(io.BytesIO(get(server, "/patients-2026/rows?count=70").content))
    assert (rows.num_rows, rows.column_names) == (70, ["sex", "age"])
    table = pq.read_table(
        io.BytesIO(get(server, "/patients-2026/rows", Accept="application/vnd.apache.parquet").content)
    )
    stored, name, _ = read_release(get(server, "/patients-2026", Accept=MEDIA_TYPE).content)
    assert (table.num_rows, name) == (round(SyntheticRelease(stored).total), "patients-2026")
    assert get(server, "", key=bob).json() == {"releases": []}
    for path in ("/patients-2026", "/patients-2026/rows"):
        theirs, nobodys = get(server, path, key=bob), get(server, path.replace("2026", "none"), key=bob)
        assert (theirs.status_code, theirs.json()) == (404, nobodys.json())


def test_what_is_refused_is_refused_by_name_before_it_is_paid_for(server, made):
    before = spent(server)
    for change, code in (
        ({"method": "none"}, "bad-input"),
        ({"source": "SELECT sex FROM none"}, "unknown-name"),
        ({"epsilon": 1.0}, "bad-input"),
        ({"workload": 9}, "bad-input"),
        ({"workload": 1}, "name-taken"),
        ({"rho": 1e4, "name": "dear"}, "budget-exceeded"),
        ({"name": "a/b"}, "bad-input"),
        ({"discover": {"zip": 0.1}}, "bad-input"),
        ({"name": None}, "bad-input"),
    ):
        refused = send(server, {**WANTED, **change})
        assert refused.json()["error"]["code"] == code, change
    assert get(server, f"/patients-2026/rows?count={MOST_ROWS + 1}").status_code == 422
    assert spent(server) == before

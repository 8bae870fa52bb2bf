"""Synthetic data and tables over HTTP: priced before, paid once, seen by who paid, and refused by name; and one suite for both faces."""

import io
import json

import httpx
import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import workloads
from discreet.errors import DiscreetError
from discreet.measurement.release_files import MEDIA_TYPE, read_release
from discreet.server.auth.keys import KeyStore
from discreet.server.jobs.recent_releases import MOST, RecentReleases
from discreet.server.routes.releases import MOST_ROWS
from discreet.synthetic.synthetic_release import SyntheticRelease
from tests.server.conftest import PATIENCE, Server
from tests.support.opening import CAP, open_curator

WANTED = {"source": "SELECT sex, age FROM patients", "rho": 0.02, "workload": 2, "name": "patients-2026"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One whose answers leave at once: a run is given half a minute, since so many looks may be needed."""
    made = Server(tmp_path_factory.mktemp("releasing"))
    with made.config.open("a") as catalog:
        catalog.write('\n[trees.house]\ntable = "wards"\nlevels = ["floor", "ward"]\n')
    started = made.start("--class-ms", "0")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def bob(server):
    book = KeyStore.open(server.config.parent / "ledger.sqlite")
    key = book.create("bob", cap=CAP)
    book.close()
    return key


def send(server, body, *, key=None, to="synthesize", **headers):
    bearer = {"Authorization": f"Bearer {key or server.alice}"}
    return httpx.post(f"{server.url}/v1/{to}", json=body, headers={**bearer, **headers}, timeout=PATIENCE)


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
    assert {column["column"] for column in plan["predicted"]["columns"]} == {"sex", "age"}
    assert plan["predicted"]["tables"][0]["width"] == 2
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
        assert (
            get(server, "/patients-2026", key=key).json()["measurements"]
            == json.loads(made.text.splitlines()[-1])["measurements"]
        )
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
        ({"rows_about": 500}, "bad-input"),
        ({"workload": 1}, "name-taken"),
        ({"rho": 1e4, "name": "dear"}, "budget-exceeded"),
        ({"name": "a/b"}, "bad-input"),
        ({"discover": {"zip": 0.1}}, "unknown-name"),
        ({"discover": {"sex": 0}}, "bad-input"),
        ({"name": None}, "bad-input"),
    ):
        refused = send(server, {**WANTED, **change})
        assert refused.json()["error"]["code"] == code, change
    assert get(server, f"/patients-2026/rows?count={MOST_ROWS + 1}").status_code == 422
    assert spent(server) == before


TABLES = {
    "source": "SELECT sex, age FROM patients",
    "rho": 0.02,
    "workload": [{"tables": 1}, {"families": {"sex": "points", "age": "ranges"}, "weight": 0.5}],
    "name": "tables-2026",
}


def test_tables_are_planned_paid_for_once_and_told_as_it_happens(server):
    before = spent(server)
    plan = send(server, {**TABLES, "dry": True}, to="tabulate").json()
    assert [table["columns"] for table in plan["tables"]] == [["sex"], ["age"], ["sex", "age"]]
    assert all(table["within"] > 0 and table["queries"] > 1 for table in plan["tables"])
    assert (plan["rho"], plan["asked_before"], spent(server)) == (0.02, False, before)
    lines = send(server, TABLES, to="tabulate", Accept="application/x-ndjson").text.splitlines()
    states = [json.loads(line)["state"] for line in lines[:-1]]
    assert [state for state in states if state != "reading"] == ["planned", "paid"]
    assert (json.loads(lines[-1])["kind"], json.loads(lines[-1])["strategy"]) == ("tabulate", plan["strategy"])
    bill = spent(server)
    assert send(server, TABLES, to="tabulate").headers["Discreet-Replayed"] == "true"
    assert (spent(server) == bill) > (bill == before)
    assert get(server, "/tables-2026").json()["kind"] == "tabulate"
    assert get(server, "/tables-2026/rows").json()["error"]["code"] == "bad-input"


def test_a_workload_that_is_none_is_refused_before_it_is_paid_for(server):
    before = spent(server)
    for workload in (
        *([], [{}], [{"tables": 2, "families": {}}], [{"tables": 9}]),
        *([{"families": {"sex": "mean"}}], [{"families": {"sex": [[1.0], [1.0, 2.0]]}}], [{"families": {"sex": []}}]),
        *([{"tables": 1, "weight": 0}], [{"tables": 1, "weight": "1.0"}], [{"families": {"sex": [[1.0]]}}]),
    ):
        refused = send(server, {**TABLES, "workload": workload}, to="tabulate")
        assert refused.json()["error"]["code"] == "bad-input", workload
    assert send(server, {**TABLES, "invariant": "sex"}, to="tabulate").json()["error"]["code"] == "bad-input"
    assert spent(server) == before


@pytest.fixture(params=["near", "far"])
def face(request, server):
    if request.param == "near":
        with open_curator(server.config) as curator:
            yield curator.as_analyst("alice")
    else:
        with discreet.connect(server.url, key=server.alice) as curator:
            yield curator


ROWS = "SELECT sex, age FROM patients WHERE age > :least"


def test_synthetic_data_is_planned_made_found_and_the_same_wherever_it_is_asked_for(face):
    wanted = {"rho": 0.02, "workload": [("sex", "age")], "bins": {"age": 8}, "parameters": {"least": 20}}
    plan = face.plan_synthesis(ROWS, **wanted)
    assert (plan.columns, plan.tables, plan.rho) == ({"sex": 2, "age": 8}, 1, 0.02)
    assert [column.column for column in plan.predicted.columns] == ["sex", "age"]
    fewer = face.plan_synthesis(ROWS, rows_about=50_000, **wanted).predicted
    assert fewer.rows_about == 50_000
    assert fewer.tables[0].least_error > plan.predicted.tables[0].least_error
    assert set(plan.charged) <= {"dataset", "alice"}
    made = face.synthesize(ROWS, name="grown", **wanted)
    again = face.release("grown")
    assert (made.name, again.name, again.replayed) == ("grown", "grown", True)
    assert again.stored == made.stored
    assert made.receipt
    assert face.synthesize(ROWS, name="grown", **wanted).replayed
    assert face.plan_synthesis(ROWS, **wanted).asked_before
    assert "grown" in face.releases()


def test_what_was_paid_for_is_reused_near_and_far_by_who_paid_and_by_nobody_else(face, server, bob):
    wanted = {"rho": 0.001, "workload": 2, "bins": {"age": 5}, "parameters": {"least": 40}}
    face.synthesize(ROWS, name="paid for", **wanted)
    plan = face.plan_synthesis(ROWS, name="reusing", reuse=True, **wanted)
    made = face.synthesize(ROWS, name="reusing", reuse=True, **wanted)
    assert (plan.reused, made.reused) == (("paid for",), ["paid for"])
    assert face.synthesize(ROWS, name="reusing", reuse=True, **wanted).replayed
    assert get(server, "/reusing").json()["reused"] == ["paid for"]
    assert "reused releases</dt><dd>paid for" in get(server, "/reusing/report", Accept="text/html").text
    with discreet.connect(server.url, key=bob) as other:
        assert other.plan_synthesis(ROWS, reuse=True, **wanted).reused == ()


def test_tables_are_planned_made_found_and_the_same_wherever_they_are_asked_for(face):
    asked = workloads.marginals(2) + workloads.means("age", list(range(8))).weighted(0.1) + workloads.total()
    options = {"epsilon": 0.3, "delta": 1e-9, "bins": {"age": 8}, "parameters": {"least": 30}}
    plan = face.plan_tables(ROWS, asked, **options)
    made = face.tabulate(ROWS, asked, name="means", **options)
    assert (plan.strategy, len(plan.tables)) == (made.plan.strategy.name, 3)
    assert [table.within for table in plan.tables] == pytest.approx([width.max() for width in made.errors(0.95)])
    found = face.release("means")
    assert found.stored == made.stored
    assert np.array_equal(found.table("sex", "age"), made.table("sex", "age"))
    assert face.tabulate(ROWS, asked, name="means", **options).replayed


def test_tables_by_region_are_the_same_wherever_they_are_asked_for(face):
    rows, options = "SELECT ward, cost > 50 AS is_dear FROM visits", {"tree": "house", "rho": 0.005}
    plan = face.plan_tables(rows, **options)
    assert [(table.columns, table.queries) for table in plan.tables] == [
        (("all", "is_dear"), 2), (("floor", "is_dear"), 6), (("ward", "is_dear"), 6),
    ]  # fmt: skip
    made = face.tabulate(rows, name="house", **options)
    found = face.release("house")
    assert found.stored == made.stored
    assert (found.table("floor").sum(axis=0) == found.table("all")[0]).all()
    assert [tree["levels"] for tree in face.catalog().trees] == [["floor", "ward"]]
    with pytest.raises(TypeError):
        face.tabulate(rows, invariant="floor", **options)


def test_what_is_refused_near_is_refused_far_by_the_same_name(face):
    for code, ask in (
        ("bad-input", lambda: face.synthesize("patients", rho=0.1, epsilon=1)),
        ("needs-values", lambda: face.plan_synthesis("patients", rho=0.1)),
        ("needs-delta", lambda: face.plan_tables(ROWS, workloads.marginals(1), epsilon=1, parameters={"least": 1})),
        ("bad-input", lambda: face.tabulate(ROWS, workloads.marginals(5), rho=0.1, parameters={"least": 1})),
        ("bad-input", lambda: face.tabulate(ROWS, 3, rho=0.1, parameters={"least": 1})),
        ("unknown-name", lambda: face.tabulate(ROWS, workloads.ranges("none"), rho=0.1, parameters={"least": 1})),
        ("not-answered", lambda: face.release("no such name")),
    ):
        with pytest.raises(DiscreetError) as caught:
            ask()
        assert caught.value.code == code


def test_what_the_owner_publishes_is_seen_by_all_without_a_price_and_is_on_the_card(server, made, bob):
    before, place = spent(server), f"{server.url}/v1/releases/patients-2026/published"
    anybody = httpx.get(f"{server.url}/v1/published/patients-2026", timeout=PATIENCE)
    assert (anybody.status_code, anybody.json()["error"]["code"]) == (404, "not-answered")
    assert httpx.put(place, headers={"Authorization": f"Bearer {server.alice}"}).status_code == 403
    with discreet.connect(server.url, key=server.owner) as owner:
        owner.publish("patients-2026")
        owner.publish("patients-2026", given_by="alice")
        with pytest.raises(DiscreetError, match="No finished release"):
            owner.publish("patients-2026", given_by="bob")
    assert get(server, "", key=bob).json() == {"releases": ["patients-2026"]}
    assert get(server, "/patients-2026/rows?count=3", key=bob).text.count("\n") == 4
    told = httpx.get(f"{server.url}/v1/published/patients-2026", headers={"Accept": MEDIA_TYPE}, timeout=PATIENCE)
    stored, name, _ = read_release(told.content)
    assert (name, stored) == (
        "patients-2026",
        read_release(get(server, "/patients-2026", Accept=MEDIA_TYPE).content)[0],
    )
    card = httpx.get(f"{server.url}/v1/transparency", timeout=PATIENCE).json()
    assert [release["name"] for release in card["published"]] == ["patients-2026"]
    assert spent(server) == before


def test_how_good_it_is_is_told_in_json_and_as_a_page_to_who_paid(server, made, bob):
    facts = get(server, "/patients-2026/report?level=0.9").json()
    assert [bar["column"] for bar in facts["bars"]] == ["sex", "age"]
    assert (facts["level"], len(facts["pairs"]), facts["pairs"][0]["columns"]) == (0.9, 1, ["sex", "age"])
    told = get(server, "/patients-2026/report", Accept="text/html")
    assert told.headers["content-type"].startswith("text/html")
    assert "patients-2026" in told.text
    assert get(server, "/patients-2026/report?level=2").status_code == 422


def test_a_model_is_fitted_once_for_many_requests_and_few_are_kept(release_bytes):
    recent = RecentReleases()
    first, same = SyntheticRelease(release_bytes), SyntheticRelease(release_bytes)
    assert recent.the_same_as(first) is first
    assert recent.the_same_as(same) is first
    for number in range(MOST):
        other = SyntheticRelease(release_bytes)
        other.stored = b"%d" % number
        recent.the_same_as(other)
    assert recent.the_same_as(same) is same


@pytest.fixture(scope="module")
def release_bytes(server, made):
    return read_release(get(server, "/patients-2026", Accept=MEDIA_TYPE).content)[0]


def test_values_that_nobody_declared_are_found_from_afar_for_a_price_that_was_told_before(server):
    asked = {"source": "SELECT zip, sex FROM patients", "rho": 0.02, "workload": 1, "discover": {"zip": 5}}
    with discreet.connect(server.url, key=server.owner) as far:
        before = far.budget()[0].spent.epsilon
        plan = far.plan_synthesis(**asked)
        assert (plan.finding, plan.columns) == ({"zip": 5.0}, {"sex": 2})
        assert far.budget()[0].spent.epsilon == before
        release = far.synthesize(**asked)
        assert set(release.sample(50)["zip"].to_pylist()) <= set(release.domain.column("zip").labels)
        assert far.budget()[0].spent.epsilon > before + 5
        again = far.plan_synthesis(**asked)
        assert (again.finding, again.asked_before) == ({}, True)


def test_real_numbers_beside_a_release_are_for_the_owner_alone_and_who_looked_is_in_the_books(server, made, bob):
    before, place = spent(server), "releases/patients-2026/comparison"
    looks = {"": {}, "/pair": {"columns": ["age", "sex"]}, "/price": {"epsilon": 1.0}}
    for path, body in looks.items():
        for key in (server.alice, bob):  # who paid for the release, too
            refused = send(server, body, key=key, to=place + path)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
            assert "real" not in refused.text
        assert send(server, body, key="dk_nobody", to=place + path).status_code == 401
        seen = send(server, body, key=server.owner, to=place + path)
        assert seen.json()["not_private"] == "Not private: do not show, do not publish."
        assert seen.headers["cache-control"] == "no-store"
    assert send(server, {"epsilon": -1.0}, key=server.owner, to=f"{place}/price").status_code == 422
    entries = server.get("/v1/ledger?last=200", key=server.owner).json()["entries"]
    noted = [entry["body"] for entry in entries if entry["kind"] == "compare"]
    assert len(noted) == len(looks)
    assert {body["by"].split()[0] for body in noted} == {"key"}
    assert spent(server) == before

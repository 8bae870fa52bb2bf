"""Several datasets behind one door: each with its own keys, books and page, and nothing of one reaches another."""

import json
import re
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import httpx
import pandas
import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

import discreet
from discreet.errors import NoAccess, UnknownDataset
from discreet.samples import write_clinic
from discreet.server.http import uvicorn_server
from discreet.server.http.server_limits import Limits
from discreet.server.routes.datasets import Datasets
from tests.server.browsing import check_accessible
from tests.server.conftest import Server, client_of
from tests.support.commands import run
from tests.support.opening import open_curator, start_ledger

COUNT = "SELECT COUNT(*) AS n FROM visits"
WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
NAMES = ("clinic", "spa shop")


class Several:
    """One process, and of each dataset what a `Server` knows: its keys, its address, how to ask it."""

    def __init__(self, folder):
        self.datasets = {name: Server(folder / name) for name in NAMES}
        self.clinic, self.shop = self.datasets.values()
        self.root = self.clinic.url

    def start(self):
        self.clinic.start(str(self.shop.config), "--link")
        for name, dataset in self.datasets.items():
            dataset.url = f"{self.root}/d/{name.replace(' ', '%20')}"
        return self

    def stop(self):
        self.clinic.stop()


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    made = Several(tmp_path_factory.mktemp("several")).start()
    yield made
    made.stop()
    folders = [dataset.config.parent for dataset in made.datasets.values()]
    assert [file for folder in folders for file in folder.glob("*-wal")] == [], "asked to stop, it closed all books"
    for dataset in made.datasets.values():  # asked to stop, it left the books of all sound
        run("ledger", "verify", "--config", dataset.config)


def spent(dataset):
    return [account["spent"]["epsilon"] for account in dataset.get("/v1/budget", key=dataset.owner).json()["accounts"]]


def test_a_key_opens_the_dataset_that_it_was_made_for_and_no_other(several):
    for here, there in ((several.clinic, several.shop), (several.shop, several.clinic)):
        for path in ("/v1/budget", "/v1/ledger", "/v1/keys", "/metrics", "/session"):
            assert here.get(path, key=there.owner).status_code == 401
        assert here.ask({"sql": COUNT, "epsilon": 0.1}, key=there.alice).status_code == 401
        assert httpx.post(f"{here.url}/session", json={"key": there.alice}).status_code == 401
        assert here.get("/v1/budget").status_code == 200


def test_a_question_is_paid_for_where_it_is_asked(several):
    before = {name: spent(dataset) for name, dataset in several.datasets.items()}
    body, name = {"sql": WARDS, "epsilon": 0.1}, {"Idempotency-Key": "the same in both"}
    first = several.clinic.ask(body, **name)
    assert first.status_code == 200
    assert spent(several.clinic) != before["clinic"]
    assert spent(several.shop) == before[NAMES[1]]
    assert several.shop.get("/v1/history").json()["queries"] == []
    second = several.shop.ask(body, **name)
    assert second.headers.get("discreet-replayed") != "true"
    assert second.json()["receipt"] != first.json()["receipt"]
    heads = {httpx.get(f"{dataset.url}/v1/transparency").json()["head"] for dataset in several.datasets.values()}
    assert len(heads) == 2
    elsewhere = several.clinic.ask({**body, "dataset": NAMES[1]})
    assert (elsewhere.status_code, elsewhere.json()["error"]["code"]) == (404, "unknown-dataset")


def test_near_and_far_are_one_face_under_a_prefix(several):
    for name, dataset in several.datasets.items():
        with discreet.connect(dataset.url, key=dataset.alice) as far, open_curator(dataset.config) as near:
            answer = far.ask(COUNT, epsilon=0.2)
            assert answer.rows == near.as_analyst("alice").ask(COUNT, epsilon=0.2).rows
            assert far.budget() == near.as_analyst("alice").budget()
            assert far.catalog().dataset == far.card().dataset == name
            assert far.history() == near.as_analyst("alice").history()
        with discreet.connect(several.root, key=dataset.alice) as nowhere, pytest.raises(UnknownDataset):
            nowhere.budget()
    with discreet.connect(several.shop.url, key=several.clinic.alice) as stranger, pytest.raises(NoAccess):
        stranger.ask(COUNT, epsilon=0.2)


def test_a_dataset_is_the_database_of_an_address(several):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    sqlalchemy.dialects.registry.register("discreet", "discreet.integrations.sqlalchemy_dialect", "DiscreetDialect")
    place = f"127.0.0.1:{several.clinic.port}"
    for name, dataset in several.datasets.items():
        engine = sqlalchemy.create_engine(f"discreet://:{dataset.alice}@{place}/{name}?epsilon=0.2")
        assert list(pandas.read_sql(COUNT, engine)["n"]) == [dataset.ask({"sql": COUNT, "epsilon": 0.2}).json()["rows"][0]["n"]]  # fmt: skip
        engine.dispose()


def test_a_session_is_for_one_dataset_even_where_its_cookie_is_carried_over(several):
    signed_in = httpx.post(f"{several.shop.url}/session", json={"key": several.shop.alice})
    assert "Path=/d/spa%20shop;" in f"{signed_in.headers['set-cookie']};"
    cookie = {"Cookie": signed_in.headers["set-cookie"].partition(";")[0]}
    assert httpx.get(f"{several.shop.url}/session", headers=cookie).json()["name"] == "alice"
    assert httpx.get(f"{several.clinic.url}/session", headers=cookie).status_code == 401


def test_each_dataset_has_a_link_of_its_own_that_signs_its_owner_in(several):
    log = (several.clinic.config.parent / "server.log").read_text()
    (link,) = re.findall(f"{re.escape(several.shop.url)}/#sign-in/(\\S+)", log)
    assert f"{several.clinic.url}/#sign-in/" in log
    assert httpx.post(f"{several.clinic.url}/session", json={"link": link}).status_code == 401
    assert httpx.post(f"{several.shop.url}/session", json={"link": link}).status_code == 204


@pytest.mark.parametrize(
    "path",
    ["/v1/budget", "/d/nothing/v1/budget", "/d//v1/budget", "/d/clinic/d/clinic/v1/budget", "/D/clinic/v1/budget",
     "/d/spa shop/d/clinic/v1/budget", "/d/clinic/d/spa shop/v1/budget", "/d/clinic%0A/v1/budget", "/d/clinic//v1/budget"],
)  # fmt: skip
def test_nothing_but_the_address_of_a_dataset_leads_into_it(several, path):
    refused = httpx.get(f"{several.root}{path}", headers={"Authorization": f"Bearer {several.clinic.owner}"})
    assert refused.status_code in (404, 405)
    assert set(refused.json()["error"]) == {"code", "message", "next_step"}
    assert "content-security-policy" in refused.headers


def test_the_list_has_names_and_nothing_else_and_leads_to_each(several):
    page = httpx.get(several.root)
    assert page.status_code == 200
    assert "visits" not in page.text
    assert 'href="d/clinic/"' in page.text
    assert 'href="d/spa%20shop/"' in page.text
    for dataset in several.datasets.values():
        led = httpx.get(dataset.url, follow_redirects=True)
        assert (led.status_code, str(led.url)) == (200, f"{dataset.url}/")
        assert httpx.get(f"{dataset.url}/openapi.json").json()["servers"] == [{"url": dataset.url[len(several.root) :]}]


def test_counts_and_log_lines_are_of_one_dataset(several):
    several.shop.get("/v1/catalog")
    for dataset in (several.shop, several.clinic):
        dataset.get("/v1/budget", key=dataset.owner)
    shop = several.shop.get("/metrics", key=several.shop.owner).text
    clinic = several.clinic.get("/metrics", key=several.clinic.owner).text
    assert 'route="/d/spa shop/v1/catalog",status="200"' in shop
    assert "spa shop" not in clinic
    assert "discreet_connections" in shop
    assert "discreet_connections" in clinic
    log = (several.clinic.config.parent / "server.log").read_text().splitlines()
    lines = [json.loads(line) for line in log if line.startswith("{")]
    assert {"/d/clinic/v1/budget", "/d/spa shop/v1/budget", "/healthz"} <= {line["route"] for line in lines}


def test_books_that_do_not_answer_stop_their_own_dataset_and_no_other(several):
    """Another process holds the writer lock of the clinic's books."""
    assert httpx.get(f"{several.root}/healthz").json() == {"status": "ok"}
    with closing(sqlite3.connect(several.clinic.config.parent / "ledger.sqlite", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(httpx.ReadTimeout):
            several.clinic.ask({"sql": COUNT, "epsilon": 0.3}, timeout=2)
        assert several.shop.ask({"sql": COUNT, "epsilon": 0.3}).status_code == 200
        assert httpx.get(f"{several.shop.url}/healthz").status_code == 200
        while (all_well := httpx.get(f"{several.root}/healthz", timeout=20)).status_code == 200:
            pass
        assert all_well.json()["error"]["code"] == "store-unavailable"
        assert httpx.get(f"{several.clinic.url}/healthz", timeout=20).status_code == 503
        assert httpx.get(f"{several.shop.url}/healthz").status_code == 200


def test_strangers_in_the_hall_are_limited():
    app = FastAPI()
    app.state.service = SimpleNamespace(curator=SimpleNamespace(dataset="clinic"))
    with client_of(Datasets([app], Limits(public_rate=1))) as client:
        answers = [client.get("/") for _ in range(5)]
    assert [answer.status_code for answer in answers[:2]] == [200, 200]
    assert answers[-1].status_code == 429
    assert answers[-1].headers["connection"] == "close"


@pytest.mark.usefixtures("_clock_stands_still")
def test_looks_at_the_health_in_the_hall_are_limited_but_not_those_of_the_machine_itself():
    app, looked = FastAPI(), []

    async def check():
        looked.append(1)

    app.state.service = SimpleNamespace(curator=SimpleNamespace(dataset="clinic"))
    app.state.health = SimpleNamespace(check=check)
    for address, expected in (("192.0.2.1", {200, 429}), ("127.0.0.1", {200})):
        with client_of(Datasets([app], Limits()), address=address) as client:
            assert {client.get("/healthz").status_code for _ in range(120)} == expected


def with_one_name(folder):
    return [write_clinic(folder / side / "clinic", patients=20, visits=50) for side in ("a", "b")]


def with_one_ledger(folder):
    first, second = (write_clinic(folder / name, patients=20, visits=50) for name in ("a", "b"))
    second.write_text(second.read_text().replace('"ledger.sqlite"', '"../a/ledger.sqlite"'))
    return [first, second]


def with_a_name_that_is_no_address(folder):
    return [write_clinic(folder / name, patients=20, visits=50) for name in ("a", "b;c")]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (with_one_name, "Two datasets have the name clinic"),
        (with_one_ledger, "Two catalogs use the same ledger, collector database or snapshot: ledger.sqlite"),
        (with_a_name_that_is_no_address, "'b;c' cannot be part of an address"),
    ],
)
def test_datasets_that_cannot_stand_side_by_side_are_refused_before_any_is_opened(made, words, tmp_path, monkeypatch):
    monkeypatch.setattr(uvicorn_server, "run", lambda *_, **__: pytest.fail("it is served"))
    places = made(tmp_path)
    start_ledger(places[0])
    told = run("serve", *places, code=3)
    assert words in told
    assert "opening" not in told


@pytest.mark.slow
def test_the_page_works_under_its_prefix_and_signs_in_to_each_dataset_apart(browser, several):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.add_cookies([{"name": "discreet_session", "value": "of an earlier start", "url": several.root}])
    page, complaints, asked_for = context.new_page(), [], []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked_for.append(request.url))
    page.goto(several.root)
    check_accessible(page)
    page.click("text=spa shop")
    page.fill("#key", several.shop.alice)
    page.click("#sign-in-form button")
    expect(page.locator("#ask")).to_be_visible()
    page.fill("#sql", WARDS)
    page.keyboard.press("Escape")
    expect(page.locator("#go")).to_be_enabled()
    page.click("#go")
    expect(page.locator("#answer-cost")).to_contain_text("ε")
    assert f'connect("{several.shop.url}"' in page.locator("#python").text_content()
    page.click("#answer-link")
    assert page.url.startswith(f"{several.shop.url}/#ask?")
    colleague = context.new_page()
    colleague.goto(page.url)
    expect(colleague.locator("#answer-cost")).to_contain_text("ε")
    page.click("text=API")
    expect(page.locator("pre").first).to_contain_text(f"{several.shop.url}/v1/")
    page.goto(f"{several.clinic.url}/")
    expect(page.locator("#sign-in")).to_be_visible()
    page.fill("#key", several.clinic.alice)
    page.click("#sign-in-form button")
    expect(page.locator("#ask")).to_be_visible()
    page.click("#sign-out")
    expect(page.locator("#sign-in")).to_be_visible()
    colleague.reload()
    expect(colleague.locator("#sign-out")).to_be_visible()
    assert sorted(cookie["path"] for cookie in context.cookies()) == ["/", "/d/spa%20shop"]
    assert complaints == []
    assert {url for url in asked_for if not url.startswith((f"{several.root}/d/", "data:"))} == {f"{several.root}/"}
    context.close()

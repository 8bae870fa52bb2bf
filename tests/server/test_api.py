"""The API: what each status means, that repeats are the same bytes, and that nothing is said that should not be."""

import io
import json
import re

import anyio
import httpx
import pyarrow.parquet as pq
import pytest

from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from discreet.server.http.server_limits import Limits
from tests.support.opening import open_curator, start_ledger

WARDS = {"sql": "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward", "epsilon": 0.2}


def test_an_answer_has_rows_intervals_and_a_price_and_a_repeat_is_the_same_bytes(server):
    first = server.ask(WARDS, **{"Idempotency-Key": "one"})
    assert first.status_code == 200
    facts = first.json()
    assert set(facts) == {
        "columns", "types", "rows", "half_widths", "intervals", "confidence", "loss", "receipt", "notes",
    }  # fmt: skip
    assert [row["ward"] for row in facts["rows"]] == ["ER", "ICU", "Surgery"]
    assert facts["loss"] == {"epsilon": 0.2, "delta": 0.0}
    assert "discreet-replayed" not in first.headers
    for again in (
        server.ask(WARDS, **{"Idempotency-Key": "one"}),
        server.ask(WARDS),
    ):
        assert again.content == first.content
        assert again.headers["discreet-replayed"] == "true"
    owners = server.ask(WARDS, key=server.owner)
    assert {**owners.json(), "receipt": facts["receipt"]} == facts  # everybody has a receipt of their own
    assert owners.json()["receipt"] != facts["receipt"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"sql": "SELEC", "epsilon": 1}, 400, "unparsable"),
        ({"sql": "SELECT COUNT(*) FROM visits", "epsilon": 400}, 403, "budget-exceeded"),
        ({"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, "dataset": "other"}, 404, "unknown-dataset"),
        ({"sql": "SELECT * FROM visits", "epsilon": 1}, 422, "not-allowed"),
        ({"sql": "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward", "epsilon": 1}, 422, "joins-people"),
        *(({"sql": "SELECT COUNT(*) FROM visits", "epsilon": e}, 422, "bad-input") for e in ("1", True, None, 0, -1, [1])),
        ({"sql": "SELECT COUNT(*) FROM visits"}, 422, "bad-epsilon"),
        ({"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, "level": 1}, 422, "bad-input"),
        ({"sql": "SELECT COUNT(*) FROM visits WHERE date > ?", "epsilon": 1, "parameters": [{"date": "x"}]}, 422, "bad-input"),
        ({"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, "within": 5, "confidence": 0.9}, 422, "bad-input"),
        ({"sql": "SELECT COUNT(*) FROM visits", "within": 5}, 422, "bad-input"),
        ({"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, "trust": True}, 422, "bad-input"),
        ({"epsilon": 1}, 422, "bad-input"),
    ],
)  # fmt: skip
def test_each_refusal_has_its_status_and_says_what_to_do(body, status, code, server):
    spent = server.get("/v1/budget").json()
    response = server.ask(body)
    assert response.status_code == status
    error = response.json()["error"]
    assert (error["code"], set(error) - {"place", "instead"}) == (code, {"code", "message", "next_step"})
    assert server.get("/v1/budget").json() == spent


def test_nobody_comes_in_without_a_good_key(server):
    other_end = server.alice[:-1] + ("1" if server.alice.endswith("0") else "0")
    for key in ("x", "dk_x_y", other_end, server.alice.replace("dk", "ek"), "a b c"):
        response = server.ask(WARDS, key=key)
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "no-access"
    for path in ("/v1/budget", "/v1/history", "/v1/catalog", "/v1/keys"):
        assert httpx.get(server.url + path).status_code == 401
    for path in ("/v1/transparency", "/healthz", "/"):
        assert httpx.get(server.url + path).status_code == 200


def test_a_cookie_of_the_page_cannot_be_used_by_another_site(server):
    signed_in = httpx.post(f"{server.url}/session", json={"key": server.alice})
    cookie = signed_in.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert server.alice not in cookie
    with httpx.Client(cookies=signed_in.cookies) as page:
        assert page.post(f"{server.url}/v1/explain", json=WARDS).status_code == 401
        assert page.post(f"{server.url}/v1/explain", json=WARDS, headers={"X-Discreet-Page": "1"}).status_code == 200


def test_an_idempotency_key_belongs_to_one_question(server):
    assert (
        server.ask({"sql": "SELECT COUNT(*) FROM patients", "epsilon": 0.01}, **{"Idempotency-Key": "two"}).status_code
        == 200
    )
    other = server.ask(
        {"sql": "SELECT COUNT(*) FROM patients WHERE age > 3", "epsilon": 0.01}, **{"Idempotency-Key": "two"}
    )
    assert other.status_code == 409


def test_only_the_owner_makes_keys_and_caps(server):
    assert server.get("/v1/keys").status_code == 403
    owner = {"Authorization": f"Bearer {server.owner}"}
    none = httpx.post(f"{server.url}/v1/keys", json={"name": "bob"}, headers=owner)
    assert none.json()["error"]["code"] == "unknown-account"
    assert "bob" not in server.get("/v1/keys", key=server.owner).text
    made = httpx.post(f"{server.url}/v1/keys", json={"name": "bob", "cap": {"epsilon": 0.05}}, headers=owner)
    assert made.status_code == 201
    bob = made.json()["key"]
    query = {"sql": "SELECT COUNT(*) FROM patients WHERE age > 60", "epsilon": 0.1}
    assert server.ask(query, key=bob).json()["error"]["code"] == "budget-exceeded"
    assert (
        httpx.put(f"{server.url}/v1/analysts/bob", json={"epsilon": 1, "delta": 1e-6}, headers=owner).status_code == 204
    )
    assert server.ask(query, key=bob).status_code == 200
    assert httpx.put(f"{server.url}/v1/analysts/bob/frozen?frozen=true", headers=owner).status_code == 204
    assert server.ask(query, key=bob).status_code == 403
    number = bob.split("_")[1]
    assert httpx.delete(f"{server.url}/v1/keys/{number}", headers=owner).status_code == 204
    assert server.ask(query, key=bob).status_code == 401
    assert all(bob.split("_")[2] not in str(key) for key in server.get("/v1/keys", key=server.owner).json()["keys"])


def test_an_explanation_spends_nothing_and_looks_at_no_row(server):
    before = server.get("/v1/budget").json()
    told = httpx.post(
        f"{server.url}/v1/explain", json=WARDS, headers={"Authorization": f"Bearer {server.alice}"}
    ).json()
    assert told["half_widths"]["n"] > 0
    assert told["half_widths"]["m"] is None
    assert told["loss"]["epsilon"] == pytest.approx(0.2)
    assert (told["rows_per_person"], told["measures"][0]["sensitivity"]) == (20, 20)
    assert told["measures"][0]["scale"] > 0
    assert server.get("/v1/budget").json() == before


def test_the_card_is_public_and_names_nobody(server):
    server.ask(WARDS)
    card = httpx.get(f"{server.url}/v1/transparency").json()
    assert card["person"] == ["patient_id"]
    assert pytest.approx(0.2) in [release["epsilon"] for release in card["releases"]]
    text = json.dumps(card)
    assert "alice" not in text
    assert "SELECT" not in text


def test_too_long_and_too_deep_requests_are_refused(server):
    assert server.ask({"sql": "x" * 200_000, "epsilon": 1}).status_code == 413
    nested = "[" * 20_000 + "]" * 20_000
    headers = {"Authorization": f"Bearer {server.alice}", "Content-Type": "application/json"}
    assert httpx.post(f"{server.url}/v1/ask", content=nested, headers=headers).status_code in (400, 422)


def test_the_servers_log_has_no_question_and_no_key(server):
    assert server.ask(WARDS).status_code == 200
    people = {"sql": "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward", "epsilon": 1}
    assert server.ask(people).status_code == 422
    server.get("/healthz")  # a request is noted when its answer has left, and so before the next is read
    log = (server.config.parent / "server.log").read_text()
    assert '"route": "/v1/ask", "status": 200' in log
    assert '"code": "joins-people"' in log
    assert "SELECT" not in log
    assert server.alice not in log


def test_counts_of_requests_are_for_the_owner(server):
    assert server.get("/metrics").status_code == 403
    before = answered(server)
    for _ in range(2):
        server.ask(WARDS)
    assert answered(server) == before + 2


def answered(server):
    """How many questions were answered, by the owner's counts."""
    text = server.get("/metrics", key=server.owner).text
    counts = re.findall(r'^discreet_requests_total\{route="/v1/ask",status="200"\} (\d+)$', text, re.MULTILINE)
    return sum(map(int, counts))


def test_an_analyst_sees_their_own_questions_and_account_and_the_owner_all_of_them(server):
    owner = {"Authorization": f"Bearer {server.owner}"}
    carol = httpx.post(f"{server.url}/v1/keys", json={"name": "carol", "cap": {"epsilon": 1}}, headers=owner).json()[
        "key"
    ]
    hers = {"sql": "SELECT COUNT(*) FROM patients WHERE age > 41", "epsilon": 0.01}
    server.ask(WARDS)
    assert server.ask(hers, key=carol).status_code == 200

    def seen(key):
        return {query["sql"] for query in server.get("/v1/history", key=key).json()["queries"]}

    def accounts(key):
        return {account["account"] for account in server.get("/v1/budget", key=key).json()["accounts"]}

    assert seen(carol) == {hers["sql"]}
    assert hers["sql"] not in seen(server.alice)
    assert {hers["sql"], WARDS["sql"]} <= seen(server.owner)
    assert accounts(carol) == {"dataset", "carol"}
    assert accounts(server.alice) == {"dataset", "alice"}
    assert {"dataset", "alice", "carol"} <= accounts(server.owner)


def test_a_comment_makes_no_new_question(server):
    first = server.ask(WARDS)
    commented = {**WARDS, "sql": "/* a */ " + WARDS["sql"].replace(" FROM", " -- b\n FROM")}
    again = server.ask(commented)
    assert again.content == first.content
    assert again.headers["discreet-replayed"] == "true"


def test_an_answer_comes_as_parquet_too(server):
    server.ask(WARDS)
    response = server.ask(WARDS, Accept="application/vnd.apache.parquet")
    table = pq.read_table(io.BytesIO(response.content))
    assert table.column_names == ["ward", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert response.headers["discreet-replayed"] == "true"


def test_an_answer_that_is_too_large_as_json_is_refused_before_it_is_paid_for_where_that_is_known(tmp_path):
    """And afterwards where only noise could tell; then it is kept, and Parquet has room for it."""
    config = write_clinic(tmp_path, patients=20, visits=50)
    keys = KeyStore.open(start_ledger(config))
    bearer = {"Authorization": f"Bearer {keys.create('alice')}"}
    sometimes = {**WARDS, "sql": WARDS["sql"] + " HAVING COUNT(*) > -1000000"}

    async def answers(client):
        async def ask(body, accept):
            response = await client.post("/v1/ask", json=body, headers={**bearer, "Accept": accept})
            spent = curator.ledger.account("alice").spent.epsilon
            last = response.content.splitlines()[-1]
            return json.loads(last).get("error", {}).get("code") if last.startswith(b"{") else "a file", spent

        json_, lines, parquet = "application/json", "application/x-ndjson", "application/vnd.apache.parquet"
        assert [await ask(WARDS, json_), await ask(WARDS, lines)] == [("too-large", 0)] * 2
        assert await ask({**WARDS, "sql": WARDS["sql"] + " ORDER BY n LIMIT 1"}, json_) == (None, 0.2)
        assert [await ask(sometimes, json_), await ask(sometimes, lines)] == [("too-large", 0.2)] * 2
        assert [await ask(sometimes, parquet), await ask(WARDS, parquet)] == [("a file", 0.2)] * 2
        assert await ask(WARDS, json_) == ("too-large", 0.2), "replays obey it too"

    async def scenario():
        app = create_app(curator, keys, class_ms=0, limits=Limits(cells=5))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://in-process") as client:
            await answers(client)

    with open_curator(config) as curator:
        anyio.run(scenario)
    keys.close()


@pytest.mark.usefixtures("_clock_stands_still")
def test_who_asks_too_often_is_told_to_wait_and_nobody_else_is(tmp_path):
    config = write_clinic(tmp_path, patients=20, visits=50)
    keys = KeyStore.open(start_ledger(config))
    alice, again, olga = keys.create("alice"), keys.create("alice"), keys.create("olga", role="owner")

    async def statuses():
        transport = httpx.ASGITransport(app=create_app(curator, keys, rate=1, class_ms=0))
        async with httpx.AsyncClient(transport=transport, base_url="http://in-process") as client:
            asked = [
                await client.post("/v1/explain", json=WARDS, headers={"Authorization": f"Bearer {key}"})
                for key in (alice, again, alice, olga)
            ]
        return [response.status_code for response in asked]

    with open_curator(config) as curator:
        assert anyio.run(statuses) == [200, 200, 429, 200]
    keys.close()

"""Roles: every route is in the table and keeps to it, nobody raises their own rights, and who did what is in the books."""

import re

import pytest
from fastapi.routing import iter_route_contexts

from discreet.ledger import verify
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.roles import PUBLIC, ROLES, ROUTES
from discreet.server.http.http_app import create_app
from tests.server.conftest import client_of
from tests.support.opening import CAP, open_curator, shorten, start_ledger

PAGE = {"X-Discreet-Page": "1"}


class RunningServer:
    """A service in this process, and a key for every role."""

    def __init__(self, folder):
        self.config = write_clinic(folder, patients=20, visits=50)
        self.book = KeyStore.open(start_ledger(self.config))
        caps = {"analyst": CAP}
        self.keys = {role: self.book.create(f"the {role}", role=role, cap=caps.get(role)) for role in ROLES}
        self.curator = open_curator(self.config)
        self.app = create_app(
            self.curator, self.book, class_ms=0, rate=1e6, at_once=100, seconds_a_minute=1e9, config=self.config
        )
        self.client = client_of(self.app)

    def send(self, role, method, path, **given):
        headers = {} if role is None else {"Authorization": f"Bearer {self.keys.get(role, role)}"}
        return self.client.request(method, path, headers=headers, **given)

    def close(self):
        self.client.close()
        self.curator.close()
        self.book.close()

    def history(self):
        return [(entry.kind, entry.body) for entry in self.curator.ledger.history()]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    made = RunningServer(tmp_path_factory.mktemp("roles"))
    yield made
    made.close()


def code_of(response):
    refused = response.status_code >= 400 and response.content
    return response.json()["error"]["code"] if refused else None


def test_every_route_of_the_service_is_in_the_table_and_no_other(running):
    served = {
        f"{method} {route.path}"
        for route in iter_route_contexts(running.app.routes)
        for method in set(route.methods) - {"HEAD"}
    }
    assert served == set(ROUTES)


@pytest.mark.parametrize("role", [None, *ROLES])
def test_every_route_lets_in_the_roles_of_the_table_and_nobody_else(running, role):
    for route, roles in ROUTES.items():
        method, path = route.split(" ")
        allowed = roles == PUBLIC or role in roles.split()
        if allowed and route in ("POST /session", "DELETE /session", "POST /v1/refresh"):
            continue  # they have tests of their own
        code = code_of(running.send(role, method, re.sub(r"\{\w+\}", "nothing", path)))
        if allowed:
            assert code not in ("forbidden", "no-access"), route
        else:
            assert code == ("no-access" if role is None else "forbidden"), route


@pytest.mark.parametrize("role", ["owner", "steward"])
def test_a_steward_makes_neither_owners_nor_stewards(running, role):
    made = running.send("steward", "POST", "/v1/keys", json={"name": "eve", "role": role})
    assert code_of(made) == "forbidden"
    assert code_of(running.send("steward", "PUT", "/v1/users/eve", json={"role": role})) == "forbidden"
    number = running.keys["owner"].split("_")[1]
    assert code_of(running.send("steward", "DELETE", f"/v1/keys/{number}")) == "forbidden"
    assert running.send("owner", "POST", "/v1/keys", json={"name": "eve", "role": role}).status_code == 201


def test_a_steward_gives_themselves_nothing_and_takes_nothing_from_an_owner(running):
    for given in ("/v1/users/the steward", "/v1/users/boss"):
        running.book.set_user("boss", "owner")
        assert code_of(running.send("steward", "PUT", given, json={"role": "analyst"})) == "forbidden"
    assert code_of(running.send("steward", "DELETE", "/v1/users/boss")) == "forbidden"
    own = {"name": "the steward", "role": "analyst"}
    assert code_of(running.send("steward", "POST", "/v1/keys", json=own)) == "forbidden"
    assert code_of(running.send("steward", "PUT", "/v1/analysts/the steward", json={"epsilon": 9})) == "forbidden"
    assert code_of(running.send("steward", "PUT", "/v1/analysts/the steward/frozen?frozen=false")) == "forbidden"
    assert running.book.users()["boss"] == "owner"


def test_a_role_that_does_not_exist_is_refused(running):
    assert code_of(running.send("owner", "POST", "/v1/keys", json={"name": "eve", "role": "king"})) == "forbidden"
    assert code_of(running.send("owner", "PUT", "/v1/users/eve", json={"role": "king"})) == "forbidden"


def test_who_did_what_is_in_the_books_and_an_auditor_reads_it(running):
    steward, owner = (f"key {running.keys[role].split('_')[1]}" for role in ("steward", "owner"))
    key = running.send("steward", "POST", "/v1/keys", json={"name": "bob", "cap": {"epsilon": 1}}).json()["key"]
    number = key.split("_")[1]
    running.send("steward", "PUT", "/v1/analysts/bob/frozen?frozen=true")
    running.send("steward", "PUT", "/v1/analysts/bob/frozen?frozen=false")
    running.send("steward", "DELETE", f"/v1/keys/{number}")
    running.send("owner", "PUT", "/v1/users/carol", json={"role": "auditor"})
    text = running.send("owner", "GET", "/v1/catalog/source").json()["text"]
    assert running.send("owner", "PUT", "/v1/catalog/source", json={"text": text}).status_code == 200
    seen = running.send("auditor", "GET", "/v1/ledger?last=7").json()["entries"]
    assert [(entry["kind"], entry["body"]["by"]) for entry in seen] == [
        ("cap", steward), ("key", steward), ("freeze", steward), ("thaw", steward), ("revoke", steward),
        ("user", owner), ("catalog", owner),
    ]  # fmt: skip
    earlier = running.send("auditor", "GET", f"/v1/ledger?last=2&before={seen[0]['seq']}").json()
    assert [entry["seq"] for entry in earlier["entries"]] == [seen[0]["seq"] - 2, seen[0]["seq"] - 1]
    assert earlier["head"] == seen[-1]["seq"]
    assert key.split("_")[2] not in str(seen)
    assert running.send("auditor", "GET", "/v1/ledger/verification").json()["sound"]
    assert verify(running.curator.ledger).sound


def test_a_steward_begins_a_data_version_which_is_served_at_once(tmp_path):
    running = RunningServer(tmp_path)
    assert running.send("steward", "POST", "/v1/refresh").json() == {
        "before": 1,
        "version": 1,
    }  # the source is what it was
    shorten(tmp_path / "visits.parquet")
    assert running.send("steward", "POST", "/v1/refresh").json() == {"before": 1, "version": 2}
    assert running.send("steward", "GET", "/v1/serving").json()["data_version"] == 2
    entry = running.curator.ledger.history(last=2)[0]  # the last says what it is read from
    assert (entry.kind, entry.body["by"]) == ("refresh", f"key {running.keys['steward'].split('_')[1]}")
    query = {"sql": "SELECT COUNT(*) AS n FROM patients", "epsilon": 0.1}
    assert running.send("owner", "POST", "/v1/ask", json=query).status_code == 200
    assert running.client.get("/healthz").json() == {"status": "ok", "data_version": 2}
    running.close()


def test_an_auditor_sees_all_accounts_and_questions_and_a_steward_only_accounts(running):
    running.send("owner", "PUT", "/v1/analysts/the analyst", json={"epsilon": 1})
    query = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1}
    assert running.send("analyst", "POST", "/v1/ask", json=query).status_code == 200
    assert query["sql"] in str(running.send("auditor", "GET", "/v1/history").json())
    for role in ("auditor", "steward"):
        accounts = running.send(role, "GET", "/v1/budget").json()["accounts"]
        assert {"dataset", "alice", "the analyst"} <= {account["account"] for account in accounts}


def test_the_cookie_is_a_session_and_not_the_key_and_signing_out_ends_it(running):
    key = running.book.create("dora", role="auditor")
    with client_of(running.app) as page:
        assert page.get("/session").status_code == 401
        assert page.post("/session", json={"key": key}).status_code == 204
        assert key.split("_")[2] not in str(page.cookies)
        about = page.get("/session").json()
        assert (about["name"], about["role"], about["signs_out"]) == ("dora", "auditor", True)
        stolen = dict(page.cookies)
        assert page.delete("/session").status_code == 204
        assert not page.cookies
        page.cookies.update(stolen)
        assert page.get("/session").status_code == 401


@pytest.mark.parametrize("key", ["", "dk_", "dk__", "\x00", "dk_\u00e9_\u00e9", "x" * 50_000])
def test_nobody_signs_in_with_what_is_no_key(running, key):
    assert running.client.post("/session", json={"key": key}).status_code == 401
    half_a_pair = {"content": rb'{"key": "dk_1_\ud800"}', "headers": {"Content-Type": "application/json"}}
    assert running.client.post("/session", **half_a_pair).status_code == 422
    assert running.client.get("/session", headers={"Cookie": b"discreet_session=\xe9"}).status_code == 401


def test_a_session_ends_with_its_key(running):
    key = running.book.create("dora", role="steward")
    with client_of(running.app) as page:
        page.post("/session", json={"key": key})
        assert page.get("/v1/keys").status_code == 200
        assert page.put("/v1/users/zoe", json={"role": "auditor"}).status_code == 401, "another site could send this"
        assert page.put("/v1/users/zoe", json={"role": "auditor"}, headers=PAGE).status_code == 204
        running.book.revoke(key.split("_")[1])
        assert page.get("/v1/keys").status_code == 401


def test_who_tries_to_sign_in_again_and_again_is_told_to_wait(tmp_path):
    running = RunningServer(tmp_path)
    tries = [running.client.post("/session", json={"key": f"dk_{number}_x"}).status_code for number in range(14)]
    assert tries[0] == 401
    assert 429 in tries
    running.close()


def test_what_no_database_keeps_is_refused_by_name(running):
    assert running.send("analyst", "GET", f"/v1/history?before={10**30}").status_code == 422
    bearer = {"Authorization": f"Bearer {running.keys['owner']}", "Content-Type": "application/json"}
    answer = running.client.put("/v1/users/zoe", content=rb'{"role": "\ud800"}', headers=bearer)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad-input")


def test_no_analyst_has_the_name_of_the_datasets_own_account(running):
    for role in ("steward", "owner"):
        assert running.send(role, "PUT", "/v1/analysts/dataset", json={"epsilon": 3}).status_code == 422
    names = [account["account"] for account in running.send("auditor", "GET", "/v1/budget").json()["accounts"]]
    assert names.count("dataset") == 1

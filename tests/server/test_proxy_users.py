"""Signing in through a proxy: its word is taken for who asks, and nobody else's is."""

import httpx
import pytest

from discreet.errors import BadInput, UnknownAccount
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from discreet.server.http.server_limits import Limits
from tests.server.conftest import Server, client_of
from tests.support.opening import CAP, open_curator, start_ledger

PROXY, ELSEWHERE, HEADER = "10.0.0.5", "10.0.0.6", "X-Forwarded-User"
PAGE = {"X-Discreet-Page": "1"}
QUERY = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    config = write_clinic(tmp_path_factory.mktemp("proxied"), patients=20, visits=50)
    book = KeyStore.open(start_ledger(config))
    book.set_user("alice", "analyst")
    book.set_user("åsa", "auditor")
    limits = Limits(proxies=(PROXY,), user_header=HEADER, public_rate=1e6)
    with open_curator(config) as curator:
        yield create_app(curator, book, class_ms=0, config=config, limits=limits), book
    book.close()


def code_of(response):
    return response.json()["error"]["code"] if response.status_code >= 400 else response.status_code


def test_the_proxys_user_comes_in_with_the_role_that_the_ledger_gives(served):
    app, book = served
    with client_of(app, address=PROXY) as client:
        alice = {HEADER: "alice", "X-Forwarded-For": "192.0.2.7", **PAGE}
        known = client.get("/session", headers=alice).json()
        assert (known["name"], known["role"], known["signs_out"]) == ("alice", "analyst", False)
        assert client.post("/v1/ask", json=QUERY, headers=alice).status_code == 200
        assert code_of(client.get("/v1/keys", headers=alice)) == "forbidden"
        book.set_user("alice", "steward")
        assert code_of(client.post("/v1/ask", json=QUERY, headers=alice)) == "forbidden"
        client.put("/v1/analysts/bob", json={"epsilon": 1}, headers=alice)
        assert book._ledger.history(last=1)[0].body["by"] == "user alice"
        book.set_user("alice", "analyst")


def test_unknown_users_and_those_without_a_role_any_more_are_refused(served):
    app, book = served
    book.set_user("zoe", "auditor")
    with client_of(app, address=PROXY) as client:
        assert client.get("/v1/budget", headers={HEADER: "zoe"}).status_code == 200
        book.set_user("zoe", None)
        for name in ("zoe", "mallory", "Alice", "alice ", "", "user alice"):
            assert code_of(client.get("/v1/keys", headers={HEADER: name})) in ("no-access", "forbidden")
            assert code_of(client.get("/v1/history", headers={HEADER: f"x{name}"})) == "no-access"


def test_an_analyst_without_an_account_is_refused_by_name_whoever_signs_them_in(served):
    app, book = served
    with pytest.raises(UnknownAccount, match="discreet ledger cap"):
        book.set_user("bo", "analyst")
    book._ledger.record(lambda _: [("user", {"user": "bo", "role": "analyst"})], by="an earlier release")
    book._refresh()
    with client_of(app, address=PROXY) as client:
        for path in ("/v1/budget", "/v1/catalog", "/session"):
            refused = client.get(path, headers={HEADER: "bo"})
            assert (refused.status_code, code_of(refused)) == (403, "unknown-account")
        book._ledger.open_account(CAP, analyst="bo")
        book._refresh()
        assert client.get("/v1/budget", headers={HEADER: "bo"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/budget", "/v1/transparency", "/"])
def test_the_header_from_elsewhere_is_refused_and_not_ignored(served, path):
    app, book = served
    key = {"Authorization": f"Bearer {book.create('olga', role='owner')}"}
    with client_of(app, address=ELSEWHERE) as client:
        assert code_of(client.get(path, headers={HEADER: "alice"})) == "no-access"
        forged = {HEADER: "alice", "X-Forwarded-For": PROXY}
        assert code_of(client.get(path, headers=forged)) == "no-access"
        assert code_of(client.get(path, headers={HEADER: "alice", **key})) == "no-access"
        assert client.get(path, headers=key).status_code == 200


def test_a_header_that_came_twice_or_is_no_text_names_nobody(served):
    app, _ = served

    def asked_as(*names):
        headers = [(HEADER.encode(), name) for name in names]
        return client.send(httpx.Request("GET", "http://in-process/session", headers=headers))

    with client_of(app, address=PROXY) as client:
        assert asked_as("åsa".encode()).json()["name"] == "åsa"
        assert code_of(asked_as(b"alice", "åsa".encode())) == "no-access"
        assert code_of(asked_as("åsa".encode("latin-1"))) == "no-access"


def test_a_form_of_another_site_cannot_ask_for_the_proxys_user(served):
    app, _ = served
    with client_of(app, address=PROXY) as client:
        assert code_of(client.post("/v1/explain", json=QUERY, headers={HEADER: "alice"})) == "no-access"


def test_a_key_is_looked_at_before_the_proxys_user(served):
    app, book = served
    with client_of(app, address=PROXY) as client:
        headers = {HEADER: "alice", "Authorization": f"Bearer {book.create('olga', role='owner')}"}
        assert client.get("/session", headers=headers).json()["name"] == "olga"
        token_of_the_provider = {HEADER: "alice", "Authorization": "Bearer eyJhbGciOi"}
        assert client.get("/session", headers=token_of_the_provider).json()["name"] == "alice"


def test_behind_a_proxy_that_speaks_tls_the_cookie_is_for_tls_only(served):
    app, book = served
    body, tls = {"key": book.create("olga", role="owner")}, {"X-Forwarded-Proto": "https"}
    with client_of(app, address=PROXY) as client:
        assert "Secure" in client.post("/session", json=body, headers=tls).headers["set-cookie"]
        assert "Secure" not in client.post("/session", json=body).headers["set-cookie"]


@pytest.mark.slow
def test_a_real_server_tells_the_proxy_from_everybody_else(tmp_path):
    server = Server(tmp_path)
    book = KeyStore.open(str(server.config.parent / "ledger.sqlite"))
    book.set_user("zoe", "auditor")
    book.close()
    server.start("--proxy", "127.0.0.9", "--user-header", HEADER)

    def seen_from(source):
        with httpx.Client(transport=httpx.HTTPTransport(local_address=source), base_url=server.url) as client:
            return client.get("/session", headers={HEADER: "zoe", "X-Forwarded-For": "127.0.0.9"})

    assert seen_from("127.0.0.9").json()["role"] == "auditor"
    assert seen_from("127.0.0.8").status_code == 401
    server.stop()


def test_a_header_for_users_needs_a_proxy_to_believe():
    with pytest.raises(BadInput):
        Limits(user_header=HEADER)

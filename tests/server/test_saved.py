"""Saved questions: one's own and shared ones, seen free by those who may, and never a way around a price."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.api.opening import open_curator
from discreet.api.requests.ask import AskRequest
from discreet.errors import BadInput, NotAnswered
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.roles import Holder
from discreet.server.http.http_app import create_app
from discreet.server.jobs.saved_store import PAGE, SavedQueries
from discreet.store import open_store
from tests.server.conftest import client_of
from tests.support.opening import CAP, start_ledger

WARDS = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": 0.5}


@pytest.fixture
def clinic(tmp_path):
    config = write_clinic(tmp_path, patients=50, visits=200)
    text = config.read_text()
    config.write_text(f"{text}\n[budget.analysts.bob]\nepsilon = 1.0\n")
    ledger = start_ledger(config)
    with open_curator(config) as curator:
        book = KeyStore.open(ledger)
        app = create_app(curator, book, class_ms=0)
        keys = {"alice": book.create("alice"), "bob": book.create("bob"), "olga": book.create("olga", role="owner")}
        keys["named-olga"] = book.create("olga", cap=CAP)

        def send(who, method, path, body=None, *, content=None, **headers):
            given = {"Authorization": f"Bearer {keys[who]}", "Content-Type": "application/json", **headers}
            with client_of(app) as client:
                return client.request(method, path, content=content or (body and json.dumps(body)), headers=given)

        send.curator = curator
        yield send
        book.close()


def spent(clinic):
    return [account.spent.epsilon for account in clinic.curator.budget()]


def test_a_shared_answer_is_seen_free_by_colleagues_and_leaves_no_trace_in_the_books(clinic):
    answer = clinic("alice", "POST", "/v1/ask", WARDS).json()
    number = clinic("alice", "POST", "/v1/saved", {"name": "wards", "query": WARDS, "shared": True}).json()["number"]
    before, entries = spent(clinic), clinic.curator.ledger.totals().head
    seen = clinic("bob", "GET", f"/v1/saved/{number}/answer").json()
    assert (seen["rows"], seen["intervals"]) == (answer["rows"], answer["intervals"])
    table = clinic("bob", "GET", f"/v1/saved/{number}/answer", Accept="text/csv").text.splitlines()
    assert table[0] == '"ward","n","n_low","n_high"'
    assert len(table) == 4
    assert (spent(clinic), clinic.curator.ledger.totals().head) == (before, entries)
    assert clinic("bob", "DELETE", f"/v1/saved/{number}").status_code == 404
    assert clinic("alice", "DELETE", f"/v1/saved/{number}").status_code == 204


def test_what_is_not_shared_looks_like_nothing_even_to_who_is_called_like_the_owner(clinic):
    clinic("olga", "POST", "/v1/ask", WARDS)
    number = clinic("olga", "POST", "/v1/saved", {"name": "mine", "query": WARDS}).json()["number"]
    assert clinic("olga", "GET", f"/v1/saved/{number}/answer").status_code == 200
    for who in ("alice", "named-olga"):
        assert clinic(who, "GET", f"/v1/saved/{number}").json()["error"]["code"] == "unknown-saved"
        assert clinic(who, "GET", f"/v1/saved/{number}/answer").json()["error"]["code"] == "unknown-saved"
        assert clinic(who, "GET", "/v1/saved").json()["saved"] == []


def test_saving_a_question_that_one_has_not_paid_for_shows_nothing(clinic):
    clinic("alice", "POST", "/v1/ask", WARDS)
    number = clinic("bob", "POST", "/v1/saved", {"name": "hers", "query": WARDS, "shared": True}).json()["number"]
    for path, method, body in [(f"/v1/saved/{number}/answer", "GET", None), ("/v1/recall", "POST", WARDS)]:
        refused = clinic("bob", method, path, body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not-answered")
    with pytest.raises(NotAnswered):
        clinic.curator.recall(AskRequest("SELECT COUNT(*) FROM visits", epsilon=1))


def test_a_frozen_author_shows_nothing_more(clinic):
    clinic("alice", "POST", "/v1/ask", WARDS)
    number = clinic("alice", "POST", "/v1/saved", {"name": "wards", "query": WARDS, "shared": True}).json()["number"]
    clinic.curator.ledger.freeze("alice")
    assert clinic("bob", "GET", f"/v1/saved/{number}/answer").json()["error"]["code"] == "account-frozen"


def test_a_name_is_one_question(clinic):
    first = clinic("alice", "POST", "/v1/saved", {"name": "wards", "query": WARDS}).json()
    again = clinic("alice", "POST", "/v1/saved", {"name": "wards", "query": {**WARDS, "epsilon": 1}}).json()
    assert again["number"] == first["number"]
    assert len(clinic("alice", "GET", "/v1/saved").json()["saved"]) == 1
    assert clinic("alice", "GET", f"/v1/saved/{first['number']}").json()["query"]["epsilon"] == 1


def test_an_analyst_has_so_many_and_takes_no_room_from_others():
    saved, alice, bob = (
        SavedQueries(open_store(":memory:")),
        Holder("key 1", "alice", "analyst"),
        Holder("key 2", "bob", "analyst"),
    )
    for number in range(200):
        saved.save(alice, name=f"question {number}", query=WARDS, shared=False)
    with pytest.raises(BadInput, match="limit of saved"):
        saved.save(alice, name="one more", query=WARDS, shared=False)
    saved.save(alice, name="question 7", query=WARDS, shared=True)  # in the place of another
    saved.save(bob, name="one more", query=WARDS, shared=False)
    pages = [saved.visible_to(alice)]
    while len(pages[-1]) == PAGE:
        pages.append(saved.visible_to(alice, after=pages[-1][-1].number))
    assert [len(page) for page in pages] == [100, 100, 0]
    assert len({each.number for page in pages for each in page}) == 200
    assert len(saved.visible_to(bob)) == 2
    saved.close()


def test_a_list_has_names_and_no_texts_and_says_where_it_goes_on(clinic, monkeypatch):
    monkeypatch.setattr("discreet.server.jobs.saved_store.PAGE", 2)
    monkeypatch.setattr("discreet.server.routes.saved_queries.PAGE", 2)
    for name in ("one", "two", "three"):
        clinic("alice", "POST", "/v1/saved", {"name": name, "query": WARDS, "shared": True})
    first = clinic("bob", "GET", "/v1/saved").json()
    rest = clinic("bob", "GET", f"/v1/saved?after={first['next']}").json()
    assert sorted(each["name"] for each in first["saved"] + rest["saved"]) == ["one", "three", "two"]
    assert rest["next"] is None
    assert "query" not in first["saved"][0]
    assert clinic("bob", "GET", "/v1/saved?after=none").status_code == 404


HALF_A_PAIR = b'"\xed\xa0\x80"'
"""Of UTF-16, in bytes that are no UTF-8."""


@pytest.mark.parametrize("given", [HALF_A_PAIR, b"[[1]]", b"[" * 300 + b"]" * 300, b'{"a": 1}', b'{"date": 1}', b"{}"])
def test_a_parameter_that_is_none_is_refused_at_every_door_and_kept_nowhere(clinic, given):
    query = (
        b'{"sql": "SELECT COUNT(*) AS n FROM visits WHERE ward = :w", "epsilon": 0.1, "parameters": {"w": %s}}' % given
    )
    saved = b'{"name": "x", "shared": true, "query": %s}' % query
    bodies = {"ask": query, "explain": query, "recall": query, "saved": saved}
    for path, body in bodies.items():
        refused = clinic("alice", "POST", f"/v1/{path}", content=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad-input"), path
    assert clinic("bob", "GET", "/v1/saved").json() == {"saved": [], "next": None}


def test_parameters_that_can_be_used_are_kept_as_they_are(clinic):
    given = {"w": "a", "n": None, "b": True, "i": 2**63, "f": 0.5, "d": {"date": "2024-12-31"}}
    body = {"name": "x", "query": {**WARDS, "parameters": given}}
    number = clinic("alice", "POST", "/v1/saved", body).json()["number"]
    kept = clinic("alice", "GET", f"/v1/saved/{number}").json()["query"]["parameters"]
    assert (kept, [type(value) for value in kept.values()]) == (given, [type(value) for value in given.values()])


def test_a_question_that_was_saved_in_a_form_of_before_spoils_no_list_and_can_be_deleted(clinic):
    number = clinic("alice", "POST", "/v1/saved", {"name": "old", "query": WARDS, "shared": True}).json()["number"]
    query = json.dumps({**WARDS, "parameters": ["\ud800", [[[]]]]})
    with clinic.curator.ledger._store.transaction() as t:
        t.run("UPDATE saved_questions SET question = ? WHERE number = ?", query, number)
    assert [each["name"] for each in clinic("bob", "GET", "/v1/saved").json()["saved"]] == ["old"]
    for path in (f"/v1/saved/{number}", f"/v1/saved/{number}/answer"):
        assert clinic("bob", "GET", path).json()["error"]["code"] == "unknown-saved"
    assert clinic("alice", "DELETE", f"/v1/saved/{number}").status_code == 204


def test_the_owner_recalls_what_the_owner_asked_and_nothing_that_others_paid_for(clinic):
    clinic("bob", "POST", "/v1/ask", WARDS)
    number = clinic("olga", "POST", "/v1/saved", {"name": "w", "query": WARDS, "shared": True}).json()["number"]

    def seen():
        recalled, shown = (
            clinic("olga", "POST", "/v1/recall", WARDS),
            clinic("alice", "GET", f"/v1/saved/{number}/answer"),
        )
        return [response.json().get("error", {}).get("code") for response in (recalled, shown)]

    assert seen() == ["not-answered", "not-answered"]
    clinic("olga", "POST", "/v1/ask", WARDS)
    assert seen() == [None, None]


def test_who_looks_at_a_shared_question_waits_at_a_desk_of_their_own_and_not_at_its_authors(clinic):
    clinic("alice", "POST", "/v1/ask", WARDS)
    number = clinic("alice", "POST", "/v1/saved", {"name": "wards", "query": WARDS, "shared": True}).json()["number"]
    with ThreadPoolExecutor() as threads:

        def look(who):
            return threads.submit(clinic, who, "GET", f"/v1/saved/{number}/answer")

        with clinic.curator.context.planning_slots.slot("alice", cancelled=threading.Event()):
            assert look("bob").result(20).status_code == 200
        with (
            clinic.curator.context.planning_slots.slot("bob", cancelled=threading.Event()),
            pytest.raises(TimeoutError),
        ):
            look("bob").result(0.5)


def test_explain_says_who_pays_and_whose_cap_is_too_small(clinic):
    def explained(epsilon):
        return clinic("bob", "POST", "/v1/explain", {**WARDS, "epsilon": epsilon}).json()

    assert (explained(0.5)["pays"], explained(0.5)["beyond"]) == (["dataset", "bob"], [])
    assert explained(1.5)["beyond"] == ["bob"]
    clinic("alice", "POST", "/v1/ask", WARDS)
    assert explained(0.5)["pays"] == ["bob"]  # the dataset has paid; who asks too pays from their own
    clinic("bob", "POST", "/v1/ask", WARDS)
    assert (explained(0.5)["asked_before"], explained(0.5)["pays"]) == (True, [])


def test_a_refused_question_says_where_over_http_too(clinic):
    error = clinic("alice", "POST", "/v1/explain", {"sql": "SELECT COUNT(csot) FROM visits", "epsilon": 1}).json()[
        "error"
    ]
    assert error["place"] == {"start": 13, "end": 17, "line": 1, "column": 14}
    assert error["instead"] == ["cost"]

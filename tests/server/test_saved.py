"""Saved questions: one's own and shared ones, seen free by those who may, and never a way around a price."""

import pytest

from discreet.curator import open_curator
from discreet.errors import BadInput, NotAnswered
from discreet.samples import write_clinic
from discreet.server.app import create_app
from discreet.server.keys import KeyBook
from discreet.server.roles import Holder
from discreet.server.saved import SavedQuestions
from discreet.store import open_store
from tests.opening import CAP, begin_books
from tests.server.conftest import client_of

WARDS = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": 0.5}


@pytest.fixture
def clinic(tmp_path):
    config = write_clinic(tmp_path, patients=50, visits=200)
    text = config.read_text()
    config.write_text(f"{text}\n[budget.analysts.bob]\nepsilon = 1.0\n")
    ledger = begin_books(config)
    with open_curator(config) as curator:
        book = KeyBook.open(ledger)
        app = create_app(curator, book, class_ms=0)
        keys = {"alice": book.create("alice"), "bob": book.create("bob"), "olga": book.create("olga", role="owner")}
        keys["named-olga"] = book.create("olga", cap=CAP)

        def send(who, method, path, body=None, **headers):
            with client_of(app) as client:
                return client.request(
                    method, path, json=body, headers={"Authorization": f"Bearer {keys[who]}", **headers}
                )

        send.curator = curator
        yield send
        book.close()


def spent(clinic):
    return [account.spent.epsilon for account in clinic.curator.budget()]


def test_a_shared_answer_is_seen_free_by_colleagues_and_leaves_no_trace_in_the_books(clinic):
    answer = clinic("alice", "POST", "/v1/ask", WARDS).json()
    number = clinic("alice", "POST", "/v1/saved", {"name": "wards", "question": WARDS, "shared": True}).json()["number"]
    before, entries = spent(clinic), clinic.curator.ledger.running().head
    seen = clinic("bob", "GET", f"/v1/saved/{number}/answer").json()
    assert (seen["rows"], seen["intervals"]) == (answer["rows"], answer["intervals"])
    table = clinic("bob", "GET", f"/v1/saved/{number}/answer", Accept="text/csv").text.splitlines()
    assert table[0] == '"ward","n","n_low","n_high"'
    assert len(table) == 4
    assert (spent(clinic), clinic.curator.ledger.running().head) == (before, entries)
    assert clinic("bob", "DELETE", f"/v1/saved/{number}").status_code == 404
    assert clinic("alice", "DELETE", f"/v1/saved/{number}").status_code == 204


def test_what_is_not_shared_looks_like_nothing_even_to_who_is_called_like_the_owner(clinic):
    clinic("olga", "POST", "/v1/ask", WARDS)
    number = clinic("olga", "POST", "/v1/saved", {"name": "mine", "question": WARDS}).json()["number"]
    assert clinic("olga", "GET", f"/v1/saved/{number}/answer").status_code == 200
    for who in ("alice", "named-olga"):
        assert clinic(who, "GET", f"/v1/saved/{number}").json()["error"]["code"] == "unknown-saved"
        assert clinic(who, "GET", f"/v1/saved/{number}/answer").json()["error"]["code"] == "unknown-saved"
        assert clinic(who, "GET", "/v1/saved").json()["saved"] == []


def test_saving_a_question_that_one_has_not_paid_for_shows_nothing(clinic):
    clinic("alice", "POST", "/v1/ask", WARDS)
    number = clinic("bob", "POST", "/v1/saved", {"name": "hers", "question": WARDS, "shared": True}).json()["number"]
    for path, method, body in [(f"/v1/saved/{number}/answer", "GET", None), ("/v1/recall", "POST", WARDS)]:
        refused = clinic("bob", method, path, body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not-answered")
    with pytest.raises(NotAnswered):
        clinic.curator.recall("SELECT COUNT(*) FROM visits", epsilon=1)


def test_a_frozen_author_shows_nothing_more(clinic):
    clinic("alice", "POST", "/v1/ask", WARDS)
    number = clinic("alice", "POST", "/v1/saved", {"name": "wards", "question": WARDS, "shared": True}).json()["number"]
    clinic.curator.ledger.freeze("alice")
    assert clinic("bob", "GET", f"/v1/saved/{number}/answer").json()["error"]["code"] == "account-frozen"


def test_a_name_is_one_question(clinic):
    first = clinic("alice", "POST", "/v1/saved", {"name": "wards", "question": WARDS}).json()
    again = clinic("alice", "POST", "/v1/saved", {"name": "wards", "question": {**WARDS, "epsilon": 1}}).json()
    assert again["number"] == first["number"]
    assert [saved["question"]["epsilon"] for saved in clinic("alice", "GET", "/v1/saved").json()["saved"]] == [1]


def test_an_analyst_has_so_many_and_takes_no_room_from_others():
    saved, alice, bob = (
        SavedQuestions(open_store(":memory:")),
        Holder("key 1", "alice", "analyst"),
        Holder("key 2", "bob", "analyst"),
    )
    for number in range(200):
        saved.save(alice, name=f"question {number}", question=WARDS, shared=False)
    with pytest.raises(BadInput, match="no room"):
        saved.save(alice, name="one more", question=WARDS, shared=False)
    saved.save(alice, name="question 7", question=WARDS, shared=True)  # in the place of another
    saved.save(bob, name="one more", question=WARDS, shared=False)
    assert (len(saved.seen_by(alice)), len(saved.seen_by(bob))) == (200, 2)
    saved.close()


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

"""Sessions over HTTP: priced before, paid once, gone on with by who opened them, near and far alike, and refused by name."""

from datetime import date

import pyarrow.parquet as pq
import pytest

from discreet.api.remote import RemoteCurator
from discreet.api.requests.session_answers import MOST_AT_ONCE
from discreet.errors import BadInput, RequestConflict, SessionEnded, UnknownName, UnknownSession
from discreet.samples import clinic, write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from discreet.sessions import Between
from discreet.sessions.query_json import query_from_json, query_to_json
from tests.server.conftest import client_of
from tests.support.opening import CAP, open_curator, start_ledger

OPENED = {"source": "SELECT sex, age FROM patients", "rho": 0.02, "queries": 20}
WOMEN = {"queries": [{"sex": "F"}, {"sex": "F", "age": {"from": 30}}, {}]}


class RunningServer:
    """The application, asked as alice, as bob or as the owner."""

    def __init__(self, client, bearers, app, folder):
        self.client, self.bearers, self.app, self.folder = client, bearers, app, folder

    def send(self, who, path, body):
        return self.client.post(path, json=body, headers={"Authorization": f"Bearer {self.bearers[who]}"})

    def code(self, who, path, body):
        refused = self.send(who, path, body)
        return refused.status_code, refused.json()["error"]["code"]

    def spent(self):
        return [balance.spent for balance in self.app.state.service.curator.budget()]

    def far(self, who):
        curator = RemoteCurator("http://testserver", key=self.bearers[who])
        self.client.headers["Authorization"] = f"Bearer {self.bearers[who]}"
        curator.server._http = self.client
        return curator


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    config = write_clinic(tmp_path_factory.mktemp("questioning"), patients=300, visits=400)
    keys = KeyStore.open(start_ledger(config))
    bearers = {
        "alice": keys.create("alice"),
        "bob": keys.create("bob", cap=CAP),
        "owner": keys.create("olga", role="owner"),
    }
    app = create_app(open_curator(config), keys, config=config, class_ms=0)
    with client_of(app) as client:
        yield RunningServer(client, bearers, app, config.parent)
    app.state.service.close()


def test_a_dry_run_says_what_it_would_cost_and_promise_and_spends_nothing(running):
    before = running.spent()
    plan = running.send("alice", "/v1/sessions", {**OPENED, "dry": True}).json()
    assert (plan["queries"], plan["alarms"], plan["rho"], plan["asked_before"]) == (20, 4, 0.02, False)
    assert plan["within"] > 0
    assert set(plan["charged"]) == {"dataset", "alice"}
    assert running.spent() == before


def test_it_is_paid_for_once_and_answers_the_same_again(running):
    opened = running.send("alice", "/v1/sessions", OPENED)
    bill, facts = running.spent(), opened.json()
    assert facts["left"] == 20
    path = f"/v1/sessions/{facts['id']}/answers"
    told = running.send("alice", path, WOMEN).json()
    assert [set(answer) for answer in told["answers"]] == [{"count", "how", "within"}] * 3
    assert told["left"] == 17
    assert running.send("alice", path, WOMEN).json() == told
    again = running.send("alice", "/v1/sessions", OPENED)
    assert again.json()["id"] == facts["id"]
    assert running.spent() == bill
    for who in ("bob", "owner"):
        assert (
            running.code(who, path, WOMEN)
            == running.code(who, "/v1/sessions/none/answers", WOMEN)
            == (404, "unknown-session")
        )


def test_what_is_refused_is_refused_by_name_and_not_paid_for(running):
    before = running.spent()
    for change, code in (
        ({"mode": "none"}, "bad-input"),
        ({"queries": 0}, "bad-input"),
        ({"release": "none"}, "not-answered"),
        ({"epsilon": 1.0}, "bad-input"),
        ({"rho": 1e4}, "budget-exceeded"),
        ({"source": "SELECT sex FROM none"}, "unknown-name"),
        ({"alarms": None}, "bad-input"),
    ):
        assert running.code("alice", "/v1/sessions", {**OPENED, **change})[1] == code, change
    assert running.spent() == before
    path = f"/v1/sessions/{running.send('alice', '/v1/sessions', OPENED).json()['id']}/answers"
    for queries, code in (
        ([], "bad-input"),
        ([{"sex": "X"}], "bad-input"),
        ([{"none": 1}], "unknown-name"),
        (["none = 1"], "unknown-name"),
        (["sex = 'F' AND"], "unparsable"),
        (["EXISTS (SELECT 1 FROM patients)"], "not-allowed"),
        ([""], "bad-input"),
        ([{"sex": {"from": {"date": "x"}}}], "bad-input"),
        ([{"sex": {"like": "F"}}], "bad-input"),
        ([{"sex": [["F"]]}], "bad-input"),
        ([{}] * (MOST_AT_ONCE + 1), "bad-input"),
        ([{"age": {"from": age}} for age in range(40, 62)], "session-ended"),
    ):
        assert running.code("alice", path, {"queries": queries})[1] == code, queries[:1]


def test_far_it_is_as_near_and_goes_on_where_the_server_has_let_go_of_it(running):
    curator, far = running.app.state.service.curator, running.far("bob")
    asked = {**OPENED, "alarms": 2}
    session = far.session(asked.pop("source"), **asked)
    queries = [{"sex": {"F"}}, {"age": Between(30, 49)}, {"age": 5}, {}]
    told = session.answer_many(queries)
    near = curator.context.sessions.get(session.id, analyst="bob")
    assert near.answer_many(queries) == told
    assert (near.left, near.within) == (session.left, session.within)
    curator.context.sessions.close()
    assert session.answer_many(queries) == told
    assert session.answer_many(["age BETWEEN 30 AND 49", "sex = 'F'"]) == [told[1], told[0]]
    assert session.answer("sex <> 'F'").how == "estimated"
    assert session.answer({"sex": "M"}) == session.answer("NOT sex = 'F'")
    assert session.left == 15
    assert far.plan_session(OPENED["source"], **asked).asked_before
    assert far.plan_session(OPENED["source"], **asked) == curator.as_analyst("bob").plan_session(
        OPENED["source"], **asked
    )
    with pytest.raises(SessionEnded):
        session.answer_many([{"age": age} for age in range(50)])
    for query, error in (({"none": 1}, UnknownName), ({"sex": "X"}, BadInput), (["sex"], BadInput)):
        with pytest.raises(error):
            session.answer(query)


def test_of_many_sessions_the_first_are_let_go_of(running):
    ids = []
    for name in "abcde":
        opened = running.send(
            "owner", "/v1/sessions", {**OPENED, "source": "SELECT sex FROM patients", "name": name, "rho": 0.001}
        )
        ids.append(opened.json()["id"])
    told = [running.send("owner", f"/v1/sessions/{each}/answers", WOMEN_ONLY).status_code for each in ids]
    assert told == [404, 200, 200, 200, 200]


def test_after_a_change_of_data_a_session_is_not_opened_again_by_itself(running):
    far = running.far("alice")
    session = far.session("SELECT sex FROM patients", rho=0.01, queries=9)
    session.answer({"sex": "F"})
    pq.write_table(clinic(patients=310, visits=400, seed=1)["patients"], running.folder / "patients.parquet")
    assert running.send("owner", "/v1/refresh", None).json()["version"] == 2
    running.far("alice")
    bill = running.spent()
    with pytest.raises((UnknownSession, RequestConflict)):
        session.answer({"sex": "M"})
    assert running.spent() == bill


WOMEN_ONLY = {"queries": [{"sex": "F"}]}


def test_questions_come_back_from_json_as_they_were():
    query = {
        "a": Between(1, 2.5),
        "b": [None, "x", date(2020, 1, 2)],
        "c": date(2020, 1, 1),
        "d": Between(upper=date(2020, 1, 1)),
        "e": True,
    }
    assert query_from_json(query_to_json(query)) == query

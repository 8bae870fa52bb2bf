"""Models over HTTP: priced before, paid once, told without a word about their passes, refused by name; and one suite for both faces."""

import json

import httpx
import numpy as np
import pytest

import discreet
from discreet.errors import DiscreetError
from discreet.learning import (
    PCA,
    Category,
    DecisionTree,
    FiniteClass,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Moments,
    NaiveBayes,
    Number,
)
from discreet.learning.data.hypotheses import conjunctions, halfspaces, own, stumps
from discreet.learning.runs.deciders import Decider
from discreet.learning.runs.model_json import decider_from_json, decider_to_json, model_from_json, model_to_json
from discreet.learning.runs.model_release import ModelRelease
from discreet.measurement.release_files import MEDIA_TYPE, read_release
from tests.server.conftest import PATIENCE, Server
from tests.support.opening import open_curator

ROWS = "SELECT age, sex, age > 60 AS is_old FROM patients WHERE age > :least"
LEAST = {"least": 3}
WANTED = {
    "source": "SELECT age, sex FROM patients",
    "model": {"kind": "LogisticRegression", "features": [{"number": "age", "bins": 4}], "target": "sex", "passes": 3},
    "rho": 0.01,
    "name": "sexes",
}
MODELS = [
    LogisticRegression(target="is_old", features=[Number("age", bins=6), Category("sex")], passes=4),
    LinearRegression(target="age", features=["sex"], ridge=0.1),
    Moments(features=["age", Category("sex")]),
    PCA(features=["age", "sex"], components=1),
    NaiveBayes(target="is_old", features=[Number("age"), "sex"]),
    DecisionTree(target="is_old", features=["age", "sex"], depth=2),
    KMeans(features=["age"], clusters=2),
    FiniteClass(target="is_old", features=["age", "sex"], hypotheses=stumps(3, [0.5, 40, 60.5])),
]
SENT = [
    *MODELS,
    FiniteClass(target="is_old", features=["sex"], hypotheses=conjunctions(2)),
    FiniteClass(target="is_old", features=["age"], hypotheses=halfspaces(1, weights=1, offsets=[-60, 60])),
]
CLASSIFIERS = [
    model for model in MODELS if isinstance(model, LogisticRegression | NaiveBayes | DecisionTree | FiniteClass)
]


def called(model):
    kind = type(model).__name__
    return f"{kind} of {model.hypotheses.described['class']}" if isinstance(model, FiniteClass) else kind


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("learning"), epsilon="30.0").start("--class-ms", "0")
    yield made
    made.stop()


@pytest.fixture(scope="module", params=["near", "far"])
def face(request, server):
    if request.param == "near":
        with open_curator(server.config) as curator:
            yield curator.as_analyst("alice")
    else:
        with discreet.connect(server.url, key=server.alice) as curator:
            yield curator


@pytest.fixture(scope="module")
def drawn():
    """What was drawn for a model, whichever face was asked first."""
    return {}


def send(server, body, *, to="learn", **headers):
    bearer = {"Authorization": f"Bearer {server.alice}"}
    return httpx.post(f"{server.url}/v1/{to}", json=body, headers={**bearer, **headers}, timeout=PATIENCE)


def spent(server):
    return [account["spent"] for account in server.get("/v1/budget", key=server.owner).json()["accounts"]]


@pytest.mark.parametrize("model", MODELS, ids=called)
def test_a_model_is_planned_learned_found_and_the_same_wherever_it_is_asked_for(face, drawn, model):
    name = called(model)
    plan = face.plan_learning(model, ROWS, rho=0.05, parameters=LEAST)
    assert plan.rho == 0.05
    assert all(look.numbers >= 1 and look.within > 0 and look.norm > 0 for look in plan.measurements)
    learned = face.learn(model, ROWS, rho=0.05, name=name, parameters=LEAST)
    assert type(learned) is type(model)
    assert [look.what for look in plan.measurements] == [step.kind for step in learned.transcript.steps]
    assert [look.numbers for look in plan.measurements] == [step.outcome.size for step in learned.transcript.steps]
    assert learned.receipt
    before = face.budget()
    again = face.learn(model, ROWS, rho=0.05, name=name, parameters=LEAST)
    assert again.replayed
    assert face.budget() == before
    assert face.plan_learning(model, ROWS, rho=0.05, parameters=LEAST).asked_before
    found = face.release(name)
    assert isinstance(found, ModelRelease)
    stored = drawn.setdefault(name, found.stored)
    assert stored == found.stored == again.transcript.encoded() == learned.transcript.encoded()
    assert repr(found.model.card().rows) == repr(learned.card().rows)


def test_moments_give_a_line_for_every_column_and_components_for_one_price(face, drawn):
    rows = "SELECT age, age / 2 AS half, sex FROM patients"
    moments = face.moments(rows, "age", "half", Category("sex"), rho=2, name="moments")
    assert drawn.setdefault("moments", moments.transcript.encoded()) == moments.transcript.encoded()
    before = face.budget()
    half = LinearRegression.from_moments(moments, "half")
    assert half.coef_[0] == pytest.approx(0.5, abs=0.1)
    assert LinearRegression.from_moments(moments, "age").coef_[0] == pytest.approx(2, abs=0.4)
    along = PCA.from_moments(moments, components=1).components_[0]
    assert along[0] == pytest.approx(along[1], abs=0.3)
    assert face.moments(rows, "age", "half", Category("sex"), rho=2).replayed
    assert face.budget() == before
    with pytest.raises(DiscreetError) as caught:
        face.moments(rows, rho=2)
    assert caught.value.code == "bad-input"


@pytest.mark.parametrize("model", CLASSIFIERS, ids=called)
def test_an_evaluation_is_planned_made_found_and_the_same_wherever_it_is_asked_for(face, drawn, model):
    learned = face.learn(model, ROWS, rho=0.05, parameters=LEAST)
    (look,) = face.plan_evaluation(learned, ROWS, epsilon=1, parameters=LEAST).measurements
    assert (look.what, look.numbers, look.norm) == ("confusion", 4, 1)
    name = f"test of {called(model)}"
    made = face.evaluate(learned, ROWS, epsilon=1, name=name, parameters=LEAST)
    assert made.matrix.shape == (2, 2)
    assert made.classes == (False, True)
    assert face.plan_evaluation(learned, ROWS, epsilon=1, parameters=LEAST).asked_before
    assert face.evaluate(learned, ROWS, epsilon=1, parameters=LEAST).replayed
    assert drawn.setdefault(name, made.stored) == made.stored == face.release(name).stored
    numbers = {row["number"] for row in made.card().rows}
    assert {"accuracy", "precision of True", "recall of False"} <= numbers


def test_what_is_refused_near_is_refused_far_by_the_same_name_and_costs_nothing(face):
    before = face.budget()
    bayes, moments = NaiveBayes(target="sex", features=["age"]), Moments(features=["age"])
    for code, ask in (
        ("bad-input", lambda: face.learn(bayes, "patients")),
        ("bad-input", lambda: face.learn(bayes, "patients", rho=0.1, epsilon=1)),
        ("bad-input", lambda: face.learn("a model", "patients", rho=0.1)),
        ("bad-input", lambda: face.learn(NaiveBayes(target="sex", features=["age"], epsilon=1), "patients", rho=0.1)),
        ("bad-input", lambda: face.learn(NaiveBayes(target="sex", features=["age"], classes=["F"]), "patients", rho=1)),
        ("bad-input", lambda: face.plan_learning(Moments(features=[Number("age", 0, 9)]), "patients", rho=0.1)),
        ("bad-input", lambda: face.learn(PCA(features=["age"], components=9), "patients", rho=0.1)),
        ("bad-input", lambda: face.evaluate(bayes, "patients", rho=0.1)),
        ("bad-input", lambda: face.evaluate(moments, "patients", rho=0.1)),
        ("bad-input", lambda: face.learn(FiniteClass(target="sex", features=["age"], hypotheses=stumps(2, [1])), "patients", rho=1)),
        ("bad-input", lambda: face.learn(FiniteClass(target="sex", hypotheses=stumps(1, [1])), "patients", rho=1)),
        ("unknown-name", lambda: face.learn(NaiveBayes(target="sex", features=["none"]), "patients", rho=0.1)),
        ("needs-values", lambda: face.plan_learning(Moments(features=["zip"]), "patients", rho=0.1)),
        ("scale-out-of-range", lambda: face.learn(moments, "patients", rho=1e-300)),
        ("budget-exceeded", lambda: face.learn(moments, "patients", rho=1e6)),
        ("too-large", lambda: face.plan_learning(
            LogisticRegression(target="ward", features=[*(f"c{n}" for n in range(20))], passes=100),
            f"SELECT ward, {', '.join(f'cost AS c{n}' for n in range(20))} FROM visits", rho=0.1)),
    ):  # fmt: skip
        with pytest.raises(DiscreetError) as caught:
            ask()
        assert caught.value.code == code
        assert caught.value.next_step
    assert face.budget() == before


def test_a_model_is_told_as_it_happens_but_for_its_passes_and_paid_for_once(server):
    before = spent(server)
    plan = send(server, {**WANTED, "dry": True}).json()
    assert [look["what"] for look in plan["measurements"]] == ["products", "pass", "pass", "pass"]
    assert (plan["rho"], set(plan["charged"]), spent(server)) == (0.01, {"dataset", "alice"}, before)
    lines = send(server, WANTED, Accept="application/x-ndjson", **{"Idempotency-Key": "one"}).text.splitlines()
    states = [json.loads(line)["state"] for line in lines[:-1]]
    assert [state for state in states if state != "reading"] == ["planned", "paid"]
    facts = json.loads(lines[-1])
    assert (facts["name"], facts["kind"], facts["model"], facts["measurements"]) == (
        *("sexes", "learn"),
        *("LogisticRegression", 4),
    )
    bill = spent(server)
    with open_curator(server.config) as curator:
        near = curator.release("sexes").model.card()
    assert [row["number"] for row in facts["numbers"]] == [row["number"] for row in near.rows]
    assert [row["value"] for row in facts["numbers"]] == [row["value"] for row in near.rows]
    assert [row["within"] for row in facts["numbers"]] == [row["value"] for row in near.half_widths(0.95)]
    with discreet.connect(server.url, key=server.owner) as owner:
        owner.publish("sexes")
    anybody = httpx.get(f"{server.url}/v1/published/sexes", timeout=PATIENCE).json()
    assert (anybody["model"], "numbers" in anybody) == (
        "LogisticRegression",
        False,
    )  # nothing is worked out for strangers
    again = send(server, WANTED, Accept=MEDIA_TYPE, **{"Idempotency-Key": "one"})
    assert again.headers["Discreet-Replayed"] == "true"
    stored, name, _ = read_release(again.content)
    assert (name, ModelRelease(stored).model.has_learned, spent(server)) == ("sexes", True, bill)
    other = {**WANTED, "model": {**WANTED["model"], "passes": 2}}
    assert send(server, other, **{"Idempotency-Key": "one"}).status_code == 409
    assert send(server, other).json()["error"]["code"] == "name-taken"
    assert spent(server) == bill != before


def test_bodies_that_are_no_model_are_refused_before_anything_is_paid_for(server):
    before, model = spent(server), WANTED["model"]
    for change in (
        *({"kind": "Oracle"}, {"features": []}, {"features": "age"}, {"features": [{"number": "age", "bins": 1}]}),
        *({"features": [{"number": "age", "lower": 3}]}, {"features": [{"category": "age", "number": "age"}]}),
        *({"passes": 0}, {"passes": 101}, {"passes": 2.0}, {"passes": True}, {"depth": 2}, {"ridge": 1.0}),
        *({"target": 3}, {"target": None}, {"epsilon": 1.0}, {"classes": ["F"]}, {"features": ["age", "age"]}),
        *({"kind": "Moments"}, {"kind": "__class__"}, {"transcript": ""}),
    ):
        refused = send(server, {**WANTED, "name": "x", "model": {**model, **change}})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad-input"), change
    for change in ({"bins": {"age": 3}}, {"model": "sexes"}, {"name": "a/b"}, {"rho": "0.01"}, {"analyst": "bob"}):
        assert send(server, {**WANTED, **change}).json()["error"]["code"] == "bad-input", change
    assert spent(server) == before


def test_decisions_that_do_not_fit_are_refused_before_anything_is_paid_for(server):
    with discreet.connect(server.url, key=server.alice) as far:
        bayes = far.learn(NaiveBayes(target="sex", features=["age"]), "patients", rho=0.01)
        tree = far.learn(DecisionTree(target="sex", features=["age"], depth=1), "patients", rho=0.01)
    before = spent(server)
    scores, splits = decider_to_json(Decider.of(bayes)), decider_to_json(Decider.of(tree))
    first, second = scores["scores"]
    longer = {**first, "entries": [[*first["entries"][0], 1]]}
    ((split,),) = splits["splits"]
    for decided in (
        {**scores, "scores": [first]},
        {**scores, "scores": [first, second, second]},
        {**scores, "scores": [first, longer]},
        {**scores, "scores": [first, {**second, "entries": [*second["entries"], [1, 2]]}]},
        {**scores, "scores": [first, {**second, "constant": 2**31 + 1}]},
        {**scores, "scores": [first, {**second, "constant": 0.5}]},
        {**scores, "scores": [first, {**second, "constant": "sum(1)"}]},
        {**scores, "classes": 3},
        {**scores, "seen": "0" * 64},
        {**scores, "columns": ["age", "sex"]},
        {**scores, "target": "age"},
        {**scores, "bins": {"age": 3}},
        {**scores, "splits": splits["splits"], "class_of_part": [0, 1]},
        {**splits, "class_of_part": [0]},
        {**splits, "class_of_part": [0, 2]},
        {**splits, "class_of_part": [0, -1]},
        {**splits, "splits": [[{**split, "column": 1}]]},
        {**splits, "splits": [[{**split, "second": split["second"][1:]}]]},
        {**splits, "splits": [[{**split, "second": split["second"].replace("1", "2")}]]},
        {**splits, "splits": [[split], [split]]},
        {**splits, "splits": []},
    ):
        body = {"source": "patients", "rho": 0.01, "model": decided}
        for told in (body, {**body, "dry": True}):
            refused = send(server, told, to="evaluate")
            assert (refused.status_code, refused.json()["error"]["code"]) in {(422, "bad-input"), (422, "unknown-name")}
    assert spent(server) == before
    made = send(server, {"source": "patients", "rho": 0.01, "model": splits}, to="evaluate").json()
    assert (made["kind"], np.array(made["matrix"]).shape, made["classes"]) == ("evaluate", (2, 2), ["F", "M"])
    assert 0 <= made["accuracy"]["value"] <= 1
    assert made["accuracy"]["within"] > 0


def test_functions_of_ones_own_and_classes_without_end_are_not_sent(server):
    mine = FiniteClass(target="sex", features=["age"], hypotheses=own(1, {"f": lambda row: row[0] > 3}))
    with discreet.connect(server.url, key=server.alice) as far, pytest.raises(DiscreetError) as caught:
        far.learn(mine, "patients", rho=0.01)
    assert "local curator" in caught.value.next_step
    model = {"kind": "FiniteClass", "features": ["age"], "target": "sex"}
    for hypotheses, code in (
        ({"class": "conjunctions", "columns": 9}, "too-large"),
        ({"class": "conjunctions", "columns": 2000}, "too-large"),
        ({"class": "halfspaces", "columns": 16, "weights": 100, "steps": [0]}, "too-large"),
        ({"class": "stumps", "columns": 2000, "steps": list(range(10)), "both": True}, "too-large"),
        ({"class": "stumps", "columns": 1, "steps": [], "both": True}, "bad-input"),
        ({"class": "stumps", "columns": 1}, "bad-input"),
        ({"class": "own", "columns": 1}, "bad-input"),
        ({"columns": 1}, "bad-input"),
    ):
        refused = send(server, {"source": "patients", "rho": 0.01, "model": {**model, "hypotheses": hypotheses}})
        assert refused.json()["error"]["code"] == code, hypotheses


@pytest.mark.parametrize("model", SENT, ids=called)
def test_what_is_sent_is_what_is_learned_near(model):
    assert model_from_json(json.loads(json.dumps(model_to_json(model)))).described == model.described


def test_what_a_model_decides_is_the_same_behind_the_wire(server):
    with open_curator(server.config) as curator:
        for model in CLASSIFIERS:
            decider = Decider.of(curator.learn(model, ROWS, rho=0.05, parameters=LEAST))
            there = decider_from_json(json.loads(json.dumps(decider_to_json(decider))))
            assert there == decider
            assert there.deciding.described == decider.deciding.described


def test_a_server_that_is_killed_goes_on_with_what_was_paid_for(server):
    """Killed once the charge is on disk: whoever asks again under the same name has the model, for the one price."""
    before = spent(server)
    wanted = {**WANTED, "rho": 0.02, "name": "killed", "model": {**WANTED["model"], "passes": 20}}
    headers = {"Authorization": f"Bearer {server.alice}", "Idempotency-Key": "k", "Accept": "application/x-ndjson"}
    told = []
    with httpx.stream("POST", f"{server.url}/v1/learn", json=wanted, headers=headers, timeout=PATIENCE) as response:
        for line in response.iter_lines():
            told.append(json.loads(line))
            if told[-1].get("state") == "paid":
                server.stop(kill=True)
                break
    assert [line["state"] for line in told if line["state"] != "reading"] == ["planned", "paid"]
    server.start("--class-ms", "0")
    bill = spent(server)
    made = [send(server, wanted, **{"Idempotency-Key": "k"}) for _ in range(2)]
    assert [each.status_code for each in made] == [200, 200]
    assert made[0].json()["measurements"] == 21
    assert made[0].content == made[1].content
    assert spent(server) == bill != before


def test_the_log_has_no_word_of_what_was_learned(server):
    log = (server.config.parent / "server.log").read_text()
    assert "/v1/learn" in log
    assert not any(word in log for word in ("is_old", "sexes", "LogisticRegression", "Traceback"))

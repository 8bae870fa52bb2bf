"""The attack lab over the wire: every attack is played weak and through the door, within limits, for those with a key."""

import time
from contextlib import closing

import httpx
import pytest

from discreet import attacks
from discreet.attacks.lab import confidence
from discreet.attacks.lab.attack import DISCREET
from discreet.attacks.lab.lab import missing
from discreet.catalog import parse_catalog
from discreet.errors import BadInput
from discreet.samples import write_clinic
from discreet.samples.clinic import CATALOG
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from discreet.server.routes import attack_lab
from discreet.server.schemas.attack_bodies import Console
from discreet.server.schemas.query_bodies import Attempt
from tests.server.conftest import client_of
from tests.support.opening import open_curator

MEASURED = {"homogeneity", "background", "intersection", "inversion", "census"}
"""Whose bound starts from how well the attack does without its target: there is no line for all epsilons."""


def post(server, name, body, *, key=None):
    bearer = {"Authorization": f"Bearer {key or server.alice}"}
    return httpx.post(f"{server.url}/v1/attacks/{name}", json=body, headers=bearer, timeout=60)


def smallest(name, target):
    """The cheapest that can be asked for: one trial with the fewest people."""
    attack = attacks.find(name)
    people = next(knob.least for knob in Console(attack).knobs if knob.name == "people")
    priced = target == DISCREET or target in attack.priced
    return {"against": target, "people": int(people), "trials": 1, **({"epsilon": 1} if priced else {})}


@pytest.fixture(scope="module")
def listed(server):
    return server.get("/v1/attacks").json()["attacks"]


def test_the_list_has_every_attack_with_its_story_and_knobs_that_stand_between_their_ends(listed):
    assert [attack["name"] for attack in listed] == list(attacks.names())
    for attack in listed:
        assert all(attack[word] for word in ("title", "wants", "sees", "lesson", "citation", "releases"))
        assert [knob["name"] for knob in attack["knobs"]] == ["people", *attack["options"]]
        targets = {*attack["releases"], *attack["peers"], DISCREET}
        assert set(attack["trials"]) == targets
        for knob in attack["knobs"]:
            assert knob["least"] <= knob["usual"] <= knob["most"]
            assert knob["label"]
            assert set(knob["against"]) <= targets
            assert knob["least"] > 0 or not knob["log"]


@pytest.mark.slow
@pytest.mark.parametrize("name", attacks.names())
def test_every_attack_is_played_weak_and_through_the_door_or_says_what_is_missing(server, name):
    for target in (attacks.find(name).weak, DISCREET):
        answer = post(server, name, smallest(name, target))
        details = answer.json()
        if missing(attacks.find(name)):
            assert answer.status_code == 422
            assert "pip install" in details["error"]["next_step"]
            continue
        assert answer.status_code == 200, details
        assert details["against"] == target
        assert 0 <= details["interval"][0] <= details["success"] <= details["interval"][1] <= 1
        assert len(details["scores"]) == details["trials"] >= 1
        assert {"guess", "truth"} <= {step["kind"] for step in details["transcript"]}
        assert (details["bound"] is None) == (target != DISCREET)
        if target == DISCREET and name not in MEASURED:
            assert dict(details["allowed"])[1.0] == details["bound"]
        else:
            assert details["allowed"] == []


def test_the_line_that_privacy_allows_passes_through_the_bound_of_the_attack(server):
    details = post(server, "differencing", smallest("differencing", DISCREET)).json()
    line = dict(details["allowed"])
    assert line[1.0] == details["bound"]
    assert list(line.values()) == sorted(line.values())
    assert (min(line), max(line)) == (0.1, 10.0)
    assert post(server, "differencing", smallest("differencing", "room")).json()["allowed"] == []


def test_the_line_is_the_attacks_own_whatever_its_options_and_its_delta_are(server):
    few = post(server, "linkage", smallest("linkage", DISCREET) | {"options": {"candidates": 2}}).json()
    with_delta = post(server, "differencing", smallest("differencing", DISCREET) | {"delta": 1e-3}).json()
    for details in (few, with_delta):
        assert dict(details["allowed"])[1.0] == details["bound"]
    assert few["bound"] != post(server, "linkage", smallest("linkage", DISCREET)).json()["bound"]


def test_scores_of_before_are_counted_with_those_of_now(server):
    body = smallest("differencing", "room") | {"trials": 20}
    details = post(server, "differencing", body | {"earlier": [0, 1] * 10}).json()
    assert (details["trials"], details["success"], details["scores"]) == (40, 0.75, [1.0] * 20)
    assert details["interval"] == pytest.approx(list(confidence.rate_interval(30, 40, 0.95)))


def test_nothing_is_spent_and_the_same_seed_plays_the_same_world(server):
    before = server.get("/v1/budget").json()
    body = smallest("linkage", "de-identified") | {"seed": 7}
    one, other = (post(server, "linkage", body).json() for _ in range(2))
    post(server, "differencing", smallest("differencing", DISCREET))
    assert one["transcript"] == other["transcript"]
    assert server.get("/v1/budget").json() == before


@pytest.mark.parametrize(
    ("name", "body", "next_step"),
    [
        ("no-such-attack", {}, "Choose one of: differencing"),
        ("differencing", {"against": "no-such-release"}, "Choose one of: weak"),
        ("differencing", {"against": "discreet"}, "Give epsilon"),
        ("differencing", {"people": 90_000}, "discreet attack run"),
        ("exhaustive", {"people": 14}, "discreet attack run"),
        ("averaging", {"options": {"repeats": 1e6}}, "discreet attack run"),
        ("averaging", {"options": {"repeats": 2.5}}, "discreet attack run"),
        ("averaging", {"options": {"reapets": 2}}, "repeats"),
        ("differencing", {"trials": 1000}, "earlier"),
        ("differencing", {"trials": 0}, "openapi"),
        ("differencing", {"earlier": [2]}, "openapi"),
        ("differencing", {"epsilon": "1", "against": "discreet"}, "openapi"),
    ],
)
def test_what_cannot_be_played_here_is_refused_with_a_next_step(server, name, body, next_step):
    answer = post(server, name, body)
    assert answer.status_code == 422
    assert next_step in answer.json()["error"]["next_step"]


def test_a_key_is_needed(server):
    assert httpx.get(f"{server.url}/v1/attacks").status_code == 401
    assert httpx.post(f"{server.url}/v1/attacks/differencing", json={}).status_code == 401
    assert post(server, "differencing", {}, key="dk_wrong_key").status_code == 401


def test_what_takes_too_long_is_stopped_between_two_trials(monkeypatch):
    monkeypatch.setattr(attack_lab, "_LONGEST", 0.0)
    started = time.monotonic()
    with pytest.raises(BadInput, match="was stopped"):
        attack_lab._play("averaging", Attempt(against="sticky-noise"), parse_catalog(CATALOG))
    assert time.monotonic() - started < 5


@pytest.mark.usefixtures("_clock_stands_still")
def test_the_list_is_within_the_limits_of_an_analyst(tmp_path):
    config = write_clinic(tmp_path, patients=20, visits=50)
    with open_curator(config) as curator, closing(KeyStore.open(tmp_path / "ledger.sqlite")) as keys:
        bearer = {"Authorization": f"Bearer {keys.create('alice')}"}
        client = client_of(create_app(curator, keys, rate=1, class_ms=0))
        assert [client.get("/v1/attacks", headers=bearer).status_code for _ in range(3)] == [200, 200, 429]


def test_people_of_the_catalogs_shape_are_played_with_and_the_books_hear_nothing(server):
    shape = server.get("/v1/attacks").json()["catalog"]
    assert (shape["table"], shape["refused"]) == ("patients", None)
    before = server.get("/v1/ledger?last=1", key=server.owner).json()["head"]
    body = {"against": DISCREET, "people_of": "catalog", "people": 16, "trials": 2, "epsilon": 1}
    details = post(server, "differencing", body).json()
    assert list(details["sample"]) == ["patients"]
    assert any("\"sex\" = 'F'" in step["text"] for step in details["transcript"])
    assert server.get("/v1/ledger?last=1", key=server.owner).json()["head"] == before
    assert "its own generated people" in post(server, "linkage", {"people_of": "catalog"}).json()["error"]["message"]

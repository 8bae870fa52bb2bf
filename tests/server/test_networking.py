"""Networks near, far and at a terminal: one answer, one price, one refusal; and a process that dies pays once."""

import json
import signal
import subprocess
import sys

import pytest

from discreet.api.remote import RemoteCurator
from discreet.errors import BadInput, DiscreetError, UnknownName
from discreet.graphs.network_verbs import VERBS
from discreet.ledger import verify
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from tests.graphs.world import ASKED, SETTINGS, written
from tests.server.conftest import client_of
from tests.support.commands import run
from tests.support.opening import open_curator, start_ledger

GRAPHS = ("friends", "wires")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A curator at hand, and the same one behind an application, for ada."""
    config = written(tmp_path_factory.mktemp("networks"))
    keys = KeyStore.open(start_ledger(config))
    key = keys.create("ada")
    near = open_curator(config)
    app = create_app(near, keys, config=config, class_ms=0, rate=10_000)
    far = RemoteCurator("http://in-process", key=key)
    far.server._http.close()
    far.server._http = client_of(app)
    far.server._http.headers["Authorization"] = f"Bearer {key}"
    yield near, far
    far.close()
    app.state.service.close()


def settings(graph, verb):
    return {**SETTINGS[verb], **({"attribute": "site"} if graph == "wires" and verb == "assortativity" else {})}


@pytest.mark.parametrize(
    ("graph", "verb"), [(graph, verb) for graph in GRAPHS for verb in VERBS if (graph, verb) != ("wires", "bound")]
)
def test_the_same_verb_has_the_same_plan_price_and_answer_near_and_far(graph, verb, both):
    near, far = both
    said, price = settings(graph, verb), 0.1 + 0.01 * list(VERBS).index(verb)
    assert far.graph(graph).explain(verb, epsilon=price, **said) == near.as_analyst("ada").graph(graph).explain(
        verb, epsilon=price, **said
    )
    first, again = (far.graph(graph).ask(verb, epsilon=price, **said) for _ in range(2))
    at_hand = near.as_analyst("ada").graph(graph).ask(verb, epsilon=price, **said)
    assert (first.replayed, again.replayed, at_hand.replayed) == (False, True, True)
    assert again.stored == at_hand.stored == first.stored
    assert again.receipt == at_hand.receipt
    assert again.value == at_hand.value
    assert again.protects == at_hand.protects
    assert again.settings == at_hand.settings
    if verb != "assortativity":  # whose interval is found by drawing
        assert repr(again) == repr(at_hand)
    assert far.history(limit=1)[0].unit == ("person" if graph == "friends" else "edge")


def test_books_catalog_and_card_name_the_unit_near_and_far(both):
    near, far = both
    far.graph("wires").edges(epsilon=0.2)
    assert far.budget() == near.as_analyst("ada").budget()
    assert {balance.account: balance.unit for balance in far.budget()} == {
        "dataset": "person", "edges of links": "edge", "ada": "person",
    }  # fmt: skip
    assert far.card() == near.card()
    assert far.card().edges[0].edges == "links"
    assert far.catalog() == near.catalog()
    assert {table["name"] for table in far.catalog().tables} == {"people", "routers"}
    listed = far.server.send("GET", "/v1/graphs").json()
    assert [graph["name"] for graph in listed["graphs"]] == list(GRAPHS)
    assert set(listed["verbs"]) == set(VERBS)
    assert verify(near.ledger).sound


@pytest.mark.parametrize(
    ("verb", "given"),
    [
        ("bound", {"epsilon": 1}),
        ("edges", {}),
        ("edges", {"epsilon": -1}),
        ("edges", {"epsilon": 1e9}),
        ("edges", {"epsilon": 1, "k": 3}),
        ("lines", {"epsilon": 1}),
        ("stars", {"epsilon": 1, "k": 1000}),
        ("assortativity", {"epsilon": 1, "attribute": "note"}),
    ],
)
def test_what_is_refused_near_is_refused_far_and_costs_nothing(verb, given, both):
    near, far = both
    before = near.budget()
    for graph in GRAPHS:
        with pytest.raises(DiscreetError) as at_hand:
            near.as_analyst("ada").graph(graph).ask(verb, **given)
        with pytest.raises(DiscreetError) as away:
            far.graph(graph).ask(verb, **given)
        assert issubclass(type(away.value), BadInput) == issubclass(type(at_hand.value), BadInput)
    for curator in both:
        with pytest.raises(UnknownName, match="friends, wires"):
            curator.graph("enemies")
    assert near.budget() == before


def test_a_request_that_is_repeated_is_paid_for_once_and_another_under_its_name_is_refused(both):
    _, far = both
    one = far.graph("wires").edges(epsilon=0.33, request_id="once")
    assert far.graph("wires").edges(epsilon=0.33, request_id="once").receipt == one.receipt
    with pytest.raises(DiscreetError, match="another query"):
        far.graph("wires").edges(epsilon=0.34, request_id="once")


def test_commands_tell_the_same(tmp_path):
    config = written(tmp_path)
    config.write_text(config.read_text().replace("per_node = 30\n", ""))
    start_ledger(config)
    plan = json.loads(run("graph", "friends", "triangles", "--epsilon", 1, "--dry-run", "--json", cwd=tmp_path))
    assert (plan["unit"], plan["charged"], plan["asked_before"]) == ("person", {"dataset": True}, False)
    words = run("graph", "friends", "triangles", "--epsilon", 1, "--dry-run", cwd=tmp_path)
    assert "nothing was spent" in words
    assert plan["mechanisms"] == ["PureAdaptive"]
    assert "the bound is chosen privately, then Laplace noise is added" in words
    told = json.loads(run("graph", "friends", "triangles", "--epsilon", 1, "--json", cwd=tmp_path))
    assert told["unit"] == "person"
    assert told["low"] <= told["value"] <= told["high"]
    again = run("graph", "friends", "triangles", "--epsilon", 1, cwd=tmp_path)
    assert "free: asked before" in again
    assert "k edges" in run("graph", "wires", "stars", "--k", 2, "--epsilon", 1, cwd=tmp_path)
    bill = run("budget", cwd=tmp_path)
    assert "edges of links" in bill
    assert "one edge" in bill
    assert "for an edge" in bill
    for verb in VERBS:
        assert verb in run("graph", "friends", "--help", cwd=tmp_path)
    run("dummy", "nobody", "--people", 60, cwd=tmp_path)
    assert "edges of friends" in run(
        "graph", "friends", "edges", "--epsilon", 1, "--config", "nobody/discreet.toml", cwd=tmp_path
    )
    refused = run("ask", "SELECT COUNT(*) FROM links", "--epsilon", 1, cwd=tmp_path, code=3)
    assert "discreet graph wires edges" in " ".join(refused.split())


def test_a_process_that_dies_past_its_charge_pays_once_and_a_retry_answers(tmp_path):
    config = written(tmp_path)
    start_ledger(config)
    deaths = ["reserve: committed/0", "finish: begun/0"]
    command = [sys.executable, "-m", "tests.graphs.dying", str(config), *deaths]
    told = [json.loads(line) for line in subprocess.check_output(command, timeout=240).splitlines()]
    assert [death["signal"] for death in told] == [signal.SIGKILL] * len(deaths)
    with open_curator(config) as curator:
        friends = curator.as_analyst("ada").graph("friends")
        assert friends.triangles(**ASKED).stored == friends.triangles(**ASKED).stored
        assert {b.account: b.spent.epsilon for b in curator.budget()} == {
            "dataset": 0.4, "edges of links": 0, "ada": 0.4, "bob": 0,
        }  # fmt: skip
        assert verify(curator.ledger).sound

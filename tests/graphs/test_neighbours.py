"""Neighbouring networks through the real path, catalog to engine: what one person or one edge moves is what noise is drawn for, and no less."""

import json
import math
import threading
from collections import Counter

import numpy as np
import pytest

from discreet.api import opening
from discreet.api.requests.graph import GRAPH_REQUESTS
from discreet.graphs.edge_counts import edge_count
from discreet.graphs.protected_graph import Privacy
from discreet.mechanisms import GeneralizedExponential, Ladder, Laplace
from discreet.samples.friends import friendships
from tests.graphs.world import NODE, SETTINGS, a_curator
from tests.support.sources import SeededBits

PEOPLE = 90
EDGES = [*friendships(PEOPLE, each=3, seed=8), *((0, other) for other in range(20, 60))]
HUB = 0
"""Who has the most edges."""
WITHOUT_HUB = {"people": [p for p in range(PEOPLE) if p != HUB], "edges": [pair for pair in EDGES if HUB not in pair]}
SALTS = ("0a" * 16, "5c" * 16)


@pytest.fixture(scope="module", params=SALTS)
def pairs(request):
    """Curators over neighbours: without the person of highest degree, and without one edge of theirs."""
    degrees = Counter(end for pair in {tuple(sorted(pair)) for pair in EDGES} for end in pair)
    assert degrees.most_common(1)[0][0] == HUB
    fewer = [pair for pair in EDGES if set(pair) != {HUB, 25}]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "_salt", lambda *_: request.param)
        opened = {
            "node": (a_curator("node", people=range(PEOPLE), edges=EDGES), a_curator("node", **WITHOUT_HUB)),
            "edge": (
                a_curator("edge", people=range(PEOPLE), edges=EDGES),
                a_curator("edge", people=range(PEOPLE), edges=fewer),
            ),
        }
    yield opened
    for both in opened.values():
        for curator in both:
            curator.close()


@pytest.fixture
def _without_noise(monkeypatch):
    """What would be drawn around, instead of what is drawn: for this test alone, to compare exact numbers."""
    monkeypatch.setattr(Laplace, "release", lambda self, value, bits=None: value)
    monkeypatch.setattr(Ladder, "release", lambda self, exact, bits=None: exact[0])
    monkeypatch.setattr(GeneralizedExponential, "release", lambda self, scores, bits=None: 0)


def exact_numbers(curator, verb, price, **said):
    answer = curator.graph("friends").ask(verb, epsilon=price, **said)
    return np.array(json.loads(answer.stored)["drawn"]), answer.query


@pytest.mark.usefixtures("_without_noise")
@pytest.mark.parametrize("most", [3, 12, 40])
def test_a_person_with_all_edges_moves_no_answer_by_more_than_its_noise_is_for(pairs, most):
    bounds = {"max_degree": most, "per_node": most}
    moved = {}
    for verb, said in SETTINGS.items():
        if verb == "bound":
            continue
        taken = {name: value for name, value in bounds.items() if hasattr(GRAPH_REQUESTS[verb], name)}
        one, query = exact_numbers(pairs["node"][0], verb, most / 100, **said, **taken)
        other, _ = exact_numbers(pairs["node"][1], verb, most / 100, **said, **taken)
        moved[verb] = np.abs(one - other)
        if verb != "clustering":
            assert moved[verb].sum() <= query.mechanisms[0].sensitivity, verb
    assert moved["clustering"][0] <= most + 1
    assert moved["clustering"][1:].sum() <= most + 1
    assert moved["edges"].sum() > 0
    assert moved["degrees"].sum() >= most / 2  # the bound is nearly met: noise for less would not do


@pytest.mark.usefixtures("_without_noise")
def test_an_edge_moves_no_answer_by_more_than_its_noise_is_for(pairs):
    for verb, said in SETTINGS.items():
        if verb == "bound":
            continue
        (one, query), (other, _) = (exact_numbers(curator, verb, 0.01, **said) for curator in pairs["edge"])
        moved = np.abs(one - other)
        match verb:
            case "triangles" | "clustering":
                ladder, width = query.mechanisms[:2]
                local = max(one[1], other[1])
                assert moved[0] <= local <= ladder.most
                assert moved[1] <= width.sensitivity
                assert moved[2:].sum() <= 2
            case _:
                assert moved.sum() <= query.mechanisms[0].sensitivity
                assert moved.sum() > 0


def epsilon_seen(one, other):
    """The largest log ratio of how often an answer is at least a threshold, less what so few draws leave open."""
    slack = 4 / math.sqrt(len(one))
    ratios = [0.0]
    for threshold in np.quantile(np.concatenate([one, other]), np.linspace(0.02, 0.98, 40)):
        p, q = float((one >= threshold).mean()), float((other >= threshold).mean())
        sides = ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))
        ratios += [math.log((often - slack) / (seldom + slack)) for often, seldom in sides if often > 2 * slack]
    return max(ratios)


def test_an_audit_of_neighbours_that_differ_in_the_person_of_highest_degree_stays_within_epsilon(pairs):
    """And would not, were the noise for one edge."""
    networks = []
    for curator in pairs["node"]:
        graph = curator.declared.graphs["friends"]
        networks.append(curator._engine.network(graph, attribute=None, cancelled=threading.Event()))
    query = edge_count(privacy=Privacy.NODE, epsilon=1, max_degree=12)
    counts = [len(network.projected(12).ends) for network in networks]
    assert abs(counts[0] - counts[1]) > 4
    bits, draws = SeededBits("audit"), 20_000
    for mechanism, is_sound in ((query.mechanisms[0], True), (Laplace(sensitivity=1, epsilon=1), False)):
        sized = Laplace(sensitivity=mechanism.sensitivity, epsilon=1, size=draws)
        one, other = (sized.release(np.full(draws, count), bits) for count in counts)
        assert (epsilon_seen(one, other) <= 1) == is_sound


def test_rows_that_are_no_edges_count_nowhere_and_a_person_is_one_node_however_many_rows_they_have():
    rows = [(1, 2), (2, 1), (1, 2), (3, 3), (1, 99), (98, 99), (None, 2), (2, 3)]
    with a_curator("node", people=[1, 2, 3, 3, None, 4], edges=rows) as curator:
        network = curator._engine.network(
            curator.declared.graphs["friends"], attribute="town", cancelled=threading.Event()
        )
        assert network.size == 4
        assert len(network.ends) == 2
        assert sorted(network.degrees.tolist()) == [0, 1, 1, 2]
        assert sorted(network.groups.tolist()) == [0, 0, 1, 1]
        assert "1" not in repr(network)


def test_a_place_among_edges_does_not_hang_on_who_else_is_there(pairs):
    whole, left = (curator._engine._data for curator in pairs["node"])
    names = [
        'SELECT n.k, m.k FROM data."$edges friends" JOIN data."$nodes friends" n ON a = n.node JOIN data."$nodes friends" m ON b = m.node ORDER BY place'
    ]
    first, second = (data.execute(names[0]).fetchall() for data in (whole, left))
    assert [pair for pair in first if HUB not in pair] == second


def test_text_names_nodes_too():
    catalog = NODE.replace('columns.a = { type = "integer" }', 'columns.a = { type = "text" }').replace(
        'columns.b = { type = "integer" }', 'columns.b = { type = "text" }'
    ).replace('columns.person = { type = "integer" }', 'columns.person = { type = "text" }')  # fmt: skip
    with a_curator("node", people=range(50), edges=friendships(50, seed=1), catalog=catalog) as curator:
        assert curator.graph("friends").edges(epsilon=300).value == pytest.approx(len(friendships(50, seed=1)), abs=8)

"""Answers about networks: what they cost, how far off they are, and what they refuse."""

import math

import numpy as np
import pytest

from discreet import graphs
from discreet.accounting import Account
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.errors import BudgetExceeded, DiscreetError
from discreet.graphs import network_query
from discreet.graphs.rumours import largest_share, random_network
from discreet.samples.friends import friendships
from tests.support.sources import SeededBits

PEOPLE = 1200
EDGES = friendships(PEOPLE, seed=1)
FRIENDS = graphs.Graph(EDGES, range(PEOPLE), attributes={person: "ab"[person % 2] for person in range(PEOPLE)})
FRIENDS.exact = ExactGraph.read(EDGES, range(PEOPLE), salt=b"one of many")
TRIANGLES, LOCAL = FRIENDS.exact.triangles_and_local()
CALLS = {
    "edges": lambda **given: graphs.edges(FRIENDS, **given),
    "degrees": lambda **given: graphs.degrees(FRIENDS, **given),
    "triangles": lambda **given: graphs.triangles(FRIENDS, **{k: v for k, v in given.items() if k != "max_degree"}),
    "clustering": lambda **given: graphs.clustering(FRIENDS, **given),
    "assortativity": lambda **given: graphs.assortativity(FRIENDS, groups=["a", "b"], **given),
}
calls = pytest.mark.parametrize("name", CALLS)


@pytest.fixture(autouse=True)
def _seeded(monkeypatch, request):
    """A red run means a bug."""
    bits = SeededBits(request.node.name)
    monkeypatch.setattr(network_query, "_bits", bits)


@calls
@pytest.mark.parametrize("privacy", ["edge", "node"])
def test_everything_is_paid_for_before_it_is_drawn_and_costs_what_it_says(name, privacy):
    account = Account(1)
    answer = CALLS[name](epsilon=0.4, privacy=privacy, max_degree=50, account=account)
    assert answer.loss.epsilon == pytest.approx(0.4)
    assert account.spent.epsilon == pytest.approx(0.4)
    with pytest.raises(BudgetExceeded):
        CALLS[name](epsilon=0.7, privacy=privacy, max_degree=50, account=account)
    assert account.spent.epsilon == pytest.approx(0.4)
    assert ("for an edge" if privacy == "edge" else "for a person") in repr(answer)


@calls
def test_privacy_is_named_and_a_person_needs_a_bound(name):
    with pytest.raises(DiscreetError, match="privacy"):
        CALLS[name](epsilon=1, privacy="people", max_degree=50)
    if name != "triangles":
        account = Account(1)
        with pytest.raises(DiscreetError, match="any number of edges"):
            CALLS[name](epsilon=1, privacy="node", account=account)
        assert account.spent.epsilon == 0


def test_nodes_are_declared_and_networkx_has_them():
    with pytest.raises(DiscreetError, match="declared"):
        graphs.Graph([(1, 2)])

    class LikeNetworkx:
        def nodes(self):
            return [1, 2, 3]

        def edges(self):
            return [(1, 2)]

    assert graphs.Graph(LikeNetworkx()).exact.size == 3
    with pytest.raises(DiscreetError, match="graph is needed"):
        graphs.edges([(1, 2)], epsilon=1, privacy="edge")
    assert "1" not in repr(graphs.Graph([(1, 2)], [1, 2]))


def test_a_bound_on_degrees_is_found_and_paid_for():
    account = Account(1)
    found = [graphs.find_max_degree(FRIENDS, epsilon=0.2, then=0.8, account=account) for _ in range(5)]
    assert account.spent.epsilon == pytest.approx(1)
    assert all(4 <= bound <= 128 for bound in found)
    with pytest.raises(BudgetExceeded):
        graphs.find_max_degree(FRIENDS, epsilon=0.2, then=1, account=account)
    with pytest.raises(DiscreetError):
        graphs.find_max_degree(FRIENDS, epsilon=0.2, then=0)


def test_what_is_left_out_is_named():
    assert "too low" in graphs.edges(FRIENDS, epsilon=1, privacy="node", max_degree=20).bias
    assert "too low" in graphs.triangles(FRIENDS, epsilon=1, privacy="node", per_node=20).bias
    assert "was found" in graphs.triangles(FRIENDS, epsilon=1, privacy="node").bias
    assert not graphs.edges(FRIENDS, epsilon=1, privacy="edge").bias


def covered(ask, truth, runs=200):
    return sum(low <= truth <= high for low, high in (ask().interval(0.9) for _ in range(runs))) / runs


def test_intervals_cover_the_bounded_value():
    assert covered(lambda: graphs.edges(FRIENDS, epsilon=0.5, privacy="edge"), len(EDGES)) > 0.82
    cut = len(FRIENDS.exact.projected(20).ends)
    assert cut < len(EDGES)
    assert covered(lambda: graphs.edges(FRIENDS, epsilon=0.5, privacy="node", max_degree=20), cut, 60) > 0.75
    assert covered(lambda: graphs.triangles(FRIENDS, epsilon=0.5, privacy="edge"), TRIANGLES, 60) > 0.85


def test_the_ladders_error_is_computed_from_noisy_numbers_only():
    answer = graphs.triangles(FRIENDS, epsilon=1, privacy="edge")
    assert set(answer._around.__code__.co_freevars) == {"ladder", "noisy_local", "value", "width"}
    widths = {graphs.triangles(FRIENDS, epsilon=1, privacy="edge").error(0.95) for _ in range(8)}
    assert len(widths) > 3  # the local sensitivity behind them is the same


def test_edge_private_triangles_are_close_and_person_private_ones_as_their_bound_says():
    near = [abs(float(graphs.triangles(FRIENDS, epsilon=1, privacy="edge")) - TRIANGLES) for _ in range(20)]
    assert np.median(near) < 0.04 * TRIANGLES
    answer = graphs.triangles(FRIENDS, epsilon=1, privacy="node", per_node=256)
    assert answer.error(0.95) == pytest.approx(257 * math.log(20), rel=0.02)


def test_degrees_are_in_order_and_close():
    spread = graphs.degrees(FRIENDS, epsilon=1, privacy="edge")
    truth = FRIENDS.exact.at_most(PEOPLE - 1)
    assert (np.diff(spread.at_most) >= 0).all()
    assert spread.at_most[-1] <= PEOPLE
    assert np.abs(spread.at_most - truth).max() / PEOPLE < 0.015
    assert spread.size == PEOPLE
    degrees = FRIENDS.exact.degrees
    assert spread.mean == pytest.approx(degrees.mean(), rel=0.05)
    assert spread.error(0.95) == spread.mechanism.error(1 - 0.05 / PEOPLE)


def test_stars_follow_from_degrees_and_their_interval_covers_them():
    degrees = FRIENDS.exact.degrees
    paths = int((degrees * (degrees - 1)).sum()) // 2
    spread = graphs.degrees(FRIENDS, epsilon=2, privacy="edge", max_degree=300)
    assert spread.stars(2) == pytest.approx(paths, rel=0.15)
    low, high = spread.stars_interval(2, 0.95)
    assert low <= paths <= high
    assert spread.branching == pytest.approx(2 * paths / degrees.sum(), rel=0.15)
    assert not graphs.degrees(FRIENDS, epsilon=2, privacy="edge").bias
    few = graphs.degrees(FRIENDS, epsilon=2, privacy="edge", max_degree=10)
    low, high = few.stars_interval(2, 0.95)
    small = degrees[degrees <= 10]
    assert low <= (small * (small - 1)).sum() / 2 <= high
    assert "left out" in few.bias
    cut = FRIENDS.exact.projected(40).degrees
    bounded = graphs.degrees(FRIENDS, epsilon=2, privacy="node", max_degree=40)
    low, high = bounded.stars_interval(2, 0.95)
    assert low <= (cut * (cut - 1)).sum() / 2 <= high


def test_without_noise_everything_from_degrees_is_what_it_is():
    """At a large epsilon nothing is lost by putting numbers in order and rounding."""
    spread = graphs.degrees(FRIENDS, epsilon=200, privacy="edge")
    degrees = FRIENDS.exact.degrees
    assert spread.at_most.tolist() == FRIENDS.exact.at_most(PEOPLE - 1).tolist()
    assert spread.stars(3) == sum(math.comb(int(degree), 3) for degree in degrees)


def test_a_rumour_below_its_threshold_reaches_hardly_anybody():
    assert "reaches hardly anybody" in repr(graphs.Rumour(0.2, 0.201, 1e-13))
    assert "reaches 12.5 of 100 people" in repr(graphs.Rumour(0.3, 0.201, 0.125))


def test_a_rumour_goes_as_far_as_simulations_on_the_true_network():
    spread = graphs.degrees(FRIENDS, epsilon=2, privacy="edge")
    for transmission in (0.2, 0.4):
        told = graphs.rumour(spread, transmission=transmission)
        truth = largest_share(FRIENDS.exact.ends, size=PEOPLE, transmission=transmission, bits=SeededBits(1))
        made = random_network(spread, SeededBits(2))
        played = largest_share(made, size=PEOPLE, transmission=transmission, bits=SeededBits(3))
        assert told.reach == pytest.approx(truth, abs=0.07)
        assert told.reach == pytest.approx(played, abs=0.07)
        assert told.threshold == pytest.approx(1 / spread.branching)
    assert graphs.rumour(spread, transmission=0).reach == 0
    assert graphs.rumour(spread, transmission=told.threshold / 3).reach < 0.02
    with pytest.raises(DiscreetError):
        graphs.rumour(spread, transmission=1.5)


def test_friends_who_share_attributes_are_seen():
    alike = {person: "old" if person < PEOPLE // 2 else "young" for person in range(PEOPLE)}
    network = graphs.Graph(EDGES, range(PEOPLE), attributes=alike)
    by_chance = graphs.assortativity(FRIENDS, groups=["a", "b"], epsilon=1, privacy="edge")
    by_age = graphs.assortativity(network, groups=["old", "young"], epsilon=1, privacy="edge")
    assert abs(by_chance.coefficient) < 0.05
    cells = {(row["one"], row["other"]): row["edges"] for row in by_age.rows}
    truth = dict.fromkeys(cells, 0)
    for a, b in EDGES:
        truth[tuple(sorted((alike[a], alike[b])))] += 1
    assert all(abs(cells[pair] - truth[pair]) < 30 for pair in cells)
    low, high = by_age.interval(0.95)
    assert low <= by_age.coefficient <= high
    person = graphs.assortativity(network, groups=["old", "young"], epsilon=1, privacy="node", max_degree=30)
    assert person.mechanism.sensitivity == 60
    with pytest.raises(DiscreetError):
        graphs.assortativity(network, groups=["old"], epsilon=1, privacy="edge")


def test_clustering_is_close_and_its_interval_covers_it():
    degrees = FRIENDS.exact.degrees
    truth = 6 * TRIANGLES / (degrees * (degrees - 1)).sum()
    for privacy, most in (("edge", 300), ("node", 300)):
        answer = graphs.clustering(FRIENDS, epsilon=4, privacy=privacy, max_degree=most, per_node=600)
        low, high = answer.interval(0.95)
        assert 0 <= low <= truth <= high <= 1
        assert privacy == "node" or answer.value == pytest.approx(truth, rel=0.3)


def test_an_empty_network_has_answers_too():
    nobody = graphs.Graph([], [])
    assert graphs.edges(nobody, epsilon=1, privacy="edge").value >= 0
    assert graphs.triangles(nobody, epsilon=1, privacy="edge").value == 0
    assert graphs.triangles(nobody, epsilon=1, privacy="node", per_node=3).value >= 0
    spread = graphs.degrees(nobody, epsilon=1, privacy="node", max_degree=3)
    assert 0 <= graphs.rumour(spread, transmission=0.5).reach <= 1
    assert graphs.assortativity(nobody, groups=[1, 2], epsilon=1, privacy="edge").cells.size == 3

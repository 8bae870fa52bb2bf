"""What whoever asks can choose about a network costs neither the price without an answer nor the time of others."""

import itertools

import numpy as np
import pytest

from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.errors import ScaleOutOfRange, TooLarge
from discreet.graphs.mixing import group_edges
from discreet.graphs.protected_graph import Privacy
from discreet.graphs.rumours import _missed
from discreet.noise import SYSTEM_BITS
from tests.graphs.world import EDGE, EDGES, NODE, PEOPLE, a_curator


@pytest.mark.parametrize("verb", ["triangles", "clustering"])
def test_a_price_too_small_for_some_bound_that_may_be_found_is_refused_before_it_is_paid(verb):
    with a_curator("node", catalog=NODE.replace("per_node = 30\n", "")) as curator:
        with pytest.raises(ScaleOutOfRange):
            curator.as_analyst("ada").graph("friends").ask(verb, epsilon=1e-12)
        assert not any(balance.spent.epsilon or balance.frozen for balance in curator.budget())


@pytest.mark.parametrize("then", [1e-17, 1e-300, 1e200])
def test_a_bound_is_not_looked_for_where_the_answer_that_it_is_for_cannot_be_drawn(then):
    with a_curator("node") as curator:
        with pytest.raises(ScaleOutOfRange):
            curator.as_analyst("ada").graph("friends").bound(epsilon=1, then=then)
        assert not any(balance.spent.epsilon or balance.frozen for balance in curator.budget())


def test_more_pairs_of_groups_than_are_drawn_in_one_answer_are_refused_before_they_are_paid():
    values = ", ".join(f'"town {number}"' for number in range(200))
    with a_curator("edge", catalog=EDGE.replace('values = ["A", "B"]', f"values = [{values}]")) as curator:
        with pytest.raises(TooLarge):
            curator.graph("friends").assortativity("town", epsilon=1)
        assert not any(balance.spent.epsilon for balance in curator.budget())


@pytest.mark.parametrize("most", [1, 3])
def test_edges_between_each_two_groups_are_bounded_by_themselves_in_one_pass_over_all(most, monkeypatch):
    pairs = np.array(EDGES, np.int64)
    network = ExactGraph(PEOPLE, np.sort(pairs, axis=1), groups=np.arange(PEOPLE) % 5 - 1)
    between = np.sort(network.groups[network.ends], axis=1)
    one_by_one = [
        len(network.among((between == [one, other]).all(axis=1)).projected(most).ends)
        for one, other in itertools.combinations_with_replacement(range(4), 2)
    ]
    passes, projected = [], ExactGraph.projected
    monkeypatch.setattr(ExactGraph, "projected", lambda graph, bound: passes.append(bound) or projected(graph, bound))
    query = group_edges(privacy=Privacy.NODE, epsilon=10**6, groups=list(range(4)), max_degree=most)
    assert list(query.draw(network, SYSTEM_BITS)) == one_by_one
    assert passes == [most]


@pytest.mark.parametrize("times", [1 - 1e-7, 1, 1 + 1e-7, 1.001])
def test_few_steps_find_how_far_a_rumour_goes_at_the_threshold_too(times):
    ks = np.arange(1, 50_000, dtype=np.float64)
    ends = ks**-1.5 / (ks**-1.5).sum()
    passed = times / float((ends * (ks - 1)).sum())
    missed = _missed(ks, ends, passed)
    assert missed == pytest.approx(1 - passed + passed * float((ends * missed ** (ks - 1)).sum()), abs=1e-11)
    assert missed == pytest.approx(1, abs=1e-5) if times <= 1 else missed < 1

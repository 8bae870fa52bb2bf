"""What one person or one edge can move, by brute force over all graphs of five nodes."""

import itertools
import math
import random
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize

from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.engines.graphs.pivoting import largest_value
from discreet.engines.graphs.triangle_program import _GRID, _dual, _sums, _within_bounds, bounded_triangles
from discreet.errors import OutOfTime
from discreet.samples.friends import friendships

NODES = 5
PAIRS = list(itertools.combinations(range(NODES), 2))
GRAPHS = [frozenset(edges) for size in range(len(PAIRS) + 1) for edges in itertools.combinations(PAIRS, size)]


def read(edges, nodes, salt=b"salt"):
    return ExactGraph.read(edges, nodes, salt=salt)


def without(edges, node):
    return frozenset(edge for edge in edges if node not in edge)


def moved_by_a_person(statistic, most, salt):
    """Every difference that one person can make to a statistic of the projected graph."""
    here = {edges: statistic(read(edges, range(NODES), salt).projected(most)) for edges in GRAPHS}
    others = [node for node in range(NODES) if node != 2]
    left = {
        edges: statistic(read(edges, others, salt).projected(most)) for edges in {without(each, 2) for each in GRAPHS}
    }
    return [here[edges] - left[without(edges, 2)] for edges in GRAPHS]


@pytest.mark.parametrize("salt", [b"a", b"b", b"c"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_person_moves_edges_and_degrees_of_the_projected_graph_by_no_more_than_is_charged(most, salt):
    edges = moved_by_a_person(lambda graph: len(graph.ends), most, salt)
    assert max(edges) == most
    assert min(edges) >= -most
    degrees = moved_by_a_person(lambda graph: graph.at_most(most), most, salt)
    sums = [int(np.abs(each).sum()) for each in degrees]
    squares = [int((each**2).sum()) for each in degrees]
    assert max(sums) == most + 1
    assert max(squares) <= most**2 + 1


def test_an_edge_moves_numbers_by_degree_by_two():
    counted = {edges: read(edges, range(NODES)).at_most(NODES - 1) for edges in GRAPHS}
    moves = [counted[edges] - counted[edges | {pair}] for edges in GRAPHS for pair in PAIRS if pair not in edges]
    assert max(int(np.abs(move).sum()) for move in moves) == 2
    assert max(int((move**2).sum()) for move in moves) == 4


def test_the_projection_leaves_degrees_bounded_and_edges_that_were_there():
    for edges in GRAPHS[::7]:
        cut = read(edges, range(NODES)).projected(2)
        assert cut.degrees.max(initial=0) <= 2
        kept = {tuple(sorted((cut.labels[a], cut.labels[b]))) for a, b in cut.ends.tolist()}
        assert kept <= edges


def random_graphs(nodes, chance, count):
    draw = random.Random(3)
    for number in range(count):
        pairs = itertools.combinations(range(nodes), 2)
        yield [pair for pair in pairs if draw.random() < chance], f"{number}".encode()


def test_triangles_on_a_projection_break_the_bound_that_degrees_suggest():
    """Three times four friends, and somebody who knows one of each: with 3 edges a person is in 3 triangles at most, and yet 6 vanish. So we refuse it."""
    friends = [pair for start in (0, 4, 8) for pair in itertools.combinations(range(start, start + 4), 2)]
    known = [(12, 0), (12, 4), (12, 8)]
    worst = 0
    for number in range(200):
        salt = f"{number}".encode()
        whole, left = read(friends + known, range(13), salt), read(friends, range(12), salt)
        worst = max(worst, abs(len(whole.projected(3).triangles()) - len(left.projected(3).triangles())))
    assert worst == 6


def test_edges_of_one_kind_on_a_projection_break_it_too():
    """At most one edge each, and yet a person moves those between people who share an attribute by 2 or more: so each kind is projected by itself."""

    def alike(graph):
        group = np.array([label % 2 for label in graph.labels])
        return group[graph.ends[:, 0]] == group[graph.ends[:, 1]]

    together = apart = 0
    for edges, salt in random_graphs(8, 0.5, 1500):
        whole, left = read(edges, range(8), salt), read(without(edges, 0), range(1, 8), salt)
        counts = [int(alike(graph.projected(1)).sum()) for graph in (whole, left)]
        together = max(together, abs(counts[0] - counts[1]))
        counts = [len(graph.among(alike(graph)).projected(1).ends) for graph in (whole, left)]
        apart = max(apart, abs(counts[0] - counts[1]))
    assert together >= 2
    assert apart == 1


@cache
def canonical(edges, nodes):
    """The same for graphs that differ in names only."""
    return min(
        tuple(sorted(tuple(sorted((order[a], order[b]))) for a, b in edges))
        for order in itertools.permutations(range(nodes))
    )


@cache
def program_value(edges, most):
    graph = read(edges, range(NODES))
    return bounded_triangles(graph.triangles(), size=NODES, most=most)


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_a_person_moves_the_program_of_triangles_by_its_bound_at_most(most):
    moves = set()
    for edges in GRAPHS:
        here = program_value(canonical(edges, NODES), most)
        left = program_value(canonical(without(edges, 2), NODES), most)
        assert here <= len(read(edges, range(NODES)).triangles())
        moves.add(here - left)
    assert min(moves) == 0
    assert max(moves) == most


@pytest.mark.parametrize(("most", "value"), [(1, Fraction(5, 3)), (2, Fraction(10, 3)), (4, Fraction(20, 3)), (6, 10)])
def test_values_of_the_program_are_those_of_five_friends_rounded_down(most, value):
    everybody = read(PAIRS, range(NODES)).triangles()
    assert bounded_triangles(everybody, size=NODES, most=most) == value.__floor__()


def test_a_poor_suggestion_of_the_solver_still_keeps_every_bound():
    triangles = read(PAIRS, range(NODES)).triangles()
    room = np.array([2, 1, 3, 0, 2])
    for seed in range(40):
        solution = _within_bounds(triangles, room, np.random.default_rng(seed).normal(0.5, 1, len(triangles)))
        assert (_sums(triangles, solution, NODES) <= room * _GRID).all()
        assert solution.min() >= 0
        assert solution.max() <= _GRID
        prices = np.random.default_rng(seed).normal(0.5, 1, NODES)
        assert _dual(triangles, room, prices) >= solution.sum()


def test_without_the_person_of_highest_degree_nothing_moves_by_more_than_is_charged():
    edges = friendships(1500, seed=2)
    whole = read(edges, range(1500))
    top = whole.labels[int(whole.degrees.argmax())]
    left = read(without(edges, top), [node for node in range(1500) if node != top])
    assert whole.degrees.max() > 60
    for most in (5, 40):
        one, other = whole.projected(most), left.projected(most)
        assert abs(len(one.ends) - len(other.ends)) <= most
        assert np.abs(one.at_most(most) - other.at_most(most)).sum() <= most + 1
    for most in (4, 64):
        counts = [bounded_triangles(graph.triangles(), size=graph.size, most=most) for graph in (whole, left)]
        assert 0 <= counts[0] - counts[1] <= most + 1


def test_pairs_are_merged_loops_dropped_and_undeclared_ends_are_no_edges():
    graph = read([("a", "b"), ("b", "a"), ("a", "a"), ("a", "z"), ("a",), None, ("a", ["b"]), 7], ["a", "b", "c"])
    assert len(graph.ends) == 1
    assert sorted(graph.degrees.tolist()) == [0, 1, 1]
    assert len(read([(1, "1")], [1, "1"]).ends) == 1
    assert "1" not in repr(read([(1, 2)], [1, 2]))


def test_triangles_and_common_neighbours_are_counted_as_by_hand():
    for edges in GRAPHS[::5]:
        graph = read(edges, range(NODES))
        near = [{b for pair in edges for a, b in (pair, pair[::-1]) if a == node} for node in range(NODES)]
        by_hand = sum({(a, b), (a, c), (b, c)} <= edges for a, b, c in itertools.combinations(range(NODES), 3))
        assert graph.triangles_and_local() == (by_hand, max(len(near[a] & near[b]) for a, b in PAIRS))
        assert len(graph.triangles()) == by_hand


def _nothing(*_, **__):
    raise ValueError


def _a_lie(cost, *, b_ub, **_):
    wrong = np.full(len(cost), 0.3)
    return SimpleNamespace(x=wrong, ineqlin=SimpleNamespace(marginals=np.full(len(b_ub), -2.0)))


@pytest.mark.parametrize("solver", [_nothing, _a_lie], ids=["fails", "lies"])
def test_a_solver_that_lies_or_fails_changes_no_answer_beyond_rounding(solver, monkeypatch):
    """Whatever the solver does, what is released is above f - 2 and at most f: the bound holds between any two ways."""
    graphs = list(random_graphs(7, 0.7, 12))
    for most in (1, 2, 4):
        exact = [
            bounded_triangles(read(edges, range(7), salt).triangles(), size=7, most=most) for edges, salt in graphs
        ]
        with monkeypatch.context() as patched:
            patched.setattr(optimize, "linprog", solver)
            for (edges, salt), told in zip(graphs, exact, strict=True):
                triangles = read(edges, range(7), salt).triangles()
                assert bounded_triangles(triangles, size=7, most=most) in (told, told + 1)
                left = read(without(edges, 0), range(1, 7), salt).triangles()
                fewer = bounded_triangles(left, size=6, most=most)
                assert -1 <= told - fewer <= most + 1


def test_pivots_give_the_value_of_five_friends_and_stop_when_time_is_up():
    everybody = read(PAIRS, range(NODES)).triangles()
    for most, value in ((1, Fraction(5, 3)), (2, Fraction(10, 3)), (4, Fraction(20, 3)), (6, 10)):
        assert largest_value(everybody, np.full(NODES, most), until=math.inf) == value
    with pytest.raises(OutOfTime):
        largest_value(everybody, np.full(NODES, 1), until=0)
    with pytest.raises(OutOfTime):
        largest_value(np.tile(everybody, (300, 1)), np.full(NODES, 1), until=math.inf)


def test_common_neighbours_are_the_same_however_they_are_counted(monkeypatch):
    edges = friendships(400, seed=5)
    counted = []
    for few in (0, 10**9):
        monkeypatch.setattr("discreet.engines.graphs.exact_graphs._FEW", few)
        counted.append(read(edges, range(400)).triangles_and_local())
    assert counted[0] == counted[1]

"""The ladder over all graphs of five nodes, and the generalized exponential mechanism over small tables, by exact laws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadData
from discreet.ledger.charges.release_json import mechanism_from_json, mechanism_to_json
from discreet.mechanisms import GeneralizedExponential, Ladder
from tests.support.laws import generalized_law, ladder_law, max_log_ratio
from tests.support.sources import SeededBits, UntouchableBits

NODES = 5
PAIRS = list(itertools.combinations(range(NODES), 2))


def triangles_and_local(edges):
    """By counting: triangles, and the most common neighbours of any two nodes."""
    near = [{b for a, b in [*edges, *((b, a) for a, b in edges)] if a == node} for node in range(NODES)]
    common = {pair: len(near[pair[0]] & near[pair[1]]) for pair in PAIRS}
    return sum(common[pair] for pair in edges) // 3, max(common.values())


def neighbouring_values():
    """What two graphs that differ in one edge can be to the ladder: pairs of (triangles, local sensitivity)."""
    graphs = [frozenset(edges) for size in range(len(PAIRS) + 1) for edges in itertools.combinations(PAIRS, size)]
    seen = {graph: triangles_and_local(graph) for graph in graphs}
    pairs = {(seen[graph], seen[graph ^ {edge}]) for graph in graphs for edge in PAIRS}
    # Noise does not see the value, and is the same on either side: pairs are alike if both local sensitivities and the distance are.
    alike = {(*sorted((near, far)), abs(value - other)) for (value, near), (other, far) in pairs}
    return {((0, near), (distance, far)) for near, far, distance in alike}


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(4)])
def test_the_ladder_keeps_epsilon_over_all_graphs_of_five_nodes(epsilon):
    pairs = neighbouring_values()
    laws = {at: ladder_law(*at, most=NODES - 2, epsilon=epsilon) for pair in pairs for at in pair}
    worst = max(max_log_ratio(laws[one], laws[other]) for one, other in pairs)
    assert 0.5 * epsilon < worst <= epsilon
    if epsilon == 1:
        assert worst == pytest.approx(0.743, abs=1e-3)


def test_a_ladder_that_keeps_its_width_would_not():
    """Rungs of the local sensitivity alone: what tempts, and tells how wide they are."""
    flat = {local: ladder_law(0, local, most=local, epsilon=Fraction(1)) for local in (1, 2)}
    assert max_log_ratio(flat[1], flat[2]) > 10


@pytest.mark.parametrize(("local", "most"), [(0, 0), (0, 5), (1, 5), (3, 5), (5, 5), (2, 40)])
@pytest.mark.parametrize("epsilon", [0.4, 2])
def test_the_error_at_a_local_sensitivity_is_the_exact_quantile(local, most, epsilon):
    law = ladder_law(0, local, most=most, epsilon=Fraction(str(epsilon)))
    for confidence in (0.5, 0.9, 0.999):
        width = Ladder(epsilon=epsilon, most=most).error_at(local, confidence)
        beyond = [sum(float(chance) for at, chance in law.items() if abs(at) > w) for w in (width, width - 1)]
        assert beyond[0] <= 1 - confidence
        assert width == 0 or beyond[1] > (1 - confidence) * (1 - 1e-9)


def test_a_larger_local_sensitivity_never_has_a_smaller_error():
    for epsilon, most in itertools.product((0.1, 1, 4), (3, 50, 1000)):
        ladder = Ladder(epsilon=epsilon, most=most)
        for confidence in (0.5, 0.95, 0.999):
            errors = [ladder.error_at(local, confidence) for local in range(0, most + 1, max(1, most // 100))]
            assert errors == sorted(errors)
            assert errors[-1] <= ladder.error(confidence)


@pytest.mark.parametrize("value", [3, (3,), (3, 1.0), (True, 1), [3, 1], (3, 1, 1), None])
def test_a_ladder_takes_a_pair_of_whole_numbers(value):
    with pytest.raises(BadData):
        Ladder(epsilon=1, most=3).release(value, UntouchableBits())


def test_a_local_sensitivity_out_of_range_is_brought_into_it():
    ladder = Ladder(epsilon=1, most=3)
    assert [ladder.release((7, 9), SeededBits(n)) for n in range(9)] == [
        ladder.release((7, 3), SeededBits(n)) for n in range(9)
    ]


@pytest.mark.parametrize("sensitivities", [(1, 1, 1), (1, 2, 4), (1, 3)])
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_the_generalized_exponential_keeps_epsilon_whatever_moves(sensitivities, epsilon):
    mechanism = GeneralizedExponential(sensitivities=sensitivities, epsilon=epsilon)

    def law(scores):
        return generalized_law(
            list(scores), list(mechanism.sensitivities), penalty=mechanism.penalty, epsilon=Fraction(str(epsilon))
        )

    beginnings = list(itertools.product((0, 5, 40), repeat=len(sensitivities)))
    moves = list(itertools.product(*[(-width, width) for width in sensitivities]))
    worst = max(
        max_log_ratio(law(scores), law(np.add(scores, move).tolist())) for scores in beginnings for move in moves
    )
    assert 0.4 * epsilon < worst <= epsilon * (1 + 1e-12)


def test_a_wide_candidate_wins_only_where_it_is_worth_its_noise():
    mechanism = GeneralizedExponential(sensitivities=tuple(2**k for k in range(10)), epsilon=1)
    flat, steep = np.full(10, 1000), 1000 * np.arange(10)
    bits = SeededBits("wide")
    assert sum(mechanism.release(flat, bits) for _ in range(50)) / 50 < 2
    assert sum(mechanism.release(steep, bits) for _ in range(50)) / 50 > 6


def test_the_winner_is_as_good_as_promised_in_95_of_100():
    mechanism = GeneralizedExponential(sensitivities=(1, 4, 16, 64), epsilon=1)
    bits, scores = SeededBits("promise"), np.array([0, 60, 150, 200])
    least = max(
        score - 2 * float(mechanism.penalty) * width
        for score, width in zip(scores.tolist(), mechanism.sensitivities, strict=True)
    )
    assert math.isclose(mechanism.error(0.95), float(mechanism.penalty))
    assert sum(scores[mechanism.release(scores, bits)] >= least for _ in range(400)) >= 0.93 * 400


def test_the_books_keep_what_both_are_made_of():
    for mechanism in (
        GeneralizedExponential(sensitivities=(1, Fraction(1, 3), 0.5), epsilon=0.5),
        Ladder(epsilon=0.5, most=98),
    ):
        assert mechanism_from_json(mechanism_to_json(mechanism)) == mechanism

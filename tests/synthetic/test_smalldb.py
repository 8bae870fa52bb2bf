"""SmallDB: the exact law over all databases of four rows, its promise over all neighbours, and what it refuses."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadInput, TooLarge
from discreet.measurement.small_databases import cells_at, largest_differences, length_of, sequences
from discreet.mechanisms import Exponential
from discreet.noise import SYSTEM_BITS
from discreet.synthetic.methods.method_registry import METHODS
from tests.synthetic.memory import InMemory, domain_of

DOMAIN = domain_of((2, 2))
TABLES = [("a",), ("b",), ("a", "b")]
LENGTH, ROWS_EACH = 4, 3
CELLS = list(itertools.product((0, 1), (0, 1)))


def tables_of(histogram):
    joint = np.array(histogram).reshape(2, 2)
    return {("a",): joint.sum(axis=1), ("b",): joint.sum(axis=0), ("a", "b"): joint}


def differences(histogram):
    return largest_differences(DOMAIN, tables_of(histogram), ROWS_EACH, LENGTH)


def by_hand(histogram, sequence):
    """The largest difference, query by query."""
    queries = [lambda a, b, v=v: a == v for v in (0, 1)] + [lambda a, b, v=v: b == v for v in (0, 1)]
    queries += [lambda a, b, cell=cell: (a, b) == cell for cell in CELLS]
    return max(
        abs(
            sum(count for count, cell in zip(histogram, CELLS, strict=True) if query(*cell))
            - ROWS_EACH * sum(bool(query(*CELLS[place])) for place in sequence)
        )
        for query in queries
    )


def law(histogram, epsilon):
    rate = Exponential(sensitivity=1, epsilon=epsilon, size=4**LENGTH).rate
    weights = np.exp(-float(rate) * differences(histogram))
    return weights / weights.sum()


def test_every_sequence_of_four_cells_is_scored_by_its_largest_difference():
    for histogram in [(5, 0, 4, 3), (0, 0, 0, 0), (9, 1, 1, 1)]:
        expected = [by_hand(histogram, sequence) for sequence in itertools.product(range(4), repeat=LENGTH)]
        assert differences(histogram).tolist() == expected
    assert cells_at(DOMAIN, 4**3 * 2 + 3, LENGTH) == [2, 0, 0, 3]
    assert length_of(DOMAIN, 256) == 4


def test_over_all_neighbours_no_database_is_likelier_by_more_than_epsilon():
    worst = 0.0
    for histogram in [(5, 0, 4, 3), (3, 3, 3, 3), (0, 12, 0, 0), (0, 0, 0, 0)]:
        for cell in range(4):
            neighbour = list(histogram)
            neighbour[cell] += 1
            ratios = np.abs(np.log(law(histogram, 1)) - np.log(law(neighbour, 1)))
            worst = max(worst, float(ratios.max()))
    assert 0.4 < worst <= 1 + 1e-9  # the slide's factor, without the half, would come to 2


def test_databases_are_drawn_by_the_exact_law():
    histogram, times = (5, 0, 4, 3), 5000
    mechanism = Exponential(sensitivity=1, epsilon=Fraction(3, 2), size=256)
    scores = -differences(histogram)
    drawn = np.bincount([-scores[mechanism.release(scores, SYSTEM_BITS)] for _ in range(times)], minlength=13)
    expected = np.bincount(-scores, weights=law(histogram, Fraction(3, 2)), minlength=13) * times
    likely = expected > 5
    statistic = float(((drawn - expected)[likely] ** 2 / expected[likely]).sum())
    freedom = likely.sum()
    assert freedom > 4
    assert statistic < freedom + 9 * math.sqrt(2 * freedom)  # by differences, among which all is decided


@pytest.mark.parametrize("price", [{"rho": 0.5}, {"epsilon": 2}], ids=str)
def test_a_small_database_answers_the_wanted_counts(price):
    rows = np.array([[0, 0]] * 500 + [[1, 1]] * 250 + [[0, 1]] * 250)
    measurer = InMemory(DOMAIN, rows, **price)
    METHODS["smalldb"].measure(measurer, dict.fromkeys(TABLES, 1))
    model = METHODS["smalldb"].model(DOMAIN, measurer.measurements)
    assert 0 <= measurer.left < 1e-9
    assert model.total == pytest.approx(1000, abs=150)
    assert np.abs(model.table(("a", "b")) - [[500, 250], [0, 250]]).max() < 250
    assert model.rows(7, SYSTEM_BITS).shape == (7, 2)


def test_more_than_two_to_the_24_databases_are_refused_with_their_number():
    with pytest.raises(TooLarge, match="24,010,000"):
        METHODS["smalldb"].check(domain_of((7, 10)), {})
    assert sequences(domain_of((8, 8)), 4) == 2**24
    with pytest.raises(BadInput, match="small databases"):
        length_of(DOMAIN, 255)

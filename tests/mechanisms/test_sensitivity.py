"""The CS208 table, by formula and by brute force."""

import itertools
from fractions import Fraction

import pytest

from discreet.core.loss import Neighbours
from discreet.errors import BadBounds, UnboundedSensitivity
from discreet.mechanisms.statistics import sensitivity

UNIT = {"lower": 0, "upper": 1}
ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def test_the_cs208_table():
    """n is public there, one row is replaced, values in [0, 1]."""
    n = 10
    assert sensitivity.count() == 1
    assert sensitivity.total(**UNIT, neighbours=REPLACE) == 1
    assert sensitivity.mean(**UNIT, neighbours=REPLACE, size=n) == Fraction(1, n)
    assert sensitivity.median(**UNIT, neighbours=REPLACE) == 1
    assert sensitivity.variance(**UNIT, neighbours=REPLACE, size=n) == Fraction(n - 1, n**2)
    with pytest.raises(UnboundedSensitivity, match="Declare bounds"):
        sensitivity.total(lower=None, upper=None, neighbours=REPLACE)


@pytest.mark.parametrize("statistic", [sensitivity.total, sensitivity.median])
@pytest.mark.parametrize("bounds", [{"lower": None, "upper": 1}, {"lower": 0, "upper": None}])
def test_without_bounds_there_is_no_sensitivity(statistic, bounds):
    with pytest.raises(UnboundedSensitivity):
        statistic(**bounds, neighbours=ADD)
    with pytest.raises(UnboundedSensitivity):
        sensitivity.mean(**bounds, neighbours=ADD, size=3)
    with pytest.raises(UnboundedSensitivity):
        sensitivity.variance(**bounds, neighbours=ADD, size=3)


def test_reversed_bounds_are_refused():
    with pytest.raises(BadBounds):
        sensitivity.total(lower=1, upper=0, neighbours=ADD)


def test_an_added_value_moves_a_sum_by_its_magnitude_and_a_replaced_one_by_the_width():
    assert sensitivity.total(lower=-3, upper=10, neighbours=ADD) == 10
    assert sensitivity.total(lower=-3, upper=10, neighbours=REPLACE) == 13


def _mean(values):
    return sum(values) / Fraction(len(values))


def _median(values):
    ordered, middle = sorted(values), len(values) // 2
    return Fraction(ordered[middle]) if len(values) % 2 else Fraction(ordered[middle - 1] + ordered[middle], 2)


def _variance(values):
    centre = _mean(values)
    return _mean([(value - centre) ** 2 for value in values])


STATISTICS = {
    "sum": (sum, lambda neighbours, size: sensitivity.total(lower=-1, upper=2, neighbours=neighbours)),
    "mean": (_mean, lambda neighbours, size: sensitivity.mean(lower=-1, upper=2, neighbours=neighbours, size=size)),
    "median": (_median, lambda neighbours, size: sensitivity.median(lower=-1, upper=2, neighbours=neighbours)),
    "variance": (
        _variance,
        lambda neighbours, size: sensitivity.variance(lower=-1, upper=2, neighbours=neighbours, size=size),
    ),
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_no_neighbour_moves_a_statistic_further_than_its_sensitivity(name, neighbours, size):
    statistic, promised = STATISTICS[name]
    values = (-1, 0, 1, 2)
    worst = Fraction(0)
    for rows in itertools.product(values, repeat=size):
        others = (
            [(*rows, extra) for extra in values]
            if neighbours is ADD
            else [(*rows[:i], new, *rows[i + 1 :]) for i in range(size) for new in values]
        )
        worst = max(worst, *(abs(statistic(rows) - statistic(other)) for other in others))
    assert worst <= promised(neighbours, size)
    # Reached, too; except by the median, whose promise covers odd and even sizes alike.
    if name != "median" or (neighbours is REPLACE) == (size % 2 == 1):
        assert worst == promised(neighbours, size)

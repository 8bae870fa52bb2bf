"""The geometry behind projective response: fields, points, and a decoder held to brute force."""

import itertools

import numpy as np
import pytest

from discreet.local.device.client import ClientRefused, Field
from discreet.local.protocols import protocol_for
from discreet.local.protocols.projective import FieldTables
from tests.local.cases import randomizer_for
from tests.local.laws import device_law
from tests.support.sources import SeededBits

ORDERS = (2, 3, 4, 5, 7, 8, 9, 16, 25, 27)
SPACES = [
    (order, dimension) for order in ORDERS for dimension in range(2, 9) if (order**dimension - 1) // (order - 1) < 1000
]


def product(field, one, other):
    return field.times_power(one, field.logs[other]) if other else 0


@pytest.mark.parametrize("order", ORDERS)
def test_a_field_is_a_field(order):
    field = Field(order)
    elements = range(order)
    plus = [[field.add(a, b) for b in elements] for a in elements]
    times = [[product(field, a, b) for b in elements] for a in elements]
    for a in elements:
        assert plus[a][0] == a
        assert times[a][1] == a
        assert times[a][0] == 0
        assert plus[a][field.negative(a)] == 0
        if a:
            assert sorted(times[a]) == list(elements), "every element but zero can be divided by"
    for a, b in itertools.product(elements, repeat=2):
        assert plus[a][b] == plus[b][a]
        assert times[a][b] == times[b][a]
        for c in elements:
            assert plus[plus[a][b]][c] == plus[a][plus[b][c]]
            assert times[times[a][b]][c] == times[a][times[b][c]]
            assert times[a][plus[b][c]] == plus[times[a][b]][times[a][c]]


@pytest.mark.parametrize("order", [0, 1, 6, 10, 12, 15])
def test_there_is_no_field_of_an_order_that_is_not_a_prime_power(order):
    with pytest.raises(ClientRefused):
        Field(order)


@pytest.mark.parametrize("order", ORDERS)
def test_the_tables_of_a_field_say_what_the_field_says(order):
    field = Field(order)
    tables = FieldTables(field)
    one, other = (grid.reshape(-1).astype(np.int32) for grid in np.indices((order, order)))
    sums = [field.add(a, b) for a, b in itertools.product(range(order), repeat=2)]
    products = [product(field, a, b) for a, b in itertools.product(range(order), repeat=2)]
    assert tables.add(one, other).tolist() == sums
    assert tables.product[one, other].tolist() == products
    assert tables.negative.tolist() == [field.negative(a) for a in range(order)]
    shifted = np.roll(one, 3)
    dots = [field.add(product(field, a, b), product(field, c, b)) for a, b, c in zip(one, other, shifted, strict=True)]
    assert tables.dot([one, shifted], [other, other]).tolist() == dots
    np.testing.assert_allclose(tables.characters[one] * tables.characters[other], tables.characters[sums], atol=1e-9)
    assert set(tables.trace.tolist()) == set(range(field.prime)), "the trace reaches every integer below the prime"


@pytest.mark.parametrize(("order", "dimension"), SPACES)
def test_decoding_is_counting_the_orthogonal_reports(order, dimension):
    size = order ** (dimension - 1)
    randomizer = randomizer_for("pgr", "1", {"size": size, "order": order, "dimension": dimension})
    twin = protocol_for(randomizer)
    tally = SeededBits(f"{order} {dimension}").words(randomizer.points, 8).astype(np.int64)
    codes = np.unique(np.linspace(0, size - 1, 12).astype(np.int64))
    expected = [
        sum(int(tally[point]) for point in range(randomizer.points) if randomizer._dot(dimension, code, point) == 0)
        for code in codes.tolist()
    ]
    assert twin.support(tally, codes).tolist() == expected
    assert twin.support(tally, codes[::-1]).tolist() == expected[::-1]


@pytest.mark.parametrize(("order", "dimension"), [(2, 2), (2, 3), (2, 4), (2, 7), (3, 4), (4, 3), (9, 2)])
def test_the_first_values_can_be_asked_for_alone(order, dimension):
    size = order ** (dimension - 1)
    twin = protocol_for(randomizer_for("pgr", "1", {"size": size, "order": order, "dimension": dimension}))
    tally = SeededBits("alone").words(twin.randomizer.points, 8).astype(np.int64)
    everything = twin.support(tally, np.arange(size))
    for first in range(min(size, 5)):
        assert twin.support(tally, np.arange(first)).tolist() == everything[:first].tolist()


@pytest.mark.parametrize(("order", "dimension"), [(2, 4), (3, 3), (4, 3), (5, 3), (9, 2)])
def test_every_hyperplane_has_as_many_points_and_every_two_share_as_many(order, dimension):
    size = order ** (dimension - 1)
    randomizer = randomizer_for("pgr", "1", {"size": size, "order": order, "dimension": dimension})
    planes = [
        {point for point in range(randomizer.points) if randomizer._dot(dimension, other, point) == 0}
        for other in range(randomizer.points)
    ]
    assert {len(plane) for plane in planes} == {randomizer.on_plane}
    assert {len(a & b) for a, b in itertools.combinations(planes, 2)} == {randomizer.on_line}


def test_a_report_is_orthogonal_as_often_as_promised():
    randomizer = randomizer_for("pgr", "1", {"size": 16, "order": 4, "dimension": 3})
    p, _ = protocol_for(randomizer).chances
    for code in (0, 1, 7, 15):
        law = device_law(randomizer, code)
        assert sum(weight for report, weight in law.items() if randomizer._dot(3, code, report) == 0) == p


def test_values_that_do_not_fit_into_the_geometry_are_refused():
    with pytest.raises(ClientRefused):
        randomizer_for("pgr", "1", {"size": 10, "order": 3, "dimension": 3})

"""Methods on rows of people who do not exist: what they spend, and how near their models come."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from discreet.measurement.measurer import Measured
from discreet.noise import SYSTEM_BITS
from discreet.synthetic.methods.aim import Aim
from discreet.synthetic.methods.independent import Independent
from discreet.synthetic.methods.method_registry import METHODS
from tests.synthetic.memory import InMemory, domain_of

SIZES = {"a": 40, "b": 6, "c": 3, "d": 2}
DOMAIN = domain_of(SIZES, ordered=("a",))
OF_TABLES = {name: method for name, method in METHODS.items() if name != "smalldb"}  # which is for smaller domains
MARGINALS = dict.fromkeys(combinations(SIZES, 3), 1)


def people(count, seed=0):
    """c follows a, d follows b and c."""
    generator = np.random.default_rng(seed)
    a = np.minimum(generator.geometric(0.12, count) - 1, 39)
    b = generator.choice(6, count, p=[0.5, 0.3, 0.15, 0.03, 0.01, 0.01])
    c = np.where(generator.random(count) < 0.8, np.digitize(a, [3, 9]), generator.integers(0, 3, count))
    d = (generator.random(count) < np.where(b == 0, 0.9, 0.2 + 0.2 * c)).astype(int)
    return np.stack([a, b, c, d], axis=1)


def error(model, measurer):
    """The mean over the wanted tables of |model - exact| as shares."""
    apart = [
        np.abs(model.table(columns) / model.total - measurer.exact(columns) / measurer.exact(()).sum()).sum()
        for columns in MARGINALS
    ]
    return float(np.mean(apart))


def made(method, rows, **price):
    measurer = InMemory(DOMAIN, rows, **price)
    method.measure(measurer, MARGINALS)
    return method.model(DOMAIN, measurer.measurements), measurer


@pytest.mark.parametrize("price", [{"rho": 0.02}, {"epsilon": 1}], ids=str)
@pytest.mark.parametrize("method", OF_TABLES.values(), ids=OF_TABLES)
def test_a_method_spends_its_budget_to_the_last_and_no_more(method, price):
    model, measurer = made(method, people(5000), **price)
    assert 0 <= measurer.left < 1e-9
    table = model.table(("a", "b", "d"))
    assert table.shape == (40, 6, 2)
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(model.total)
    assert model.total == pytest.approx(5000, abs=300)
    assert model.rows(100, SYSTEM_BITS).max(axis=0).tolist() <= [39, 5, 2, 1]


@pytest.mark.parametrize("price", [{"rho": 0.02}, {"epsilon": 1}], ids=str)
def test_aim_comes_nearer_than_independent_columns(price):
    rows = people(20_000)
    assert error(*made(Aim(), rows, **price)) < 0.6 * error(*made(Independent(), rows, **price))


def test_where_noise_would_drown_every_pair_only_single_columns_are_measured():
    _, measurer = made(Aim(), people(400), rho=0.01)
    assert all(len(measurement.columns) == 1 for measurement in measurer.measurements)
    assert len(measurer.measurements) == 8


@pytest.mark.parametrize("rows", [np.zeros((0, 4), int), people(1)], ids=["nobody", "one person"])
@pytest.mark.parametrize("method", OF_TABLES.values(), ids=OF_TABLES)
def test_nobody_and_one_person_are_modelled_as_anybody(rows, method):
    model, _ = made(method, rows, rho=0.01)
    assert np.isfinite(model.table(("a", "b", "c"))).all()
    assert model.rows(10, SYSTEM_BITS).shape == (10, 4)


def test_the_same_looks_make_the_same_model():
    model, measurer = made(Aim(), people(5000), rho=0.05)
    again = Aim().model(DOMAIN, measurer.measurements)
    for columns in MARGINALS:
        assert np.array_equal(model.table(columns), again.table(columns))


def test_people_with_many_rows_count_as_fewer_where_aim_divides_its_budget():
    """Noise is as many times larger as a person has rows, so columns alone get as much as if there were as many times fewer people."""
    parts = []
    for rows_per_person, count in ((1, 20_000), (4, 80_000)):
        measurer = InMemory(replace(DOMAIN, rows_per_person=rows_per_person), people(count), rho=0.02)
        Aim().measure(measurer, MARGINALS)
        alone = [
            measurement
            for measurement in measurer.measurements
            if isinstance(measurement, Measured) and len(measurement.columns) == 1
        ]
        parts.append(sum(measurement.mechanism.rho for measurement in alone[: 2 * len(SIZES)]) / 0.02)
    assert parts[0] == pytest.approx(parts[1], rel=0.02)

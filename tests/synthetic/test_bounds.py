"""Bounds hold for tables that were measured and for tables that were not, and the noise of a table is below its quantile."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.mechanisms import Gaussian, Laplace
from discreet.synthetic.methods.method_registry import METHODS
from discreet.synthetic.models.synthetic_model import numbers_of
from discreet.synthetic.quality.error_bounds import Bounds
from discreet.synthetic.quality.table_tails import noise_quantile
from tests.synthetic.test_methods import DOMAIN, MARGINALS, OF_TABLES, made, people


@pytest.mark.parametrize(
    "mechanism",
    [*(Gaussian(sensitivity=1, variance=variance) for variance in (0.3, 9, 4000)), Laplace(sensitivity=1, epsilon=0.2)],
    ids=str,
)
def test_noise_is_above_its_quantile_no_more_often_than_said_and_not_far_below(mechanism):
    cells, times = 40, 4000
    many = replace(mechanism, size=cells * times)
    noise = np.abs(np.asarray(many.release(np.zeros(cells * times, np.int64)))).reshape(times, cells).sum(axis=1)
    quantile = noise_quantile(mechanism, cells, 0.02)
    assert (noise > quantile).mean() < 0.035  # 0.02 and seven standard errors
    assert quantile < 1.5 * np.median(noise) + 20


def exact_groups(model, measurer, columns):
    table = measurer.exact(columns).astype(float)
    for axis, number in enumerate(numbers_of(DOMAIN, columns)):
        coding = model.codings[number]
        table = np.stack(
            [
                np.take(table, np.flatnonzero(coding.groups == group), axis=axis).sum(axis=axis)
                for group in range(coding.size)
            ],
            axis=axis,
        )
    return table


@pytest.mark.parametrize("name", OF_TABLES)
def test_every_table_is_within_its_bound(name):
    for seed in range(2):
        model, measurer = made(METHODS[name], people(4000, seed), rho=0.05)
        bounds = Bounds(model, measurer.measurements, METHODS[name], MARGINALS)
        tables = [*MARGINALS, ("a", "c"), ("b", "d"), ("a",)]
        for bound in bounds.at(0.95, tables):
            off = np.abs(
                exact_groups(model, measurer, bound.columns)
                - model.beliefs.table(numbers_of(DOMAIN, bound.columns)) * model.total
            ).sum()
            assert off <= bound.rows  # at 95 % together; errors are about half of what is promised
            assert bound.share == pytest.approx(bound.rows / model.total)


@pytest.mark.parametrize(
    "name", [name for name in OF_TABLES if name != "fixed"]
)  # whose looks follow from what is wanted
def test_no_method_takes_more_looks_than_its_bounds_allow_for(name):
    for rho in (0.0005, 0.01, 1, 50):
        _, measurer = made(METHODS[name], people(2000), rho=rho)
        assert len(measurer.measurements) <= METHODS[name].max_measurements(DOMAIN)


@pytest.mark.parametrize("name", ["aim", "mst", "mwem"])
def test_bounds_are_worked_out_from_the_very_estimates_that_choices_were_made_by(name):
    model, measurer = made(METHODS[name], people(4000), rho=0.05)
    rounds = Bounds(model, measurer.measurements, METHODS[name], MARGINALS)._rounds
    assert len(rounds) == len(measurer.asked) > 2
    for one_round, (estimates, weights, penalties) in zip(rounds, measurer.asked, strict=True):
        assert all(np.array_equal(table, one_round.estimates[columns]) for columns, table in estimates.items())
        assert all(METHODS[name].weights(DOMAIN, MARGINALS)[columns] == weight for columns, weight in weights.items())
        assert all(abs(penalty - one_round.penalties[columns]) <= 1 for columns, penalty in penalties.items())


def test_bounds_of_aim_say_something_and_grow_with_confidence():
    model, measurer = made(METHODS["aim"], people(10_000), rho=0.05)
    bounds = Bounds(model, measurer.measurements, METHODS["aim"], MARGINALS)
    ordinary, careful = bounds.at(0.9, list(MARGINALS)), bounds.at(0.999, list(MARGINALS))
    assert all(bound.share < 0.4 for bound in ordinary)
    assert all(one.rows < other.rows for one, other in zip(ordinary, careful, strict=True))

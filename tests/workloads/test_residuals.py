"""Residuals: their exact law on every pair of neighbours, and tables as accurate as those of any strategy."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet import workloads
from discreet.core.loss import Neighbours
from discreet.errors import TooLarge
from discreet.workloads.queries.workload import LARGEST_GRAM
from discreet.workloads.strategies.optimal import singular_value_bound
from discreet.workloads.strategies.residuals import Residual, Residuals
from discreet.workloads.strategies.strategy_choice import Plan
from discreet.workloads.strategies.workload_budget import WorkloadBudget
from tests.support.sources import SeededBits
from tests.workloads import brute

RELATIONS = list(Neighbours)
ORDERS = (1.5, 2, 4)


class NoisyTable(Residual):
    """A mutant that publishes the noisy table beside the residual."""

    def before(self, counts):
        return self.cells * counts

    def after(self, noisy):
        return noisy


def kept_of(combination):
    """The map from noise to the residual, as a matrix."""
    return np.stack([combination.after(row) for row in np.eye(combination.size, dtype=np.int64)], axis=1)


def law_of(matrix, probabilities):
    """The exact law of matrix @ z for independent z, each with the given law around 0: an array around 0."""
    far = len(probabilities) // 2
    wide = int(far * np.sqrt(np.abs(matrix).sum(axis=1).max())) + 1
    law = np.zeros((2 * wide + 1,) * len(matrix))
    law[(wide,) * len(matrix)] = 1
    for column in matrix.T:
        law = sum(p * shifted(law, column * z) for z, p in zip(range(-far, far + 1), probabilities, strict=True))
    return law


def shifted(law, by):
    """The law of a vector with a constant added. Mass outside of the array is dropped."""
    padded = np.zeros_like(law)
    to = tuple(slice(max(0, s), law.shape[0] + min(0, s)) for s in by)
    came = tuple(slice(max(0, -s), law.shape[0] + min(0, -s)) for s in by)
    padded[to] = law[came]
    return padded


def gaussian(variance):
    far = int(9 * np.sqrt(float(variance))) + 1
    weights = np.exp(-(np.arange(-far, far + 1.0) ** 2) / (2 * float(variance)))
    return weights / weights.sum()


def renyi(law, by, order):
    """The divergence of a law from its translation."""
    moved = shifted(law, by)
    both = (law > 0) & (moved > 0)
    return np.log(np.sum(law[both] ** order * moved[both] ** (1 - order))) / (order - 1)


def shifts(combination, rows, neighbours):
    """All differences of residuals of two neighbours, each once, up to sign."""
    moved = {
        tuple(int(x) for x in combination.after(combination.before(difference)))
        for difference in brute.differences(combination.cells, rows, neighbours)
    }
    return [np.array(shift) for shift in moved if shift > tuple([0] * len(shift))]


def worst_of(combination, variance, rows, neighbours):
    """The largest Rényi divergence divided by its order, over all neighbours and some orders: zCDP bounds it by rho."""
    kept, noise = kept_of(combination), gaussian(variance)
    is_table = len(kept) == combination.size
    law = None if is_table else law_of(kept, noise)

    def cost(shift, order):
        return (sum(renyi(noise, [s], order) for s in shift) if is_table else renyi(law, shift, order)) / order

    farthest = max(shifts(combination, rows, neighbours), key=lambda shift: cost(shift, 2))
    return max(cost(farthest, order) for order in ORDERS)


@pytest.mark.parametrize("neighbours", RELATIONS, ids=lambda relation: relation.value)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3)])
def test_the_exact_law_of_a_residual_costs_its_charge_and_the_noisy_table_more(sizes, rows, neighbours):
    price = WorkloadBudget(rho=2, rows_per_person=rows, neighbours=neighbours)
    residual = Residual((0, 1), sizes)
    measurement = price.measurements([residual], np.ones(1))[0]
    variance = measurement.noise.variance
    worst = worst_of(residual, variance, rows, neighbours)
    assert 2 * (1 - 2e-3) <= worst <= 2 * (1 + 1e-9)
    assert worst_of(NoisyTable((0, 1), sizes), variance, rows, neighbours) > 2.5


def test_under_epsilon_no_output_has_a_larger_loss_than_is_charged():
    residual, scale = Residual((0, 1), (2, 2)), 2
    assert residual.reach(Neighbours.ADD_REMOVE).total == 4
    weights = np.exp(-np.abs(np.arange(-60.0, 61)) / scale)
    law = law_of(kept_of(residual), weights / weights.sum())
    middle = slice(law.size // 2 - 20, law.size // 2 + 21)
    for shift in shifts(residual, 1, Neighbours.ADD_REMOVE):
        ratios = np.abs(np.log(law[middle] / shifted(law, shift)[middle]))
        assert ratios.max() <= 4 / scale + 1e-9  # four times the cell, divided by the scale


@pytest.mark.parametrize("neighbours", RELATIONS, ids=lambda relation: relation.value)
@pytest.mark.parametrize("sizes", [(), (2,), (4,), (2, 2), (2, 3), (3, 2)])
def test_the_reach_of_the_projection_follows_its_formula(sizes, neighbours):
    residual = Residual(tuple(range(len(sizes))), sizes)
    _, squares = brute.farthest(brute.matrix_of(residual), 1, neighbours)
    assert residual.reach(neighbours).squares == squares


def test_a_residual_does_not_depend_on_the_noise_that_the_projection_removes():
    residual, rng = Residual((0, 1), (3, 4)), np.random.default_rng(1)
    table = rng.integers(0, 100, 12)
    noise = rng.integers(-50, 50, 12)
    assert np.array_equal(residual.after(residual.before(table) + noise), residual.after(12 * table + noise))
    assert residual.after(noise).size == residual.kept == 6


@pytest.mark.parametrize("price", [{"rho": Fraction(1, 3)}, {"epsilon": 1}], ids=["rho", "epsilon"])
def test_tables_are_consistent_and_as_exact_as_predicted(price):
    sizes = {"a": 3, "b": 2, "one": 1, "c": 4}
    queries = (workloads.marginals(2) + workloads.total().weighted(2)).on(sizes)
    plan = Plan.of(queries, WorkloadBudget(**price), Residuals.of(queries))
    counts = np.random.default_rng(2).integers(0, 40, 24)
    exact = plan.queries.answers(counts.astype(float))
    squares = [0.0] * len(exact)
    for noisy in brute.releases(plan, counts, times=1000):
        estimate = plan.estimate(noisy)
        ab, ac = estimate.answers[0], estimate.answers[2]
        assert np.allclose(ab.sum(axis=1), ac.sum(axis=1))
        assert np.allclose(estimate.answers[-1], ab.sum())
        squares = [s + np.square(a - e) for s, a, e in zip(squares, estimate.answers, exact, strict=True)]
    for square, standard in zip(squares, plan.standard_errors(), strict=True):
        assert np.sqrt(np.mean(square) / 1000) == pytest.approx(np.mean(standard), rel=0.08)
    weighted = sum(t.weight * s.sum() for t, s in zip(queries.terms, squares, strict=True)) / 1000
    assert np.sqrt(weighted) == pytest.approx(np.sqrt(plan.total_error), rel=0.03)


def test_no_strategy_under_rho_does_better_on_tables():
    for asked in (workloads.marginals(2), workloads.marginals(1) + workloads.marginals(3).weighted(0.3)):
        queries = asked.on({"a": 3, "b": 4, "c": 2})
        error = Plan.of(queries, WorkloadBudget(rho=0.5), Residuals.of(queries)).total_error
        assert error == pytest.approx(singular_value_bound(queries.gram), rel=1e-6)


def test_tables_of_many_columns_are_planned_though_their_cells_cannot_be_counted():
    columns = {f"c{i}": 2 + i for i in range(15)}
    plan = workloads.plan(workloads.marginals(3), columns, rho=0.01)
    assert plan.strategy.name == "residuals"
    assert len(plan.measurements) == 1 + 15 + 105 + 455
    by_themselves = sum(np.sqrt(np.prod(shape)) for shape in plan.queries.shapes()) ** 2 / 0.02
    assert plan.total_error < 0.8 * by_themselves
    with pytest.raises(TooLarge):
        workloads.plan(workloads.ranges("c3"), columns, rho=0.01)


def test_tables_are_planned_even_if_a_matrix_over_their_cells_would_be_too_large():
    columns = {"ward": 7, "age": 32, "day": 30}
    assert LARGEST_GRAM < 7 * 32 * 30
    assert workloads.plan(workloads.marginals(2), columns, rho=0.01).strategy.name == "residuals"
    with pytest.raises(TooLarge, match="only marginals"):
        workloads.plan(workloads.ranges("age"), columns, rho=0.01)


def test_a_residual_is_computed_from_its_own_table():
    plan = workloads.plan(workloads.marginals(1), {"a": 4, "b": 300, "c": 5000}, rho=1)
    bits = SeededBits("own table")
    for measurement in plan.measurements:
        wide = replace(
            measurement, noise=replace(measurement.noise, variance=Fraction(1, 2**40))
        )  # no noise to speak of
        counts = np.arange(measurement.combination.cells)
        kept = wide.release(counts, bits)
        assert kept.size == measurement.combination.kept
        assert np.array_equal(kept, measurement.combination.after(measurement.combination.cells * counts))

"""Trees and wavelets: errors in closed form equal those of the matrices, and sensitivities cover every neighbour."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import workloads
from discreet.core.loss import Neighbours
from discreet.errors import BadInput, DiscreetError
from discreet.workloads.queries.families import Listed, Points, Ranges, Thresholds, Total
from discreet.workloads.strategies.level_strategies import haar, identity, tree
from discreet.workloads.strategies.strategy_choice import Plan
from discreet.workloads.strategies.workload_budget import WorkloadBudget
from tests.support.sources import SeededBits
from tests.workloads import brute

RELATIONS = list(Neighbours)
PRICES = [{"rho": Fraction(1, 50)}, {"epsilon": Fraction(1, 5)}]
FAMILIES = [Points(), Total(), Thresholds(), Ranges(), Listed(np.arange(21.0).reshape(3, 7))]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_gram_matrices_in_closed_form_are_those_of_the_queries(family):
    rows = family.matrix(7)
    gram = rows.T @ rows
    assert len(rows) == family.count(7)
    assert np.allclose(family.gram(7), gram)
    for size in (1, 2, 3, 7, 8):
        block = np.arange(7) // size
        assert family.block_sums(7, size) == pytest.approx(gram[block[:, None] == block].sum())
    counts = np.arange(14.0).reshape(2, 7) ** 2
    assert np.allclose(family.answers(counts), counts @ rows.T)


def test_workloads_add_up_and_multiply():
    asked = workloads.ranges("age") * workloads.points("sex") + workloads.marginals(2).weighted(3)
    queries = asked.on({"age": 4, "sex": 2, "ward": 3})
    rows = list(queries.matrices())
    assert [len(r) for r in rows] == [20, 8, 12, 6]
    weights = [1, 3, 3, 3]
    assert np.allclose(queries.gram, sum(w * r.T @ r for w, r in zip(weights, rows, strict=True)))
    counts = np.arange(24.0) ** 2
    for answers, r in zip(queries.answers(counts), rows, strict=True):
        assert np.allclose(answers.reshape(-1), r @ counts)


@pytest.mark.parametrize("price", PRICES, ids=["rho", "epsilon"])
@pytest.mark.parametrize(
    "strategy", [identity(11), haar(11), tree(11, 2), tree(11, 3), tree(11, 16)], ids=lambda s: s.name
)
def test_errors_and_estimates_in_closed_form_are_least_squares(strategy, price):
    queries = (workloads.ranges("age") + workloads.points("age").weighted(5)).on({"age": 11})
    plan = Plan.of(queries, WorkloadBudget(**price), strategy)
    rows = np.concatenate(list(queries.matrices()))
    scaled = brute.stacked(plan)
    padded = strategy.padded
    # The strategy does not know that cells of padding are empty, so neither does the matrix.
    wide = [m.combination for m in plan.measurements if m]
    wide = np.concatenate(
        [
            brute.matrix_of(type(c)(padded, padded, c.block)) / np.sqrt(m.variance)
            for c, m in zip(wide, [m for m in plan.measurements if m], strict=True)
        ]
    )
    assert np.allclose(wide[:, :11], scaled)
    inverse = np.linalg.inv(wide.T @ wide)[:11, :11]
    variances = np.einsum("qi,ij,qj->q", rows, inverse, rows)
    assert np.allclose(np.concatenate(list(plan.standard_errors())) ** 2, variances)
    weights = np.repeat([1, 5], [66, 11])
    assert plan.total_error == pytest.approx(float(variances @ weights))
    bits, counts = SeededBits("least squares"), np.arange(11) ** 2
    noisy = [m.release(counts, bits) if m else None for m in plan.measurements]
    measured = [(n, m) for n, m in zip(noisy, plan.measurements, strict=True) if m]
    right = np.concatenate([n / np.sqrt(m.variance) for n, m in measured])
    assert np.allclose(plan.estimate(noisy).cells, np.linalg.lstsq(wide, right, rcond=None)[0][:11])


@pytest.mark.parametrize("neighbours", RELATIONS, ids=lambda relation: relation.value)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("strategy", [identity(4), haar(4), tree(4, 2), tree(5, 3)], ids=lambda s: s.name)
def test_no_two_neighbours_are_further_apart_than_the_sensitivity_of_the_noise(strategy, rows, neighbours):
    for combination in strategy.combinations:
        l1, squares = brute.farthest(brute.matrix_of(combination), rows, neighbours)
        reach = combination.reach(neighbours)
        assert (l1, squares) == (rows * reach.total, rows**2 * reach.squares)


@pytest.mark.parametrize("neighbours", RELATIONS, ids=lambda relation: relation.value)
@pytest.mark.parametrize("price", PRICES, ids=["rho", "epsilon"])
def test_the_measurements_of_a_plan_cost_at_most_its_budget_and_hardly_less(price, neighbours):
    plan = workloads.plan(workloads.ranges("age"), {"age": 50}, **price, rows_per_person=3, neighbours=neighbours.value)
    measured = [m for m in plan.measurements if m]
    if "rho" in price:
        spent = sum(m.noise.sensitivity**2 / (2 * m.noise.variance) for m in measured)
        moved = [brute.matrix_of(m.combination) for m in measured]
        pairs = [(a, b) for a in range(50) for b in range(50) if neighbours is Neighbours.REPLACE_ONE] or [(0, None)]
        worst = max(
            sum(
                9 * float(((c[:, a] - (0 if b is None else c[:, b])) ** 2).sum()) / (2 * m.variance)
                for c, m in zip(moved, measured, strict=True)
            )
            for a, b in pairs
        )
        assert worst <= float(price["rho"]) * (1 + 1e-9)
    else:
        spent = sum(m.exact_pure_epsilon for m in measured)
    whole = price.get("rho", price.get("epsilon"))
    assert whole * (1 - Fraction(1, 10**9)) <= spent <= whole


def test_at_rho_trees_beat_cells_and_at_epsilon_wide_trees_beat_wavelets():
    ranges = workloads.ranges("age").on({"age": 4096})
    gauss, pure = WorkloadBudget(rho=1), WorkloadBudget(epsilon=1)

    def error(strategy, price):
        return Plan.of(ranges, price, strategy).typical_error

    assert error(haar(4096), gauss) == pytest.approx(error(tree(4096, 2), gauss), rel=1e-3)
    assert error(haar(4096), gauss) < 0.82 * error(tree(4096, 16), gauss)
    plain = haar(4096)
    even = np.full(13, 1 / 13)
    plain_error = np.sqrt(plain.total_error(ranges, plain.precisions(pure, even)) / ranges.count)
    assert plain_error > 1.6 * error(tree(4096, 16), pure)
    assert error(identity(4096), gauss) > 5 * error(haar(4096), gauss)


@pytest.mark.parametrize("price", PRICES, ids=["rho", "epsilon"])
def test_measured_errors_are_the_predicted_ones_and_lie_within_their_bounds(price):
    plan = workloads.plan(workloads.ranges("age") + workloads.points("age"), {"age": 60}, **price)
    counts = np.arange(60) % 7 * 10
    exact = np.concatenate(plan.queries.answers(counts.astype(float)))
    ninety = np.concatenate(list(plan.errors(0.9)))
    off = [np.concatenate(plan.estimate(noisy).answers) - exact for noisy in brute.releases(plan, counts, times=1000)]
    assert np.mean(np.sum(np.square(off), axis=1)) == pytest.approx(plan.total_error, rel=0.06)  # 3 % of its root
    assert 0.89 <= np.mean(np.abs(off) <= ninety) <= (0.91 if "rho" in price else 0.93)


def test_impossible_workloads_are_refused():
    columns = {"age": 8, "sex": 2}
    refused = [
        lambda: workloads.plan(workloads.ranges("age"), columns),
        lambda: workloads.plan(workloads.ranges("age"), columns, rho=1, epsilon=1),
        lambda: workloads.ranges("ages").on(columns),
        lambda: workloads.marginals(3).on(columns),
        lambda: workloads.ranges("age") * workloads.points("age"),
        lambda: workloads.marginals(2) * workloads.points("age"),
        lambda: workloads.predicates("age", [[1, 0]]).on(columns),
        lambda: workloads.predicates("age", [["a"]]),
        lambda: workloads.points("age").weighted(0),
        lambda: workloads.ranges("age").on({}),
        lambda: tree(8, 1),
    ]
    for attempt in refused:
        with pytest.raises(DiscreetError):
            attempt()


def test_numbers_that_were_not_measured_are_refused():
    plan = workloads.plan(workloads.ranges("age"), {"age": 8}, rho=1)
    with pytest.raises(BadInput):
        plan.estimate([np.zeros(3, np.int64)] * len(plan.measurements))

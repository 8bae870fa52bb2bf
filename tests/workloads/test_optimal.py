"""The optimal strategy for a Gram matrix: close to the lower bound, with a sensitivity that covers every neighbour."""

import numpy as np
import pytest

from discreet import workloads
from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.workloads.strategies.optimal import Rows, optimal, singular_value_bound
from discreet.workloads.strategies.strategy_choice import Plan
from discreet.workloads.strategies.workload_budget import WorkloadBudget
from tests.workloads import brute

HALF = WorkloadBudget(rho=0.5)  # noise of variance 1 for columns of length 1


def ratio(workload, columns):
    """The error of the optimal strategy divided by the singular value bound."""
    queries = workload.on(columns)
    return np.sqrt(Plan.of(queries, HALF, optimal(queries)).total_error / singular_value_bound(queries.gram))


def test_ranges_come_close_to_the_singular_value_bound():
    assert 1 < ratio(workloads.ranges("age"), {"age": 128}) <= 1.02
    assert 1 < ratio(workloads.thresholds("age"), {"age": 64}) <= 1.03


def test_tables_reach_the_bound_for_every_rank():
    assert ratio(workloads.marginals(2), {"a": 3, "b": 4, "c": 2}) == pytest.approx(1, abs=2e-3)
    assert ratio(workloads.total(), {"a": 5}) == pytest.approx(1, abs=2e-3)


def test_the_optimal_strategy_is_chosen_under_rho_and_never_under_epsilon():
    asked = workloads.ranges("age") * workloads.points("sex")
    assert workloads.plan(asked, {"age": 32, "sex": 2}, rho=1).strategy.name == "optimal"
    assert workloads.plan(asked, {"age": 32, "sex": 2}, epsilon=1).strategy.name != "optimal"
    assert workloads.plan(workloads.points("age"), {"age": 64}, rho=1).typical_error == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize("neighbours", list(Neighbours), ids=lambda relation: relation.value)
@pytest.mark.parametrize("rows", [1, 3])
def test_no_neighbours_are_further_apart_than_the_columns_say(rows, neighbours):
    for matrix in ([[3, 1, -2], [0, 4, 5], [-7, 2, 2]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]):
        combination = Rows(np.array(matrix))
        l1, squares = brute.farthest(combination.matrix, rows, neighbours)
        reach = combination.reach(neighbours)
        assert squares == rows**2 * reach.squares
        assert l1 <= rows * reach.total


def test_the_measured_error_is_the_predicted_one():
    asked = workloads.ranges("age")
    plan = workloads.plan(asked, {"age": 30}, rho=0.05)
    assert plan.strategy.name == "optimal"
    counts = np.arange(30)
    off = [
        plan.estimate(noisy).answers[0] - plan.queries.answers(counts.astype(float))[0]
        for noisy in brute.releases(plan, counts, times=1500)
    ]
    assert np.mean(np.sum(np.square(off), axis=1)) == pytest.approx(plan.total_error, rel=0.06)
    each = next(plan.standard_errors())
    assert np.allclose(np.std(off, axis=0), each, rtol=0.12)


def test_numbers_whose_products_doubles_would_round_are_refused():
    with pytest.raises(BadInput):
        Rows(np.full((2, 2), 1 << 27))

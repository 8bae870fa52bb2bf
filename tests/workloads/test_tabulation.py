"""Workloads from a curator: one charge, consistent answers, and refusals before any charge."""

import numpy as np
import pytest

from discreet import workloads
from discreet.core.loss import Neighbours
from discreet.errors import BadInput, BadRelease, BudgetExceeded, DiscreetError
from discreet.ledger import verify
from discreet.mechanisms import Adaptive, Gaussian, PureAdaptive
from discreet.synthetic.synthetic_release import SyntheticRelease
from discreet.workloads.queries.workload_json import workload_from_json, workload_to_json
from discreet.workloads.releases.tabulation import TabulatedRelease, measure, plan_tabulation
from tests.support.memory_tables import MemoryJournal, domain_of, measuring
from tests.support.sources import SeededBits
from tests.synthetic.test_curator import ROWS, a_curator

ASKED = workloads.marginals(2) + workloads.points("age")


def test_tables_cost_one_charge_are_consistent_and_free_when_repeated():
    with a_curator() as curator:
        plan_regions = curator.as_analyst("alice").plan_tables(ROWS, ASKED, rho=0.5)
        nothing = curator.budget()
        made = curator.as_analyst("alice").tabulate(ROWS, ASKED, rho=0.5, name="t")
        spent = curator.budget()
        assert spent != nothing
        again = curator.as_analyst("alice").tabulate(ROWS, ASKED, rho=0.5, name="t")
        assert curator.budget() == spent
        assert again.transcript.encoded() == made.transcript.encoded()
        assert (made.replayed, again.replayed) == (False, True)
        assert np.allclose(made.table("ward", "sex").sum(axis=0), made.table("sex", "age").sum(axis=1))
        assert np.allclose(made.table("ward", "age").sum(axis=0), made.table("age"))
        assert made.table("age").sum() == pytest.approx(1200, abs=200)
        assert made.plan.strategy.name == plan_regions.strategy == "residuals"
        assert [each.within for each in plan_regions.tables] == [width.max() for width in made.errors(0.95)]
        assert (plan_regions.asked_before, plan_regions.charged) == (False, {"dataset": True, "alice": True})
        assert isinstance(curator.as_analyst("alice").release("t"), type(made))
        assert verify(curator.ledger).sound


def test_ranges_are_answered_by_the_strategy_that_was_planned():
    with a_curator() as curator:
        made = curator.tabulate(ROWS, workloads.ranges("age") + workloads.total(), rho=0.5)
        ranges, total = made.answers
        assert ranges[9] == pytest.approx(float(total))
        assert ranges.size == 55
        with pytest.raises(BadInput):
            made.table("ward", "age")


def test_what_cannot_be_is_refused_before_any_charge():
    with a_curator() as curator:
        nothing = curator.budget()
        for workload, price in (
            (workloads.marginals(4), {"rho": 0.1}),
            (workloads.ranges("nothing"), {"rho": 0.1}),
            (3, {"rho": 0.1}),
            (ASKED, {}),
            (ASKED, {"rho": 0.1, "epsilon": 1}),
            (ASKED, {"rho": 1000}),
        ):
            with pytest.raises(DiscreetError):
                curator.tabulate(ROWS, workload, **price)
        assert curator.budget() == nothing


@pytest.mark.parametrize("neighbours", list(Neighbours), ids=lambda relation: relation.value)
@pytest.mark.parametrize("budget", [Adaptive(rho=0.5), PureAdaptive(epsilon=2)], ids=["rho", "epsilon"])
def test_a_plan_spends_its_budget_and_a_resumed_run_draws_nothing(budget, neighbours):
    domain = domain_of(3, 4, 2, rows_per_person=2, neighbours=neighbours)
    rows = np.random.default_rng(1).integers(0, [3, 4, 2], (300, 3))
    for asked in (workloads.marginals(2), workloads.ranges("b") * workloads.points("c"), workloads.total()):
        plan, steps = plan_tabulation(asked, domain, budget), MemoryJournal()
        measurer = measuring(rows, domain, budget=budget, bits=SeededBits("tables"), store=steps)
        measure(measurer, plan)
        assert 0 <= measurer.left < budget.amount / 10**6
        first = list(steps.steps)
        measure(measuring(rows, domain, budget=budget, store=steps), plan)
        assert steps.steps == first


def test_noise_of_too_small_a_sensitivity_is_refused():
    domain = domain_of(3, 4, rows_per_person=2)
    rows = [(0, 0), (1, 1)]
    plan = plan_tabulation(workloads.marginals(2), domain, Adaptive(rho=0.5))
    for m in plan.measurements:
        columns = tuple("ab"[place] for place in m.combination.columns)
        wrong = [
            Gaussian(sensitivity=float(m.noise.sensitivity) * 0.99, variance=10**6, size=m.noise.size),
            Gaussian(sensitivity=m.noise.sensitivity, variance=10**6, size=m.noise.size + 1),
        ]
        for noise in wrong:
            with pytest.raises(BadInput):
                measuring(rows, domain, budget=Adaptive(rho=0.5)).combined(columns, m.combination, noise)
    with pytest.raises(BudgetExceeded):
        measure(measuring(rows, domain, budget=Adaptive(rho=0.4)), plan)


def test_workloads_are_the_same_after_json():
    asked = (
        ASKED.weighted(0.1) + workloads.ranges("age") * workloads.thresholds("sex") + workloads.means("age", [0.5, 1])
    )
    assert workload_to_json(workload_from_json(workload_to_json(asked))) == workload_to_json(asked)
    columns = {"age": 2, "sex": 3, "ward": 2}
    assert np.array_equal(workload_from_json(workload_to_json(asked)).on(columns).gram, asked.on(columns).gram)


def test_saved_tables_are_the_same_when_loaded_and_cannot_be_loaded_as_rows(tmp_path):
    with a_curator() as curator:
        made = curator.tabulate(ROWS, ASKED, rho=0.5, name="t")
    made.save(tmp_path / "t.discreet")
    loaded = TabulatedRelease.load(tmp_path / "t.discreet")
    assert (loaded.name, loaded.receipt, loaded.replayed) == ("t", made.receipt, False)
    assert np.array_equal(loaded.table("age"), made.table("age"))
    with pytest.raises(BadRelease, match="another kind"):
        SyntheticRelease.load(tmp_path / "t.discreet")


def test_every_answer_is_a_row_with_its_cells():
    with a_curator() as curator:
        asked = workloads.points("ward", "sex") + workloads.ranges("age") + workloads.total()
        made = curator.tabulate(ROWS, asked, rho=0.5)
    rows = made.to_arrow().to_pylist()
    assert len(rows) == 6 + 55 + 1
    assert [(row["ward"], row["sex"], row["age"]) for row in rows[:2]] == [("A", "F", None), ("A", "M", None)]
    assert {row["age"] for row in rows[6:9]} == {"0 to 0", "0 to 1", "0 to 2"}
    assert rows[-1]["count"] == pytest.approx(float(made.answers[-1]))
    assert all(row["within"] > 0 for row in rows)


def test_a_column_with_the_name_of_a_result_column_is_kept_beside_it():
    with a_curator() as curator:
        made = curator.tabulate("SELECT sex AS count, ward AS within FROM visits", workloads.marginals(1), rho=0.5)
    assert made.to_arrow().column_names == ["count", "within", "count_", "within_"]

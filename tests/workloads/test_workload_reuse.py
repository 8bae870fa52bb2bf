"""Earlier measurements in the answers to a workload: the errors are as predicted, and only permitted releases enter."""

import numpy as np
import pytest

from discreet import workloads
from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.ledger import verify
from discreet.mechanisms import Adaptive, PureAdaptive
from discreet.workloads.releases.tabulation import TabulatedRelease, measure, plan_tabulation
from tests.support.memory_tables import domain_of, measuring
from tests.support.sources import SeededBits
from tests.synthetic.test_curator import ROWS
from tests.synthetic.test_reusing import a_curator

ASKED = workloads.marginals(2)
ROWS_OF_CODES = np.stack([np.arange(300) % 3, np.arange(300) * 7 % 4, np.arange(300) // 99 % 2], axis=1)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_two_releases_of_one_workload_are_averaged_and_the_second_knows_its_errors(relation):
    with a_curator(relation) as curator:
        first = curator.as_analyst("alice").tabulate(ROWS, ASKED, rho=0.1, name="first")
        once = curator.as_analyst("alice").plan_tables(ROWS, ASKED, rho=0.1)
        plan = curator.as_analyst("alice").plan_tables(ROWS, ASKED, rho=0.1, reuse=True, name="second")
        assert plan.reused == ("first",)
        assert plan.typical_error == pytest.approx(once.typical_error / np.sqrt(2))
        second = curator.as_analyst("alice").tabulate(ROWS, ASKED, rho=0.1, reuse=True, name="second")
        assert [each.within for each in plan.tables] == [width.max() for width in second.errors(0.95)]
        own = second.plan.__class__.divided(
            second.plan.queries, second.plan.budget, second.plan.strategy, second.plan.shares
        ).estimate([step.outcome for step in second.transcript.own])
        for both, before, now in zip(second.answers, first.answers, own.answers, strict=True):
            assert np.allclose(both, (before + now) / 2)
        assert np.array_equal(TabulatedRelease(second.stored).table("ward", "sex"), second.table("ward", "sex"))
        assert curator.as_analyst("alice").tabulate(ROWS, ASKED, rho=0.1, reuse=True, name="second").replayed
        assert curator.as_analyst("bob").plan_tables(ROWS, ASKED, rho=0.1, reuse=True).reused == ()
        assert verify(curator.ledger).sound


def test_tables_of_synthetic_data_are_reused_for_a_workload_and_not_for_regions():
    with a_curator() as curator:
        fixed = {"rho": 0.1, "workload": [("ward", "sex")], "method": "fixed"}
        curator.as_analyst("alice").synthesize(ROWS, name="rows", **fixed)
        asked = workloads.points("ward", "sex")
        once = curator.as_analyst("alice").plan_tables(ROWS, asked, rho=0.1)
        both = curator.as_analyst("alice").plan_tables(ROWS, asked, rho=0.1, reuse=True)
        assert both.reused == ("rows",)
        assert both.typical_error < 0.95 * once.typical_error
        with pytest.raises(BadInput):
            curator.tabulate(ROWS, tree="geo", rho=0.1, reuse=True)


PRICES = [
    (Adaptive(rho=0.5), Neighbours.ADD_REMOVE),
    (Adaptive(rho=0.5), Neighbours.REPLACE_ONE),
    (PureAdaptive(epsilon=1), Neighbours.ADD_REMOVE),
]


@pytest.mark.parametrize(("budget", "neighbours"), PRICES, ids=str)
@pytest.mark.parametrize("before", ["the same", "a wider table", "ranges"])
def test_answers_have_the_predicted_errors(before, budget, neighbours):
    times, domain, bits = 40, domain_of(3, 4, 2, neighbours=neighbours), SeededBits(11)
    asked = workloads.ranges("b") if before == "ranges" else ASKED
    plan = plan_tabulation(asked, domain, budget)
    exactly = measuring(ROWS_OF_CODES, domain)._exact(plan.queries.names)
    exact = plan.queries.answers(exactly.reshape(-1).astype(float))
    squares, said = np.zeros(len(exact)), None
    for _ in range(times):
        first = measuring(ROWS_OF_CODES, domain, budget=budget, bits=bits)
        if before == "a wider table":
            first.noisy(domain.names, first.noise(domain.names, first.left))
        else:
            measure(first, plan)
        known = plan.with_earlier(first._run.steps)
        second = measuring(ROWS_OF_CODES, domain, budget=budget, bits=bits)
        measure(second, plan)
        outcomes = iter(second._run.steps)
        answers = known.estimate([next(outcomes).outcome if m else None for m in plan.measurements]).answers
        squares += [((a - b) ** 2).mean() for a, b in zip(answers, exact, strict=True)]
        said = [float((error**2).mean()) for error in known.standard_errors()]
    assert np.allclose(squares / times, said, rtol=0.5)
    assert (squares / times).sum() == pytest.approx(sum(said), rel=0.3)
    assert sum(said) < sum(float((error**2).mean()) for error in plan.standard_errors())

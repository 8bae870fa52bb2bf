"""What is said of synthetic data before it is paid for: it is the noise that runs have, models come nearer, and nothing of it is from rows."""

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.measurement.measurer import Chosen, Measured
from discreet.mechanisms import Adaptive, PureAdaptive
from discreet.synthetic.methods.method_registry import METHODS
from discreet.synthetic.models.synthetic_model import noise_in_a_cell
from discreet.synthetic.quality.predicted_error import MOST_ERROR, predicted
from tests.support.sources import SeededBits
from tests.synthetic.memory import InMemory, domain_of
from tests.synthetic.test_curator import ROWS, a_curator
from tests.synthetic.test_methods import DOMAIN, MARGINALS, people

COUNT = 20_000
BUDGETS = {"rho": Adaptive(rho=0.02), "epsilon": PureAdaptive(epsilon=1)}
ALL_SEEN = {("a", "b"): 1, ("b", "c", "d"): 1}


def foreseen(name, budget, *, marginals=MARGINALS, rows=COUNT):
    return predicted(METHODS[name], DOMAIN, marginals, budget, rows)


def run(name, budget, *, marginals=MARGINALS):
    unit = "rho" if isinstance(budget, Adaptive) else "epsilon"
    bits = SeededBits(f"predicted {name} {unit}")
    measurer = InMemory(DOMAIN, people(COUNT), bits=bits, **{unit: budget.amount if unit == "epsilon" else budget.rho})
    METHODS[name].measure(measurer, marginals)
    return METHODS[name].model(DOMAIN, measurer.measurements), measurer


def off(model, measurer, columns):
    return float(np.abs(model.table(columns) - measurer.exact(columns)).sum()) / COUNT


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("name", ["aim", "mst", "independent"])
def test_columns_come_out_about_as_exact_as_was_said_and_not_worse(name, budget):
    said, (model, measurer) = foreseen(name, budget), run(name, budget)
    apart = {
        column.column: np.abs(model.table((column.column,)) - measurer.exact((column.column,)))
        for column in said.columns
    }
    ratio = sum(counts.sum() / COUNT for counts in apart.values()) / sum(column.error for column in said.columns)
    assert 0.15 < ratio < 1.2
    assert np.mean(np.concatenate([apart[column.column] <= column.within for column in said.columns])) > 0.9


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("name", ["aim", "mst", "mwem"])
def test_tables_that_are_chosen_have_no_more_noise_and_no_more_error_than_was_said(name, budget):
    said, (model, measurer) = foreseen(name, budget), run(name, budget)
    chosen = [
        measurement
        for measurement in measurer.measurements[_first_choice(measurer) :]
        if isinstance(measurement, Measured)
    ]
    by_width = {tables.width: tables for tables in said.tables}
    errors = []
    for measurement in chosen:
        if len(measurement.columns) > 1:
            assert (
                measurement.mechanism.error(0.95) <= 1.05 * by_width[len(measurement.columns)].within
            )  # rows are estimated, and a share with them
            cells = DOMAIN.cells(measurement.columns)
            errors.append(
                off(model, measurer, measurement.columns) / (cells * noise_in_a_cell(measurement.mechanism) / COUNT)
            )
    assert len(errors) > 2
    assert 0.03 < np.mean(errors) < 1.2


def _first_choice(measurer):
    return next(place for place, measurement in enumerate(measurer.measurements) if isinstance(measurement, Chosen))


def test_given_tables_are_all_measured_with_just_the_noise_that_was_said():
    budget = BUDGETS["rho"]
    said, (model, measurer) = foreseen("fixed", budget, marginals=ALL_SEEN), run("fixed", budget, marginals=ALL_SEEN)
    for tables, measurement in zip(said.tables, measurer.measurements, strict=True):
        assert (tables.tables, tables.measurable, tables.is_chosen) == (1, 1, False)
        assert tables.within == measurement.mechanism.error(0.95)
        assert 0.1 < off(model, measurer, measurement.columns) / tables.most_error < 1.3
    assert [column.within for column in said.columns] == [None] * 4


def test_what_is_not_measured_is_promised_nothing():
    assert all(tables.within is None for tables in foreseen("independent", BUDGETS["rho"]).tables)
    few = foreseen("aim", Adaptive(rho=0.001), rows=400)
    assert [(tables.width, tables.tables, tables.measurable) for tables in few.tables] == [(2, 6, 0), (3, 4, 0)]
    small = predicted(METHODS["smalldb"], domain_of((2, 2)), {("a", "b"): 1}, BUDGETS["rho"], 100)
    assert (small.columns[0].within, small.tables[0].most_error) == (None, None)


def test_no_error_is_said_to_be_larger_than_tables_can_be_apart():
    assert max(column.error for column in foreseen("aim", Adaptive(rho=1e-6), rows=10).columns) == MOST_ERROR


@pytest.mark.parametrize("rows", [0, -1, 2**41, True])
def test_a_number_of_rows_that_cannot_be_is_refused(rows):
    with pytest.raises(BadInput):
        foreseen("aim", BUDGETS["rho"], rows=rows)


def test_it_says_the_same_whoever_is_in_the_data(monkeypatch):
    plans = []
    for rows in (3, 900):
        with a_curator(count=rows) as curator:
            monkeypatch.setattr(curator._engine, "tables", None)
            plans.append(curator.plan_synthesis(ROWS, rho=0.01, workload=2, rows_about=2000))
            monkeypatch.undo()
    assert plans[0] == plans[1]

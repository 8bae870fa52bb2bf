"""Work that a workload makes after it is paid for: bounded before."""

from itertools import combinations

import numpy as np
import pytest

from discreet.api.operations import synthesize
from discreet.api.requests.synthesize import SynthesizeRequest
from discreet.core.loss import Neighbours
from discreet.errors import TooLarge
from discreet.measurement.domain import Column, Domain
from discreet.noise import SYSTEM_BITS
from discreet.synthetic.methods.candidates import MOST_CANDIDATES, number_of, weighted
from discreet.synthetic.methods.method_registry import METHODS
from discreet.synthetic.synthesis_run import workload_marginals
from tests.synthetic.memory import InMemory
from tests.synthetic.test_curator import ROWS, a_curator


def of_sizes(*sizes):
    columns = tuple(Column(f"c{at}", tuple(range(size))) for at, size in enumerate(sizes))
    return Domain(columns, 1, Neighbours.ADD_REMOVE)


def test_columns_of_one_code_are_in_no_candidate_however_many_they_are():
    domain = of_sizes(*[1] * 30, 2, 3)
    assert weighted(domain, workload_marginals(32, domain)) == {("c30",): 1, ("c31",): 1, ("c30", "c31"): 2}
    alone = of_sizes(1, 1)
    assert weighted(alone, workload_marginals(2, alone)) == {}


@pytest.mark.parametrize("workload", [1, 2, 3, 5])
def test_candidates_are_counted_without_being_made(workload):
    domain = of_sizes(2, 3, 1, 2, 2, 4)
    marginals = workload_marginals(workload, domain)
    assert number_of(domain, marginals) >= len(weighted(domain, marginals))


def test_more_candidates_than_a_round_can_choose_among_are_refused_with_their_number():
    domain = of_sizes(*[2] * 190)
    wide = [domain.names[at : at + 19] for at in range(0, 190, 19)]  # each a table that could be measured
    assert workload_marginals(wide[:3], domain)
    with pytest.raises(TooLarge, match="50,350 tables"):
        workload_marginals(wide, domain)
    with pytest.raises(TooLarge, match="33 columns"):
        workload_marginals(33, of_sizes(*[1] * 33))
    many = of_sizes(*[1] * 250)
    assert MOST_CANDIDATES < 250 * 249 / 2
    with pytest.raises(TooLarge, match="31,125 tables"):
        METHODS["mst"].check(many, {})


def test_any_number_of_columns_of_one_code_is_counted_and_modelled():
    domain = of_sizes(2, *[1] * 99)
    measurer = InMemory(domain, np.zeros((50, 100), int), rho=1)
    METHODS["aim"].measure(measurer, {("c0",): 1})
    assert METHODS["aim"].model(domain, measurer.measurements).rows(3, SYSTEM_BITS).shape == (3, 100)
    with pytest.raises(TooLarge, match="cells"):
        METHODS["fixed"].check(domain, dict.fromkeys(combinations(domain.names, 2), 1))


def test_another_version_of_a_method_is_another_run(monkeypatch):
    def digest():
        with a_curator() as curator:
            request = SynthesizeRequest(ROWS, rho=0.1, workload=2)
            return synthesize.synthesis_run(request, curator.context, {}).digest

    before = digest()
    assert digest() == before
    monkeypatch.setattr(type(METHODS["aim"]), "version", 1000)
    assert digest() != before

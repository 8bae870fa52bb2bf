"""Slips in catalogs and in CSV files: served, or refused with the line, the table or the column; a thousand of each are soaked."""

from collections import Counter

import pytest

from tests.support.edits import catalog_outcome, file_outcome, outcome, write


@pytest.mark.parametrize(("come_of", "least_served"), [(catalog_outcome, 0), (file_outcome, 4)])
def test_slips_are_served_or_refused_by_name_and_cost_what_they_say(come_of, least_served, tmp_path):
    outcomes = Counter(come_of(tmp_path, seed) for seed in range(12))
    assert outcomes["served"] >= least_served
    assert outcomes["bad-catalog"] >= 1


def test_without_a_slip_all_is_served(tmp_path):
    assert outcome(write(tmp_path)) == "served"

"""Seven people, and the tables about them."""

import numpy as np
import pytest

from discreet.attacks.reconstruction.census_blocks import EXAMPLE, RECORDS, ages_in_groups, counts_by_view, draw_block
from discreet.attacks.reconstruction.constraints import block_from_ages, block_from_counts, nearest_block
from tests.attacks.promises import is_kept_within_the_bound, succeeds


@pytest.mark.parametrize("release", ["means-and-medians", "count-tables"])
def test_printed_tables_give_most_residents_away(release):
    found = succeeds("census", against=release, at_least=0.7)
    assert 0.5 < found.details["records that are certain"] <= found.success + 1e-9


def test_the_published_block_has_one_solution():
    printed = ages_in_groups(EXAMPLE, least=3)
    assert printed[()].count == 7
    assert (float(printed[()].median), printed[()].total / 7) == (30, 38), "as printed in the article"
    assert block_from_ages(printed, residents=7, least=3) == sorted(EXAMPLE)
    for record in EXAMPLE:
        assert block_from_ages(printed, residents=7, least=3, without=record) is None


def test_what_is_certain_is_true_and_what_is_found_suits_the_tables():
    rng = np.random.default_rng(5)
    for _ in range(10):
        block = draw_block(rng, residents=7)
        ages, counts = ages_in_groups(block, least=3), counts_by_view(block)
        by_ages, by_counts = block_from_ages(ages, residents=7, least=3), block_from_counts(counts)
        assert ages_in_groups(by_ages, least=3) == ages
        assert counts_by_view(by_counts) == counts
        for record in set(by_counts) - set(block):
            assert block_from_counts(counts, without=record), "a record that is not there cannot be certain"


def test_without_noise_the_nearest_block_suits_the_tables():
    block = draw_block(np.random.default_rng(5), residents=7)
    assert counts_by_view(nearest_block(counts_by_view(block), residents=7)) == counts_by_view(block)


def test_tables_that_contradict_each_other_have_no_solution():
    counts = counts_by_view(EXAMPLE)
    counts["sex, race, married"][0, 0, 0] += 1
    assert block_from_counts(counts) is None


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_discreet_keeps_records_within_the_bound(epsilon):
    found = is_kept_within_the_bound("census", epsilon=epsilon)
    assert found.baseline == 7 / len(RECORDS)
    if epsilon < 10:
        assert found.success < 0.4, "two in a hundred are allowed"
    else:
        assert found.success > 0.02, "at epsilon 10 a sensible attacker finds some"

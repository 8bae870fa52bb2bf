"""From the dose to the genotype."""

import pytest

from tests.attacks.promises import is_kept_within_the_bound, succeeds


def test_a_deep_tree_tells_more_about_its_own_people_than_about_others():
    found = succeeds("inversion", at_least=0.7)
    assert found.baseline < 0.5
    depths = found.series[0].y
    assert depths[-1] > 0.7 > depths[0]


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_a_model_from_noisy_counts_tells_about_everybody_the_same(epsilon):
    found = is_kept_within_the_bound("inversion", epsilon=epsilon)
    assert found.success == pytest.approx(found.baseline, abs=0.3)

from collections import Counter

import pytest

from discreet.errors import DiscreetError
from discreet.mechanisms import AboveThreshold
from tests.mutants.sparse import BROKEN, LawOfVariant, variant_keeps_epsilon
from tests.support.checks import counts_are_fair, ratio_within
from tests.support.laws import above_threshold_law
from tests.support.sources import SeededBits


def _law(mechanism, values):
    return above_threshold_law(
        values,
        threshold=mechanism.threshold,
        threshold_scale=mechanism.threshold_scale,
        query_scale=mechanism.query_scale,
        positives=mechanism.positives,
    )


def test_the_shares_add_up_to_epsilon():
    for positives in (1, 2, 10):
        mechanism = AboveThreshold(epsilon=1, sensitivity=3, threshold=0, positives=positives)
        spent = 3 / mechanism.threshold_scale + 2 * positives * 3 / mechanism.query_scale
        assert spent == 1


def test_many_quiet_queries_cost_no_more_than_epsilon():
    mechanism = AboveThreshold(epsilon=2, sensitivity=1, threshold=1)
    ratio_within(_law(mechanism, [0] * 12), _law(mechanism, [1] * 12), 2.0)


def test_what_we_ship_passes_the_check_that_the_broken_variants_fail():
    variant_keeps_epsilon(LawOfVariant.ours)


@pytest.mark.parametrize("variant", BROKEN, ids=lambda variant: variant.__name__)
def test_the_known_broken_variants_are_not_what_we_ship(variant):
    with pytest.raises(AssertionError, match="log-ratio"):
        variant_keeps_epsilon(variant)


def test_it_stops_after_the_last_positive():
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=0, positives=2)
    answers = mechanism.release([1000] * 5, SeededBits("stop"))
    assert answers == [True, True]
    watch = mechanism.start(SeededBits("watch"))
    watch.is_above(1000)
    watch.is_above(1000)
    assert watch.exhausted
    with pytest.raises(DiscreetError, match="Start a new watch"):
        watch.is_above(1000)


def test_a_watch_answers_adaptively_as_a_release_does():
    mechanism = AboveThreshold(epsilon=2, sensitivity=1, threshold=3)
    values, bits = [2, 3, 4], SeededBits("adaptive")
    seen = Counter()
    for _ in range(4000):
        watch, path = mechanism.start(bits), []
        for value in values:
            if watch.exhausted:
                break
            path.append(watch.is_above(value))
        seen[tuple(path)] += 1
    counts_are_fair(seen, _law(mechanism, values))


def test_a_value_that_is_no_int_is_refused():
    watch = AboveThreshold(epsilon=1, sensitivity=1, threshold=0).start(SeededBits(0))
    with pytest.raises(DiscreetError):
        watch.is_above(1.5)

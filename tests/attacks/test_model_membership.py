"""Was I in the training data?"""

import numpy as np
import pytest

from discreet.attacks.membership.model_inference import above_outsiders, by_likelihood, by_shadows
from discreet.attacks.membership.naive_bayes_target import NaiveBayes, exact_counts
from tests.attacks.promises import is_kept_within_the_bound, succeeds


def test_a_forest_tells_who_it_was_grown_on():
    found = succeeds("model-membership", at_least=0.5, trees=30, shadows=12)
    assert found.details["model is right on members"] > 0.95
    (curve,) = found.series
    assert list(curve.y) == sorted(curve.y)


def test_neighbours_tell_everybody():
    found = succeeds("model-membership", against="neighbours", at_least=0.99)
    assert found.details["found by loss threshold"] > 0.99


def test_the_rate_of_false_positives_is_what_it_says():
    rng = np.random.default_rng(1)
    flagged = [above_outsiders(rng.random(1), rng.random(199), rank=10, rng=rng)[0] for _ in range(10_000)]
    assert np.mean(flagged) == pytest.approx(0.05, abs=0.015)
    ties = [above_outsiders(np.ones(1), np.ones(199), rank=10, rng=rng)[0] for _ in range(10_000)]
    assert np.mean(ties) == pytest.approx(0.05, abs=0.015)


def test_likelihoods_and_shadows_find_members_by_what_is_usual_for_each():
    rng = np.random.default_rng(1)
    usual, members = rng.normal(0, 3, 300), rng.random((40, 300)) < 0.5
    odds = usual + members + rng.normal(0, 0.2, members.shape)
    shadows = 1 / (1 + np.exp(-odds))
    scores = by_likelihood(shadows[0], shadows[1:], members[1:])
    assert np.mean((scores > 0) == members[0]) > 0.95, "the usual differs more than membership does"
    steady = 1 / (1 + np.exp(-(2 * members + rng.normal(0, 0.2, members.shape))))
    scores = by_shadows(steady[0], np.zeros(300), steady[1:], members[1:])
    assert np.mean((scores > 0.5) == members[0]) > 0.95


def test_naive_bayes_is_the_usual_one():
    from sklearn.naive_bayes import CategoricalNB

    rng = np.random.default_rng(1)
    rows, labels = rng.integers(0, 3, (500, 4)), rng.integers(0, 2, 500)
    expected = CategoricalNB(alpha=1e-9, min_categories=3).fit(rows, labels).predict_proba(rows)
    found = NaiveBayes(exact_counts(rows, labels, values=3, classes=2)).confidences(rows, labels)
    assert found == pytest.approx(expected[np.arange(500), labels])


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_a_model_from_noisy_counts_keeps_its_people_within_the_bound(epsilon):
    found = is_kept_within_the_bound("model-membership", epsilon=epsilon)
    if epsilon == 10:
        assert found.details["model is right on members"] > 0.52, "it has learned something"

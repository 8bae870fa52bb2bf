"""Models on rows at hand: what they learn, what it costs, how far off they say they are, and what they refuse."""

import math
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.accounting import Account
from discreet.core.loss import Neighbours
from discreet.errors import BadData, BadInput, BudgetExceeded, NeedsDelta, NeedsValues, TooLarge
from discreet.learning import (
    PCA,
    Category,
    DecisionTree,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Moments,
    NaiveBayes,
    Number,
)
from discreet.learning.data.features import codes_in, column_of, positions
from discreet.learning.models import learned_model
from discreet.measurement.domain import Bin
from tests.learning.worlds import FEATURES, TRUE, covered, people, without_noise
from tests.support.sources import SeededBits, UntouchableBits

PRICE = {"epsilon": 2, "delta": 1e-6}
CLASSIFIERS = [(LogisticRegression, PRICE), (NaiveBayes, {"epsilon": 2}), (DecisionTree, {"epsilon": 2, "depth": 3})]


@pytest.fixture(autouse=True)
def seeded(monkeypatch, request):
    monkeypatch.setattr(learned_model, "_bits", SeededBits(request.node.name))


@pytest.mark.parametrize(("kind", "price"), CLASSIFIERS)
def test_classes_are_predicted_nearly_as_well_as_without_noise(kind, price):
    rows, classes, _ = people(6_000, 1)
    features = [Number(feature.name, -1, 1, bins=8) for feature in FEATURES]
    learned = kind(features=features, classes=[0, 1], **price).fit(rows, classes)
    fresh, truth, _ = people(3_000, 2)
    weights = without_noise(rows, classes)
    best = np.mean((weights[0] + sum(w * fresh[name] for w, name in zip(weights[1:], "abc", strict=True)) > 0) == truth)
    assert learned.score(fresh, truth) > best - (0.05 if kind is DecisionTree else 0.03)
    chances = learned.predict_proba(fresh)
    assert chances.shape == (3_000, 2)
    assert np.allclose(chances.sum(axis=1), 1)


@pytest.mark.parametrize("relation", list(Neighbours))
def test_more_than_two_classes_are_told_apart(relation):
    rows, _, numbers = people(6_000, 3)
    classes = np.array(["low", "middle", "high"])[np.digitize(numbers, [0, 0.8])]
    learned = LogisticRegression(features=FEATURES, classes=["low", "middle", "high"], epsilon=4, delta=1e-6)
    assert learned.fit(rows, classes, neighbours=relation).score(rows, classes) > 0.62
    assert learned.coef_.shape == (3, 3)
    assert set(learned.predict(rows)) <= {"low", "middle", "high"}


def test_lines_and_components_follow_from_moments_for_free():
    rows, _, numbers = people(8_000, 4)
    account = Account(3, 1e-6)
    every = [*FEATURES, Number("y", -4, 4)]
    moments = Moments(features=every, **PRICE).fit({**rows, "y": numbers}, account=account)
    spent = account.spent
    line = LinearRegression.from_moments(moments, "y")
    again = LinearRegression(features=FEATURES, target=Number("y", -4, 4), epsilon=200, delta=1e-6).fit(rows, numbers)
    assert np.allclose([line.intercept_, *line.coef_], TRUE, atol=0.2)
    assert np.allclose([again.intercept_, *again.coef_], TRUE, atol=0.03)
    assert again.score(rows, numbers) > 0.5
    other = LinearRegression.from_moments(moments, "a")
    assert other.target.name == "a"
    found = PCA.from_moments(moments, components=2)
    assert np.abs(found.components_[0]).argmax() in (0, 1, 2)
    assert found.transform({**rows, "y": numbers}).shape == (8_000, 2)
    assert account.spent == spent
    with pytest.raises(BadInput):
        LinearRegression.from_moments(moments, "z")


def test_clusters_are_found_near_where_they_are():
    rng = np.random.default_rng(5)
    centres = np.array([[10, 80], [50, 20], [90, 70]])
    points = np.clip(centres[rng.integers(0, 3, 5_000)] + rng.normal(0, 4, (5_000, 2)), 0, 100)
    found = KMeans(features=[Number("a", 0, 100), Number("b", 0, 100)], clusters=3, epsilon=1).fit(points)
    values = np.array([row["value"] for row in found.card().rows]).reshape(3, 2)
    assert np.abs(values[np.argsort(values[:, 0])] - centres).max() < 3
    assert len(set(found.predict(points))) == 3
    assert found.inertia(points) < 5_000 * 0.05


@pytest.mark.parametrize(("kind", "count"), [("linear", 2_000), ("logistic", 2_000), ("logistic", 20_000)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(kind, count, monkeypatch):
    """Of many rows noise is small beside what passes leave of the way."""
    assert 0.88 <= covered(kind, runs=20, count=count, epsilon=1, patch=monkeypatch) <= 1.0


def test_intervals_of_naive_bayes_hold_what_it_would_be_without_noise(monkeypatch):
    rows, classes, _ = people(4_000, 3)
    asked = {"features": [Number("a", -1, 1, bins=40), Category("b", [0, 1])], "classes": [0, 1]}
    rows["b"] = (rows["b"] > 0.9).astype(int)  # a share near 1 beside a small one
    exact, inside = [each.value for each in NaiveBayes(epsilon=10**6, **asked).fit(rows, classes).learned], []
    for run in range(60):
        monkeypatch.setattr(learned_model, "_bits", SeededBits(f"naive Bayes {run}"))
        noisy = NaiveBayes(epsilon=2, **asked).fit(rows, classes).card()
        inside.append(
            [
                low <= value <= high
                for (low, high), value in zip((row["value"] for row in noisy.intervals(0.95)), exact, strict=True)
            ]
        )
    prior, rest = np.mean(inside, axis=0)[:2], np.mean(inside, axis=0)[2:]
    assert prior.min() >= 0.85
    assert 0.9 <= rest.mean() <= 0.99


def test_every_learned_number_has_its_plus_minus_on_the_card():
    rows, classes, numbers = people(3_000, 6)
    binned = [Number("a", -1, 1, bins=4), Category("k", ["x", "y"])]
    rows["k"] = np.array(["x", "y"])[classes]
    for learned in (
        LogisticRegression(features=FEATURES, classes=[0, 1], **PRICE).fit(rows, classes),
        LinearRegression(features=binned, target=Number("y", -4, 4), **PRICE).fit(rows, numbers),
        NaiveBayes(features=binned, classes=[0, 1], epsilon=1).fit(rows, classes),
        DecisionTree(features=binned, classes=[0, 1], epsilon=1, depth=2).fit(rows, classes),
        KMeans(features=FEATURES[:2], epsilon=1).fit(rows),
        PCA(features=FEATURES, **PRICE).fit(rows),
        Moments(features=FEATURES[:2], **PRICE).fit(rows),
    ):
        card = learned.card()
        widths = [row["value"] for row in card.half_widths(0.95)]
        assert all(width is not None and math.isfinite(width) and width >= 0 for width in widths)
        assert all(width > 0 for width in widths), type(learned)
        assert "±" in repr(card)
        assert "<svg" in card.plot().svg
        assert "<table" in card._repr_html_()
        assert {"number", "value", "value_low", "value_high"} == set(card.to_arrow().column_names)
        assert f"{card.loss.epsilon:.4g}" in repr(card)


def test_an_account_pays_once_before_anything_is_drawn_and_refuses_what_it_cannot():
    rows, classes, _ = people(500, 7)
    account = Account(1, 1e-6)
    LogisticRegression(features=FEATURES, classes=[0, 1], epsilon=0.6, delta=1e-6).fit(rows, classes, account=account)
    assert 0.59 < account.spent.epsilon < 0.65
    learned_model._bits = UntouchableBits()
    with pytest.raises(BudgetExceeded):
        NaiveBayes(features=FEATURES, classes=[0, 1], epsilon=0.9).fit(rows, classes, account=account)
    for wrong, refusal in [
        ({"features": FEATURES, "classes": [0, 1]}, BadInput),  # there is no default epsilon
        ({"features": FEATURES, "classes": [0, 1], "epsilon": 1}, NeedsDelta),
        ({"features": ["a"], "classes": [0, 1], **PRICE}, NeedsValues),
        ({"features": FEATURES, **PRICE}, NeedsValues),
        ({"features": FEATURES, "classes": [0], **PRICE}, BadInput),
    ]:
        with pytest.raises(refusal):
            LogisticRegression(**wrong).fit(rows, classes, account=account)
    with pytest.raises(BadInput):
        LogisticRegression(features=[*FEATURES, FEATURES[0]], classes=[0, 1], **PRICE)
    with pytest.raises(BadData):
        LogisticRegression(features=FEATURES, classes=[0, 1], **PRICE).fit(rows)
    with pytest.raises(BadData):
        NaiveBayes(features=[Number("z", 0, 1)], classes=[0, 1], epsilon=1).fit(rows, classes)
    with pytest.raises(BadInput):
        KMeans(features=[Category("k", [1, 2])], epsilon=1).fit({"k": [1]})
    with pytest.raises(TooLarge):
        DecisionTree(features=[Category("a", range(3_000))], classes=[0, 1], epsilon=1).fit(rows, classes)
    with pytest.raises(TooLarge):
        KMeans(features=[Number(name, -1, 1, bins=64) for name in "abc"], epsilon=1).fit(rows)
    with pytest.raises(TooLarge):
        Moments(features=[Category("a", range(3_000))], **PRICE).fit(rows)
    with pytest.raises(BadInput):
        _ = NaiveBayes(features=FEATURES, classes=[0, 1], epsilon=1).transcript


class Raises:
    """A value that nobody can read."""

    def __float__(self):
        raise RuntimeError("a cell")

    def __hash__(self):
        raise RuntimeError("a cell")


def test_a_rows_codes_depend_on_that_row_alone_and_nothing_is_refused_for_what_it_holds():
    line, bins = column_of(Number("a", 0, 8), bins=None), column_of(Number("a", 0, 8, bins=4), bins=None)
    odd = [0, 8, -1e300, 1e300, float("nan"), None, "text", 10**400, 2.0, 3.999]
    assert codes_in(bins, [pd.NaT, Raises(), date(1, 1, 3)]).tolist() == [4, 4, 1]
    assert codes_in(column_of(Category("k", ["x"]), bins=None), [Raises(), pd.NaT, "x"]).tolist() == [1, 1, 0]
    assert codes_in(bins, odd).tolist() == [0, 3, 0, 3, 4, 4, 4, 4, 1, 1]
    on_line = np.array(positions(line))[codes_in(line, odd)]
    assert on_line.tolist()[:7] == [-1024, 1024, -1024, 1024, 0, 0, 0]
    cells = column_of(Category("k", ["x", 1]), bins=None)
    assert codes_in(cells, ["x", 1, 1.0, True, None, [], "z", float("nan")]).tolist() == [0, 1, 1, 1, 2, 2, 2, 2]
    whole = column_of(Category("k", [5, 3]), bins=None)
    assert codes_in(whole, np.array([3, 5, 4, -9])).tolist() == codes_in(whole, [3, 5, 4, -9]).tolist() == [1, 0, 2, 2]
    assert isinstance(bins.labels[0], Bin)


def test_frames_arrays_and_mappings_are_read_alike():
    rows, classes, _ = people(400, 8)
    outcomes = []
    for given in (rows, pd.DataFrame(rows), pl.DataFrame(rows), np.column_stack([rows[name] for name in "abc"])):
        learned_model._bits = SeededBits(9)
        learned = LogisticRegression(features=FEATURES, classes=[0, 1], **PRICE).fit(given, classes.tolist())
        outcomes.append(learned.transcript.encoded())
        assert np.array_equal(learned.predict(given), learned.predict(rows))
    assert len(set(outcomes)) == 1


def test_rows_of_no_class_are_left_out():
    rows, classes, _ = people(400, 8)
    labelled = [*classes.tolist()[:300], *[None, "?"] * 50]
    learned_model._bits = SeededBits(1)
    some = NaiveBayes(features=FEATURES, classes=[0, 1], epsilon=1).fit(rows, labelled)
    learned_model._bits = SeededBits(1)
    fewer = NaiveBayes(features=FEATURES, classes=[0, 1], epsilon=1).fit(
        {k: v[:300] for k, v in rows.items()}, classes[:300]
    )
    assert some.transcript.encoded() == fewer.transcript.encoded()


def test_parameters_are_told_and_changed_as_scikit_learn_does():
    learned = LogisticRegression(features=FEATURES, classes=[0, 1], epsilon=1, delta=1e-6)
    assert learned.get_params() == {"features": FEATURES, "classes": [0, 1], "epsilon": 1, "delta": 1e-6, "rho": None, "target": "y", "passes": 10}  # fmt: skip
    assert LogisticRegression(**learned.get_params()).get_params() == learned.get_params()
    assert learned.set_params(passes=4).passes == 4
    assert "passes=4" in repr(learned)
    with pytest.raises(BadInput):
        learned.set_params(pases=4)


def test_models_learn_from_nobody_without_an_error():
    rows = {name: np.zeros(0) for name in "abc"}
    for kind, price in CLASSIFIERS:
        learned = kind(features=FEATURES, classes=[0, 1], **price).fit(rows, np.zeros(0, int))
        assert np.isfinite(learned.predict_proba({name: np.zeros(3) for name in "abc"})).all()

"""The private PAC learner: how many people are enough, and that the slide's are not."""

import itertools
import math

import numpy as np
import pytest

from discreet.accounting import Account
from discreet.errors import DiscreetError
from discreet.learning import FiniteClass
from discreet.learning.models import finite_class
from discreet.learning.models.finite_class import conjunctions, halfspaces, own, stumps, thresholds
from tests.support.sources import SeededBits

ALPHA, BETA, EPSILON = 0.1, 0.05, 0.005
FIVE = conjunctions(5)


@pytest.fixture(autouse=True)
def _seeded(monkeypatch, request):
    monkeypatch.setattr(finite_class, "_bits", SeededBits(request.node.name))


def failures(people, runs, neighbours):
    """How often the learned conjunction errs on more than alpha of the people yet to come, x0 and x1 being the truth.

    As `fit` does it, with people who are equal counted beforehand.
    """
    rng, bits = np.random.default_rng(8), SeededBits(f"{people}")
    patterns = np.array(list(itertools.product((0, 1), repeat=5)))
    wrong = FIVE.evaluate(patterns * finite_class.GRID) != (patterns[:, :1] & patterns[:, 1:2]).astype(bool)
    mechanism = FiniteClass(hypotheses=FIVE, epsilon=EPSILON, neighbours=neighbours).mechanism
    chosen = [mechanism.release(-(rng.multinomial(people, [1 / 32] * 32) @ wrong), bits) for _ in range(runs)]
    return sum(wrong[:, each].mean() > ALPHA for each in chosen)


def test_as_many_people_as_we_say_are_enough():
    learner = FiniteClass(hypotheses=FIVE, epsilon=EPSILON, neighbours="replace-one")
    assert failures(learner.n_needed(ALPHA, BETA), 200, "replace-one") <= 10


def test_with_as_many_as_the_slide_says_more_than_30_of_100_fail():
    learner = FiniteClass(hypotheses=FIVE, epsilon=EPSILON, neighbours="replace-one")
    assert learner.n_on_the_slide(ALPHA) == 3846
    assert failures(3846, 200, "replace-one") > 60


def test_add_remove_needs_half_as_many():
    here = FiniteClass(hypotheses=FIVE, epsilon=EPSILON)
    there = FiniteClass(hypotheses=FIVE, epsilon=EPSILON, neighbours="replace-one")
    assert here.n_needed(ALPHA, BETA) == pytest.approx(there.n_needed(ALPHA, BETA) / 2, abs=1)
    assert failures(here.n_needed(ALPHA, BETA), 60, "add-remove") <= 4
    assert here.n_needed(ALPHA, BETA, epsilon=10) == math.ceil(8 * math.log(2 * 243 / BETA) / ALPHA)


def test_a_person_more_raises_every_number_of_errors_by_at_most_one_or_leaves_it():
    rng = np.random.default_rng(2)
    for hypotheses in (FIVE, stumps(5, [0, 1]), halfspaces(5, weights=1, offsets=[0, 1])):
        learner = FiniteClass(hypotheses=hypotheses, epsilon=1)
        rows, y = rng.integers(0, 2, (40, 5)) * finite_class.GRID, rng.integers(0, 2, 40).astype(bool)
        moves = learner._errors(rows, y) - learner._errors(rows[:-1], y[:-1])
        assert set(moves.tolist()) == {0, 1}


def test_learning_from_rows_is_choosing_by_their_errors(monkeypatch):
    rows = np.random.default_rng(9).integers(0, 2, (3000, 5))
    y = rows[:, 0] & rows[:, 1]
    learner = FiniteClass(hypotheses=FIVE, epsilon=EPSILON)
    errors = (FIVE.evaluate(rows * finite_class.GRID) != (y == 1)[:, None]).sum(axis=0)
    assert learner._errors(rows * finite_class.GRID, y == 1).tolist() == errors.tolist()
    monkeypatch.setattr(finite_class, "_bits", SeededBits("same"))
    assert learner.fit(rows, y).chosen == learner.mechanism.release(-errors, SeededBits("same"))


def test_errors_are_counted_one_by_one():
    rows, y = np.array([[1, 0], [1, 1], [0, 1], [1, 0]]), [1, 0, 0, 1]
    two = conjunctions(2)
    learner = FiniteClass(hypotheses=two, epsilon=1)
    errors = learner._errors(rows * finite_class.GRID, np.array(y) == 1)
    by_name = dict(zip(two.names, errors.tolist(), strict=True))
    assert by_name["x0 and not x1"] == 0
    assert by_name["x0"] == 1
    assert by_name["always"] == 2
    assert len(two) == 9


def test_every_class_finds_what_is_plain():
    rng = np.random.default_rng(3)
    points = rng.random((4000, 2))
    line = FiniteClass(hypotheses=halfspaces(2, weights=2, offsets=[-1, 0, 1]), epsilon=1)
    line.fit(points, points[:, 0] + points[:, 1] >= 1)
    assert (line.predict(points) == (points.sum(1) >= 1)).mean() > 0.95
    edge = FiniteClass(hypotheses=thresholds(np.linspace(0, 1, 21).tolist()), epsilon=1)
    assert edge.fit(points[:, :1], points[:, 0] >= 0.35).name == "x0 >= 0.350586"
    mine = FiniteClass(
        hypotheses=own(2, {"inside": lambda row: row[0] ** 2 + row[1] ** 2 < 1, "fails": len}), epsilon=1
    )
    assert mine.fit(points, (points**2).sum(1) < 1).name == "inside"
    corner = FiniteClass(hypotheses=stumps(2, [0.25, 0.5, 0.75]), epsilon=1)
    assert corner.fit(points, points[:, 1] < 0.5).name == "x1 < 0.5"


def test_it_is_paid_for_and_nobodys_row_stops_it():
    account = Account(1)
    learner = FiniteClass(hypotheses=stumps(1, [0, 1]), epsilon=0.6)
    learner.fit(np.array([[np.nan], [np.inf], [-1e300], [0.5]]), [1, [2], "yes", None], account=account)
    assert account.spent.epsilon == learner.loss.epsilon == 0.6
    with pytest.raises(DiscreetError):
        learner.fit(np.zeros((3, 1)), [0, 0, 0], account=account)
    assert "4 hypotheses" in repr(learner)
    assert learner.errors_above(0.95) >= 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FiniteClass(hypotheses=FIVE, epsilon=0),
        lambda: FiniteClass(hypotheses=FIVE, epsilon=1).fit(np.zeros((3, 4)), [0, 0, 0]),
        lambda: FiniteClass(hypotheses=FIVE, epsilon=1).fit(np.zeros((3, 5)), [0, 0]),
        lambda: FiniteClass(hypotheses=FIVE, epsilon=1).fit([[0] * 5, [1]], [0, 0]),
        lambda: FiniteClass(hypotheses=FIVE, epsilon=1).predict(np.zeros((3, 5))),
        lambda: FiniteClass(hypotheses=FIVE, epsilon=1).n_needed(2, 0.1),
        lambda: conjunctions(40),
        lambda: stumps(2, []),
        lambda: halfspaces(16, weights=9, offsets=[0]),
    ],
)
def test_what_cannot_be_learned_is_refused(wrong):
    with pytest.raises(DiscreetError):
        wrong()

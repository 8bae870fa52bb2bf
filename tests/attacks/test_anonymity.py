"""k-anonymity, l-diversity and auditors: rules about groups and refusals that do not protect a person."""

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks.releases.anonymous import group_of, k_anonymous, l_diverse
from discreet.attacks.releases.query_auditors import BooleanAuditor, Denied, MaximumAuditor
from discreet.errors import BadInput
from tests.attacks.promises import EPSILONS, FEW, is_kept_within_the_bound, succeeds, trials_at


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    return rng.integers(0, 50, (400, 3)), rng.integers(0, 6, 400)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_every_group_has_k_people_and_everybody_is_in_theirs(table, k):
    known, values = table
    groups = k_anonymous(known, values, k=k)
    assert sum(group.values.size for group in groups) == 400
    assert min(group.values.size for group in groups) >= k
    assert len(groups) > 400 / k / 4, "small groups where the rule allows"
    assert all(values[i] in group_of(groups, known[i]).values for i in range(400))


def test_every_group_has_l_different_values(table):
    known, values = table
    assert min(np.unique(group.values).size for group in l_diverse(known, values, k=5, l=4)) >= 4
    assert min(np.unique(group.values).size for group in k_anonymous(known, values, k=5)) < 4


@pytest.mark.parametrize(
    ("name", "release", "at_least"),
    [
        ("homogeneity", "k-anonymous", 0.4),
        ("homogeneity", "l-diverse", 0.35),
        ("background", "l-diverse", 0.5),
        ("background", "k-anonymous", 0.5),
        ("intersection", "k-anonymous", 0.5),
        ("intersection", "l-diverse", 0.4),
    ],
)
def test_groups_give_away_what_they_share(name, release, at_least):
    found = succeeds(name, against=release, at_least=at_least, trials=200)
    assert found.success > found.baseline + 0.2


def test_two_anonymous_tables_leave_fewer_values_than_one():
    share = {}
    for name in ("homogeneity", "intersection"):
        found = attacks.run(name, size="small", trials=300, seed=20)
        share[name] = found.details["only one value left"]
    assert share["intersection"] > share["homogeneity"] + 0.05


def test_the_boolean_auditor_refuses_exactly_what_would_determine_a_bit():
    auditor = BooleanAuditor(np.array([True, False, True, False]))
    for people in ([0], [0, 2], [1, 3]):
        with pytest.raises(Denied):
            auditor.total(people)
    assert auditor.total([0, 1]) == 1
    assert auditor.total([0, 1, 2, 3]) == 2
    with pytest.raises(Denied):
        auditor.total([0, 1, 2])
    with pytest.raises(BadInput, match="at most 20"):
        BooleanAuditor(np.zeros(40, bool))


def test_the_maximum_auditor_refuses_exactly_what_would_determine_a_salary():
    auditor = MaximumAuditor(np.array([5, 9, 7, 3]))
    assert auditor.largest(np.array([1, 1, 1, 1], bool)) == 9
    assert auditor.largest(np.array([0, 1, 1, 1], bool)) == 9
    with pytest.raises(Denied):
        auditor.largest(np.array([1, 0, 1, 1], bool))
    with pytest.raises(Denied):
        auditor.largest(np.array([0, 0, 0, 1], bool))


def test_refusals_give_people_away_and_deciding_takes_twice_as_long_for_each_person():
    found = succeeds("auditing", at_least=0.95)
    succeeds("auditing", against="maximum-auditor", at_least=0.95)
    (curve,) = found.series
    assert curve.y[-1] > 5 * curve.y[0], "ten more people are a thousand times as many worlds"


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", ["homogeneity", "background", "intersection", "auditing"])
def test_discreet_keeps_them_within_the_bound(name, epsilon):
    enough = FEW if name in ("background", "intersection") else 40  # played as homogeneity is
    found = is_kept_within_the_bound(name, epsilon=epsilon, trials=trials_at(epsilon, enough=enough))
    if epsilon == 10:
        assert found.success > 0.6, "at epsilon 10 a sensible attacker is right"


def test_discreets_refusal_is_the_same_for_everybody():
    texts = set()
    for seed in range(4):
        found = attacks.run("auditing", against="discreet", epsilon=1, size="small", trials=1, seed=seed)
        texts |= {step.text for step in found.transcript if step.kind == "refused"}
    assert len(texts) == 1

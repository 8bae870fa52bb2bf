"""What a lie is worth, exactly, beside what the guarantee allows."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.loss import Neighbours
from discreet.errors import DiscreetError
from discreet.games import Choice, DigitalGoods, FacilityLocation, Mixture, borda, plurality, truthfulness
from discreet.games.private_choice import Lottery
from discreet.mechanisms import Exponential, PermuteAndFlip
from tests.support.laws import exponential_law, permute_and_flip_law
from tests.support.sources import SeededBits

ROOM = 1 + 1e-9  # for floats


class Remembered:
    """A rule that computes each law once: all liars of a game share most of them."""

    def __init__(self, rule):
        self._rule, self._known = rule, {}
        self.replacement_epsilon = rule.replacement_epsilon

    def law(self, reports):
        if reports not in self._known:
            self._known[reports] = self._rule.law(reports)
        return self._known[reports]


def random_choice(rng, outcomes, types):
    """Scores that a table gives to reports: any table is a game."""
    points = rng.integers(0, 4, (types, outcomes))
    relation = list(Neighbours)[rng.integers(2)]
    kind = (Exponential, PermuteAndFlip)[rng.integers(2)]
    width = int(points.max(initial=1)) if relation is Neighbours.ADD_REMOVE else int(np.ptp(points, axis=0).max()) or 1
    mechanism = kind(
        sensitivity=width,
        epsilon=round(float(rng.uniform(0.05, 2)), 3),
        size=outcomes,
        monotone=relation is Neighbours.ADD_REMOVE,
    )
    return Choice(mechanism=mechanism, scores=lambda reports: points[list(reports)].sum(axis=0), neighbours=relation)


def test_no_liar_and_no_coalition_gains_more_than_allowed_in_a_thousand_games():
    rng = np.random.default_rng(16)
    tightest, gained = dict.fromkeys((1, 2, 3), -math.inf), 0
    for _ in range(1000):
        people, types, outcomes = 3, int(rng.integers(2, 4)), int(rng.integers(2, 5))
        worth = rng.random((types, outcomes)) * rng.integers(0, 2, (types, outcomes))
        rule = Remembered(random_choice(rng, outcomes, types))
        truth = tuple(rng.integers(0, types, people).tolist())
        for size in tightest:
            found = truthfulness(
                rule,
                lambda kind, outcome, _, worth=worth: worth[kind, outcome],
                truth=truth,
                reports=range(types),
                coalition=size,
            )
            assert found.gain <= found.allowed * ROOM + 1e-12
            tightest[size] = max(tightest[size], found.tightest)
            gained += found.gain > 0
    assert all(0.2 < share <= ROOM for share in tightest.values())
    assert gained > 1000


def test_a_lie_under_add_remove_counts_twice():
    """One epsilon would be too little: here a liar gains more than it allows."""
    vote = plurality(2, epsilon=1)
    assert vote.replacement_epsilon == 2
    assert plurality(2, epsilon=1, neighbours="replace-one").replacement_epsilon == 1
    wants_second = truthfulness(
        vote, lambda kind, outcome, _: float(outcome == 1), truth=[(0, 1)] * 3, reports=[(0, 1), (1, 0)]
    )
    told = vote.law([(0, 1)] * 3)[1]
    assert wants_second.gain == pytest.approx(math.expm1(2) * told)  # all that is allowed


@pytest.mark.parametrize("scores", [[0, 0, 0], [3, 1, 2], [0, 9, 0, 4, 4], [7, 7], [1, 0, 0, 0, 0, 0]])
def test_laws_of_rules_are_the_exact_laws(scores):
    for kind, law in ((Exponential, exponential_law), (PermuteAndFlip, permute_and_flip_law)):
        mechanism = kind(sensitivity=2, epsilon=0.7, size=len(scores))
        rule = Choice(mechanism=mechanism, scores=lambda _: np.array(scores), neighbours=Neighbours.REPLACE_ONE)
        expected = [float(law(scores, mechanism.rate)[i]) for i in range(len(scores))]
        assert rule.law(()) == pytest.approx(expected, abs=1e-14)
        assert 0 <= rule.choose(()) < len(scores)


def test_buyers_gain_no_more_than_one_epsilon_allows_though_revenues_are_monotone():
    """A buyer who offers less lowers all revenues or leaves them: a lie is one step at the rate for scores that move one way."""
    auction = DigitalGoods(prices=(0.25, 0.5, 0.75, 1), epsilon=0.8)
    assert float(auction.choice.replacement_epsilon) == auction.choice.mechanism.epsilon
    offers = [0, 0.25, 0.5, 0.75, 1]
    worst = 0
    for truth in itertools.combinations_with_replacement(offers, 3):
        found = truthfulness(
            auction.choice,
            lambda value, outcome, _: max(0.0, value - float(auction.prices[outcome])),
            truth=truth,
            reports=offers,
        )
        assert found.tightest <= ROOM
        worst = max(worst, found.gain)
    assert worst > 0.01


def test_any_report_is_nearly_as_good_and_a_share_of_lotteries_removes_it():
    place = FacilityLocation(places=7, epsilon=1)

    def served_nearest(where, outcome, _):
        return place.utility(where, outcome, where)

    truthful = Remembered(place.truthful())
    plain = Remembered(place.choice)
    gains, losses = [], []
    for truth in itertools.combinations_with_replacement(range(7), 2):
        found = truthfulness(plain, served_nearest, truth=truth, reports=range(7))
        gains.append(found.gain)
        losses.append(found.loss)
        assert truthfulness(truthful, place.utility, truth=truth, reports=range(7)).gain < 0
    assert max(gains) > 0  # somewhere a lie pays
    assert max(losses) < 0.05  # and no lie, however wild, costs anybody much


def test_the_lottery_alone_costs_every_liar_and_the_share_is_enough():
    place = FacilityLocation(places=6, epsilon=1)
    lottery = Lottery(outcomes=len(place.outcomes))
    found = truthfulness(lottery, place.utility, truth=[0, 3, 5], reports=range(6))
    assert found.gain <= -place.cost_of_lie * (1 - 1e-9) < 0
    gain, share = math.expm1(1), place.share_needed
    assert share * place.cost_of_lie == pytest.approx((1 - share) * gain)
    assert place.truthful().replacement_epsilon == 1


def test_outcomes_are_drawn_as_the_law_says():
    place, bits = FacilityLocation(places=3, epsilon=1), SeededBits("facilities")
    rule, reports = place.truthful(), (0, 0, 2)
    law = dict(enumerate(rule.law(reports).tolist()))
    seen = Counter(rule.choose(reports, bits) for _ in range(3000))
    assert max(abs(seen[i] / 3000 - chance) for i, chance in law.items()) < 0.04


def test_points_of_ballots():
    ballots = [(0, 1, 2), (2, 1, 0), (2, 0, 1), (0, 0, 0), (1,)]
    assert borda(3, epsilon=1).scores(ballots).tolist() == [3, 2, 4]
    assert plurality(3, epsilon=1).scores(ballots).tolist() == [1, 0, 2]


ODD = [
    None,
    3,
    math.nan,
    "01",
    (0, None),
    (0, None, 1),
    ("a", 1),
    {0, 1},
    np.array(0),
    np.array([[0, 1], [1, 0]]),
    [0, [1]],
    (0j, 1),
]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_nobodys_report_decides_whether_there_is_an_election_or_a_facility(odd):
    assert plurality(2, epsilon=1).scores([(0, 1), odd, (1, 0), (1, 0)]).tolist() == [1, 2]
    choice = FacilityLocation(places=3, epsilon=1).choice
    known = [0, 2, 2]
    assert choice.scores([*known, odd]).tolist() == choice.scores(known).tolist()


def test_a_ballot_counts_whatever_its_numbers_are_written_in():
    ballots = [(0, 1), [0.0, 1.0], (False, True), np.array([0, 1]), np.array([0.0, 1.0]), (np.int8(0), Fraction(1))]
    assert plurality(2, epsilon=1).scores(ballots).tolist() == [len(ballots), 0]
    assert borda(3, epsilon=1).mechanism.sensitivity == 2


def test_what_is_no_game_is_refused():
    vote = plurality(2, epsilon=1)
    with pytest.raises(DiscreetError):
        truthfulness(vote, lambda *_: -1.0, truth=[(0, 1)] * 2, reports=[(0, 1), (1, 0)])
    with pytest.raises(DiscreetError):
        truthfulness(vote, lambda *_: 1.0, truth=[(0, 1)] * 2, reports=[(0, 1), (1, 0)], coalition=3)
    with pytest.raises(DiscreetError):
        Mixture(rule=vote, other=vote, share=1.5)
    with pytest.raises(DiscreetError, match="monotone"):
        Choice(
            mechanism=Exponential(sensitivity=1, epsilon=1, size=2, monotone=True),
            scores=vote.scores,
            neighbours=Neighbours.REPLACE_ONE,
        )

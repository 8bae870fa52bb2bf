"""Prices chosen by revenue, and surveys that buy participation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import Account
from discreet.errors import BadInput, BudgetExceeded
from discreet.games import DigitalGoods, FairQuery, survey
from discreet.games.auction import best_revenue
from tests.support.sources import SeededBits


def test_the_lectures_example_with_buyers_who_value_the_good_at_the_price_or_more():
    """1, 1 and 3.01: a cent above 1 loses two thirds, and a cent above 3.01 loses all."""
    auction = DigitalGoods(prices=(1, 1.01, 3.01, 3.02), epsilon=1)
    assert auction.revenues([1, 1, 3.01]) == [3, Fraction("1.01"), Fraction("3.01"), 0]
    assert best_revenue([1, 1, 3.01]) == pytest.approx(3.01)


@pytest.mark.parametrize("epsilon", [0.1, 1])
@pytest.mark.parametrize("people", [100, 1000, 10_000, 100_000])
def test_the_mean_revenue_is_within_ln_n_over_epsilon_of_the_best(people, epsilon):
    rng = np.random.default_rng(people)
    lost = {True: 0.0, False: 0.0}
    for spread in (rng.random(people), rng.beta(2, 5, people), rng.integers(1, 5, people) / 4):
        for monotone in lost:
            auction = DigitalGoods.for_people(people, highest=1, epsilon=epsilon, monotone=monotone)
            loss = best_revenue(spread) - auction.expected_revenue(spread)
            assert loss <= math.log(people) / epsilon
            lost[monotone] += loss
    if people >= 1000:
        assert lost[True] <= 0.8 * lost[False]


def test_the_price_is_drawn_as_the_law_says_and_paid_for():
    auction, account = DigitalGoods(prices=(0.5, 1), epsilon=0.2), Account(100)
    values = [0.5] * 30 + [1] * 10
    high = sum(auction.price(values, account=account) == 1 for _ in range(400)) / 400
    assert high == pytest.approx(auction.choice.law(values)[1], abs=0.18)
    assert account.spent.epsilon == pytest.approx(80)
    with pytest.raises(BudgetExceeded):
        DigitalGoods(prices=(1,), epsilon=30).price(values, account=account)


def test_who_has_no_number_buys_nothing_and_infinite_offers_are_the_highest():
    auction = DigitalGoods(prices=(1, 2), epsilon=1)
    assert auction.revenues([None, math.nan, "2", math.inf, -5, 1.5]) == [2, 2]
    assert auction.revenue_lost(0.95) >= 2


@pytest.mark.parametrize("prices", [(), (0, 1), (-1,), (math.nan,), (1 / 3, 1e-12)])
def test_prices_are_positive_and_not_too_fine(prices):
    with pytest.raises(BadInput):
        DigitalGoods(prices=prices, epsilon=1)


GRID = [Fraction(k, 4) for k in range(9)]


@pytest.mark.parametrize("budget", [Fraction(1, 2), 1, 3])
def test_a_survey_keeps_its_budget_pays_for_every_loss_and_rewards_no_false_cost(budget):
    query = FairQuery(budget=budget)
    bought = {costs: query.buy(costs) for costs in itertools.product(GRID, repeat=3)}

    def gain(costs, person, truth):
        purchase = bought[costs]
        return purchase.payment - purchase.epsilon * truth if person in purchase.people else Fraction(0)

    for costs, purchase in bought.items():
        assert len(purchase.people) * purchase.payment <= budget
        for person, truth in enumerate(costs):
            honest = gain(costs, person, truth)
            assert honest >= 0
            for lie in GRID:
                assert gain((*costs[:person], lie, *costs[person + 1 :]), person, truth) <= honest


def test_the_answer_of_a_survey_covers_those_who_stay_away(monkeypatch):
    monkeypatch.setattr(survey, "_bits", SeededBits("survey"))
    account = Account(1)
    costs = [1] * 900 + [1000] * 100
    answer = FairQuery(budget=10).ask([True] * 450 + [False] * 550, costs, account=account)
    low, high = answer.interval(0.95)
    assert low <= 450 <= high
    assert answer.loss.epsilon == account.spent.epsilon == pytest.approx(0.01)
    nobody = FairQuery(budget=1).ask([True, False], [10**6, 10**6])
    assert nobody.interval(0.95) == (0, 2)
    assert nobody.loss.epsilon == 0


ODD = [np.array([1, 1]), "yes", 1j, math.nan, math.inf, 10**400, [1], None]


@pytest.mark.parametrize("yes", [True, 1, 1.0, np.True_, np.int64(1), np.float64(1)])
def test_a_yes_is_a_yes_whatever_type_holds_it_and_nobodys_answer_stops_a_survey(yes, monkeypatch):
    counted = []
    for answers in (
        [True, False] * 50,
        [yes, False] * 50,
        np.array([yes, 0] * 50),
        [*[yes, False] * 42, *[yes] * 8, *ODD],
    ):
        monkeypatch.setattr(survey, "_bits", SeededBits("survey"))
        counted.append(FairQuery(budget=10**6).ask(answers, [1] * 100).value)
    assert len(counted) == counted.count(counted[0])

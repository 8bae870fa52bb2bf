"""Filters: exact amounts, the promises of each kind, and validity against an analyst who adapts."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Loss
from discreet.accounting import Charge, open_filter
from discreet.accounting.filters import FILTER_ORDERS, UNIT, HybridFilter
from discreet.errors import DiscreetError
from discreet.mechanisms import Exponential, Gaussian, Laplace, PartitionSelection, RandomizedResponse
from discreet.mechanisms.curves import pure_rho


def granted(account, *releases, most=2000):
    """How often the releases fit, one after the other."""
    total, price, count = Charge(), account.price(releases), 0
    while count < most and account.allows(total + price):
        total, count = total + price, count + 1
    return count


def laplace(epsilon):
    return Laplace(sensitivity=1, epsilon=epsilon)


def test_ten_charges_of_a_tenth_fit_a_cap_of_one_and_an_eleventh_does_not():
    assert granted(open_filter(1.0), laplace(0.1)) == 10
    assert granted(open_filter(1), laplace(Fraction(1, 3))) == 2  # a third is no decimal: rounded up, against us
    assert granted(open_filter(0.3), laplace(0.1)) == 3


def test_the_hybrid_account_grants_by_sums_or_by_rho_whichever_lasts_longer():
    assert granted(open_filter(2, 1e-6), laplace(0.5)) == 4
    assert granted(open_filter(5, 1e-6), laplace(0.5)) == 10
    assert granted(open_filter(5, 1e-6), laplace(0.05)) > 300


def test_a_gaussian_closes_the_pure_branch_for_good():
    account = open_filter(2, 1e-6)
    total = Charge.of([Gaussian.for_rho(sensitivity=1, rho=1e-6)])
    assert account.allows(total)
    assert total.pure is None
    assert not account.allows(total + Charge.of([laplace(0.5)] * 4))
    assert account.allows(Charge.of([laplace(0.5)] * 4))


def test_a_pure_account_lets_nothing_else_in():
    account = open_filter(5)
    assert account.kind == "pure"
    assert not account.allows(Charge.of([Gaussian.for_rho(sensitivity=1, rho=1e-9)]))
    assert not account.allows(Charge.of([PartitionSelection(epsilon=0.1, delta=1e-12)]))


@pytest.mark.parametrize("kind", ["hybrid", "renyi"])
def test_selections_use_their_half_of_delta_and_no_more(kind):
    account = open_filter(50, 1e-6, kind=kind)
    assert granted(account, PartitionSelection(epsilon=0.01, delta=1e-7)) == 5


def test_the_renyi_account_is_the_hybrid_ones_match_for_many_small_questions():
    renyi, hybrid = (granted(open_filter(5, 1e-6, kind=kind), laplace(0.05)) for kind in ("renyi", "hybrid"))
    assert 0.8 * hybrid < renyi


@pytest.mark.parametrize(
    "account", [open_filter(2, 1e-6), open_filter(2), open_filter(2, 1e-6, kind="renyi")], ids=lambda a: a.kind
)
def test_what_is_shown_as_spent_never_exceeds_the_cap_while_it_holds(account):
    total = Charge()
    assert account.spent(total).epsilon == 0
    for _ in range(500):
        following = total + account.price([laplace(0.1)])
        if not account.allows(following):
            break
        total = following
        assert account.spent(total).epsilon <= account.cap.epsilon
        assert account.spent(total).delta <= account.cap.delta
    assert account.spent(total).epsilon > 0.9


@given(st.lists(st.fractions(min_value=Fraction(1, 10**6), max_value=2), max_size=8))
def test_charges_add_up_exactly_and_never_below(epsilons):
    total = sum((Charge.of([laplace(e)]) for e in epsilons), Charge())
    truth = sum(epsilons, Fraction(0))
    assert truth <= Fraction(total.pure, UNIT) <= truth * (1 + Fraction(1, 2**49)) + Fraction(len(epsilons), UNIT)
    assert Fraction(total.rho, UNIT) >= sum((pure_rho(e) for e in epsilons), Fraction(0))


def test_a_charge_of_several_releases_is_the_sum_of_their_charges():
    a, b = laplace(0.25), Gaussian.for_rho(sensitivity=1, rho=0.5)
    assert Charge.of([a, b]) == Charge.of([a]) + Charge.of([b])
    together, apart = Charge.with_orders([a, b]), Charge.with_orders([a]) + Charge.with_orders([b])
    assert (together.pure, together.rho, together.delta) == (apart.pure, apart.rho, apart.delta)
    assert len(together.renyi) == len(FILTER_ORDERS)
    assert all(abs(x - y) <= 10**-9 * UNIT for x, y in zip(together.renyi, apart.renyi, strict=True))


PRICED = [
    laplace(0.25),
    Gaussian.for_rho(sensitivity=1, rho=0.5),
    Exponential(sensitivity=1, epsilon=1, size=3),
    RandomizedResponse(epsilon=2, categories=9),
    PartitionSelection(epsilon=0.5, delta=1e-9),
]


@pytest.mark.parametrize("release", PRICED, ids=lambda release: type(release).__name__)
def test_where_no_divergence_was_worked_out_order_times_rho_covers_it(release):
    plain, worked_out = Charge.of([release]), Charge.with_orders([release])
    assert plain.renyi is None
    padded = 1 + Fraction(1, 10**11)  # as divergences are that are added up in floats
    assert all(bound * padded >= real for bound, real in zip(plain.orders, worked_out.renyi, strict=True))
    mixed = plain + worked_out
    assert mixed == worked_out + plain
    assert mixed.renyi == tuple(a + b for a, b in zip(plain.orders, worked_out.renyi, strict=True))
    assert (Charge() + worked_out) == worked_out


@pytest.mark.parametrize("account", [open_filter(50), open_filter(50, 1e-6)], ids=lambda a: a.kind)
def test_only_renyi_accounts_work_out_divergences(account, monkeypatch):
    def worked_out(self, order):
        raise AssertionError("a divergence was worked out")

    monkeypatch.setattr(Laplace, "_renyi", worked_out)
    total = Charge() + account.price([laplace(0.37)])
    assert account.allows(total)
    assert account.kept(total) == total
    assert account.spent(total).epsilon == 0.37
    with pytest.raises(AssertionError):
        open_filter(50, 1e-6, kind="renyi").price([laplace(0.37)])


def test_shares_of_one_epsilon_cost_no_more_than_it():
    assert Charge.of([laplace(Fraction(1, 3))] * 3).pure == UNIT


@pytest.mark.parametrize(
    ("epsilon", "delta", "kind"),
    [
        (0, 0, None),
        (1, 0, "hybrid"),
        (1, 1e-6, "pure"),
        (1, 0, "renyi"),
        (1, 1, None),
        (1, -1, None),
        (1, 1e-6, "other"),
    ],
)
def test_a_cap_that_makes_no_sense_is_refused(epsilon, delta, kind):
    with pytest.raises(DiscreetError):
        open_filter(epsilon, delta, kind=kind)


def adaptive_delta(account, choices, *, at):
    """The exact hockey-stick divergence of the worst analyst who may pick, after every answer, one of the given randomized
    responses or stop, while the account grants: a tree of all transcripts, the best choice at each node.

    The analyst maximises sum over transcripts of max(0, P - e^at Q); that maximum is found by trying every strategy,
    which for randomized responses depends only on the totals and on the likelihood ratio so far.
    """
    grow = math.exp(at)
    prices = {epsilon: Charge.of([laplace(epsilon)]) for epsilon in choices}

    def best(total, p, q, left):
        value = max(0.0, p - grow * q)
        if left == 0:
            return value
        for epsilon, price in prices.items():
            following = total + price
            if account.allows(following):
                likely = 1 / (1 + math.exp(-epsilon))
                value = max(
                    value,
                    best(following, p * likely, q * (1 - likely), left - 1)
                    + best(following, p * (1 - likely), q * likely, left - 1),
                )
        return value

    return best(Charge(), 1.0, 1.0, 7)


@pytest.mark.parametrize("cap", [Loss(1.0, 0.2), Loss(0.7, 0.1), Loss(1.5, 0.02)])
def test_no_adaptive_analyst_gets_past_the_hybrid_filter(cap):
    """Every strategy over seven rounds, exactly: the loss at the cap's epsilon stays within the cap's delta."""
    account = HybridFilter(cap)
    assert adaptive_delta(account, (0.25, 0.5, 0.9), at=cap.epsilon) <= cap.delta


def test_the_check_would_notice_a_filter_that_lets_too_much_in():
    class Generous(HybridFilter):
        def allows(self, total):
            return total.rho <= 4 * self.rho_cap * UNIT

    assert adaptive_delta(Generous(Loss(0.7, 0.1)), (0.25, 0.5, 0.9), at=0.7) > 0.1

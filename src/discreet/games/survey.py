"""A survey that buys participation: people say what a unit of epsilon costs them, and are paid for what they lose.

Their answers are protected. What they ask for is not: who asks for little is in, which everybody can see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.exact import Number, exact, finite, read_level
from discreet.core.loss import Loss
from discreet.errors import BadData, BadInput
from discreet.mechanisms import Laplace
from discreet.mechanisms.statistics.bounded import Account
from discreet.mechanisms.statistics.statistic import Statistic
from discreet.mechanisms.values.value_reading import read_items, whole_number
from discreet.noise import SYSTEM_BITS

_bits = SYSTEM_BITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """Who takes part, for how much, and what they lose.

    Args:
        people: Their places in the list of costs, the cheapest first.
        payment: What each of them gets.
        epsilon: What each of them loses; 0 where nobody takes part.
        missing: How many do not take part.
    """

    people: tuple[int, ...]
    payment: Fraction
    epsilon: Fraction
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FairQuery:
    """How many people have a property, bought for at most a budget so that nobody gains by naming a false cost.

    Of n people the k cheapest take part, k as large as cost_k / (n - k) <= budget / k allows; each loses epsilon = 1 / (n - k), which makes the noise as
    large as what the others leave open, and gets min(budget / k, cost_(k+1) / (n - k)), never less than it cost them.
    Citation: Ghosh, Roth 2011, "Selling Privacy at Auction" (arXiv:1011.1375).

    Args:
        budget: What all of them together may get.
    """

    budget: Number

    def __post_init__(self) -> None:
        amount = finite(self.budget)
        if amount is None or amount <= 0:
            raise BadInput("A budget is a positive number.", next_step="Give an amount such as budget=100.")

    def buy(self, costs: Sequence[Number]) -> Purchase:
        """Who would take part.

        Args:
            costs: What each person asks for a unit of epsilon, at least 0. These are not protected.
        """
        asked = [finite(cost) for cost in costs]
        known = [cost for cost in asked if cost is not None and cost >= 0]
        if len(known) < len(asked) or len(known) < 2:
            raise BadInput(
                "Costs are numbers of at least 0, of two people or more.", next_step="Ask everybody for one."
            )
        order = sorted(range(len(known)), key=lambda i: (known[i], i))
        n, budget = len(known), exact(self.budget)
        count = max((k for k in range(1, n) if known[order[k - 1]] * k <= budget * (n - k)), default=0)
        if not count:
            return Purchase(people=(), payment=Fraction(0), epsilon=Fraction(0), missing=n)
        payment = min(budget / count, known[order[count]] / (n - count))
        return Purchase(people=tuple(order[:count]), payment=payment, epsilon=Fraction(1, n - count), missing=n - count)

    def ask(self, answers: Sequence[bool], costs: Sequence[Number], *, account: Account | None = None) -> Statistic:
        """How many of all people have the property. Its ± covers those who do not take part: half of them are counted.

        Args:
            answers: Whether each person has the property: True and 1 are a yes, anything else is a no, so that nobody's answer decides whether there
                is a survey. Of those who do not take part it is not looked at.
            costs: What each person asks for a unit of epsilon.
            account: What pays for it in epsilon; nothing is drawn unless it does.
        """
        bought, said = self.buy(costs), read_items(answers)
        if len(said) != len(costs):
            raise BadData("There is one answer for each cost.", next_step="Give as many answers as costs.")
        middle, everybody = Fraction(bought.missing, 2), Fraction(len(costs))
        if not bought.people:
            return Statistic(float(middle), Loss(0), lambda _: (Fraction(0), everybody))
        mechanism = Laplace(sensitivity=1, epsilon=bought.epsilon)
        if account is not None:
            account.charge([mechanism])
        count = mechanism.release(sum(whole_number(said[person]) == 1 for person in bought.people), _bits)
        value = count + middle

        def around(level: Fraction) -> tuple[Fraction, Fraction]:
            width = mechanism.error(read_level(level)) + middle
            return value - width, value + width

        return Statistic.within(value, Loss(mechanism.pure_epsilon), around, bounds=(Fraction(0), everybody))

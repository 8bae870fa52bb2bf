"""A survey that buys participation: people state their cost per unit of epsilon, and are paid for their privacy loss.

Their answers are protected. Their costs are not: people with low costs take part, which is visible.
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
    """The participants of a survey, their payment and their privacy loss.

    Args:
        people: Indices of the participants in the list of costs, the cheapest first.
        payment: The payment to each participant.
        epsilon: The privacy loss of each participant; 0 without participants.
        missing: The number of people who do not take part.
    """

    people: tuple[int, ...]
    payment: Fraction
    epsilon: Fraction
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FairQuery:
    """Count people with a property, with payments within a budget, such that stating a false cost never pays.

    Of n people the k cheapest take part, with the largest k such that cost_k / (n - k) <= budget / k. Each of them has
    epsilon = 1 / (n - k), for which the noise is as large as the uncertainty about the others, and is paid
    min(budget / k, cost_(k+1) / (n - k)), which is never less than their cost.
    Citation: Ghosh, Roth 2011, "Selling Privacy at Auction" (arXiv:1011.1375).

    Args:
        budget: The limit on the sum of all payments.
    """

    budget: Number

    def __post_init__(self) -> None:
        amount = finite(self.budget)
        if amount is None or amount <= 0:
            raise BadInput("A budget must be a positive number.", next_step="Give an amount such as budget=100.")

    def buy(self, costs: Sequence[Number]) -> Purchase:
        """Return who takes part, for which payment and privacy loss.

        Args:
            costs: The cost of a unit of epsilon to each person, at least 0. Costs are not protected.
        """
        given = [finite(cost) for cost in costs]
        known = [cost for cost in given if cost is not None and cost >= 0]
        if len(known) < len(given) or len(known) < 2:
            raise BadInput(
                "Costs must be numbers of at least 0, for two or more people.", next_step="Give a cost for each person."
            )
        order = sorted(range(len(known)), key=lambda i: (known[i], i))
        n, budget = len(known), exact(self.budget)
        count = max((k for k in range(1, n) if known[order[k - 1]] * k <= budget * (n - k)), default=0)
        if not count:
            return Purchase(people=(), payment=Fraction(0), epsilon=Fraction(0), missing=n)
        payment = min(budget / count, known[order[count]] / (n - count))
        return Purchase(people=tuple(order[:count]), payment=payment, epsilon=Fraction(1, n - count), missing=n - count)

    def ask(self, answers: Sequence[bool], costs: Sequence[Number], *, account: Account | None = None) -> Statistic:
        """Estimate how many people have the property. Half of the non-participants are counted; the ± includes them.

        Args:
            answers: Whether each person has the property: True and 1 mean yes, anything else means no, so that no
                answer can make the survey fail. Answers of non-participants are ignored.
            costs: The cost of a unit of epsilon to each person.
            account: The account to charge. Nothing is drawn if the charge is refused.
        """
        bought, items = self.buy(costs), read_items(answers)
        if len(items) != len(costs):
            raise BadData("The numbers of answers and costs differ.", next_step="Give one answer for each cost.")
        middle, people = Fraction(bought.missing, 2), Fraction(len(costs))
        if not bought.people:
            return Statistic(float(middle), Loss(0), lambda _: (Fraction(0), people))
        mechanism = Laplace(sensitivity=1, epsilon=bought.epsilon)
        if account is not None:
            account.charge([mechanism])
        count = mechanism.release(sum(whole_number(items[person]) == 1 for person in bought.people), _bits)
        value = count + middle

        def around(level: Fraction) -> tuple[Fraction, Fraction]:
            width = mechanism.error(read_level(level)) + middle
            return value - width, value + width

        return Statistic.within(value, Loss(mechanism.pure_epsilon), around, bounds=(Fraction(0), people))

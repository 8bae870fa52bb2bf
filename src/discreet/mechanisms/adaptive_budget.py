"""A budget that is spent along the way: mechanisms chosen by what earlier ones said, paid for before the first is drawn.

`Adaptive` is such a budget in zCDP, `PureAdaptive` one in epsilon. A `Meter` is one of them while it is spent: it adds up in whole units of
10**-24, what is spent rounded up and shares rounded down, and refuses before it draws.
"""

from __future__ import annotations

import math
import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.exact import UNIT, Number, exact, finite, read_epsilon, rounded_up, units_down, units_up
from discreet.errors import BadData, BadInput, BudgetExceeded
from discreet.mechanisms import curves
from discreet.mechanisms.additive.gaussian_mechanism import Gaussian
from discreet.mechanisms.additive.laplace_mechanism import Laplace
from discreet.mechanisms.choice.above_threshold import AboveThreshold, Watch
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Guarantee, Mechanism, PureMechanism
from discreet.noise import SYSTEM_BITS, RandomBits


class AdaptiveBudget(Mechanism):
    """What may be spent by mechanisms that are chosen one after another, each by the outcomes of those before."""

    __slots__ = ()

    @property
    @abstractmethod
    def amount(self) -> Fraction:
        """All of it, in the unit that it is counted in: rho or epsilon."""

    @abstractmethod
    def cost(self, mechanism: Guarantee) -> Fraction | None:
        """What a mechanism takes of it; None where it cannot be paid in this unit.

        Args:
            mechanism: What is drawn.
        """

    def units(self, mechanism: Guarantee) -> int:
        """The same in whole units, rounded up; refused where it cannot be paid. Whoever adds up what a run has spent adds these.

        Args:
            mechanism: What is drawn.
        """
        cost = None if exact(mechanism.delta) else self.cost(mechanism)
        if cost is None:
            raise BadInput(
                "This mechanism cannot be paid from this budget.",
                next_step="Draw what has a pure epsilon from an epsilon, and what sets no delta aside from either.",
            )
        return units_up(cost)

    @abstractmethod
    def epsilon_of_choice(self, share: Fraction) -> Fraction:
        """The epsilon of an exponential mechanism that costs at most `share`.

        Args:
            share: In the unit of the budget.
        """

    @abstractmethod
    def epsilon_of_watch(self, share: Fraction) -> Fraction:
        """The epsilon of a run of the sparse vector that costs at most `share`.

        Args:
            share: In the unit of the budget.
        """

    @abstractmethod
    def part(self, share: Fraction) -> AdaptiveBudget:
        """A budget of the same kind, and of at most `share`.

        Args:
            share: In the unit of the budget.
        """

    def release(self, exact: Callable[[Meter], Any], bits: RandomBits = SYSTEM_BITS) -> Any:
        """What a program returns that draws with the meter it is given, and sees the data in no other way.

        Args:
            exact: The program; it holds the data.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        if not callable(exact):
            raise BadData("An adaptive release runs a program.", next_step="Give a function that draws with a Meter.")
        return exact(Meter(self, bits))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(AdaptiveBudget):
    """Run mechanisms chosen along the way, as long as their zCDP adds up to at most `rho`.

    Guarantee: rho-zCDP, for every way of choosing the next mechanism and its parameters from the outcomes so far (`docs/explanation/proofs/accounting.md`).
    Citation: Whitehouse, Ramdas, Rogers, Wu 2023 (arXiv:2203.05481), the zCDP filter; Feldman, Zrnic 2021 (arXiv:2008.11193) for Rényi.

    Args:
        rho: What all of them together may cost, as zero-concentrated differential privacy.
    """

    rho: float

    def __post_init__(self) -> None:
        amount = read_epsilon(self.rho, name="rho")
        object.__setattr__(self, "rho", -rounded_up(-amount))  # never more than was asked for
        Gaussian.for_rho(sensitivity=1, rho=self.amount)

    @property
    def pure_epsilon(self) -> float:
        """None: Gaussians may be among them."""
        return math.inf

    @property
    def amount(self) -> Fraction:
        return exact(self.rho)

    def cost(self, mechanism: Guarantee) -> Fraction | None:
        return mechanism.exact_rho if math.isfinite(mechanism.rho) else None

    def epsilon_of_choice(self, share: Fraction) -> Fraction:
        return Fraction(math.isqrt(8 * units_down(share) * UNIT), UNIT)

    def epsilon_of_watch(self, share: Fraction) -> Fraction:
        return Fraction(math.isqrt(2 * units_down(share) * UNIT), UNIT)

    def part(self, share: Fraction) -> Adaptive:
        return Adaptive(rho=-rounded_up(-share))

    def _renyi(self, order: float) -> float:
        return math.nextafter(order * self.rho, math.inf)

    def _deltas(self, epsilons: Floats) -> Floats:
        return curves.zcdp_deltas(self.rho, epsilons)

    def error(self, confidence: Number) -> int:
        """Of a count that all of it is spent on: no count is closer."""
        return Gaussian.for_rho(sensitivity=1, rho=self.amount).error(confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class PureAdaptive(AdaptiveBudget, PureMechanism):
    """Run mechanisms chosen along the way, as long as their pure epsilons add up to at most `epsilon`.

    Guarantee: epsilon-DP, for every way of choosing the next mechanism and its parameters from the outcomes so far.
    Citation: Rogers, Roth, Ullman, Vadhan 2016 (arXiv:1605.08294), the basic filter.

    Args:
        epsilon: What all of them together may cost.
    """

    epsilon: Number

    def __post_init__(self) -> None:
        Laplace(sensitivity=1, epsilon=self.epsilon)

    @property
    def amount(self) -> Fraction:
        return exact(self.epsilon)

    def cost(self, mechanism: Guarantee) -> Fraction | None:
        return mechanism.exact_pure_epsilon

    def epsilon_of_choice(self, share: Fraction) -> Fraction:
        return share

    def epsilon_of_watch(self, share: Fraction) -> Fraction:
        return share

    def part(self, share: Fraction) -> PureAdaptive:
        return PureAdaptive(epsilon=share)

    def error(self, confidence: Number) -> int:
        """Of a count that all of it is spent on: no count is closer."""
        return Laplace(sensitivity=1, epsilon=self.epsilon).error(confidence)


class Meter:
    """A budget while it is spent. Whatever is drawn under it is drawn here, and paid for before."""

    __slots__ = ("_bits", "_lock", "_spent", "_units", "_whole", "budget")

    def __init__(self, budget: AdaptiveBudget, bits: RandomBits = SYSTEM_BITS, *, whole: Meter | None = None) -> None:
        self.budget, self._bits, self._lock, self._whole = budget, bits, threading.Lock(), whole
        self._units, self._spent = units_down(budget.amount), 0

    @property
    def spent(self) -> Fraction:
        """In the unit of the budget."""
        return Fraction(self._spent, UNIT)

    @property
    def left(self) -> Fraction:
        """In the unit of the budget: a mechanism that costs just this much is the last."""
        return Fraction(self._units - self._spent, UNIT)

    def shares(self, weights: Sequence[Number], *, of: Number) -> list[Fraction]:
        """Parts of `of` in proportion to weights, each rounded down: together they are never more.

        Args:
            weights: Positive numbers, one a share.
            of: What is shared, in the unit of the budget.
        """
        parts = [finite(weight) for weight in weights]
        if any(part is None or part <= 0 for part in parts):
            raise BadInput("Weights of shares are positive numbers.", next_step="Leave out what gets nothing.")
        known = [part for part in parts if part is not None]
        whole, total = exact(of), sum(known, Fraction(0))
        return [Fraction(units_down(whole * part / total), UNIT) for part in known]

    def part(self, share: Fraction) -> Meter:
        """A meter of at most `share` of this budget; what it pays is paid here, too.

        Args:
            share: In the unit of the budget.
        """
        return Meter(self.budget.part(share), self._bits, whole=self)

    def pay(self, mechanism: Guarantee) -> None:
        """Count a mechanism as drawn, or refuse. For what is drawn here, and for what was drawn before a run was taken up again.

        Args:
            mechanism: What is drawn.
        """
        units = self.budget.units(mechanism)
        with self._lock:
            if self._spent + units > self._units:
                raise BudgetExceeded(
                    "The budget of this run does not allow this any more.", next_step="Spend at most what is left."
                )
            if self._whole is not None:
                self._whole.pay(mechanism)
            self._spent += units

    def start(self, mechanism: AboveThreshold) -> Watch:
        """Pay for a run of the sparse vector in full, then begin it.

        Args:
            mechanism: The run.
        """
        self.pay(mechanism)
        return mechanism.start(self._bits)

    def draw(self, mechanism: Mechanism, value: Any) -> Any:
        """Pay for a mechanism, then release with it.

        Args:
            mechanism: What is drawn, with a sensitivity that fits the value.
            value: What it takes.
        """
        self.pay(mechanism)
        return mechanism.release(value, self._bits)

    def draw_each(self, mechanism: Mechanism, values: Sequence[Any]) -> list[Any]:
        """Pay for a mechanism once, then release with it for each of several values that share one sensitivity.

        Args:
            mechanism: What is drawn; its sensitivity is how far one person can move all of the values together.
            values: What it takes, such as scores within parts of the rows that have no row in common.
        """
        self.pay(mechanism)
        return [mechanism.release(value, self._bits) for value in values]

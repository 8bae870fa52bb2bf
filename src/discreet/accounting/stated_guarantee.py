"""A guarantee without a mechanism: pure, with a delta, or concentrated; and how well it hides two databases from each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.exact import Number, exact, finite, read_delta, read_epsilon
from discreet.errors import BadDelta, BadInput
from discreet.mechanisms import Gaussian
from discreet.mechanisms.curves import pure_rho


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """(epsilon, delta)-DP, or rho-zCDP where rho is above 0; for whoever proves what no mechanism can do.

    Args:
        epsilon: Of (epsilon, delta); inf where only rho is promised.
        delta: Beside it.
        rho: Zero-concentrated; 0 where it is not what is promised.
    """

    epsilon: float
    delta: float = 0.0
    rho: float = 0.0

    @property
    def concentrated(self) -> bool:
        """Whether rho is what is promised."""
        return self.rho > 0

    @property
    def pure(self) -> bool:
        """Whether it is an epsilon without a delta."""
        return not self.concentrated and not self.delta

    def gaussian(self, *, l2_squared: int, size: int) -> Gaussian:
        """Gaussian noise with this guarantee for numbers that one person moves by the root of `l2_squared`.

        Args:
            l2_squared: The squared length of the move.
            size: How many numbers there are.
        """
        width = math.nextafter(math.sqrt(l2_squared), math.inf)
        if self.concentrated:
            return Gaussian.for_rho(sensitivity=width, rho=self.rho, size=size)
        return Gaussian.for_loss(sensitivity=width, epsilon=self.epsilon, delta=self.delta, size=size)

    def confusion(self, distance: int) -> float:
        """Whoever guesses between two databases so many people apart is wrong this often about one of them, at least.

        Args:
            distance: How many people.
        """
        if self.concentrated:
            divergence = self.rho * distance * distance
            return (1 - math.sqrt(min(divergence / 2, -math.expm1(-divergence)))) / 2
        loss = distance * self.epsilon
        if loss > 700:
            return 0.0
        slack = self.delta * math.expm1(loss) / math.expm1(self.epsilon) if self.delta else 0.0
        return max(0.0, (1 - slack) / (1 + math.exp(loss)))

    def furthest_confused(self, chance: float, *, most: int) -> int:
        """The largest distance at which one of two databases is still taken for the other more often than `chance`.

        Args:
            chance: From 0 to 1.
            most: Look no further than this.
        """
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.confusion(middle) > chance else (low, middle - 1)
        return low

    def furthest_packed(self, log_databases: float, beta: float, *, most: int) -> int:
        """The largest m for which e**log_databases databases, each m people from one, cannot all be told apart.

        Told apart means: each is recognised in 1 - beta of all answers.

        Args:
            log_databases: The logarithm of how many there are.
            beta: In which share of answers a mistake is allowed.
            most: Look no further than this.
        """
        if self.concentrated:
            room = (1 - beta) * log_databases - math.log(2)
            bound = math.sqrt(room / self.rho) if room > 0 else 0.0
        else:
            bound = (log_databases + math.log1p(-beta)) / self.epsilon
        return max(0, min(most, math.ceil(min(bound, 2.0**62)) - 1))

    @property
    def trace(self) -> float:
        """How far one person can be correlated with an answer, in units of what chance would give; inf beyond reason."""
        if self.concentrated:
            return math.sqrt(math.expm1(2 * self.rho)) if self.rho < 300 else math.inf
        if self.epsilon > 300:
            return math.inf
        plain = math.expm1(self.epsilon)
        return min(plain, math.sqrt(math.expm1(2 * float(pure_rho(exact(self.epsilon)))))) if self.pure else plain


def read_promise(*, epsilon: Number | None, delta: Number, rho: Number | None) -> Promise:
    """Either rho, or epsilon with or without a delta.

    Args:
        epsilon: Of (epsilon, delta)-DP.
        delta: 0 for pure.
        rho: Of zCDP, instead.
    """
    if (epsilon is None) == (rho is None):
        raise BadInput(
            "A guarantee is needed: epsilon or rho.", next_step="Give epsilon=1, with or without delta, or rho=0.1."
        )
    slack = finite(delta)
    if slack is None or (slack and rho is not None):
        raise BadDelta("delta goes with epsilon.", next_step="Give epsilon and delta, or rho alone.")
    if slack:
        read_delta(delta)
    if rho is not None:
        return Promise(epsilon=math.inf, rho=float(read_epsilon(rho, name="rho")))
    return Promise(epsilon=float(read_epsilon(epsilon)), delta=float(slack))

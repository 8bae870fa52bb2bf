"""Many releases as one: the only place where costs add up and counts multiply."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.accounting.conversions import epsilon_of_renyi
from discreet.accounting.pld import LossDistribution, composed
from discreet.errors import BadDelta, ScaleOutOfRange
from discreet.exact import Number, exact, read_delta, rounded_up
from discreet.loss import Loss
from discreet.mechanisms.base import Guarantee
from discreet.mechanisms.curves import Floats

ORDERS = (1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)
"""The Rényi orders that are looked at, everywhere."""


@dataclass(frozen=True)
class Composed(Guarantee):
    """Several guarantees, all given to the same people, fixed in advance."""

    parts: tuple[Guarantee, ...]

    @classmethod
    def of(cls, parts: Iterable[Guarantee]) -> Composed:
        """Nested compositions are laid flat."""
        flat: list[Guarantee] = []
        for part in parts:
            flat.extend(part.parts if isinstance(part, Composed) else (part,))
        return cls(tuple(flat))

    @property
    def delta(self) -> Number:  # type: ignore[override]  # derived here, a constant or a field elsewhere
        """What is set aside adds up."""
        return sum((exact(part.delta) for part in self.parts), exact(0))

    @property
    def pure_epsilon(self) -> float:
        """Basic composition (Sapienza slides)."""
        total = self.exact_pure_epsilon
        return math.inf if total is None else rounded_up(total)

    @property
    def exact_pure_epsilon(self) -> Fraction | None:
        total = Fraction(0)
        for part in self.parts:
            if part.exact_pure_epsilon is None:
                return None
            total += part.exact_pure_epsilon
        return total

    @property
    def rho(self) -> float:
        """ZCDP adds up (Bun, Steinke 2016, lemma 2.3)."""
        return rounded_up(sum((exact(part.rho) for part in self.parts), exact(0)))

    def renyi(self, order: float) -> float:
        """Rényi divergences of one order add up (Mironov 2017, proposition 1)."""
        return math.fsum(part.renyi(order) for part in self.parts) * (1 + 1e-12)

    def deltas(self, epsilons: Floats) -> Floats:
        """By the privacy-loss distribution."""
        if not self.parts:
            return np.zeros(epsilons.shape)
        return self._distribution.deltas(epsilons)

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon at `delta`: by the distribution or the plain sum, or by Rényi where delta is below its noise."""
        if not self.parts:
            return 0.0
        left = read_delta(delta) - exact(self.delta)
        if left <= 0:
            return math.inf
        try:
            best = min(self._distribution.epsilon_at(float(delta)), self.pure_epsilon)
        except ScaleOutOfRange:  # losses so large that only their sum is worth knowing
            best = self.pure_epsilon
        if math.isfinite(best):
            return best
        return min(epsilon_of_renyi(self.renyi(order), order=order, delta=float(left)) for order in ORDERS)

    @cached_property
    def _distribution(self) -> LossDistribution:
        counts = Counter(self.parts)
        step = self._step()
        return composed([LossDistribution.of(part, step=step).times(count) for part, count in counts.items()])

    def _step(self) -> float:
        """A grid so fine that connecting dots adds less than 2e-3 to the variance of the whole loss; a power of two."""
        spread = math.sqrt(self.rho / len(self.parts))
        return 2.0 ** math.floor(math.log2(min(0.15 * spread, 1e-3)))


def compose(mechanisms: Iterable[Guarantee], *, delta: float) -> Loss:
    """The loss of a list that is fixed in advance. For parameters chosen along the way, use an account's filter."""
    epsilon = Composed.of(mechanisms).epsilon_at(delta)
    if math.isinf(epsilon):
        raise BadDelta(
            "The mechanisms set more delta aside than that.", next_step="Give a delta above the sum of their own."
        )
    return Loss(epsilon, delta)

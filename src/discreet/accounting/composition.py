"""Many releases as one: the only place where costs add up and counts multiply."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby

import numpy as np

from discreet.accounting.conversions import epsilon_of_renyi, epsilon_of_rho
from discreet.accounting.pld import LossDistribution, composed
from discreet.core.exact import Number, exact, read_delta, rounded_up
from discreet.core.loss import Loss
from discreet.errors import BadDelta, ScaleOutOfRange
from discreet.mechanisms import curves
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Guarantee, read_guarantees

ORDERS = (1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)
"""The Rényi orders that are looked at, everywhere."""


@dataclass(frozen=True)
class Composed(Guarantee):
    """Several guarantees, all given to the same people, fixed in advance.

    Args:
        parts: The guarantees that hold for the same people.
    """

    parts: tuple[Guarantee, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(read_guarantees(self.parts)))

    @classmethod
    def of(cls, parts: Iterable[Guarantee]) -> Composed:
        """Nested compositions are laid flat.

        Args:
            parts: The guarantees that hold for the same people.
        """
        flat: list[Guarantee] = []
        for part in read_guarantees(parts):
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
        for part, count in self._counts.items():
            if part.exact_pure_epsilon is None:
                return None
            total += count * part.exact_pure_epsilon
        return total

    @property
    def rho(self) -> float:
        """ZCDP adds up (Bun, Steinke 2016, lemma 2.3)."""
        return rounded_up(sum((count * exact(part.rho) for part, count in self._counts.items()), exact(0)))

    def _renyi(self, order: float) -> float:
        """Rényi divergences of one order add up (Mironov 2017, proposition 1)."""
        return math.fsum(count * part.renyi(order) for part, count in self._counts.items()) * (1 + 1e-12)

    def _deltas(self, epsilons: Floats) -> Floats:
        """By the privacy-loss distribution, by rho or by the plain sum, whichever says least."""
        if not self.parts:
            return np.zeros(epsilons.shape)
        least = curves.zcdp_deltas(self.rho, epsilons)
        if math.isfinite(self.pure_epsilon):
            least = np.minimum(least, curves.pure_deltas(self.pure_epsilon, epsilons))
        least = np.minimum(1.0, rounded_up(exact(self.delta)) + least)
        with suppress(ScaleOutOfRange):
            least = np.minimum(least, self._distribution.deltas(epsilons))
        return least

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon at `delta` that any of our accounts gives: the plain sum, the distribution, Rényi, rho.

        None is best everywhere. The distribution is tightest for mechanisms whose profiles are exact; it loses where a
        profile is only a bound (Gaussian vectors), below its own rounding, and where losses are too large for its grid.
        """
        if not self.parts:
            return 0.0
        left = read_delta(delta) - exact(self.delta)
        if left <= 0:
            return math.inf
        best = self.pure_epsilon
        with suppress(ScaleOutOfRange):
            best = min(best, self._distribution.epsilon_at(float(delta)))
        with suppress(BadDelta):  # too little is left to convert with
            most = float(left) * (1 - 2.0**-50)
            best = min(best, epsilon_of_rho(self.rho, delta=most))
            best = min(best, *(epsilon_of_renyi(self.renyi(order), order=order, delta=most) for order in ORDERS))
        return best

    @cached_property
    def _counts(self) -> Counter[Guarantee]:
        counts: Counter[Guarantee] = Counter()
        for _, run in groupby(self.parts, key=id):  # hashing each of many repeats would take most of the time
            repeats = list(run)
            counts[repeats[0]] += len(repeats)
        return counts

    @cached_property
    def _distribution(self) -> LossDistribution:
        step = self._step()
        return composed([LossDistribution.of(part, step=step).times(count) for part, count in self._counts.items()])

    def _step(self) -> float:
        """A grid so fine that connecting dots adds less than 2e-3 to the variance of the whole loss; a power of two."""
        spread = math.sqrt(self.rho / len(self.parts))
        return 2.0 ** math.floor(math.log2(min(0.15 * spread, 1e-3)))


def compose(mechanisms: Iterable[Guarantee], *, delta: float) -> Loss:
    """The loss of a list that is fixed in advance. For parameters chosen along the way, use an account's filter.

    Args:
        mechanisms: All that is released about the same people, fixed in advance.
        delta: At which epsilon is wanted.
    """
    epsilon = Composed.of(mechanisms).epsilon_at(delta)
    if math.isinf(epsilon):
        raise BadDelta(
            "The mechanisms set more delta aside than that.", next_step="Give a delta above the sum of their own."
        )
    return Loss(epsilon, delta)

"""What every mechanism promises, and what follows from a pure epsilon alone."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import BadDelta, BadEpsilon, BadInput, ScaleOutOfRange
from discreet.exact import Number, exact, finite, rounded_up
from discreet.mechanisms import curves
from discreet.mechanisms.curves import Floats
from discreet.noise import RandomBits


class Guarantee(ABC):
    """What is promised: outside an event of probability `delta`, `pure_epsilon`-DP (inf where there is none) and `rho`-zCDP.

    `renyi` and `profile` are exact curves, or bounds above them.
    """

    __slots__ = ()

    delta: Number = 0.0
    """The probability that is set aside, 0 for most."""

    @property
    @abstractmethod
    def pure_epsilon(self) -> float:
        """Epsilon without any delta; inf where there is none."""

    @property
    def exact_pure_epsilon(self) -> Fraction | None:
        """The same as a rational, so that shares of one epsilon add up to it; None where there is none."""
        return None if math.isinf(self.pure_epsilon) else exact(self.pure_epsilon)

    @property
    @abstractmethod
    def rho(self) -> float:
        """Zero-concentrated differential privacy."""

    @abstractmethod
    def renyi(self, order: float) -> float:
        """The Rényi divergence of the given order (above 1) between neighbours, at most."""

    @abstractmethod
    def deltas(self, epsilons: Floats) -> Floats:
        """`profile` at many epsilons at once, none of them negative."""

    def profile(self, epsilon: float) -> float:
        """The least delta (or a bound above it) for which (epsilon, delta)-DP holds."""
        if finite(epsilon) is None or epsilon < 0:
            raise BadEpsilon("A profile starts at epsilon 0.", next_step="Give an epsilon of at least 0.")
        return float(self.deltas(np.array([epsilon], np.float64))[0])

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon with profile(epsilon) <= delta."""
        if finite(delta) is None or not 0 <= delta <= 1:
            raise BadDelta("delta must be a number from 0 to 1.", next_step="Give a delta such as 1e-6.")
        if self.profile(0.0) <= delta:
            return 0.0
        if exact(self.delta) > exact(delta):
            return math.inf
        if delta == 0:
            return self.pure_epsilon
        return least(lambda epsilon: self.profile(epsilon) <= delta)


class Mechanism(Guarantee):
    """Parameters, a guarantee, and the one place that samples: what is charged is what is drawn."""

    __slots__ = ()

    @abstractmethod
    def release(self, exact: Any, bits: RandomBits) -> Any:
        """The private answer."""

    @abstractmethod
    def error(self, confidence: Number) -> float:
        """The answer is off by at most this much, in `confidence` of all releases."""

    def interval(self, level: Number) -> tuple[float, float]:
        """(low, high): the exact value lies in [answer + low, answer + high] in `level` of all releases."""
        width = self.error(level)
        return -width, width


class solved_for:  # noqa: N801  reads as a decorator
    """A method of the class that, on an instance, takes every parameter but the one solved for from the instance."""

    def __init__(self, unknown: str) -> None:
        self._unknown = unknown

    def __call__(self, function: Callable[..., float]) -> solved_for:
        self._function, self.__doc__ = function, function.__doc__
        return self

    def __get__(self, instance: Any, owner: type) -> Callable[..., float]:
        known = {}
        if instance is not None:
            known = {f.name: getattr(instance, f.name) for f in fields(instance) if f.init and f.name != self._unknown}
        return lambda **given: self._function(owner, **{**known, **given})


class PureMechanism(Mechanism):
    """A mechanism whose guarantee is a pure epsilon; subclasses with better curves say so."""

    __slots__ = ()
    epsilon: Number

    @property
    def pure_epsilon(self) -> float:
        return rounded_up(exact(self.epsilon))

    @property
    def exact_pure_epsilon(self) -> Fraction | None:
        return exact(self.epsilon)

    @property
    def rho(self) -> float:
        """The zCDP of randomized response, epsilon tanh(epsilon / 2): the least that holds for every epsilon-DP mechanism."""
        return rounded_up(curves.pure_rho(exact(self.epsilon)))

    def renyi(self, order: float) -> float:
        return curves.pure_renyi(self.pure_epsilon, order)

    def deltas(self, epsilons: Floats) -> Floats:
        return curves.pure_deltas(self.pure_epsilon, epsilons)


class SolvedForEpsilon(PureMechanism):
    """A pure mechanism that is made with an epsilon, so one can ask for an accuracy instead."""

    __slots__ = ()

    @solved_for("epsilon")
    def epsilon_for(cls: Any, *, error: Number, confidence: Number, **parameters: Any) -> float:  # noqa: N805
        """The least epsilon whose error at `confidence` is at most `error`.

        Asked of a mechanism, the other parameters are its own; asked of the class, they are given.
        """
        wanted = positive_error(error)

        def good_enough(epsilon: float) -> bool:
            try:
                return bool(cls(epsilon=epsilon, **parameters).error(confidence) <= wanted)
            except ScaleOutOfRange:
                return False  # too wide to be drawn

        return least(good_enough)


def positive_error(error: Number) -> Fraction:
    """An error that can be asked for."""
    number = finite(error)
    if number is None or number < 0:
        raise BadInput("error must be a number of at least 0.", next_step="Ask for an error such as 50.")
    return number


def least(holds: Callable[[float], bool], *, precision: float = 1e-9) -> float:
    """The least positive x for which `holds`, to a relative `precision` and never below it; `holds` is monotone."""
    high = 1.0
    while not holds(high):
        high *= 2
        if high > 2.0**60:
            raise BadInput("No epsilon gives an answer that exact.", next_step="Ask for a larger error.")
    low = high / 2
    while low > 2.0**-60 and holds(low):
        low, high = low / 2, low
    while high / low > 1 + precision:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high

"""What every mechanism promises, and what follows from a pure epsilon alone."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from fractions import Fraction
from inspect import Signature, signature
from typing import Any

import numpy as np

from discreet.core.documenting import inherit_parameter_docs
from discreet.core.exact import Number, exact, finite, read_epsilon_from_zero, read_order, rounded_up
from discreet.errors import BadDelta, BadEpsilon, BadInput, ScaleOutOfRange
from discreet.mechanisms import curves
from discreet.mechanisms.curves import Floats
from discreet.noise import SYSTEM_BITS, RandomBits


class Guarantee(ABC):
    """What is promised: outside an event of probability `delta`, `pure_epsilon`-DP (inf where there is none) and `rho`-zCDP.

    `renyi` and `profile` are exact curves, or bounds above them.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        inherit_parameter_docs(cls)

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

    @property
    def exact_rho(self) -> Fraction:
        """The same as a rational, so that shares of one rho add up to it."""
        return exact(self.rho)

    def renyi(self, order: float) -> float:
        """The Rényi divergence of the given order (above 1) between neighbours, at most.

        Args:
            order: Above 1; infinite for the largest divergence of all.
        """
        return self._renyi(read_order(order))

    def deltas(self, epsilons: Floats) -> Floats:
        """`profile` at many epsilons at once, none of them negative.

        Args:
            epsilons: A numpy array of them.
        """
        at = read_epsilons(epsilons)
        return self._deltas(at.reshape(-1)).reshape(at.shape)

    def profile(self, epsilon: float) -> float:
        """The least delta (or a bound above it) for which (epsilon, delta)-DP holds.

        Args:
            epsilon: At least 0.
        """
        return float(self._deltas(np.array([read_epsilon_from_zero(epsilon)]))[0])

    @abstractmethod
    def _renyi(self, order: float) -> float:
        """The same, of an order that was read."""

    @abstractmethod
    def _deltas(self, epsilons: Floats) -> Floats:
        """The same, at epsilons that were read."""

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon with profile(epsilon) <= delta.

        Args:
            delta: From 0 to 1.
        """
        if finite(delta) is None or not 0 <= delta <= 1:
            raise BadDelta("delta must be a number from 0 to 1.", next_step="Give a delta such as 1e-6.")
        if self.profile(0.0) <= delta:
            return 0.0
        if exact(self.delta) > exact(delta):
            return math.inf
        if delta == 0:
            return self.pure_epsilon
        return least(lambda epsilon: self.profile(epsilon) <= delta)


def read_guarantee(value: object) -> Guarantee:
    """A guarantee, and nothing that merely looks like one."""
    if not isinstance(value, Guarantee):
        raise BadInput(
            "A mechanism is needed here.", next_step="Give one, such as Laplace(sensitivity=1, epsilon=0.5)."
        )
    return value


def read_guarantees(values: object) -> list[Guarantee]:
    """Several of them."""
    if not isinstance(values, Iterable) or isinstance(values, np.ndarray):
        raise BadInput("A list of mechanisms is needed here.", next_step="Give a list, even of one mechanism.")
    return [read_guarantee(value) for value in values]


def read_epsilons(values: object) -> Floats:
    """Epsilons at which a curve is looked up."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        raise BadEpsilon("The epsilons must be an array of numbers.", next_step="Give a numpy array of floats.")
    epsilons = values.astype(np.float64, copy=False)
    if not np.all(np.isfinite(epsilons) & (epsilons >= 0)):
        raise BadEpsilon("Every epsilon must be a finite number of at least 0.", next_step="Leave the others out.")
    return epsilons


class Mechanism(Guarantee):
    """Parameters, a guarantee, and the one place that samples: what is charged is what is drawn."""

    __slots__ = ()

    @abstractmethod
    def release(self, exact: Any, bits: RandomBits = SYSTEM_BITS) -> Any:
        """The private answer.

        Args:
            exact: What to protect: integers, scores or categories, as the mechanism says.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """

    @abstractmethod
    def error(self, confidence: Number) -> float:
        """The answer is off by at most this much, in `confidence` of all releases.

        Args:
            confidence: In which share of all releases, such as 0.95.
        """

    def interval(self, level: Number) -> tuple[float, float]:
        """(low, high): the exact value lies in [answer + low, answer + high] in `level` of all releases.

        Args:
            level: In which share of all releases, such as 0.95.
        """
        width = self.error(level)
        return -width, width


class solved_for:  # noqa: N801  reads as a decorator
    """A method of the class that, on an instance, takes every parameter but the one solved for from the instance."""

    def __init__(self, unknown: str) -> None:
        self._unknown = unknown

    def __call__(self, function: Callable[..., float]) -> solved_for:
        self._function, self.__doc__ = function, function.__doc__
        return self

    def __get__(self, instance: Any, owner: Any) -> Callable[..., float]:
        known = {}
        if instance is not None:
            known = {f.name: getattr(instance, f.name) for f in fields(instance) if f.init and f.name != self._unknown}

        def solved(**given: Any) -> float:
            return self._function(owner, **self._checked(owner, {**known, **given}))

        solved.__name__, solved.__doc__ = self._function.__name__, self.__doc__
        solved.__signature__ = self._signature(owner, known)  # type: ignore[attr-defined]  # what help() shows
        return solved

    def _signature(self, owner: Any, known: dict[str, Any]) -> Signature:
        """What is asked for, then the mechanism's own parameters: those of an instance are there already."""
        asked = [p for p in signature(self._function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        own = [p for p in signature(owner).parameters.values() if p.name != self._unknown]
        own = [p.replace(kind=p.KEYWORD_ONLY, default=known.get(p.name, p.default)) for p in own]
        return Signature([*asked, *own], return_annotation="float")

    def _checked(self, owner: Any, given: dict[str, Any]) -> dict[str, Any]:
        """Neither a parameter too few nor one too many."""
        own = {f.name: f.default is MISSING for f in fields(owner) if f.init and f.name != self._unknown}
        asked = signature(self._function).parameters.values()
        needed = own | {p.name: True for p in asked if p.kind is p.KEYWORD_ONLY}
        wrong = [name for name in given if name not in needed]
        wrong += [name for name, must in needed.items() if must and name not in given]
        if wrong:
            raise BadInput(
                f"These parameters are missing or unknown here: {', '.join(sorted(wrong))}.",
                next_step=f"Give {', '.join(needed)}.",
            )
        return given


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
        return rounded_up(self.exact_rho)

    @property
    def exact_rho(self) -> Fraction:
        return curves.pure_rho(exact(self.epsilon))

    def _renyi(self, order: float) -> float:
        return curves.pure_renyi(self.pure_epsilon, order)

    def _deltas(self, epsilons: Floats) -> Floats:
        return curves.pure_deltas(self.pure_epsilon, epsilons)


class SolvedForEpsilon(PureMechanism):
    """A pure mechanism that is made with an epsilon, so one can ask for an accuracy instead."""

    __slots__ = ()

    @solved_for("epsilon")
    def epsilon_for(cls: Any, *, error: Number, confidence: Number, **parameters: Any) -> float:  # noqa: N805
        """The least epsilon whose error at `confidence` is at most `error`.

        Args:
            error: How far off an answer may be, in the unit of the values.
            confidence: In which share of all releases it is no further off, such as 0.95.
            **parameters: The mechanism's own: given where the class is asked, and those of the instance otherwise.
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

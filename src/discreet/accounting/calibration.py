"""The least noise for a target, and the epsilon for an accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from discreet.accounting.composition import Composed
from discreet.accounting.theorems import MOST_USES
from discreet.core.exact import Number, read_count
from discreet.core.loss import Loss, read_loss
from discreet.errors import BadInput
from discreet.mechanisms.mechanism import Guarantee, least

Made = TypeVar("Made", bound=Guarantee)


class Solved(Protocol):
    """A mechanism that can be asked for by its error."""

    def epsilon_for(self, *, error: Number, confidence: Number, **parameters: Any) -> float:
        """The least epsilon for that error."""


def calibrate(make: Callable[[float], Made], *, target: Loss, count: int = 1) -> Made:
    """The guarantee `make(x)` with the largest x for which `count` of them together stay within `target`.

    `make` takes an epsilon or a rho: more of it is less noise. The count is fixed in advance.

    Args:
        make: From an epsilon or a rho to a mechanism.
        target: What all of them together may cost.
        count: How many of them.
    """
    times, wanted = read_count(count, name="count", most=MOST_USES), read_loss(target)
    if not callable(make):
        raise BadInput("make must be a function of an epsilon or a rho.", next_step="Give lambda epsilon: Laplace(…).")

    def within(inverse: float) -> bool:
        together = Composed.of([make(1 / inverse)] * times)
        if not wanted.delta:
            return not together.delta and together.pure_epsilon <= wanted.epsilon
        return together.epsilon_at(wanted.delta) <= wanted.epsilon

    return make(1 / least(within, precision=1e-6))


def epsilon_for(mechanism: Solved, *, error: Number, confidence: Number, **parameters: Any) -> float:
    """The least epsilon at which a mechanism's answer is within `error` in `confidence` of all releases.

    Args:
        mechanism: A mechanism, or its class.
        error: How far off an answer may be.
        confidence: In which share of all releases it is no further off.
        **parameters: The mechanism's own, where a class is given.
    """
    if not callable(getattr(mechanism, "epsilon_for", None)):
        raise BadInput("No epsilon follows from this one's error.", next_step="Give a mechanism, such as Laplace.")
    return mechanism.epsilon_for(error=error, confidence=confidence, **parameters)

"""The lectures' theorems on losses, as functions. Each rounds up.

Post-processing has no function: anything computed from an answer alone costs nothing (Sapienza slides, "Properties of
Approximate DP"), so nothing is charged for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from discreet.accounting.hockey_stick import least_epsilon
from discreet.core.exact import exact, read_count, read_delta, read_epsilon, rounded_up
from discreet.core.loss import Loss, read_loss
from discreet.errors import BadInput
from discreet.mechanisms.curves import Floats

_PAD = 1 + 1e-12
_MOST_WORK = 10**9
_TOO_LARGE = 2.0**60
"""Losses that add up to this are not worth composing any better."""
MOST_USES = 10**6


def _read_losses(losses: object) -> list[Loss]:
    if not isinstance(losses, Iterable) or isinstance(losses, np.ndarray):
        raise BadInput("A list of losses is needed here.", next_step="Give a list, such as [Loss(0.5)] * 10.")
    return [read_loss(loss) for loss in losses]


def basic(losses: Iterable[Loss]) -> Loss:
    """Losses add up. Slide: Sapienza, "Properties of Approximate DP", basic composition.

    Args:
        losses: Of all that was released about the same people.
    """
    total = Loss(0.0)
    for loss in _read_losses(losses):
        total += loss
    return total


def group(loss: Loss, *, k: int) -> Loss:
    """A group of k people instead of one: (k epsilon, k delta e^((k-1) epsilon)). Slide: Sapienza, group privacy.

    Args:
        loss: For one person.
        k: How many people.
    """
    people, loss = read_count(k, name="k"), read_loss(loss)
    growth = (people - 1) * loss.epsilon
    delta = 0.0 if not loss.delta else 1.0 if growth > 700 else people * loss.delta * math.exp(growth) * _PAD
    return Loss(rounded_up(people * exact(loss.epsilon)), min(1.0, delta))


def advanced(loss: Loss, *, k: int, delta_slack: float) -> Loss:
    """K adaptive uses at (epsilon sqrt(2k ln(1/delta')) + k epsilon (e^epsilon - 1)/(e^epsilon + 1), k delta + delta').

    Slide: Sapienza, "Advanced Composition" (Dwork, Rothblum, Vadhan 2010, in the form of Dwork, Roth 2014).

    Args:
        loss: Of one release.
        k: How many releases.
        delta_slack: The delta that is added.
    """
    times, slack, loss = read_count(k, name="k"), float(read_delta(delta_slack)), read_loss(loss)
    spread = loss.epsilon * math.sqrt(2 * times * math.log(1 / slack))
    drift = times * loss.epsilon * math.tanh(loss.epsilon / 2)
    return Loss((spread + drift) * _PAD, min(1.0, rounded_up(times * exact(loss.delta) + exact(delta_slack))))


class BinaryIsh(NamedTuple):
    """The chances of four outcomes: surely first, probably first, probably second, surely second."""

    first: tuple[float, float, float, float]
    second: tuple[float, float, float, float]


def binary_ish(loss: Loss) -> BinaryIsh:
    """The pair that every (epsilon, delta)-DP pair is a post-processing of.

    Slide: Sapienza, "Advanced Composition", the reduction to binary-ish mechanisms; Kairouz, Oh, Viswanath 2015.

    Args:
        loss: Of one release.
    """
    odds = math.exp(-read_loss(loss).epsilon)
    one = (loss.delta, (1 - loss.delta) / (1 + odds), (1 - loss.delta) * odds / (1 + odds), 0.0)
    return BinaryIsh(one, one[::-1])


def optimal(losses: Loss | Sequence[Loss], *, delta: float, k: int = 1, precision: float = 1e-3) -> Loss:
    """The least epsilon at `delta` that k uses of a loss, or a list of losses, can promise, knowing only the losses.

    Composition of the binary-ish pairs themselves: exact for k uses of one loss (Kairouz, Oh, Viswanath 2015,
    arXiv:1311.0776, theorem 3.3); for different losses exact up to `precision` added to epsilon (exactly is #P-hard:
    Murtagh, Vadhan 2016, arXiv:1507.03113), never below the truth.

    Args:
        losses: Of all releases, or of one that is repeated.
        delta: At which epsilon is wanted.
        k: How often one is repeated.
        precision: How finely epsilons are told apart.
    """
    most, times = float(read_delta(delta)), read_count(k, name="k", most=MOST_USES)
    once = [losses] if isinstance(losses, Loss) else _read_losses(losses)
    read_count(len(once) * times, name="k times the number of losses", least=0, most=MOST_USES)
    each = once * times
    # The total delta is lost + (1 - lost) (delta of the pure parts): the pure parts may use what is left.
    lost = (
        _PAD * -math.expm1(math.fsum(math.log1p(-loss.delta) for loss in each))
        if all(x.delta < 1 for x in each)
        else 1.0
    )
    left = (most - lost) / (1 - lost) * (1 - 1e-12) if lost < 1 else 0.0
    added_up = rounded_up(times * sum((exact(loss.epsilon) for loss in once), exact(0)))
    if left <= 0 or added_up > _TOO_LARGE:
        return Loss(added_up, min(1.0, lost))
    step = read_epsilon(precision, name="precision") / max(1, len(each))
    if len({loss.epsilon for loss in once}) <= 1:
        levels, chances = _same_epsilons(once[0].epsilon if once else 0.0, len(each))
    else:
        levels, chances = _rounded_up_epsilons([loss.epsilon for loss in each], step=step)
    return Loss(least_epsilon(levels, chances, left), delta)


def _same_epsilons(epsilon: float, k: int) -> tuple[Floats, Floats]:
    """Loss (2 heads - k) epsilon with binomial chances, from the largest loss down."""
    heads = np.arange(k, -1, -1, dtype=np.float64)
    log_likely, log_unlikely = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    log_chances = [
        math.lgamma(k + 1) - math.lgamma(h + 1) - math.lgamma(k - h + 1) + h * log_likely + (k - h) * log_unlikely
        for h in heads.tolist()
    ]
    rounding = 1 + 2.0**-48 * (math.lgamma(k + 1) + k * (1 + epsilon))  # what the logarithms may be off by
    return (2 * heads - k) * epsilon, np.exp(np.array(log_chances, np.float64)) * rounding


def _rounded_up_epsilons(epsilons: list[float], *, step: Fraction) -> tuple[Floats, Floats]:
    """The same on a grid: every epsilon is first rounded up to a multiple of `step`, which only adds loss."""
    steps = [math.ceil(exact(epsilon) / step) for epsilon in epsilons]
    if sum(steps) * len(steps) > _MOST_WORK:
        raise BadInput(
            "This many different losses cannot be composed so precisely.", next_step="Give a larger precision."
        )
    chances, width = np.ones(1), rounded_up(step)
    for n in steps:
        likely = 1 / (1 + math.exp(-n * width))
        grown = np.zeros(chances.size + 2 * n)
        grown[2 * n :] += likely * chances
        grown[: chances.size] += (1 - likely) * chances
        chances = grown
    levels = (np.arange(chances.size, dtype=np.float64) - sum(steps)) * width
    keep = chances > 0
    return levels[keep][::-1], chances[keep][::-1]

"""What a lie is worth: computed over all lies of all coalitions, beside what the guarantee allows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.exact import read_count
from discreet.errors import BadInput
from discreet.games.private_choice import Floats, Rule

Utility = Callable[[Any, int, Any], float]
"""What somebody of a type has of an outcome, having reported something: at least 0."""
_MOST_CASES = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Truthfulness:
    """The best that lying can do in one game, and the worst.

    Args:
        coalition: How many lie together.
        gain: The most that the liars' utilities together rise above those of the truth; below 0 if every lie costs.
        allowed: What the guarantee allows for those liars: e to (coalition times epsilon of a replacement), less 1, times what the truth gives them.
        liars: Who they are.
        lies: What they report.
        tightest: The largest gain over what is allowed, of all lies: never above 1.
        loss: The most that lying costs a coalition. It is limited as the gain is: any report is nearly as good as the truth.
    """

    coalition: int
    gain: float
    allowed: float
    liars: tuple[int, ...]
    lies: tuple[Any, ...]
    tightest: float
    loss: float

    def __repr__(self) -> str:
        who = "nobody" if self.coalition == 1 else f"no {self.coalition} together"
        if self.gain < 0:
            return f"{who} can lie without losing {-self.gain:.4g} or more"
        return f"{who} can gain more than {self.gain:.4g} by lying ({self.allowed:.4g} allowed), or lose more than {self.loss:.4g}"


def truthfulness(
    mechanism: Rule, utilities: Utility, *, truth: Sequence[Any], reports: Sequence[Any], coalition: int = 1
) -> Truthfulness:
    """The largest gain from a lie, over all lies of all coalitions of a size, computed from the rule's exact law.

    The bound needs utilities of at least 0, and that what somebody reported does not by itself make an outcome better for them.

    Args:
        mechanism: The rule of the game.
        utilities: From a type, an outcome's index and what was reported to what that is worth to somebody of this type.
        truth: Everybody's type, which is what they would report if they told the truth.
        reports: Everything that can be reported.
        coalition: How many lie together, sharing what they gain.
    """
    size = read_count(coalition, name="coalition", most=len(truth))
    if math.comb(len(truth), size) * len(reports) ** size > _MOST_CASES:
        raise BadInput("There are too many lies to try.", next_step="Take fewer people, reports or liars.")
    honest = mechanism.law(tuple(truth))
    factor = math.expm1(float(size * mechanism.replacement_epsilon))
    table = _Table(utilities, honest.size)
    best: tuple[float, float, tuple[int, ...], tuple[Any, ...]] = (-math.inf, 0.0, (), ())
    tightest, loss = -math.inf, 0.0
    for liars in itertools.combinations(range(len(truth)), size):
        types = [truth[liar] for liar in liars]
        told = sum(float(honest @ table.of(kind, kind)) for kind in types)
        for lies in itertools.product(reports, repeat=size):
            if any(lie == kind for lie, kind in zip(lies, types, strict=True)):
                continue  # a smaller coalition's lie
            said = list(truth)
            for liar, lie in zip(liars, lies, strict=True):
                said[liar] = lie
            law = mechanism.law(tuple(said))
            gain = sum(float(law @ table.of(kind, lie)) for kind, lie in zip(types, lies, strict=True)) - told
            best = max(best, (gain, factor * told, liars, lies), key=lambda found: found[0])
            tightest = max(tightest, gain / (factor * told) if factor * told > 0 else 0.0)
            loss = max(loss, -gain)
    return Truthfulness(
        coalition=size, gain=best[0], allowed=best[1], liars=best[2], lies=best[3], tightest=tightest, loss=loss
    )


class _Table:
    """Utilities as vectors over outcomes, each computed once."""

    def __init__(self, utilities: Utility, outcomes: int) -> None:
        self._utilities, self._outcomes = utilities, outcomes
        self._known: dict[tuple[Any, Any], Floats] = {}

    def of(self, kind: Any, report: Any) -> Floats:
        known = self._known.get((kind, report))
        if known is None:
            values = [self._utilities(kind, outcome, report) for outcome in range(self._outcomes)]
            if min(values) < 0:
                raise BadInput("Utilities are at least 0.", next_step="Add a constant to all of them.")
            known = self._known[kind, report] = np.array(values, np.float64)
        return known

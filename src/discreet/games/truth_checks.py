"""The gain from lying: computed over all lies of all coalitions, with the bound from the privacy guarantee."""

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
"""The utility of a person from their type, an outcome and their report: at least 0."""
_MOST_CASES = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Truthfulness:
    """The largest gain and the largest loss from lying in one game.

    Args:
        coalition: The number of people who lie together.
        gain: The largest increase of the liars' total utility over the truth; negative if every lie costs.
        allowed: The bound from the guarantee for these liars: (e^(coalition * replacement epsilon) - 1) times their
            utility under the truth.
        liars: The people in this coalition.
        lies: Their reports.
        tightest: The largest ratio of gain to bound over all lies: never above 1.
        loss: The largest loss of a coalition from lying. It is bounded like the gain.
    """

    coalition: int
    gain: float
    allowed: float
    liars: tuple[int, ...]
    lies: tuple[Any, ...]
    tightest: float
    loss: float

    def __repr__(self) -> str:
        who = "one liar" if self.coalition == 1 else f"{self.coalition} liars together"
        if self.gain < 0:
            return f"{who} lose at least {-self.gain:.4g}"
        return f"{who} gain at most {self.gain:.4g} (bound: {self.allowed:.4g}) and lose at most {self.loss:.4g}"


def truthfulness(
    mechanism: Rule, utilities: Utility, *, truth: Sequence[Any], reports: Sequence[Any], coalition: int = 1
) -> Truthfulness:
    """Compute the largest gain over all lies of all coalitions of a size, from the rule's exact distribution.

    The bound requires that utilities are at least 0, and that a false report does not by itself increase the utility of
    an outcome.

    Args:
        mechanism: The rule of the game.
        utilities: The function from a type, the index of an outcome and a report to the utility.
        truth: The types of all people, which are their truthful reports.
        reports: All possible reports.
        coalition: The number of people who lie together and share their gain.
    """
    size = read_count(coalition, name="coalition", most=len(truth))
    if math.comb(len(truth), size) * len(reports) ** size > _MOST_CASES:
        raise BadInput("There are too many lies to try.", next_step="Use fewer people, reports or liars.")
    honest = mechanism.law(tuple(truth))
    factor = math.expm1(float(size * mechanism.replacement_epsilon))
    table = _Table(utilities, honest.size)
    best: tuple[float, float, tuple[int, ...], tuple[Any, ...]] = (-math.inf, 0.0, (), ())
    tightest, loss = -math.inf, 0.0
    for liars in itertools.combinations(range(len(truth)), size):
        types = [truth[liar] for liar in liars]
        truthful = sum(float(honest @ table.of(kind, kind)) for kind in types)
        for lies in itertools.product(reports, repeat=size):
            if any(lie == kind for lie, kind in zip(lies, types, strict=True)):
                continue  # a smaller coalition's lie
            reported = list(truth)
            for liar, lie in zip(liars, lies, strict=True):
                reported[liar] = lie
            law = mechanism.law(tuple(reported))
            gain = sum(float(law @ table.of(kind, lie)) for kind, lie in zip(types, lies, strict=True)) - truthful
            best = max(best, (gain, factor * truthful, liars, lies), key=lambda found: found[0])
            tightest = max(tightest, gain / (factor * truthful) if factor * truthful > 0 else 0.0)
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
                raise BadInput("Utilities must be at least 0.", next_step="Add a constant to all of them.")
            known = self._known[kind, report] = np.array(values, np.float64)
        return known

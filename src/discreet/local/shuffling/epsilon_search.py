"""Search for the least epsilon for a delta, where each evaluation costs a sum over a whole crowd."""

from __future__ import annotations

import math
from collections.abc import Callable

_WITHIN = 1e-5
"""Relative precision of the search."""
_LEAST = 1e-300
"""A smaller delta counts as this one, so that it has a logarithm."""


def least_epsilon(delta_of: Callable[[float], float], most: float, delta: float) -> float:
    """Return the least epsilon whose delta is at most `delta`, rounded up by a part in 10**5.

    `most` is an epsilon that is known to be valid. The search uses secants of the logarithm of delta, which is nearly
    linear in epsilon. The value at an end that does not move is halved each time (the Illinois rule), and guesses are
    moved away from the ends, so that both ends converge.
    """

    def excess(epsilon: float) -> float:
        return math.log(max(delta_of(epsilon), _LEAST) / delta)

    below, above = 0.0, most * (1 - _WITHIN)
    if (over := excess(below)) <= 0:
        return 0.0
    if (under := excess(above)) > 0:
        return most
    was_over = None
    while above - below > _WITHIN * above:
        middle, guess = (below + above) / 2, below + (above - below) * over / (over - under)
        guess += math.copysign(min(0.4 * _WITHIN * above, abs(middle - guess)), middle - guess)
        found = excess(guess)
        if found > 0:
            below, over, under = guess, found, under / 2 if was_over is True else under
        else:
            above, under, over = guess, found, over / 2 if was_over is False else over
        was_over = found > 0
    return above

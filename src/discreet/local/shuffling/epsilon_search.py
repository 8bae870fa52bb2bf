"""The least epsilon that a delta allows: a search where each look costs a sum over a whole crowd."""

from __future__ import annotations

import math
from collections.abc import Callable

_WITHIN = 1e-5
"""How near to the least, as a part of it."""
_LEAST = 1e-300
"""A delta below counts as this one, which has a logarithm."""


def least_epsilon(delta_of: Callable[[float], float], most: float, delta: float) -> float:
    """The least epsilon whose delta is small enough, rounded up by a part in 10**5; `most` holds in any case.

    By secants of the logarithm of delta, which is nearly straight. An end that stays where it is counts for half each
    time (the Illinois rule), and no guess falls so near to an end that the other one stays far away.
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

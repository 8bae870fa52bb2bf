"""Partition selection with its table one person off, and the exact check that catches it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from discreet.core.exact import exact
from discreet.mechanisms.choice.partition_selection import ONE
from tests.support.laws import exp_of


def table_is_private(chances: Sequence[int], epsilon: float, delta: float) -> None:
    """All four inequalities of (epsilon, delta)-DP between groups of n and n + 1 people, and nothing for nobody."""
    grow, room = exp_of(exact(epsilon)) * (1 + Fraction(1, 2**190)), exact(delta)
    assert chances[0] == 0, "a group of nobody may be shown"
    assert chances[-1] == ONE
    for a, b in itertools.pairwise(chances):
        p, q = Fraction(a, ONE), Fraction(b, ONE)
        for x, y in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
            assert x <= grow * y + room, "a neighbour is told apart"


def one_person_early(chances: Sequence[int]) -> Sequence[int]:
    """The table read at n + 1."""
    return chances[1:]


def one_person_skipped(chances: Sequence[int]) -> Sequence[int]:
    """A step of two persons' growth for one person."""
    return [*chances[:3], *chances[4:]]

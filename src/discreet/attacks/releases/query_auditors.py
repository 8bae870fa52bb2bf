"""Query auditors: exact answers, refused if they would reveal a person's value. The refusals reveal it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput

MOST_PEOPLE = 20

Bits = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Denied(Exception):
    """The answer, together with earlier ones, would determine a person's value."""


class BooleanAuditor:
    """Answer sums of bits unless an answer would determine a bit, by checking all 2**people possible worlds.

    Citation: Kleinberg, Papadimitriou, Raghavan 2003, Auditing Boolean Attributes: the problem is coNP-complete.
    """

    def __init__(self, bits: Bits) -> None:
        if bits.size > MOST_PEOPLE:
            raise BadInput(
                f"The exact auditor would check 2**{bits.size} possible worlds for every query.",
                next_step=f"Give it at most {MOST_PEOPLE} people.",
            )
        self._bits = bits
        self._worlds = (np.arange(2**bits.size)[:, None] >> np.arange(bits.size) & 1).astype(np.bool_)

    def total(self, people: Sequence[int]) -> int:
        """Return how many of these people have their bit set."""
        answer = int(self._bits[list(people)].sum())
        if self.would_deny(people, answer):
            raise Denied
        self._worlds = self._fitting(people, answer)
        return answer

    def would_deny(self, people: Sequence[int], answer: int) -> bool:
        """Whether, in all worlds consistent with the answers so far and this one, some person has the same bit."""
        left = self._fitting(people, answer)
        ones = left.sum(axis=0)
        return bool(np.any((ones == 0) | (ones == len(left))))

    def _fitting(self, people: Sequence[int], answer: int) -> Bits:
        return self._worlds[self._worlds[:, list(people)].sum(axis=1) == answer]


class MaximumAuditor:
    """Answer the maximum of distinct values, unless the answers would determine whose value it is.

    Citation: Chin 1986 for the rule; Kenthapadi, Mishra, Nissim 2005, Simulatable Auditing, for its weakness.
    """

    def __init__(self, values: Ints) -> None:
        self._values = values
        self._asked: list[tuple[Bits, int]] = []

    def largest(self, members: Bits) -> int:
        """Return the largest value of the members."""
        answer = int(self._values[members].max())
        asked = [*self._asked, (members, answer)]
        limits = np.full(self._values.size, np.iinfo(np.int64).max)
        for chosen, observed in asked:
            limits[chosen] = np.minimum(limits[chosen], observed)
        for observed in {observed for _, observed in asked}:
            could_be = np.logical_and.reduce([chosen for chosen, one in asked if one == observed]) & (
                limits == observed
            )
            if could_be.sum() == 1:
                raise Denied
        self._asked = asked
        return answer

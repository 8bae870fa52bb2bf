"""Query auditors: answer exactly, but refuse what would give somebody away. The refusals give them away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput

MOST_PEOPLE = 20

Bits = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Denied(Exception):
    """The answer, with those before, would determine somebody's value."""


class BooleanAuditor:
    """Answers sums of bits unless an answer would determine a bit. Exact, and so it looks at 2**people worlds.

    Citation: Kleinberg, Papadimitriou, Raghavan 2003, Auditing Boolean Attributes: the problem is coNP-complete.
    """

    def __init__(self, bits: Bits) -> None:
        if bits.size > MOST_PEOPLE:
            raise BadInput(
                f"The exact auditor would look at 2**{bits.size} worlds for every question.",
                next_step=f"Give it at most {MOST_PEOPLE} people.",
            )
        self._bits = bits
        self._worlds = (np.arange(2**bits.size)[:, None] >> np.arange(bits.size) & 1).astype(np.bool_)

    def total(self, people: Sequence[int]) -> int:
        """How many of these people have their bit set."""
        answer = int(self._bits[list(people)].sum())
        if self.would_deny(people, answer):
            raise Denied
        self._worlds = self._fitting(people, answer)
        return answer

    def would_deny(self, people: Sequence[int], answer: int) -> bool:
        """Whether this answer would leave somebody with one possible bit, in all worlds that fit the answers so far."""
        left = self._fitting(people, answer)
        ones = left.sum(axis=0)
        return bool(np.any((ones == 0) | (ones == len(left))))

    def _fitting(self, people: Sequence[int], answer: int) -> Bits:
        return self._worlds[self._worlds[:, list(people)].sum(axis=1) == answer]


class MaximumAuditor:
    """Answers the largest of some values, all different, unless the answers would determine whose it is.

    Citation: Chin 1986 for the rule; Kenthapadi, Mishra, Nissim 2005, Simulatable Auditing, for what is wrong with it.
    """

    def __init__(self, values: Ints) -> None:
        self._values = values
        self._asked: list[tuple[Bits, int]] = []

    def largest(self, members: Bits) -> int:
        """The largest value among the members."""
        answer = int(self._values[members].max())
        asked = [*self._asked, (members, answer)]
        limits = np.full(self._values.size, np.iinfo(np.int64).max)
        for chosen, told in asked:
            limits[chosen] = np.minimum(limits[chosen], told)
        for told in {told for _, told in asked}:
            could_be = np.logical_and.reduce([chosen for chosen, one in asked if one == told]) & (limits == told)
            if could_be.sum() == 1:
                raise Denied
        self._asked = asked
        return answer

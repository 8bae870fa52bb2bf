"""Query auditors: answer exactly, but refuse what would give somebody away. The refusals give them away."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput

MOST_VARIABLES = 20

Bits = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Denied(Exception):
    """The answer, with those before, would determine somebody's value."""


def all_worlds(people: int) -> Bits:
    """Every way in which so many bits can be: 2**people rows."""
    if people > MOST_VARIABLES:
        raise BadInput(
            f"The exact auditor looks at 2**{people} worlds for every question.",
            next_step=f"Give it at most {MOST_VARIABLES} people.",
        )
    return (np.arange(2**people)[:, None] >> np.arange(people) & 1).astype(np.bool_)


class BooleanAuditor:
    """Answers sums of bits unless an answer would determine a bit. Exact, and so it takes time 2**people.

    Citation: Kleinberg, Papadimitriou, Raghavan 2003, Auditing Boolean Attributes: the problem is coNP-complete.
    """

    def __init__(self, bits: Bits) -> None:
        self._bits = bits
        self.rule = Rule(bits.size)

    def total(self, members: Bits) -> int:
        """How many of the members have their bit set."""
        answer = int(self._bits[members].sum())
        if self.rule.denies(members, answer):
            raise Denied
        self.rule.learn(members, answer)
        return answer


class Rule:
    """Which worlds fit all answers so far; public, since answers are. An attacker can run it as well."""

    def __init__(self, people: int) -> None:
        self.worlds = all_worlds(people)

    def denies(self, members: Bits, answer: int) -> bool:
        """Whether this answer would leave a bit with one possible value."""
        left = self.worlds[self.worlds[:, members].sum(axis=1) == answer]
        ones = left.sum(axis=0)
        return bool(np.any((ones == 0) | (ones == len(left))))

    def learn(self, members: Bits, answer: int) -> None:
        """Keep the worlds with this answer."""
        self.worlds = self.worlds[self.worlds[:, members].sum(axis=1) == answer]


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

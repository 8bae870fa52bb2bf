"""The ladder: a count whose neighbours are mostly close is released with little noise, without telling how close."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.exact import Number, exact, read_count, read_epsilon, read_level
from discreet.errors import BadData
from discreet.mechanisms.mechanism import SolvedForEpsilon
from discreet.noise import SYSTEM_BITS, RandomBits, ladder_rung, uniform_below
from discreet.noise.laplace_sampler import check_scale

LARGEST_STEP = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder(SolvedForEpsilon):
    """Choose an integer by how many changes away a value would have to be: exp(-epsilon * rung / 2).

    It is given the value f and its local sensitivity L, the most that one change moves f from here. Rung 0 is f; rung k
    is the next min(L + k - 1, most) integers on either side.
    Guarantee: epsilon-DP, if one change moves f by at most L, L by at most 1, and f by at most `most` anywhere; so it
    is for the triangles of a graph when an edge comes or goes (L the most common neighbours of any two nodes).
    Citation: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015, "Private Release of Graph Statistics using Ladder Functions".

    Args:
        epsilon: How much may be learned about what changes, such as an edge; smaller is more private.
        most: How far one change can move the value anywhere, public: the number of nodes less 2 for triangles.
    """

    epsilon: Number
    most: int

    def __post_init__(self) -> None:
        read_epsilon(self.epsilon)
        check_scale(self.scale)
        object.__setattr__(self, "most", read_count(self.most, name="most", least=0, most=LARGEST_STEP))

    @property
    def scale(self) -> Fraction:
        """2 / epsilon: how many rungs it takes until a draw is e times less likely."""
        return 2 / exact(self.epsilon)

    def release(self, exact: tuple[int, int], bits: RandomBits = SYSTEM_BITS) -> int:
        """The value with its noise.

        Args:
            exact: The value and its local sensitivity, which counts as 0 below 0 and as `most` above.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        value, local = _read(exact)
        local = min(max(local, 0), self.most)
        rung = ladder_rung(local, self.most, self.scale, bits)
        width = max(1, self._width(local, rung - 1))
        step = 1 + int(uniform_below(2 * width, 1, bits)[0])
        distance = self._reach(local, rung - 1) + (step + 1) // 2
        return value if rung == 0 else value + (distance if step % 2 else -distance)

    def error(self, confidence: Number) -> int:
        """Whatever the local sensitivity is: mostly far more than `error_at` says for the one there is."""
        return self.error_at(self.most, confidence)

    def error_at(self, local: int, confidence: Number) -> int:
        """The answer is off by at most this much, where the local sensitivity is at most `local`.

        The true local sensitivity is private, and so is the error that belongs to it: give one that was released.

        Args:
            local: At least the local sensitivity.
            confidence: In which share of all releases, such as 0.95.
        """
        local = min(read_count(local, name="local", least=0), self.most)
        allowed = (1 - float(read_level(confidence))) * self._total_weight(local) * (1 - 1e-12)
        low, high = -1, 1
        while self._beyond(local, high) > allowed:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._beyond(local, middle) > allowed else (low, middle)
        spare = (allowed - self._beyond(local, high)) / 2 * math.exp(min(high / float(self.scale), 700.0))
        return self._reach(local, high) - min(math.floor(spare), max(0, self._width(local, high - 1) - 1))

    def _width(self, local: int, rung: int) -> int:
        """How many integers rung + 1 has on either side: I(rung), and 0 below."""
        return 0 if rung < 0 else min(local + rung, self.most)

    def _reach(self, local: int, rungs: int) -> int:
        """I(0) + ... + I(rungs - 1): how far from the value so many rungs reach."""
        climbing = min(max(rungs, 0), self.most - local)
        return climbing * local + climbing * (climbing - 1) // 2 + (max(rungs, 0) - climbing) * self.most

    def _beyond(self, local: int, rung: int) -> float:
        """The weight of all rungs above, 2 (I(rung) q**(rung+1) + q**(rung+2) + ... while it widens) / (1 - q)."""
        rate = 1 / float(self.scale)
        rest = -math.expm1(-rate)
        widening = max(0, self.most - local - rung)
        inner = self._width(local, rung) + math.exp(-rate) * -math.expm1(-rate * widening) / rest
        return 2 * math.exp(-rate * (rung + 1)) * inner / rest

    def _total_weight(self, local: int) -> float:
        return 1 + self._beyond(local, 0)


def _read(value: object) -> tuple[int, int]:
    """A count and its local sensitivity; only their types are looked at."""
    if not isinstance(value, tuple) or len(value) != 2 or not all(type(part) is int for part in value):
        raise BadData(
            "The ladder takes a whole number and its local sensitivity.", next_step="Give both as a pair of ints."
        )
    return value[0], value[1]

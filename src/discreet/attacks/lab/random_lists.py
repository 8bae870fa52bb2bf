"""Random lists of people that a query can select: those whose id is mapped by a short formula to the lower half."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_PRIME = 1_000_003

TABLE = "[tables.lists]\npublic = true\n"
"""The catalog of the table of lists. It has only numbers that the attacker drew."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Person `id` is on list (a, b) if (id · a + b) modulo a prime is in its lower half.

    Lists are pairwise independent, and each has about half of all people.
    Citation: Carter, Wegman 1979; Cohen, Nissim 2018 (arXiv:1810.05692) selected people by such formulas.
    """

    a: Ints
    b: Ints

    @classmethod
    def draw(cls, rng: np.random.Generator, *, count: int) -> Self:
        """Draw `count` lists."""
        return cls(rng.integers(1, _PRIME, count), rng.integers(0, _PRIME, count))

    @property
    def count(self) -> int:
        """The number of lists."""
        return self.a.size

    def members(self, ids: Ints) -> Bits:
        """Return which people are on which list: one row per list, one column per person."""
        return (np.outer(self.a, ids) + self.b[:, None]) % _PRIME < _PRIME // 2

    def listed(self, person: str, *, table: str) -> str:
        """Return the SQL condition that the id in column `person` is on a list, joined with the table of lists."""
        return f"({person} * {table}.a + {table}.b) % {_PRIME} < {_PRIME // 2}"

    def condition(self, number: int, person: str = "id") -> str:
        """Return the SQL condition that the id in column `person` is on list `number`, without that table."""
        return f"({person} * {self.a[number]} + {self.b[number]}) % {_PRIME} < {_PRIME // 2}"

    def table(self) -> dict[str, Any]:
        """Return the columns of the public table of lists."""
        return {"list": np.arange(self.count), "a": self.a, "b": self.b}

"""Random lists of people that an analyst can ask for: those whose id a small formula sends to the lower half."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_PRIME = 1_000_003

TABLE = "[tables.lists]\npublic = true\n"
"""The catalog of the table of lists: it holds numbers that an attacker drew, and nothing about anybody."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Person `id` is on list (a, b) if (id · a + b) modulo a prime is in its lower half.

    Lists are pairwise independent, and have about half of all people each.
    Citation: Carter, Wegman 1979; Cohen, Nissim 2018 (arXiv:1810.05692) asked for people by such formulas.
    """

    a: Ints
    b: Ints

    @classmethod
    def draw(cls, rng: np.random.Generator, *, count: int) -> Self:
        """New lists."""
        return cls(rng.integers(1, _PRIME, count), rng.integers(0, _PRIME, count))

    @property
    def count(self) -> int:
        """How many lists."""
        return self.a.size

    def members(self, ids: Ints) -> Bits:
        """A row for each list, a column for each person."""
        return (np.outer(self.a, ids) + self.b[:, None]) % _PRIME < _PRIME // 2

    def listed(self, person: str, *, table: str) -> str:
        """In SQL, beside the table of lists, of whoever has the number `person`."""
        return f"({person} * {table}.a + {table}.b) % {_PRIME} < {_PRIME // 2}"

    def condition(self, number: int, person: str = "id") -> str:
        """In SQL, without that table."""
        return f"({person} * {self.a[number]} + {self.b[number]}) % {_PRIME} < {_PRIME // 2}"

    def table(self) -> dict[str, Any]:
        """The columns of the public table."""
        return {"list": np.arange(self.count), "a": self.a, "b": self.b}

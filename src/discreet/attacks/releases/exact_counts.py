"""Exact counts of groups above a minimum size, as many statistical services publish."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


class Withheld(Exception):
    """The group is too small to be shown."""


class ExactCounts:
    """True counts of people, withheld if below a minimum."""

    def __init__(self, *, minimum: int) -> None:
        self._minimum = minimum

    def count(self, chosen: Mask) -> int:
        """Return the number of chosen people."""
        size = int(chosen.sum())
        if size < self._minimum:
            raise Withheld
        return size

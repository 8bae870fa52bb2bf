"""How many values are in each public bin, exactly."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact, finite
from discreet.errors import BadInput
from discreet.mechanisms.values.value_reading import read_items, read_numbers

Counts = NDArray[np.int64]


def binned(values: object, edges: Sequence[Number]) -> tuple[list[tuple[float, float]], Counts]:
    """Bins of numbers, each from its lower edge to below its upper one, the last including it; what lies beyond counts in the outermost."""
    ends = [finite(edge) for edge in edges]
    numbers = [float(end) for end in ends if end is not None]
    if len(numbers) < max(len(ends), 2) or any(a >= b for a, b in pairwise(numbers)):
        raise BadInput("The edges must be numbers that rise.", next_step="Give edges=[0, 10, 20], for instance.")
    given = read_numbers(values, exact(numbers[0]), exact(numbers[-1])).given.astype(np.float64)
    places = np.searchsorted(np.array(numbers[1:-1]), given, side="right")
    return list(pairwise(numbers)), np.bincount(places, minlength=len(numbers) - 1)


def by_category(values: object, categories: Sequence[Hashable]) -> tuple[list[Hashable], Counts]:
    """Bins of categories; what is none of them is not counted."""
    places = {category: place for place, category in enumerate(categories) if _has_hash(category)}
    if not places or len(places) != len(categories):
        raise BadInput(
            "The categories must be some, different, and hashable.", next_step='Give categories=["ER", "ICU"].'
        )
    counts = np.zeros(len(places), np.int64)
    for item in read_items(values):
        if _has_hash(item) and item in places:
            counts[places[item]] += 1
    return list(categories), counts


def _has_hash(item: object) -> bool:
    """A list has none, nor has a tuple with a list in it: asking is the only way to know."""
    try:
        hash(item)
    except Exception:  # noqa: BLE001  numpy's durations raise ValueError; whatever it is, it must not come out
        return False
    return True

"""How many values are in each public bin, exactly."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput
from discreet.exact import Number, finite
from discreet.mechanisms.frames import array_of, is_column
from discreet.mechanisms.kinds import Data

Counts = NDArray[np.int64]


def binned(values: object, edges: Sequence[Number]) -> tuple[list[tuple[float, float]], Counts]:
    """Bins of numbers, each from its lower edge to below its upper one, the last including it; what lies beyond counts in the outermost."""
    ends = [finite(edge) for edge in edges]
    numbers = [float(end) for end in ends if end is not None]
    if len(numbers) < max(len(ends), 2) or any(a >= b for a, b in pairwise(numbers)):
        raise BadInput("The edges must be numbers that rise.", next_step="Give edges=[0, 10, 20], for instance.")
    exact = Data.read(values).numbers
    clamped = np.clip(exact, numbers[0], numbers[-1]).astype(np.float64)
    places = np.searchsorted(np.array(numbers[1:-1]), clamped, side="right")
    return list(pairwise(numbers)), np.bincount(places, minlength=len(numbers) - 1)


def by_category(values: object, categories: Sequence[Hashable]) -> tuple[list[Hashable], Counts]:
    """Bins of categories; what is none of them is not counted."""
    places = {category: place for place, category in enumerate(categories)}
    if not places or len(places) != len(categories):
        raise BadInput("The categories must be some, and different.", next_step='Give categories=["ER", "ICU"].')
    items = array_of(values).tolist() if is_column(values) else np.asarray(values, object).ravel().tolist()
    counts = np.zeros(len(places), np.int64)
    for item in items:
        if item in places:
            counts[places[item]] += 1
    return list(categories), counts

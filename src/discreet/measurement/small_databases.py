"""Small databases: every sequence of a few cells, and how far each is from the counts of some tables.

Sequences, not multisets: each has the same weight before the data speak (Blum, Ligett, Roth 2008; Sapienza slides, "SmallDB").
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.errors import BadInput, TooLarge
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Counts
from discreet.noise.exact_selection import MOST_CANDIDATES


def sequences(domain: Domain, length: int) -> int:
    """How many sequences of so many cells there are, or a refusal that names the number."""
    count = int(domain.cells(domain.names) ** length)
    if count > MOST_CANDIDATES:
        raise TooLarge(
            f"There are {count:,} databases of {length} rows over these columns, more than {MOST_CANDIDATES:,}.",
            next_step="Use fewer columns or values, or the method aim.",
        )
    return count


def length_of(domain: Domain, count: int) -> int:
    """How many cells the sequences have of which there are so many."""
    cells, length = domain.cells(domain.names), 1
    while cells > 1 and cells**length < count:
        length += 1
    if cells**length != count:
        raise BadInput("This choice is not among small databases.", next_step="Make it with `small_choice`.")
    return length


def cells_at(domain: Domain, place: int, length: int) -> list[int]:
    """The sequence at a place among all of them."""
    cells = domain.cells(domain.names)
    return [place // cells**power % cells for power in range(length - 1, -1, -1)]


def largest_differences(domain: Domain, exactly: Mapping[Columns, Counts], rows_each: int, length: int) -> Counts:
    """For every sequence, in order, the largest difference between a count of the tables and its own, each of its cells as so many rows."""
    shape = domain.shape(domain.names)
    codes = np.stack(np.unravel_index(np.arange(domain.cells(domain.names)), shape))
    largest = np.zeros(sequences(domain, length), np.int64)
    for columns, counts in exactly.items():
        inside = codes[[domain.names.index(name) for name in columns]]
        cells = np.ravel_multi_index(tuple(inside), domain.shape(columns))
        for cell, count in enumerate(counts.reshape(-1).tolist()):
            rows = added = (cells == cell).astype(np.int64) * rows_each
            for _ in range(length - 1):
                rows = (rows[:, None] + added).reshape(-1)
            np.maximum(largest, np.abs(count - rows), out=largest)
    return largest

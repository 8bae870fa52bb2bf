"""SmallDB: every sequence of a few cells, and how far each is from the counts of some tables.

Sequences, not multisets: each then has the same prior weight (Blum, Ligett, Roth 2008; Sapienza slides, "SmallDB").
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.errors import BadInput, TooLarge
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Counts
from discreet.noise.exact_selection import MOST_CANDIDATES


def sequences(domain: Domain, length: int) -> int:
    """Return the number of sequences of `length` cells, or refuse with that number."""
    count = int(domain.cells(domain.names) ** length)
    if count > MOST_CANDIDATES:
        raise TooLarge(
            f"There are {count:,} databases of {length} rows over these columns, more than {MOST_CANDIDATES:,}.",
            next_step="Use fewer columns or values, or the method aim.",
        )
    return count


def length_of(domain: Domain, count: int) -> int:
    """Return the length for which there are `count` sequences."""
    cells, length = domain.cells(domain.names), 1
    while cells > 1 and cells**length < count:
        length += 1
    if cells**length != count:
        raise BadInput(
            "This mechanism does not choose among small databases.", next_step="Create it with `small_choice`."
        )
    return length


def cells_at(domain: Domain, position: int, length: int) -> list[int]:
    """Return the sequence at a position among all of them."""
    cells = domain.cells(domain.names)
    return [position // cells**power % cells for power in range(length - 1, -1, -1)]


def largest_differences(domain: Domain, exactly: Mapping[Columns, Counts], rows_each: int, length: int) -> Counts:
    """Return, for every sequence in order, the largest difference between a count of the tables and that of the sequence."""
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

"""City blocks with a few residents, and the tables that a census publishes about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import median
from typing import TypeAlias

import numpy as np

Record: TypeAlias = tuple[int, int, int, int]
"""Age, and numbers for sex, race and whether they are married."""
Group: TypeAlias = tuple[tuple[int, int], ...]
"""Residents with these values, as pairs of a column and its value."""

OLDEST = 89
TRAITS = {"sex": ("female", "male"), "race": ("Black", "White"), "married": ("single", "married")}
RECORDS: tuple[Record, ...] = tuple(
    (age, sex, race, married) for age in range(OLDEST + 1) for sex in (0, 1) for race in (0, 1) for married in (0, 1)
)

EXAMPLE: tuple[Record, ...] = (
    (8, 0, 0, 0),
    (18, 1, 1, 0),
    (24, 0, 1, 0),
    (30, 1, 1, 1),
    (36, 0, 0, 1),
    (66, 0, 0, 1),
    (84, 1, 0, 1),
)
"""The fictitious block of Garfinkel, Abowd, Martindale 2018, Understanding Database Reconstruction Attacks."""

VIEWS: Mapping[str, Callable[[Record], tuple[int, ...]]] = {
    "age, sex": lambda record: record[:2],
    "sex, race, married": lambda record: record[1:],
    "age // 10, race": lambda record: (record[0] // 10, record[2]),
    "age // 10, married": lambda record: (record[0] // 10, record[3]),
}
"""Tables of counts by their columns in SQL, each with the cell that a record falls in."""

_SINGLES = tuple((column, value) for column in (1, 2, 3) for value in (0, 1))
GROUPS: tuple[Group, ...] = (
    (),
    *((one,) for one in _SINGLES),
    *((one, other) for one, other in combinations(_SINGLES, 2) if one[0] != other[0]),
)


@dataclass(frozen=True, slots=True)
class Ages:
    """Published statistics of the ages in a group. For so few people, a mean with one decimal gives the sum."""

    count: int
    median: Fraction
    total: int


def draw_block(rng: np.random.Generator, *, residents: int) -> list[Record]:
    """Draw a block with independent uniform records."""
    return [RECORDS[int(number)] for number in rng.integers(len(RECORDS), size=residents)]


def ages_in_groups(block: Sequence[Record], *, least: int) -> dict[Group, Ages | None]:
    """Return number, median and sum of the ages in each group; None for groups with fewer than `least` people."""
    printed: dict[Group, Ages | None] = {}
    for group in GROUPS:
        ages = [record[0] for record in block if all(record[column] == value for column, value in group)]
        printed[group] = Ages(len(ages), Fraction(median(ages)), sum(ages)) if len(ages) >= least else None
    return printed


def counts_by_view(block: Sequence[Record]) -> dict[str, Counter[tuple[int, ...]]]:
    """Count the residents in each cell of each table."""
    return {name: Counter(cell(record) for record in block) for name, cell in VIEWS.items()}


def cells_of(view: str) -> list[tuple[int, ...]]:
    """Return all cells of a table."""
    return sorted({VIEWS[view](record) for record in RECORDS})


def in_words(record: Record) -> str:
    """Describe a record, as in "8 female Black single"."""
    return " ".join([str(record[0]), *(names[value] for names, value in zip(TRAITS.values(), record[1:], strict=True))])


def group_in_words(group: Group) -> str:
    """Describe a group, as in "female Black"."""
    return " ".join(tuple(TRAITS.values())[column - 1][value] for column, value in group) or "everyone"

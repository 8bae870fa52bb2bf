"""k-anonymous and l-diverse tables: each person is in a group, and the group's sensitive values are published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """Rows with the same published ranges: the range of each known column, and the unordered sensitive values."""

    lows: Ints
    highs: Ints
    values: Ints

    def contains(self, known: Ints) -> bool:
        """Whether a person with these columns may be in the group."""
        return bool(np.all((self.lows <= known) & (known <= self.highs)))


def k_anonymous(known: Ints, values: Ints, *, k: int) -> list[Group]:
    """Return groups of at least k people.

    Citation: LeFevre, DeWitt, Ramakrishnan 2006, Mondrian (strict, median splits).
    """
    return _mondrian(known, values, lambda rows: rows.size >= k)


def l_diverse(known: Ints, values: Ints, *, k: int, l: int) -> list[Group]:  # noqa: E741  its name in the literature
    """Return groups of at least k people with at least l different values (distinct l-diversity).

    Citation: Machanavajjhala et al. 2007, l-Diversity: Privacy Beyond k-Anonymity.
    """
    return _mondrian(known, values, lambda rows: rows.size >= k and np.unique(values[rows]).size >= l)


def _mondrian(known: Ints, values: Ints, is_allowed: Callable[[Ints], bool]) -> list[Group]:
    """Split groups at the median of the widest column as long as both sides are allowed."""
    spans = np.maximum(1, np.ptp(known, axis=0))
    groups, waiting = [], [np.arange(values.size)]
    while waiting:
        rows = waiting.pop()
        here = known[rows]
        for column in np.argsort(-np.ptp(here, axis=0) / spans, kind="stable"):
            below = here[:, column] <= np.median(here[:, column])
            sides = rows[below], rows[~below]
            if all(side.size and is_allowed(side) for side in sides):
                waiting.extend(sides)
                break
        else:
            groups.append(Group(here.min(axis=0), here.max(axis=0), values[rows]))
    return groups


def group_of(groups: list[Group], known: Ints) -> Group:
    """Return the group of a person."""
    return next(group for group in groups if group.contains(known))

"""Exact integers on their way from an engine to the noise. Nobody else imports this."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.sql.scope import KeyValue

GroupKey: TypeAlias = tuple[KeyValue, ...]
Histogram: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Candidates' numbers, and how many rows each has."""


@dataclass(frozen=True, slots=True, repr=False)
class ExactRows:
    """One grouping: for each group that has rows, its key and its measures. The repr hides both.

    `people` is how many people each group has, where groups are to be selected; empty otherwise. `histograms` holds, by
    the number of a quantile's measure, how many rows each group has at each candidate.
    """

    groups: dict[GroupKey, tuple[int, ...]]
    people: dict[GroupKey, int] = field(default_factory=dict)
    histograms: dict[int, dict[GroupKey, Histogram]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "ExactRows(hidden)"

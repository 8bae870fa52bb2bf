"""Checks that public lookup tables fit a domain.

Then every row has exactly one entry in each table and is in exactly one part, so it is counted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.engines.tables.residual_sums import LARGEST_SCORE, Partition, Residuals, Score, Split
from discreet.errors import BadInput
from discreet.measurement.domain import Domain


def check_splits(domain: Domain, splits: Iterable[Split]) -> None:
    """Refuse splits that do not assign every code of their column to a side."""
    if not all(_is_of(domain, split.column, split.is_second) for split in splits):
        raise BadInput("A split must assign every code of its column to a side.", next_step="Learn it from such rows.")


def check_partition(domain: Domain, partition: Partition) -> None:
    """Refuse a partition whose level d does not have one split for each node of level d - 1."""
    check_splits(domain, (split for level in partition for split in level))
    if [len(level) for level in partition] != [2**depth for depth in range(len(partition))]:
        raise BadInput("Each level needs one split for each node above it.", next_step="Learn it from such rows.")


def check_scores(domain: Domain, scores: Sequence[Score]) -> None:
    """Refuse scores that are undefined for some row or that could overflow: such a failure would reveal something about a row."""
    tables = [(at, entries) for score in scores for at, entries in score.entries.items()]
    if not all(_is_of(domain, at, entries) for at, entries in tables) or any(
        Residuals.bound(score) > LARGEST_SCORE for score in scores
    ):
        raise BadInput(
            "A score needs an entry for every code, none of them too large.", next_step="Learn it from such rows."
        )


def _is_of(domain: Domain, column: int, table: Sequence[object]) -> bool:
    return 0 <= column < len(domain.columns) and len(table) == domain.columns[column].size

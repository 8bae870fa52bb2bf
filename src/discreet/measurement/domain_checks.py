"""Whether public tables are of a domain: then every row has one entry in each of them and is in one part, and so counts once in what is added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.engines.tables.residual_sums import LARGEST_SCORE, Partition, Residuals, Score, Split
from discreet.errors import BadInput
from discreet.measurement.domain import Domain


def check_splits(domain: Domain, splits: Iterable[Split]) -> None:
    """Refuse queries that do not say of every code of their column where it goes.

    Args:
        domain: What is public about the rows.
        splits: The queries.
    """
    if not all(_is_of(domain, split.column, split.is_second) for split in splits):
        raise BadInput("A split says of every code of a column where it goes.", next_step="Learn it from such rows.")


def check_partition(domain: Domain, partition: Partition) -> None:
    """Refuse levels that do not ask one query in each part.

    Args:
        domain: What is public about the rows.
        partition: Level by level.
    """
    check_splits(domain, (split for level in partition for split in level))
    if [len(level) for level in partition] != [2**depth for depth in range(len(partition))]:
        raise BadInput("A level has one question for each part above it.", next_step="Learn it from such rows.")


def check_scores(domain: Domain, scores: Sequence[Score]) -> None:
    """Refuse scores that some row would not have, or that engines could not add up: whether they fail would tell of a row.

    Args:
        domain: What is public about the rows.
        scores: One a class.
    """
    tables = [(at, entries) for score in scores for at, entries in score.entries.items()]
    if not all(_is_of(domain, at, entries) for at, entries in tables) or any(
        Residuals.bound(score) > LARGEST_SCORE for score in scores
    ):
        raise BadInput("A score has an entry for every code, none too large.", next_step="Learn it from such rows.")


def _is_of(domain: Domain, column: int, table: Sequence[object]) -> bool:
    return 0 <= column < len(domain.columns) and len(table) == domain.columns[column].size

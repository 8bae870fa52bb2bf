"""The neighbour relation of the books: a spent epsilon means nothing without it, so it is an entry of the chain."""

from __future__ import annotations

from discreet.core.loss import Neighbours
from discreet.errors import WrongNeighbours

KIND = "neighbours"


def check_same(kept: Neighbours, declared: Neighbours) -> None:
    """Refuse a relation that is not the one of the books."""
    if kept is not declared:
        raise WrongNeighbours(
            f"These books count what was spent under {kept.value} neighbours, and the catalog declares "
            f"{declared.value}: the two do not add up.",
            next_step=f'Declare neighbours = "{kept.value}" again, or begin new books at another ledger path.',
        )

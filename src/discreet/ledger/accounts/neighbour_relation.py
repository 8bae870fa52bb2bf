"""The neighbour relation of a ledger, as an entry of the chain: an epsilon has no meaning without it."""

from __future__ import annotations

from discreet.core.loss import Neighbours
from discreet.errors import WrongNeighbours

KIND = "neighbours"


def check_same(kept: Neighbours, declared: Neighbours) -> None:
    """Refuse a relation that is not the recorded one."""
    if kept is not declared:
        raise WrongNeighbours(
            f"This ledger counts charges under {kept.value} neighbours, and the catalog declares "
            f"{declared.value}: the two do not add up.",
            next_step=f'Declare neighbours = "{kept.value}" again, or create a new ledger at another path.',
        )

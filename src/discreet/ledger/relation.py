"""The neighbour relation of the books: a spent epsilon means nothing without it, so it is an entry of the chain."""

from __future__ import annotations

from discreet.errors import BadInput, LedgerDamaged, WrongNeighbours
from discreet.ledger import chain
from discreet.loss import Neighbours
from discreet.store import Transaction

KIND = "neighbours"


def recorded(t: Transaction) -> Neighbours | None:
    """The relation that the books are kept for; None where no entry says so yet."""
    entry = chain.first_of_kind(t, KIND)
    if entry is None:
        return None
    chain.check_intact(entry, "The entry that names the neighbour relation was changed.")
    try:
        return Neighbours(entry.body.get("relation"))
    except BadInput:
        raise LedgerDamaged(
            "The books name no known neighbour relation.", next_step="Ask the owner to verify the books."
        ) from None


def check_same(kept: Neighbours, declared: Neighbours) -> None:
    """Refuse a relation that is not the one of the books."""
    if kept is not declared:
        raise WrongNeighbours(
            f"These books count what was spent under {kept.value} neighbours, and the catalog declares "
            f"{declared.value}: the two do not add up.",
            next_step=f'Declare neighbours = "{kept.value}" again, or begin new books at another ledger path.',
        )

"""Opening books that are there: never begun by chance, with the secret that they are sealed with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from discreet.errors import BadInput, NoLedger
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.anchor import Anchor
from discreet.ledger.chain.entries import COMMAND_LINE, Entry
from discreet.ledger.chain.reseal import Before, seal_all
from discreet.ledger.chain.schema import SCHEMA, VERSION
from discreet.store import Store, open_store
from discreet.store.secret import require_secret


class _Closable(Protocol):
    def close(self) -> None:
        """Let go of it."""


Opened = TypeVar("Opened", bound=_Closable)


@contextmanager
def close_on_error(opened: Opened) -> Iterator[Opened]:
    """A store, books or an engine that stay open if all goes well."""
    try:
        yield opened
    except BaseException:
        opened.close()
        raise


def open_existing_store(where: str | Path) -> Store:
    """The database of books that are there, with today's tables."""
    with close_on_error(open_store(where, must_exist=True)) as store:
        if not store.exists() or not store.has("ledger"):
            raise NoLedger(
                "There is no ledger there, and none is begun by chance.",
                next_step="Check the path, and that its disk is mounted; `discreet ledger new` begins one.",
            )
        store.create_tables("ledger", SCHEMA, version=VERSION)
        return store


def ledger_secret(store: Store, where: str | Path, *, anchor: Anchor) -> bytes:
    """The secret that the books are sealed with; it is made with the first entry."""
    with store.transaction() as t:
        anchor.check(partial(entry_chain.hash_at, t))
        first = entry_chain.entry_at(t, 1)
    return require_secret(where, make=first is None)


def seal_ledger(
    where: str | Path, *, anchor: str | Path | None, earlier: bytes | None = None, lost: bool = False
) -> Entry:
    """Seal the books anew with the secret of today. Returned is the entry that says so.

    `earlier` is the secret that they are sealed with; `lost` says that it is gone, and that the chain is to be believed as
    it is hashed. A secret of today that is missing beside a file is made.
    """
    noted = Anchor(anchor if Anchor(anchor).noted is not None else None)
    with closing(open_existing_store(where)) as store:
        if earlier is None and not lost:
            raise BadInput(
                "These books are sealed already, or nothing is in them.",
                next_step="If their secret was changed, give the earlier one; if it is lost, say so.",
            )
        before = Before.ANOTHER_SECRET if earlier is not None else Before.LOST_SECRET
        secret = require_secret(where)
        return seal_all(store, secret, earlier=earlier, before=before, anchor=noted, by=COMMAND_LINE)

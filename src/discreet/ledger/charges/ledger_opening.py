"""Open an existing ledger with its secret. A missing ledger is never created by accident."""

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
        """Release its resources."""


Opened = TypeVar("Opened", bound=_Closable)


@contextmanager
def close_on_error(opened: Opened) -> Iterator[Opened]:
    """Close a store, ledger or engine if the block raises an error; otherwise leave it open."""
    try:
        yield opened
    except BaseException:
        opened.close()
        raise


def open_existing_store(where: str | Path) -> Store:
    """Open the database of an existing ledger."""
    with close_on_error(open_store(where, must_exist=True)) as store:
        if not store.exists() or not store.has("ledger"):
            raise NoLedger(
                "There is no ledger at this path, and opening does not create one.",
                next_step="Check the path, and that its disk is mounted; `discreet ledger new` creates one.",
            )
        store.create_tables("ledger", SCHEMA, version=VERSION)
        return store


def ledger_secret(store: Store, where: str | Path, *, anchor: Anchor) -> bytes:
    """Return the secret of a ledger. It is created before the first entry."""
    with store.transaction() as t:
        anchor.check(partial(entry_chain.hash_at, t))
        first = entry_chain.entry_at(t, 1)
    return require_secret(where, make=first is None)


def seal_ledger(
    where: str | Path, *, anchor: str | Path | None, earlier: bytes | None = None, lost: bool = False
) -> Entry:
    """Seal all entries with the current secret and return the entry that records it.

    `earlier` is the secret of the present seals. `lost` means that it is lost, so that only the hashes of the chain are
    checked. A missing current secret of a file is created.
    """
    noted = Anchor(anchor if Anchor(anchor).noted is not None else None)
    with closing(open_existing_store(where)) as store:
        if earlier is None and not lost:
            raise BadInput(
                "This ledger is sealed already, or it is empty.",
                next_step="If its secret was changed, give the earlier one; if it is lost, use `--lost`.",
            )
        before = Before.ANOTHER_SECRET if earlier is not None else Before.LOST_SECRET
        secret = require_secret(where)
        return seal_all(store, secret, earlier=earlier, before=before, anchor=noted, by=COMMAND_LINE)

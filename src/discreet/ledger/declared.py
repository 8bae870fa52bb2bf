"""The books that a catalog declares: opened or begun, for those whom it protects, with an account for the dataset and one for each analyst it lists."""

from __future__ import annotations

from discreet.catalog import Catalog
from discreet.errors import NoLedger
from discreet.ledger import caps, promises
from discreet.ledger.caps import CATALOG
from discreet.ledger.ledger import Ledger
from discreet.ledger.opening import closed_if_refused


def open_books(catalog: Catalog, *, new_books: bool = False) -> Ledger:
    """The ledger of a catalog; one that is missing is refused, or begun."""
    try:
        ledger = Ledger.open(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)
    except NoLedger:
        if not new_books:
            raise
        return begin_books(catalog)
    return _as_declared(ledger, catalog)


def begin_books(catalog: Catalog) -> Ledger:
    """A new ledger with the accounts of a catalog; refused where there is one."""
    ledger = Ledger.new(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)
    return _as_declared(ledger, catalog)


def check_promises(ledger: Ledger, catalog: Catalog) -> None:
    """Refuse a catalog whose promises are not those of the books; nothing is written about its people."""
    ledger.keep_neighbours(catalog.neighbours)
    promises.check_units(ledger.running().units, catalog)


def keep_declared(ledger: Ledger, catalog: Catalog) -> None:
    """Write down whom a catalog protects, give accounts the caps that it declares now, and close those of analysts whom it lists no more."""
    ledger.record(lambda draft: promises.units_in_news(draft, catalog), by=CATALOG)
    ledger.open_account(catalog.cap, by=CATALOG)
    for analyst, cap in catalog.analysts.items():
        ledger.open_account(cap, analyst=analyst, by=CATALOG)
    ledger.record(lambda draft: caps.closings(draft, catalog.analysts), by=CATALOG)


def note_served(ledger: Ledger, catalog: Catalog) -> None:
    """Write down which catalog answers from now on."""
    ledger.record(lambda draft: promises.served_in_news(draft, catalog), by=CATALOG)


def _as_declared(ledger: Ledger, catalog: Catalog) -> Ledger:
    with closed_if_refused(ledger):
        keep_declared(ledger, catalog)
    return ledger

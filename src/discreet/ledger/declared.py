"""The books that a catalog declares: opened or begun, with an account for the dataset and one for each analyst who has a cap."""

from __future__ import annotations

from discreet.catalog import Catalog
from discreet.errors import NoLedger
from discreet.ledger.caps import CATALOG
from discreet.ledger.ledger import Ledger


def open_books(catalog: Catalog, *, new_books: bool = False) -> Ledger:
    """The ledger of a catalog; one that is missing is refused, or begun."""
    try:
        ledger = Ledger.open(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)
    except NoLedger:
        if not new_books:
            raise
        return begin_books(catalog)
    return _with_accounts(ledger, catalog)


def begin_books(catalog: Catalog) -> Ledger:
    """A new ledger with the accounts of a catalog; refused where there is one."""
    ledger = Ledger.new(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)
    return _with_accounts(ledger, catalog)


def open_accounts(ledger: Ledger, catalog: Catalog) -> None:
    """Open the accounts that a catalog declares, or give those that are open the caps that it declares now."""
    ledger.open_account(catalog.cap, by=CATALOG)
    for analyst, cap in catalog.analysts.items():
        ledger.open_account(cap, analyst=analyst, by=CATALOG)


def _with_accounts(ledger: Ledger, catalog: Catalog) -> Ledger:
    try:
        open_accounts(ledger, catalog)
    except BaseException:
        ledger.close()
        raise
    return ledger

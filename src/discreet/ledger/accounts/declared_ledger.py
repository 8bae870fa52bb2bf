"""The books that a catalog declares: opened or begun, for those whom it protects, with an account for the dataset and one for each analyst it lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from discreet.catalog import Catalog
from discreet.errors import NoLedger
from discreet.ledger.accounts import caps, catalog_binding
from discreet.ledger.accounts.account_rows import shared_account
from discreet.ledger.accounts.caps import CATALOG
from discreet.ledger.charges.ledger import Ledger
from discreet.ledger.charges.ledger_opening import closed_if_refused

if TYPE_CHECKING:
    from discreet.ledger.charges.unit_of_work import Draft


def open_books(catalog: Catalog) -> Ledger:
    """The ledger of a catalog, with the accounts that it declares by now; one that is missing is refused."""
    return _as_declared(books_of(catalog), catalog)


def begin_books(catalog: Catalog) -> Ledger:
    """A new ledger with the accounts of a catalog; refused where there is one."""
    return _as_declared(_new_books(catalog), catalog)


def books_of(catalog: Catalog, *, new_books: bool = False) -> Ledger:
    """The ledger of a catalog whose promises are those of the books; nothing of it is stated yet. One that is missing is refused, or begun."""
    try:
        ledger = Ledger.open(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)
    except NoLedger:
        if not new_books:
            raise
        ledger = _new_books(catalog)
    with closed_if_refused(ledger):
        check_promises(ledger, catalog)
    return ledger


def check_promises(ledger: Ledger, catalog: Catalog) -> None:
    """Refuse a catalog whose promises are not those of the books; nothing is written about its people."""
    ledger.keep_neighbours(catalog.neighbours)
    catalog_binding.check_units(ledger.running().units, catalog)


def keep_declared(ledger: Ledger, catalog: Catalog) -> None:
    """Write down whom a catalog protects, give accounts the caps that it declares now, and close those of analysts whom it lists no more.

    All of it or nothing: of a catalog that is refused, not a word counts.
    """
    ledger.record(lambda draft: _news(draft, catalog), by=CATALOG)


def note_served(ledger: Ledger, catalog: Catalog) -> None:
    """Write down which catalog answers from now on."""
    ledger.record(lambda draft: catalog_binding.served_in_news(draft, catalog), by=CATALOG)


def _news(draft: Draft, catalog: Catalog) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from catalog_binding.units_in_news(draft, catalog)
    for analyst, cap in [(None, catalog.cap), *catalog.analysts.items()]:
        caps.state(draft, caps.account_for(analyst), cap, by=CATALOG)
    for graph in catalog.graphs.values():
        if graph.cap is not None:
            caps.state(draft, shared_account(graph.edges.name), graph.cap, by=CATALOG)
    yield from caps.listings(draft, catalog.analysts)
    yield from caps.closings(draft, catalog.analysts)


def _new_books(catalog: Catalog) -> Ledger:
    return Ledger.new(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)


def _as_declared(ledger: Ledger, catalog: Catalog) -> Ledger:
    with closed_if_refused(ledger):
        keep_declared(ledger, catalog)
    return ledger

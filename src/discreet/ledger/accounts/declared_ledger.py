"""Open or create the ledger of a catalog, with an account for the dataset and one for each analyst in the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from discreet.catalog import Catalog
from discreet.errors import NoLedger
from discreet.ledger.accounts import caps, catalog_binding
from discreet.ledger.accounts.account_rows import shared_account
from discreet.ledger.accounts.caps import CATALOG
from discreet.ledger.charges.ledger import Ledger
from discreet.ledger.charges.ledger_opening import close_on_error

if TYPE_CHECKING:
    from discreet.ledger.charges.unit_of_work import UnitOfWork


def open_existing_ledger(catalog: Catalog) -> Ledger:
    """Open the ledger of a catalog and record its declarations; refuse a missing ledger."""
    return _with_declarations(open_ledger(catalog), catalog)


def start_ledger(catalog: Catalog) -> Ledger:
    """Create a ledger with the accounts of a catalog; refuse if one exists."""
    return _with_declarations(_create_ledger(catalog), catalog)


def open_ledger(catalog: Catalog, *, create_ledger: bool = False) -> Ledger:
    """Open the ledger of a catalog and check that they match, without recording declarations.

    A missing one is created on request.
    """
    try:
        ledger = Ledger.open(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)
    except NoLedger:
        if not create_ledger:
            raise
        ledger = _create_ledger(catalog)
    with close_on_error(ledger):
        check_ledger_matches(ledger, catalog)
    return ledger


def check_ledger_matches(ledger: Ledger, catalog: Catalog) -> None:
    """Refuse a catalog whose neighbour relation or privacy units differ from the recorded ones."""
    ledger.record_neighbours(catalog.neighbours)
    catalog_binding.check_units(ledger.totals().units, catalog)


def record_declarations(ledger: Ledger, catalog: Catalog) -> None:
    """Record privacy units, set the declared caps and close the accounts of analysts who are no longer in the catalog.

    All in one transaction: a refused catalog changes nothing.
    """
    ledger.record(lambda work: _declaration_entries(work, catalog), by=CATALOG)


def record_served_catalog(ledger: Ledger, catalog: Catalog) -> None:
    """Record the hash of the catalog that is in use from now on."""
    ledger.record(lambda work: catalog_binding.served_entries(work, catalog), by=CATALOG)


def _declaration_entries(work: UnitOfWork, catalog: Catalog) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from catalog_binding.unit_entries(work, catalog)
    for analyst, cap in [(None, catalog.cap), *catalog.analysts.items()]:
        caps.set_cap(work, caps.account_for(analyst), cap, by=CATALOG)
    for graph in catalog.graphs.values():
        if graph.cap is not None:
            caps.set_cap(work, shared_account(graph.edges.name), graph.cap, by=CATALOG)
    yield from caps.list_entries(work, catalog.analysts)
    yield from caps.close_entries(work, catalog.analysts)


def _create_ledger(catalog: Catalog) -> Ledger:
    return Ledger.new(catalog.ledger, neighbours=catalog.neighbours, anchor=catalog.anchor)


def _with_declarations(ledger: Ledger, catalog: Catalog) -> Ledger:
    with close_on_error(ledger):
        record_declarations(ledger, catalog)
    return ledger

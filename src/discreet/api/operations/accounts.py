"""Read accounts, past releases, the catalog and the transparency card."""

from __future__ import annotations

from typing import Any

from discreet.api.context import Context
from discreet.api.requests.accounts import BudgetRequest, CardRequest, CatalogRequest, HistoryRequest
from discreet.catalog.public_view import graphs_of, public_tables, trees_of
from discreet.results.ledger_views import balances, card, history
from discreet.results.models import CatalogFacts


def run(request: BudgetRequest | HistoryRequest | CatalogRequest | CardRequest, context: Context) -> Any:
    """Read what was asked for. Nothing is spent."""
    declared = context.catalog
    match request:
        case BudgetRequest():
            return balances(context.ledger, context.analyst)
        case HistoryRequest():
            return history(context.ledger, context.analyst, before=request.before, limit=request.limit)
        case CardRequest():
            return card(context.ledger, declared, dataset=context.dataset, version=context.version)
    tables, trees, graphs = public_tables(declared), trees_of(declared), graphs_of(declared)
    return CatalogFacts(context.dataset, context.version, tuple(tables), tuple(trees), tuple(graphs))

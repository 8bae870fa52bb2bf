"""What a catalog promises to people, as entries of the chain: whom every price is about, and which catalog answers.

An epsilon is about somebody: a person with all their rows, or one row. Charges that were about others do not add up with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.catalog import Catalog, Network, PrivacyUnit, Table
from discreet.errors import WrongUnit

if TYPE_CHECKING:
    from discreet.ledger.charges.unit_of_work import UnitOfWork

UNITS, SERVED = "units", "served"


def check_units(known: Mapping[str, Mapping[str, Any]], catalog: Catalog) -> None:
    """Refuse a catalog that protects somebody else in a table than the books do, or nobody any more.

    `known` is what the books say of each table. A table that they do not know may protect whomever it likes.
    """
    units = {name: _unit(table.unit) for name, table in catalog.tables.items()}
    units |= {graph.edges.name: _edge_unit(graph) for graph in catalog.graphs.values()}
    for name in sorted(known.keys() & units.keys()):
        before, now = known[name]["unit"], units[name]
        if before != now:
            raise WrongUnit(
                f"In these books {_describe_unit(before)} of {name} is protected, and in the catalog {_describe_unit(now)}: "
                "what was spent was spent on others.",
                next_step=f"Declare the privacy unit of {name} as it was, or begin new books at another ledger path.",
            )


def unit_entries(work: UnitOfWork, catalog: Catalog) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entry that says whom the tables protect and how many rows of one count, where the books do not say so yet; or a refusal."""
    known = work.totals.units
    check_units(known, catalog)
    tables = {table.name: _unit_record(table) for table in catalog.tables.values() if not table.is_public}
    tables |= {graph.edges.name: {"unit": _edge_unit(graph)} for graph in catalog.graphs.values()}
    news = {name: promise for name, promise in tables.items() if known.get(name) != promise}
    if news:
        yield UNITS, {"tables": news}


def served_entries(work: UnitOfWork, catalog: Catalog) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entry that says which catalog answers from now on; none of one that was never a text."""
    if catalog.sha256 and catalog.sha256 != work.totals.served:
        yield SERVED, {"sha256": catalog.sha256}


def describe_units(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """An entry for people."""
    return "; ".join(
        f"{_describe_unit(promise['unit'])} of {name}"
        + (f", at most {promise['max_rows']} rows" if "max_rows" in promise else "")
        for name, promise in tables.items()
    )


def _unit_record(table: Table) -> dict[str, Any]:
    bounding = "once" if table.is_bounded_once else "each question"
    return {"unit": _unit(table.unit), "max_rows": table.max_rows, "bounding": bounding}


def _unit(unit: PrivacyUnit | None) -> dict[str, Any] | None:
    """As JSON gives it back."""
    if unit is None:
        return None
    path = [[step.column, step.table, step.key] for step in unit.path]
    return {"column": unit.column, "path": path, "each_row": unit.is_row}


def _edge_unit(graph: Network) -> dict[str, Any]:
    """What of a network's edges is protected."""
    return {"graph": graph.privacy, "ends": list(graph.ends)}


def _describe_unit(unit: Mapping[str, Any] | None) -> str:
    if unit is None:
        return "nobody"
    if "graph" in unit:
        return "each edge" if unit["graph"] == "edge" else "each person with all edges"
    if unit["each_row"]:
        return "each row"
    return f"each {' → '.join([step[0] for step in unit['path']] + [unit['column']])}"

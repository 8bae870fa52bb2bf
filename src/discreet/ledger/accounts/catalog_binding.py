"""What a ledger records of its catalog: the privacy unit of each table, and the hash of the catalog in use.

An epsilon is about a privacy unit: a person with all their rows, or one row. Charges about different units do not add
up.
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
    """Refuse a catalog whose privacy unit of a table differs from the recorded one.

    `known` is the record of each table. A table without a record may have any unit.
    """
    units = {name: _unit(table.unit) for name, table in catalog.tables.items()}
    units |= {graph.edges.name: _edge_unit(graph) for graph in catalog.graphs.values()}
    for name in sorted(known.keys() & units.keys()):
        before, now = known[name]["unit"], units[name]
        if before != now:
            raise WrongUnit(
                f"This ledger protects {_describe_unit(before)} of {name}, and the catalog {_describe_unit(now)}: "
                "the charges so far are about other units.",
                next_step=f"Declare the privacy unit of {name} as it was, or create a new ledger at another path.",
            )


def unit_entries(work: UnitOfWork, catalog: Catalog) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entry with the privacy units and row bounds that are not recorded yet; refuse a changed unit."""
    known = work.totals.units
    check_units(known, catalog)
    tables = {table.name: _unit_record(table) for table in catalog.tables.values() if not table.is_public}
    tables |= {graph.edges.name: {"unit": _edge_unit(graph)} for graph in catalog.graphs.values()}
    news = {name: promise for name, promise in tables.items() if known.get(name) != promise}
    if news:
        yield UNITS, {"tables": news}


def served_entries(work: UnitOfWork, catalog: Catalog) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entry with the hash of the catalog in use, if it changed.

    A catalog that was not read from text has no hash.
    """
    if catalog.sha256 and catalog.sha256 != work.totals.served:
        yield SERVED, {"sha256": catalog.sha256}


def describe_units(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Describe the privacy units of an entry in words."""
    return "; ".join(
        f"{_describe_unit(promise['unit'])} of {name}"
        + (f", at most {promise['max_rows']} rows" if "max_rows" in promise else "")
        for name, promise in tables.items()
    )


def _unit_record(table: Table) -> dict[str, Any]:
    bounding = "once" if table.is_bounded_once else "each question"
    return {"unit": _unit(table.unit), "max_rows": table.max_rows, "bounding": bounding}


def _unit(unit: PrivacyUnit | None) -> dict[str, Any] | None:
    """Return a privacy unit as JSON."""
    if unit is None:
        return None
    path = [[step.column, step.table, step.key] for step in unit.path]
    return {"column": unit.column, "path": path, "each_row": unit.is_row}


def _edge_unit(graph: Network) -> dict[str, Any]:
    """Return the privacy unit of a network's edges as JSON."""
    return {"graph": graph.privacy, "ends": list(graph.ends)}


def _describe_unit(unit: Mapping[str, Any] | None) -> str:
    if unit is None:
        return "no one"
    if "graph" in unit:
        return "each edge" if unit["graph"] == "edge" else "each person with all edges"
    if unit["each_row"]:
        return "each row"
    return f"each {' → '.join([step[0] for step in unit['path']] + [unit['column']])}"

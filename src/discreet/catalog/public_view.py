"""The catalog in the form that everyone may see: all of it except file paths."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

from discreet.catalog.declarations import Catalog, Column, Table


def public_tables(catalog: Catalog) -> list[dict[str, Any]]:
    """Return tables with their columns, types, bounds and values."""
    return [_table(table) for table in catalog.tables.values()]


def trees_of(catalog: Catalog) -> list[dict[str, Any]]:
    """Return trees of regions with their invariants."""
    return [
        {
            "name": tree.name,
            "table": tree.table,
            "levels": list(tree.levels),
            "invariant": tree.invariant,
            "of": tree.of,
        }
        for tree in catalog.trees.values()
    ]


def graphs_of(catalog: Catalog) -> list[dict[str, Any]]:
    """Return networks with what they protect."""
    return [
        {
            "name": graph.name,
            "nodes": graph.nodes,
            "edges": graph.edges.name,
            "privacy": graph.privacy,
            "max_degree": graph.max_degree,
            "per_node": graph.per_node,
            "attributes": [column.name for column in catalog.tables[graph.nodes].columns.values() if column.values],
        }
        for graph in catalog.graphs.values()
    ]


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "public": table.is_public,
        "person": None if table.unit is None else table.unit.column,
        "path": [] if table.unit is None else [[step.column, step.table, step.key] for step in table.unit.path],
        "max_rows": None if table.is_public else table.max_rows,
        "columns": [_column(column) for column in table.columns.values()],
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type.value,
        "lower": _plain(column.lower),
        "upper": _plain(column.upper),
        "values": None if column.values is None else [_plain(value) for value in column.values],
        "nullable": column.nullable,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value.isoformat() if isinstance(value, date) else value

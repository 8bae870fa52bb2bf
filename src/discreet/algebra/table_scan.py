"""Turn a table of the catalog into a relation."""

from __future__ import annotations

from discreet.algebra.relations import Scan
from discreet.algebra.value_properties import AS_READ, ValueProperties
from discreet.catalog import Catalog, PrivacyUnit, Table, Type
from discreet.core.loss import Neighbours


def scan(table: Table, catalog: Catalog, *, size: int = 0) -> Scan:
    """Return a scan of a table, with as many rows per person as its snapshot keeps.

    `size` is the size of a public table.
    """
    if table.unit is None:
        return Scan(table, None, None, frozenset(), size)
    person = _owner(table, table.unit, catalog)
    units = [other.unit for other in catalog.tables.values() if other.unit is not None]
    unique = frozenset(step.key for unit in units for step in unit.path if step.table == table.name)
    each_once = table.lists_people and catalog.neighbours is Neighbours.REPLACE_ONE
    return Scan(table, person, table.rows_kept, unique, 0, each_once)


def _owner(table: Table, unit: PrivacyUnit, catalog: Catalog) -> ValueProperties:
    """Return the properties of the person's id: a hidden row number if each row is a person, else its column."""
    if unit.is_row:
        return ValueProperties(type=Type.INTEGER, nullable=False, person=True)
    last = catalog.tables[unit.path[-1].table] if unit.path else table
    declared = last.columns[unit.column]
    return ValueProperties(
        type=declared.type, nullable=False, person=True, longest=declared.max_length if declared.type is Type.TEXT else None,
        magnitudes=AS_READ if declared.type is Type.REAL else None,
    )  # fmt: skip

"""A table of the catalog as a relation: whose rows they are, how many a person has, and which columns tell them apart."""

from __future__ import annotations

from discreet.algebra.relations import Scan
from discreet.algebra.value_properties import AS_READ, ValueProperties
from discreet.catalog import Catalog, PrivacyUnit, Table, Type
from discreet.core.loss import Neighbours


def scan(table: Table, catalog: Catalog, *, size: int = 0) -> Scan:
    """A table of the catalog, with as many rows of a person as its snapshot keeps. `size` is of a public one."""
    if table.unit is None:
        return Scan(table, None, None, frozenset(), size)
    person = _owner(table, table.unit, catalog)
    units = [other.unit for other in catalog.tables.values() if other.unit is not None]
    unique = frozenset(step.key for unit in units for step in unit.path if step.table == table.name)
    each_once = table.lists_people and catalog.neighbours is Neighbours.REPLACE_ONE
    return Scan(table, person, table.rows_kept, unique, 0, each_once)


def _owner(table: Table, unit: PrivacyUnit, catalog: Catalog) -> ValueProperties:
    """What is known of whom rows belong to: a number that nobody sees where each row is a person, else what the catalog declares of the ids."""
    if unit.is_row:
        return ValueProperties(type=Type.INTEGER, nullable=False, person=True)
    last = catalog.tables[unit.path[-1].table] if unit.path else table
    declared = last.columns[unit.column]
    return ValueProperties(
        type=declared.type, nullable=False, person=True, longest=declared.max_length if declared.type is Type.TEXT else None,
        magnitudes=AS_READ if declared.type is Type.REAL else None,
    )  # fmt: skip

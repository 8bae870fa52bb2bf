"""Trees of regions in a catalog, read strictly.

[trees.geo] table = "blocks", levels = ["state", "county", "block"], invariant = "state", of = "people".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.catalog.declarations import Regions, Table, Type
from discreet.core.loss import Neighbours
from discreet.errors import BadCatalog

KEYS = {"table", "levels", "invariant", "of"}
WHOLE = "all"
"""Name of the level above all columns."""


def read_tree(
    name: str,
    section: Mapping[str, Any],
    tables: Mapping[str, Table],
    neighbours: Neighbours,
    wrong: Callable[[str, str, str], BadCatalog],
) -> Regions:
    """Read one section, or refuse it with the key that is wrong."""
    path, levels, invariant = f"trees.{name}", section.get("levels"), section.get("invariant")
    table = tables.get(str(section.get("table")))
    if table is None or not table.is_public:
        raise wrong(
            f"{path}.table", "is not a public table", "Declare a table with public = true and one row per region."
        )
    named = isinstance(levels, list) and all(isinstance(level, str) for level in levels)
    if not named or not levels or len({*levels, WHOLE}) <= len(levels):
        raise wrong(f"{path}.levels", "must list different columns", 'Write levels = ["state", "county", "block"].')
    for level in levels:
        column = table.columns.get(level)
        if (column is None and table.columns) or (column is not None and column.type not in (Type.INTEGER, Type.TEXT)):
            raise wrong(
                f"{path}.levels", f"{level} is not an integer or text column of that table", "Name declared columns."
            )
    if invariant is not None and invariant not in levels:
        raise wrong(f"{path}.invariant", "names no level", f"Name one of: {', '.join(levels)}.")
    if invariant is not None and neighbours is Neighbours.ADD_REMOVE:
        raise wrong(
            f"{path}.invariant",
            "protects nobody under add-remove, because neighbours then never have equal totals",
            'Write neighbours = "replace-one", or remove invariant.',
        )
    people = tables.get(str(section.get("of")))
    is_counted = people is not None and not people.is_public and levels[-1] in people.columns
    if invariant is not None and not is_counted:  # otherwise an analyst could choose which rows are counted exactly
        raise wrong(
            f"{path}.of",
            f"is not a protected table with a column {levels[-1]}",
            'Write of = "people" beside it.',
        )
    if invariant is None and "of" in section:
        raise wrong(f"{path}.of", "is set without an invariant", "Remove it.")
    return Regions(name, table.name, tuple(levels), invariant, people.name if people is not None else None)

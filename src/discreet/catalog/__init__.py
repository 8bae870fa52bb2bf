"""Public description of protected data: tables, columns, privacy units, bounds, possible values, budgets."""

from discreet.catalog.declarations import (
    EACH_ROW,
    Catalog,
    Column,
    Network,
    PrivacyUnit,
    Reference,
    Regions,
    Table,
    Type,
    default_delta,
)
from discreet.catalog.toml_reader import anchor_beside, catalog_in, load_catalog, parse_catalog

__all__ = [
    "EACH_ROW",
    "Catalog",
    "Column",
    "Network",
    "PrivacyUnit",
    "Reference",
    "Regions",
    "Table",
    "Type",
    "anchor_beside",
    "catalog_in",
    "default_delta",
    "load_catalog",
    "parse_catalog",
]

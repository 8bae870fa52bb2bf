"""Public facts about protected data: tables, columns, privacy units, bounds, domains, budgets."""

from discreet.catalog.model import Catalog, Column, PrivacyUnit, Reference, Table, Type, default_delta
from discreet.catalog.reader import anchor_beside, load_catalog, parse_catalog

__all__ = [
    "Catalog",
    "Column",
    "PrivacyUnit",
    "Reference",
    "Table",
    "Type",
    "anchor_beside",
    "default_delta",
    "load_catalog",
    "parse_catalog",
]

"""Contribution bounds of a query, from the catalog and OPTIONS. A query can only tighten the catalog's bounds."""

from __future__ import annotations

from dataclasses import replace

from discreet.algebra.query import ContributionBounds
from discreet.algebra.relations import Filter, Join, Mark, Project, Relation, Scan, UnionAll
from discreet.catalog import Catalog, Table
from discreet.errors import NotAllowed
from discreet.sql.reader.query_text import Options


def contribution_bounds_of(rows: Relation, options: Options, catalog: Catalog, *, has_keys: bool) -> ContributionBounds:
    """Return the contribution bounds of a query. They depend on its text and the catalog, never on the data."""
    groups, per_group = options.max_groups_contributed, options.max_rows_per_group
    if (groups is not None or per_group is not None) and not has_keys:
        raise NotAllowed(
            "max_groups_contributed and max_rows_per_group need a GROUP BY.",
            next_step="Use max_rows_contributed instead.",
        )
    if per_group is not None and groups is None:
        raise NotAllowed("max_rows_per_group needs max_groups_contributed.", next_step="Give both.")
    asked = [limit for limit in (catalog.rows_per_person, options.max_rows_contributed) if limit is not None]
    if (
        not asked
        and (groups is None or per_group is None)
        and any(not table.is_bounded_once for table in _tables(rows))
    ):
        asked = [max(table.max_rows for table in _tables(rows))]
    bounds = [*asked, rows.shape.most_rows]
    if groups is not None and per_group is not None:
        bounds.append(groups * per_group)
    most = min(bounds)
    if groups is None:
        return ContributionBounds(rows=most)
    return ContributionBounds(rows=most, groups=min(groups, most), rows_per_group=min(per_group or most, most))


def with_row_bound(rows: Relation, limits: ContributionBounds) -> Relation:
    """Bound a plain table by its stored rank before WHERE: this is a filter, which is faster than a window."""
    match rows:
        case Scan(most=int() as most) if rows.table.is_bounded_once and limits.groups is None:
            return replace(rows, most=min(most, limits.rows))
        case Filter() | Project() | Mark():
            return replace(rows, rows=with_row_bound(rows.rows, limits))
    return rows


def _tables(rows: Relation) -> list[Table]:
    """Return the protected tables whose rows these are, without those that a mark only searches."""
    match rows:
        case Scan():
            return [] if rows.table.is_public else [rows.table]
        case Join():
            return [*_tables(rows.left), *_tables(rows.right)]
        case UnionAll():
            return [table for part in rows.parts for table in _tables(part)]
    return _tables(rows.rows)

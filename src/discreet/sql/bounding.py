"""What one person can contribute at the release, and whether rows must be cut once more for it."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.catalog import Catalog
from discreet.errors import NotAllowed, TooLarge
from discreet.sql.joins import MOST_ROWS
from discreet.sql.plan import Cut, Key, Relation
from discreet.sql.scope import Scope, quote
from discreet.sql.text import Options


def bounded(scope: Scope, where: str, keys: Sequence[Key], options: Options, catalog: Catalog) -> Relation:
    """The rows of a question. They are cut where nothing bounds them yet, or more than the limits allow.

    Which way it is follows from the question and the catalog, never from the data.
    """
    groups, per_group = options.max_groups_contributed, options.max_rows_per_group
    if (groups is not None or per_group is not None) and not keys:
        raise NotAllowed("Without groups there is nothing to limit by group.", next_step="Use max_rows_contributed.")
    if per_group is not None and groups is None:
        raise NotAllowed("max_rows_per_group needs max_groups_contributed.", next_step="Give both.")
    derived = scope.per_person
    limits = [limit for limit in (catalog.rows_per_person, options.max_rows_contributed) if limit is not None]
    if derived is None and not limits and (groups is None or per_group is None):
        limits = [_largest_declared(scope, catalog)]
    rows = min(
        [
            *limits,
            *([] if derived is None else [derived]),
            *([] if groups is None or per_group is None else [groups * per_group]),
        ]
    )
    if rows > MOST_ROWS:
        raise TooLarge("One person could have too many rows.", next_step="Give a smaller limit.")
    cuts_rows = derived is None or (bool(limits) and min(limits) < derived)
    sql = f"{scope.sql}{where}"
    if not cuts_rows and groups is None:
        return Relation(sql, scope.owner_sql, scope.unit, scope.tables, rows)
    if groups is not None and per_group is None:
        per_group = rows
    by_rank = _cut_by_rank(scope, rows) if groups is None and cuts_rows else None
    if by_rank is not None:
        return Relation(f"{by_rank}{where}", scope.owner_sql, scope.unit, scope.tables, rows)
    cut = Cut(min(limits) if cuts_rows and limits else None, groups, per_group, _order(scope))
    return Relation(sql, scope.owner_sql, scope.unit, scope.tables, rows, cut)


def _largest_declared(scope: Scope, catalog: Catalog) -> int:
    return max(catalog.tables[name].max_rows for name in scope.tables)


def _cut_by_rank(scope: Scope, rows: int) -> str | None:
    """One table of a snapshot is tightened by a plain filter on the stored rank, before WHERE."""
    if len(scope.sources) != 1:
        return None
    ((alias, source),) = scope.sources.items()
    table = source.rows.table
    if table is None or not table.is_bounded_once:
        return None
    return f'(SELECT * FROM {quote(table.name)} WHERE "$rank" <= {rows}) AS {quote(alias)}'


def _order(scope: Scope) -> tuple[str, ...]:
    """A total order of one person's rows: stored ranks where there are any, whole rows elsewhere."""
    order: list[str] = []
    for alias, source in scope.sources.items():
        if source.rows.table is not None and not source.rows.is_public:
            order.append(f'{quote(alias)}."$rank"')
        else:
            order += [f"{quote(alias)}.{quote(one.name)}" for one in source.rows.fields]
    return tuple(order)

"""Read a query: which parts return rows, which aggregate across people, and what is computed after the noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from sqlglot import exp

from discreet.algebra.functions.record_rules import listing_at_most
from discreet.algebra.query import Query
from discreet.algebra.released_expressions import View
from discreet.catalog import Catalog
from discreet.errors import NotAllowed, TooLarge
from discreet.sql.reader.error_location import locate_refusals
from discreet.sql.reader.public_lookup import PublicLookup
from discreet.sql.reader.query_text import Options, Parameters, Text, read_text
from discreet.sql.reader.reader_model import AggregatesAcrossPeople, Context, Names, Released, Rows
from discreet.sql.reader.scope import Scope
from discreet.sql.relations.row_selects import context_of, is_grouped, read_rows
from discreet.sql.relations.set_operations import read_sets
from discreet.sql.releases.release_select import limit_of, ordered, read_release, sorted_view
from discreet.sql.releases.released_views import RowReader, Source, read_view, stacked

MOST_QUERIES = 16
_DEEPEST = 40
_MOST_CANDIDATES = 10**6
"""Maximum number of values of dates and numbers to enumerate while a query is read: about one second of work."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A query that was read: private queries, the view over their results, OPTIONS, and notes."""

    queries: tuple[Query, ...]
    view: View
    names: tuple[str, ...]
    options: Options
    notes: tuple[str, ...]


def read_query(
    sql: str, catalog: Catalog, lookup: PublicLookup, *, parameters: Parameters = (), today: date | None = None
) -> Reading:
    """Read a query, or refuse it. Accesses only the catalog and public tables.

    `parameters` are the values of ? and :name; `today` is the value of CURRENT_DATE, the day of the data version.
    """
    with locate_refusals(sql):
        return _read(sql, catalog, lookup, parameters=parameters, today=today)


def read_rows_query(
    sql: str, catalog: Catalog, lookup: PublicLookup, *, parameters: Parameters = (), today: date | None = None
) -> tuple[Rows, Options, tuple[str, ...]]:
    """Read a SELECT of rows: the rows, OPTIONS, and notes for the analyst. Aggregates across people are refused."""
    with locate_refusals(sql):
        text = read_text(sql, parameters)
        context = context_of(catalog, lookup, today=today)
        meaning = _meaning(text, context, whole=False)
        if isinstance(meaning, Rows):
            return meaning, text.options, tuple(dict.fromkeys(context.notes))
        raise NotAllowed(
            "A SELECT of rows is needed here, not one that aggregates across people.",
            next_step="Select rows without aggregates and GROUP BY.",
        )


def _read(sql: str, catalog: Catalog, lookup: PublicLookup, *, parameters: Parameters, today: date | None) -> Reading:
    text = read_text(sql, parameters)
    context = context_of(catalog, lookup, today=today)
    meaning = _meaning(text, context, whole=True)
    if isinstance(meaning, Rows):
        raise _rows_only(meaning)
    return Reading(
        tuple(context.queries), meaning.view, meaning.names, text.options, tuple(dict.fromkeys(context.notes))
    )


def _meaning(text: Text, context: Context, *, whole: bool) -> Rows | Released:
    """Translate a text: as a `whole` query, which aggregates across people if it groups, or as a source of rows."""
    reader = _Reader(context, text.options)
    context.read = reader.read
    try:
        with listing_at_most(_MOST_CANDIDATES):
            return reader.outermost(text.query, {}) if whole else reader.read(text.query, {})
    except RecursionError:
        raise TooLarge("This query is nested too deeply.", next_step="Use fewer levels of nesting.") from None


class _Reader:
    """Reads each subquery of a text once, however often it is referred to."""

    def __init__(self, context: Context, options: Options) -> None:
        self._context, self._options = context, options
        self._known: dict[
            int, tuple[exp.Expr, Rows | Released]
        ] = {}  # the node is kept alive, so that its id is not reused
        self._depth = 0

    def read(self, query: exp.Expr, names: Names, _outer_conditions: Scope | None = None) -> Rows | Released:
        """Read a query as rows (protected or public), or as a released table."""
        if id(query) in self._known:
            return self._known[id(query)][1]
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise TooLarge("This query is nested too deeply.", next_step="Use fewer levels of nesting.")
            meaning = self._read(query, names)
        finally:
            self._depth -= 1
        self._known[id(query)] = query, meaning
        return meaning

    def outermost(self, query: exp.Expr, names: Names) -> Rows | Released:
        """Read the outermost query. If it groups, it aggregates across people, even if it groups by the person."""
        if isinstance(query, exp.SetOperation):
            for side in (query.left, query.right):
                self.outermost(side, self._with_names(query, names))
        elif isinstance(query, exp.Select):
            known = self._with_names(query, names)
            if not self._released_sources(query, known):
                if is_grouped(query):
                    self._known[id(query)] = query, self._release(query, known)
                else:  # rows are refused later; the refusal must not be about their ORDER BY or LIMIT instead
                    for clause in ("order", "limit", "offset"):
                        query.set(clause, None)
        return self.read(query, names)

    def _release(self, query: exp.Select, names: Names) -> Released:
        if len(self._context.queries) >= MOST_QUERIES:
            raise TooLarge("This query contains too many private releases.", next_step="Split it into several queries.")
        return read_release(query, names, self._context, self._options)

    def _read(self, query: exp.Expr, names: Names) -> Rows | Released:
        if isinstance(query, exp.Subquery) and not query.alias:
            return self.read(query.this, names)
        names = self._with_names(query, names)
        if isinstance(query, exp.SetOperation):
            return self._set_operation(query, names)
        if not isinstance(query, exp.Select):
            raise NotAllowed(
                "Only SELECT, UNION, EXCEPT and INTERSECT are supported here.",
                next_step="Rewrite this part as a SELECT.",
            )
        sources = self._released_sources(query, names)
        if sources:
            return read_view(query, sources)
        try:
            return read_rows(query, names, self._context)
        except AggregatesAcrossPeople:
            return self._release(query, names)

    def _with_names(self, query: exp.Expr, names: Names) -> Names:
        """Return the names that WITH defines, in addition to those outside."""
        clause = query.args.get("with_")
        if clause is None:
            return names
        if clause.args.get("recursive"):
            raise NotAllowed("Recursive queries are not supported.", next_step="Remove RECURSIVE.")
        known: dict[str, Rows | Released] = dict(names)
        for part in clause.expressions:
            if part.args["alias"].columns:
                raise NotAllowed(
                    "A WITH name cannot have a list of columns.",
                    next_step="Rename the columns inside it: SELECT x AS y.",
                )
            known[part.alias.lower()] = self.read(part.this, dict(known))
        return known

    def _set_operation(self, query: exp.SetOperation, names: Names) -> Rows | Released:
        left, right = self.read(query.left, names), self.read(query.right, names)
        if isinstance(left, Rows) and isinstance(right, Rows):
            return read_sets(query, left, right, self._context)
        if isinstance(left, Rows) or isinstance(right, Rows):
            raise NotAllowed(
                "Protected rows and noisy results cannot be combined.", next_step="Run them as separate queries."
            )
        if not isinstance(query, exp.Union) or query.args.get("distinct") or query.args.get("by_name"):
            raise NotAllowed("Noisy results can be combined only with UNION ALL.", next_step="Use UNION ALL.")
        joined = stacked([left, right])
        order = query.args["order"].expressions if query.args.get("order") else []
        rows = RowReader([Source("", joined, 0)])
        outputs = [(name, computed.value) for name, computed in rows.columns()]
        keys = [ordered(node, outputs, rows) for node in order]
        return Released(sorted_view(lambda _: joined.view, outputs, keys, limit_of(query)), joined.names, joined.types)

    def _released_sources(self, select: exp.Select, names: Names) -> list[tuple[str, Released]]:
        """Return the released tables that a SELECT reads, with their names; an empty list if it reads rows."""
        origin = select.args.get("from_")
        nodes = [] if origin is None else [origin.this, *(join.this for join in select.args.get("joins") or ())]
        meanings = [self._source(node, names) for node in nodes]
        if not any(isinstance(meaning, Released) for meaning in meanings):
            return []
        if not all(isinstance(meaning, Released) for meaning in meanings):
            raise NotAllowed(
                "Aggregated results cannot be joined with rows.",
                next_step="Run the aggregate as its own query, then pass its answer as a parameter.",
            )
        return [
            (node.alias_or_name or f"table {at}", meaning)
            for at, (node, meaning) in enumerate(zip(nodes, meanings, strict=True))
            if isinstance(meaning, Released)
        ]

    def _source(self, node: exp.Expr, names: Mapping[str, Rows | Released]) -> Rows | Released | None:
        if isinstance(node, exp.Table) and not node.args.get("db"):
            return names.get(node.name.lower())
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            return self.read(node.this, names)
        return None


def _rows_only(rows: Rows) -> NotAllowed:
    if rows.relation.is_public:
        return NotAllowed(
            "This query reads public tables only. They need no protection.",
            next_step="Query a protected table, or read the public file directly.",
        )
    return NotAllowed(
        "Individual rows are never returned.",
        next_step="Use an aggregate such as COUNT(*), or `discreet dummy` to see made-up rows.",
    )

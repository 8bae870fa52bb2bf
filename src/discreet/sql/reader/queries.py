"""A query's text to its meaning: what reads rows, what counts across people, what is computed afterwards."""

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
"""Values of dates and numbers that are tried while a query is read: about a second's work."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text means: the queries that are measured, the table that is made of them, OPTIONS, and what to tell the analyst."""

    queries: tuple[Query, ...]
    view: View
    names: tuple[str, ...]
    options: Options
    notes: tuple[str, ...]


def read_query(
    sql: str, catalog: Catalog, lookup: PublicLookup, *, parameters: Parameters = (), today: date | None = None
) -> Reading:
    """The meaning of a query, or a refusal by name. Reads the catalog and public tables, nothing else.

    `parameters` stand for ? and :name; `today` is the day of the data version, which CURRENT_DATE means.
    """
    with locate_refusals(sql):
        return _read(sql, catalog, lookup, parameters=parameters, today=today)


def read_rows_query(
    sql: str, catalog: Catalog, lookup: PublicLookup, *, parameters: Parameters = (), today: date | None = None
) -> tuple[Rows, Options, tuple[str, ...]]:
    """The rows that a SELECT stays, its OPTIONS and what to tell the analyst; refused where it counts across people."""
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
    """What a text means: as the `whole` query, which counts where it groups, or as rows that something else is made of."""
    reader = _Reader(context, text.options)
    context.read = reader.read
    try:
        with listing_at_most(_MOST_CANDIDATES):
            return reader.outermost(text.query, {}) if whole else reader.read(text.query, {})
    except RecursionError:
        raise TooLarge("This query is nested too deeply.", next_step="Use fewer levels of nesting.") from None


class _Reader:
    """Reads each query of a text once: what it means does not depend on who looks."""

    def __init__(self, context: Context, options: Options) -> None:
        self._context, self._options = context, options
        self._known: dict[int, tuple[exp.Expr, Rows | Released]] = {}  # with the node, so that its id stays its own
        self._depth = 0

    def read(self, query: exp.Expr, names: Names, _outer_conditions: Scope | None = None) -> Rows | Released:
        """A query as rows of people or public rows, or as a released table."""
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
        """The query that is answered: where it groups, it counts across people, by the person too."""
        if isinstance(query, exp.SetOperation):
            for side in (query.left, query.right):
                self.outermost(side, self._with_names(query, names))
        elif isinstance(query, exp.Select):
            known = self._with_names(query, names)
            if not self._released_sources(query, known):
                if is_grouped(query):
                    self._known[id(query)] = query, self._release(query, known)
                else:  # refused as rows, which must not be hidden by a complaint about the order or limit of these rows
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
        """The names of a WITH, on top of those outside."""
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
        """The released tables that a SELECT reads, each with its name; none where it reads rows."""
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

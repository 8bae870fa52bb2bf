"""Where in its text a query is refused, and which name a misspelt one may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlglot import exp
from sqlglot.errors import ParseError

from discreet.catalog import Catalog
from discreet.errors import NotAllowed, QueryRefused, TextSpan, UnknownName

_MOST_NAMES = 3


@contextmanager
def refusal_at(node: exp.Expr) -> Iterator[None]:
    """Say of a refusal inside that it is about this node, unless it is known to be about a smaller one."""
    try:
        yield
    except QueryRefused as refusal:
        refusal.span = refusal.span or _span(node)
        raise


@contextmanager
def locate_refusals(sql: str) -> Iterator[None]:
    """Say of a refusal inside on which line and in which column of the text it is."""
    try:
        yield
    except QueryRefused as refusal:
        if refusal.span is not None:
            refusal.place, refusal.asked = _span_of(sql, *refusal.span), sql
        raise


def _span(node: exp.Expr) -> tuple[int, int] | None:
    """From the first to the last part of a node whose place the parser kept."""
    kept = [part.meta for part in node.walk() if "start" in part.meta]
    return (min(meta["start"] for meta in kept), max(meta["end"] for meta in kept) + 1) if kept else None


def span_of_error(error: Exception, sql: str) -> tuple[int, int] | None:
    """Where the parser stopped, as far as it says so."""
    if not isinstance(error, ParseError) or not error.errors:
        return None
    found = error.errors[0]
    stopped = found.get("highlight") or ""
    lines = sql.split("\n")
    line, column = found.get("line"), found.get("col")
    if line is None or column is None or not 1 <= line <= len(lines):
        return None
    end = sum(len(text) + 1 for text in lines[: line - 1]) + column
    return max(0, end - max(1, len(stopped.split("\n")[-1]))), min(end, len(sql))


def clear_spans(query: exp.Expr) -> None:
    """Of a text that was changed before it was parsed: no place is better than a wrong one."""
    for node in query.walk():
        node.meta.clear()


def clause_name(clause: str) -> str:
    """Return the SQL keywords of a clause, from its name in the parser's tree."""
    return {"order": "ORDER BY", "sample": "USING SAMPLE"}.get(clause, clause.strip("_").upper())


def unknown_name(problem: str, name: str, known: Iterable[str], *, next_step: str) -> UnknownName:
    """The refusal of a name that is none, with those that look like it; names of the catalog are public."""
    spelt = {other.lower(): other for other in known}
    near = [spelt[other] for other in difflib.get_close_matches(name.lower(), spelt, n=_MOST_NAMES)]
    resolved = f"Did you mean {' or '.join(near)}?" if near else next_step
    return UnknownName(problem, next_step=resolved, instead=near)


def unknown_table(name: str, known: Iterable[str], catalog: Catalog) -> QueryRefused:
    """The refusal of a name that is no table: of the edges of a network, the verb that answers about them."""
    graph = next((graph for graph in catalog.graphs.values() if graph.edges.name.lower() == name.lower()), None)
    if graph is None:
        return unknown_name(f"The catalog has no table {name}.", name, known, next_step="Use a table of the catalog.")
    return NotAllowed(
        f"The table {graph.edges.name} holds the edges of the network {graph.name}. Each edge belongs to two people, so SQL cannot read it.",
        next_step=f'Use the network methods: graph("{graph.name}").edges(epsilon=1), or `discreet graph {graph.name} edges --epsilon 1`.',
    )


def _span_of(text: str, start: int, end: int) -> TextSpan:
    before = text[:start]
    return TextSpan(start, end, before.count("\n") + 1, start - before.rfind("\n"))

"""Locate refusals in the query text, and suggest names for misspelled ones."""

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
    """Locate a refusal at this node, unless a smaller node is known."""
    try:
        yield
    except QueryRefused as refusal:
        refusal.span = refusal.span or _span(node)
        raise


@contextmanager
def locate_refusals(sql: str) -> Iterator[None]:
    """Add line and column of the query text to a refusal."""
    try:
        yield
    except QueryRefused as refusal:
        if refusal.span is not None:
            refusal.place, refusal.asked = _span_of(sql, *refusal.span), sql
        raise


def _span(node: exp.Expr) -> tuple[int, int] | None:
    """Return the range from the first to the last part of a node whose position the parser recorded."""
    kept = [part.meta for part in node.walk() if "start" in part.meta]
    return (min(meta["start"] for meta in kept), max(meta["end"] for meta in kept) + 1) if kept else None


def span_of_error(error: Exception, sql: str) -> tuple[int, int] | None:
    """Return where the parser stopped, if it reports it."""
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
    """Remove positions, for a text that was changed before parsing: no position is better than a wrong one."""
    for node in query.walk():
        node.meta.clear()


def clause_name(clause: str) -> str:
    """Return the SQL keywords of a clause, from its name in the parser's tree."""
    return {"order": "ORDER BY", "sample": "USING SAMPLE"}.get(clause, clause.strip("_").upper())


def unknown_name(problem: str, name: str, known: Iterable[str], *, next_step: str) -> UnknownName:
    """Return the refusal of an unknown name, with similar names of the catalog, which are public."""
    by_lower = {other.lower(): other for other in known}
    similar = [by_lower[other] for other in difflib.get_close_matches(name.lower(), by_lower, n=_MOST_NAMES)]
    step = f"Did you mean {' or '.join(similar)}?" if similar else next_step
    return UnknownName(problem, next_step=step, instead=similar)


def unknown_table(name: str, known: Iterable[str], catalog: Catalog) -> QueryRefused:
    """Return the refusal of an unknown table. For the edges of a network, it names the request to use instead."""
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

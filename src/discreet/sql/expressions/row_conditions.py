"""Conditions on single rows with coded columns, written as in WHERE."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from fractions import Fraction

from sqlglot import exp

from discreet.algebra.expressions import Expression
from discreet.algebra.query import Key
from discreet.algebra.relations import Scan
from discreet.catalog import Catalog, Type
from discreet.catalog.declarations import Column, Table
from discreet.errors import QueryRefused, UnparsableQuery
from discreet.sql.coded_rows import CodedColumn, CodedSource
from discreet.sql.expressions.row_expressions import conjuncts, predicate
from discreet.sql.reader.error_location import locate_refusals
from discreet.sql.reader.public_lookup import PublicLookup
from discreet.sql.reader.query_text import read_text
from discreet.sql.reader.reader_model import Context
from discreet.sql.reader.scope import Scope, Source

_BEFORE, _AFTER = "SELECT 1 FROM coded WHERE (", "\n)"
_CLAUSES = {"expressions", "from_", "where"}
_EXAMPLE = "Pass only the condition, as after WHERE: age >= 30 AND sex = 'F'."


def type_of(column: CodedColumn, key: Key) -> Type:
    """Return the type of a coded column; for bins, the type of the values in them."""
    if not column.ends:
        return key.expression.properties.type
    return Type.DATE if isinstance(column.ends[0], date) else Type.INTEGER if column.is_whole else Type.REAL


def read_condition(
    text: str, rows: CodedSource, catalog: Catalog, lookup: PublicLookup, *, today: date
) -> list[Expression]:
    """Read a condition over coded columns: return its parts, which must all be true, or refuse it.

    Subqueries, window functions and aggregates are refused. No table is accessed.
    """
    with locate_refusals(text), _positions_in(text):
        query = read_text(_BEFORE + text + _AFTER).query
        where = query.args.get("where")
        clauses = {name for name, value in query.args.items() if value}
        if (
            not isinstance(query, exp.Select)
            or clauses - _CLAUSES
            or where is None
            or not isinstance(where.this, exp.Paren)
        ):
            raise UnparsableQuery("This is not a single SQL condition.", next_step=_EXAMPLE)
        columns = {
            column.name: _declared(column, key) for column, key in zip(rows.columns, rows.query.keys, strict=True)
        }
        relation = Scan(Table(name="coded", columns=columns, unit=None), None, None, frozenset(), 1)
        scope = Scope(relation, [Source("coded", tuple(columns))])
        context = Context(catalog, lookup, today)
        return [predicate(part, scope, context, {}) for part in conjuncts(where.this)]


@contextmanager
def _positions_in(text: str) -> Iterator[None]:
    """Translate positions of refusals back to the given text."""
    try:
        yield
    except QueryRefused as refusal:
        if refusal.span is not None:
            start, end = (min(max(at - len(_BEFORE), 0), len(text)) for at in refusal.span)
            refusal.span = (start, end) if start < end else None
        raise


def _declared(coded: CodedColumn, key: Key) -> Column:
    """Return the column as a catalog would declare it."""
    kind = type_of(coded, key)
    if coded.ends:
        lower, upper = _bounds(coded)
        return Column(name=coded.name, type=kind, lower=lower, upper=upper, nullable=coded.has_null)
    values = tuple(value for value in coded.values if value is not None)
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    return Column(name=coded.name, type=kind, values=values, nullable=None in coded.values, max_length=longest)


def _bounds(coded: CodedColumn) -> tuple[Fraction | date, Fraction | date]:
    lower, upper = coded.ends[0], coded.ends[-1]
    return (lower, upper - 1) if coded.is_whole and isinstance(upper, Fraction) else (lower, upper)

"""Expressions below the release: an allow-list of kinds, and the bounds that follow from the catalog.

Nothing here can fail on a row: the engine wraps each expression so that what cannot be computed is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from discreet.errors import NeedsBounds, NotAllowed, TooLarge
from discreet.sql.scope import Scope

Bounds: TypeAlias = tuple[Fraction, Fraction]

ALLOWED: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Neg,
        exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod,
        exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between,
        exp.Case, exp.If, exp.Coalesce, exp.Abs, exp.Floor, exp.Ceil, exp.Round, exp.Least, exp.Greatest,
        exp.Lower, exp.Upper, exp.Length, exp.Year, exp.Month, exp.Day,
    }
)  # fmt: skip
_DEEPEST = 40


def check(node: exp.Expr, scope: Scope) -> exp.Expr:
    """A copy of the expression with every column resolved, or a refusal by name."""
    checked = node.copy()
    for inner in checked.walk():
        if type(inner) not in ALLOWED:
            raise NotAllowed(
                f"{_spoken(inner)} is not on the list of what a question may use here.",
                next_step="See the list in the documentation of SQL; most things have a safe way to be said.",
            )
        if inner.depth - checked.depth > _DEEPEST:
            raise TooLarge("The expression is nested too deeply.", next_step="Say it in fewer levels.")
    for column in list(checked.find_all(exp.Column)):
        if column.args.get("db") or column.args.get("catalog"):
            raise NotAllowed("Columns are named by table and name only.", next_step="Write table.column.")
        field = scope.find(column.name, column.table or None)
        column.set("table", exp.to_identifier(field.alias, quoted=True))
        column.set("this", exp.to_identifier(field.column.name, quoted=True))
    return checked


def _spoken(node: exp.Expr) -> str:
    return node.name if isinstance(node, exp.Anonymous) else type(node).__name__.upper()


def bounds(node: exp.Expr, scope: Scope) -> Bounds:
    """An interval that holds every value of a checked expression, by interval arithmetic on declared bounds."""
    rule = _RULES.get(type(node))
    if rule is None:
        raise NeedsBounds(
            "The bounds of what is summed do not follow from the catalog.",
            next_step="Sum a bounded column, or sums, products and CASEs of bounded columns and numbers.",
        )
    return rule(node, scope)


def _column(node: exp.Expr, scope: Scope) -> Bounds:
    column = scope.find(node.name, node.text("table")).column
    if not isinstance(column.lower, Fraction) or not isinstance(column.upper, Fraction):
        raise NeedsBounds(
            f"The column {column.name} has no bounds.", next_step="Ask the owner to declare lower and upper for it."
        )
    return column.lower, column.upper


def _literal(node: exp.Expr, _: Scope) -> Bounds:
    if node.args.get("is_string"):
        raise NeedsBounds("Text cannot be summed.", next_step="Sum a number.")
    value = Fraction(node.name)
    return value, value


def _null(_: exp.Expr, __: Scope) -> Bounds:
    return Fraction(0), Fraction(0)  # NULL is skipped, so any interval holds it


def _inside(node: exp.Expr, scope: Scope) -> Bounds:
    return bounds(node.this, scope)


def _negated(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = bounds(node.this, scope)
    return -high, -low


def _sides(node: exp.Expr, scope: Scope) -> tuple[Bounds, Bounds]:
    return bounds(node.this, scope), bounds(node.expression, scope)


def _added(node: exp.Expr, scope: Scope) -> Bounds:
    (a, b), (c, d) = _sides(node, scope)
    return a + c, b + d


def _subtracted(node: exp.Expr, scope: Scope) -> Bounds:
    (a, b), (c, d) = _sides(node, scope)
    return a - d, b - c


def _multiplied(node: exp.Expr, scope: Scope) -> Bounds:
    (a, b), (c, d) = _sides(node, scope)
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def _magnitude(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = bounds(node.this, scope)
    return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _any_of(parts: Iterable[exp.Expr], scope: Scope) -> Bounds:
    intervals = [bounds(part, scope) for part in parts]
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _case(node: exp.Expr, scope: Scope) -> Bounds:
    branches = [branch.args["true"] for branch in node.args["ifs"]]
    return _any_of([*branches, *filter(None, [node.args.get("default")])], scope)


def _first_present(node: exp.Expr, scope: Scope) -> Bounds:
    return _any_of([node.this, *node.expressions], scope)


_RULES: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Bounds]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Null: _null,
    exp.Paren: _inside,
    exp.Neg: _negated,
    exp.Add: _added,
    exp.Sub: _subtracted,
    exp.Mul: _multiplied,
    exp.Abs: _magnitude,
    exp.Case: _case,
    exp.Coalesce: _first_present,
    exp.Least: _first_present,
    exp.Greatest: _first_present,
}

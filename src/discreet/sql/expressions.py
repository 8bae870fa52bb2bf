"""Expressions below the release: an allow-list of kinds, every name resolved.

Nothing here can fail on a row: what might is wrapped for the engine just where it stands, and gives NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from discreet.errors import NotAllowed, TooLarge
from discreet.sql.kinds import holds_computed, kind_of, needs_wrapping
from discreet.sql.scope import Scope

Special: TypeAlias = Callable[[exp.Expr, Scope], exp.Expr | None]
"""Turns a subquery, a window or an aggregate into its stand-in; None for what it does not know."""

ALLOWED: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Neg,
        exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod,
        exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between,
        exp.NullSafeEQ, exp.NullSafeNEQ, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Cast, exp.TryCast,
        exp.DataType, exp.Like, exp.ILike,
        exp.Abs, exp.Sign, exp.Floor, exp.Ceil, exp.Round, exp.Least, exp.Greatest,
        exp.Sqrt, exp.Exp, exp.Ln, exp.Log, exp.Pow,
        exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Left, exp.Right, exp.Trim, exp.StartsWith, exp.Contains,
        exp.StrPosition, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek, exp.DayOfYear, exp.Extract, exp.Var,
        exp.DateTrunc, exp.TimestampTrunc, exp.DateDiff, exp.Interval,
    }
)  # fmt: skip
"""Nothing here makes text longer, looks beyond its row, or depends on clock, chance or settings."""

_CASTS = {
    exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT,
    exp.DataType.Type.VARCHAR, exp.DataType.Type.TEXT, exp.DataType.Type.DATE, exp.DataType.Type.BOOLEAN,
}  # fmt: skip
UNITS = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "ISODOW", "DOY", "DAYOFWEEK", "DAYOFYEAR", "DECADE"}
KINDLESS = {exp.Identifier, exp.DataType, exp.Var, exp.Interval, exp.Column}
_DEEPEST = 40
_MOST_WILDCARDS = 4


def check(node: exp.Expr, scope: Scope, special: Special) -> exp.Expr:
    """A copy of the expression with every column resolved, or a refusal by name."""

    def checked(inner: exp.Expr) -> exp.Expr:
        stand_in = special(inner, scope)
        if stand_in is not None:
            return stand_in
        if type(inner) not in ALLOWED:
            raise NotAllowed(
                f"{_spoken(inner)} is not on the list of what a question may use here.",
                next_step="See the list in the documentation of SQL; most things have a safe way to be said.",
            )
        rule = _FURTHER.get(type(inner))
        if rule is not None:
            rule(inner)
        return scope.resolve(inner) if isinstance(inner, exp.Column) else inner

    for inner in node.walk():
        if inner.depth - node.depth > _DEEPEST:
            raise TooLarge("The expression is nested too deeply.", next_step="Say it in fewer levels.")
    return node.transform(checked)


def safe_text(node: exp.Expr, scope: Scope) -> str:
    """A checked expression as SQL that cannot fail on a row: what can is wrapped just where it stands."""
    kind_of(node, scope)
    return scope.text(_safe(node, scope))


def _safe(node: exp.Expr, scope: Scope) -> exp.Expr:
    """The same with every cast made a TRY_CAST, decimals made doubles, and TRY around each part that can fail."""
    made = node.copy()
    for name, value in node.args.items():
        if isinstance(value, exp.Expr):
            made.set(name, _safe(value, scope))
        elif isinstance(value, list):
            made.set(name, [_safe(part, scope) if isinstance(part, exp.Expr) else part for part in value])
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        return exp.TryCast(this=made.this, to=made.args["to"])
    if isinstance(node, exp.Literal):
        return _literal(node)
    if type(node) in KINDLESS or not needs_wrapping(node, scope):
        return made
    if holds_computed(node):
        raise NotAllowed(
            "What stands around a subquery, a window or an aggregate could fail on a row.",
            next_step="Compute the inner part in a subquery in FROM, and use its column.",
        )
    wrapped = exp.Anonymous(this="TRY", expressions=[made])
    return exp.TryCast(this=wrapped, to=exp.DataType.build("date")) if kind_of(node, scope) == "date" else wrapped


def _literal(node: exp.Literal) -> exp.Expr:
    """Decimals as doubles, because a DECIMAL's width would decide what fits."""
    if node.is_string or node.name.isdecimal():
        return node.copy()
    return exp.Literal.number(node.name if "e" in node.name.lower() else f"{node.name}e0")


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that must all hold."""
    inner = node.unnest()
    return (
        [part for side in (inner.left, inner.right) for part in conjuncts(side)]
        if isinstance(inner, exp.And)
        else [inner]
    )


def condition_text(node: exp.Expr, scope: Scope) -> str:
    """A checked condition as SQL."""
    if kind_of(node, scope) not in ("bool", "null"):
        raise NotAllowed("A condition must be true or false.", next_step="Compare something: x > 0.")
    return safe_text(node, scope)


def _spoken(node: exp.Expr) -> str:
    return node.name.upper() if isinstance(node, exp.Anonymous) else type(node).__name__.upper()


def _cast(node: exp.Expr) -> None:
    kind = node.args["to"]
    if kind.this not in _CASTS or kind.expressions:
        raise NotAllowed("That type cannot be cast to.", next_step="Cast to INTEGER, DOUBLE, VARCHAR, DATE or BOOLEAN.")


def _pattern(node: exp.Expr) -> None:
    pattern = node.args["expression"]
    text = pattern.name if isinstance(pattern, exp.Literal) and pattern.is_string else None
    if text is None or text.count("%") > (1 if "_" in text else _MOST_WILDCARDS):
        raise NotAllowed(
            "LIKE takes a text with at most four %, or one where there is a _.", next_step="Use a simpler pattern."
        )


def _unit(node: exp.Expr) -> None:
    unit = node.this if isinstance(node, exp.Extract) else node.args.get("unit")
    if unit is not None and unit.name.upper() not in UNITS:
        raise NotAllowed("That part of a date is not known here.", next_step="Use year, quarter, month, week or day.")


def _variable(node: exp.Expr) -> None:
    if node.name.upper() not in UNITS | {"DAYS", "MONTHS", "YEARS", "WEEKS"}:
        raise NotAllowed(f"{node.name} is not known here.", next_step="Name a column, or put text in quotes.")


def _interval(node: exp.Expr) -> None:
    amount = node.this
    if not isinstance(amount, exp.Literal) or not amount.name.isdecimal() or len(amount.name) > 5:
        raise NotAllowed(
            "An interval is a small whole number of days, weeks, months or years.", next_step="Write INTERVAL 30 DAY."
        )


_FURTHER: dict[type[exp.Expr], Callable[[exp.Expr], None]] = {
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Like: _pattern,
    exp.ILike: _pattern,
    exp.Extract: _unit,
    exp.DateTrunc: _unit,
    exp.TimestampTrunc: _unit,
    exp.DateDiff: _unit,
    exp.Var: _variable,
    exp.Interval: _interval,
}

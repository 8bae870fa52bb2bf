"""Expressions below the release: an allow-list of kinds, every name resolved.

Nothing here can fail on a row: what might is wrapped for the engine, so that what cannot be computed is NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from discreet.errors import NotAllowed, TooLarge
from discreet.sql.scope import Scope
from discreet.sql.totality import holds_computed, total_kind

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
    """A checked expression as SQL that cannot fail on a row."""
    text = scope.text(node)
    if total_kind(node, scope) is not None or isinstance(node, exp.Null):
        return text
    if holds_computed(node):
        raise NotAllowed(
            "What stands around a subquery, a window or an aggregate could fail on a row.",
            next_step="Compute the inner part in a subquery in FROM, and use its column.",
        )
    return f"TRY({text})"


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that must all hold."""
    inner = node.unnest()
    return (
        [part for side in (inner.left, inner.right) for part in conjuncts(side)]
        if isinstance(inner, exp.And)
        else [inner]
    )


def condition_text(node: exp.Expr, scope: Scope) -> str:
    """A checked condition as SQL, part by part, so that only what may fail is wrapped."""
    parts = []
    for part in conjuncts(node):
        text = safe_text(part, scope)
        parts.append(
            f"({text})" if total_kind(part, scope) == "bool" else f"coalesce(TRY_CAST({text} AS BOOLEAN), false)"
        )
    return " AND ".join(parts)


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

"""Intervals that hold every value of an expression, by interval arithmetic on what the catalog declares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from sqlglot import exp

from discreet.errors import NeedsBounds
from discreet.sql.scope import UNBOUNDED, Bounds, Scope

_PART_BOUNDS = {"MONTH": (1, 12), "DAY": (1, 31), "QUARTER": (1, 4), "WEEK": (1, 53), "DOW": (0, 6), "ISODOW": (1, 7),
                "DAYOFWEEK": (0, 6), "DOY": (1, 366), "DAYOFYEAR": (1, 366)}  # fmt: skip
_PART_OF: dict[type[exp.Expr], str] = {exp.Year: "YEAR", exp.Month: "MONTH", exp.Day: "DAY", exp.Quarter: "QUARTER", exp.Week: "WEEK", exp.DayOfWeek: "DOW",
            exp.DayOfYear: "DOY"}  # fmt: skip


def needed_bounds(node: exp.Expr, scope: Scope) -> tuple[Fraction, Fraction]:
    """Both ends, or a refusal that says whose bounds are missing."""
    low, high = bounds(node, scope)
    if low is not None and high is not None:
        return low, high
    column = node.unnest()
    if isinstance(column, exp.Column):
        raise NeedsBounds(
            f"The column {column.name} has no bounds.",
            next_step="Ask the owner to declare lower and upper for it, or write LEAST(GREATEST(x, 0), 100).",
        )
    raise NeedsBounds(
        "The bounds of what is summed do not follow from the catalog.",
        next_step="Sum bounded columns, or clamp what you sum: LEAST(GREATEST(x, 0), 100).",
    )


def bounds(node: exp.Expr, scope: Scope) -> Bounds:
    """Each end, or None where the catalog does not bound it. NULL is skipped, so any interval holds it."""
    if isinstance(node, exp.Column):
        return scope.field(node).bounds
    rule = _RULES.get(type(node))
    return UNBOUNDED if rule is None else rule(node, scope)


def results(node: exp.Expr) -> list[exp.Expr]:
    """What a CASE or an IF can give."""
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    last = node.args.get("default" if isinstance(node, exp.Case) else "false")
    return [*(branch.args["true"] for branch in branches), *filter(None, [last])]


def hull(intervals: Sequence[Bounds]) -> Bounds:
    """The smallest interval around them all."""
    lows, highs = [low for low, _ in intervals], [high for _, high in intervals]
    return _least(lows), _largest(highs)


def _least(ends: Sequence[Fraction | None]) -> Fraction | None:
    known = [end for end in ends if end is not None]
    return min(known) if known and len(known) == len(ends) else None


def _largest(ends: Sequence[Fraction | None]) -> Fraction | None:
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def _literal(node: exp.Expr, _: Scope) -> Bounds:
    if node.args.get("is_string"):
        return UNBOUNDED
    return Fraction(node.name), Fraction(node.name)


def _null(_: exp.Expr, __: Scope) -> Bounds:
    return Fraction(0), Fraction(0)


def _inside(node: exp.Expr, scope: Scope) -> Bounds:
    return bounds(node.this, scope)


def _cast(node: exp.Expr, scope: Scope) -> Bounds:
    """A cast to a whole number rounds; one to a real changes nothing; a truth value counts as 0 or 1."""
    low, high = bounds(node.this, scope)
    if node.args["to"].this in (exp.DataType.Type.INT, exp.DataType.Type.BIGINT):
        inner = node.this.unnest()
        if isinstance(inner, _CONDITIONS) or (isinstance(inner, exp.Column) and scope.field(inner).kind == "bool"):
            return Fraction(0), Fraction(1)
        return (None if low is None else Fraction(math.floor(low))), (
            None if high is None else Fraction(math.ceil(high))
        )
    return (low, high) if node.args["to"].this in (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT) else UNBOUNDED


def _negated(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = bounds(node.this, scope)
    return (None if high is None else -high), (None if low is None else -low)


def _corners(node: exp.Expr, scope: Scope, combine: Callable[[Fraction, Fraction], Fraction]) -> Bounds:
    (a, b), (c, d) = bounds(node.this, scope), bounds(node.expression, scope)
    if a is None or b is None or c is None or d is None:
        return UNBOUNDED
    corners = [combine(x, y) for x in (a, b) for y in (c, d)]
    return min(corners), max(corners)


def _added(node: exp.Expr, scope: Scope) -> Bounds:
    return _corners(node, scope, lambda x, y: x + y)


def _subtracted(node: exp.Expr, scope: Scope) -> Bounds:
    return _corners(node, scope, lambda x, y: x - y)


def _multiplied(node: exp.Expr, scope: Scope) -> Bounds:
    return _corners(node, scope, lambda x, y: x * y)


def _divided(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = bounds(node.expression, scope)
    if low is None or high is None or low <= 0 <= high:
        return UNBOUNDED
    return _corners(node, scope, lambda x, y: x / y)


def _wholly_divided(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = _divided(node, scope)
    return (None, None) if low is None or high is None else (Fraction(math.floor(low)), Fraction(math.ceil(high)))


def _remainder(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = bounds(node.expression, scope)
    if low is None or high is None:
        return UNBOUNDED
    most = max(abs(low), abs(high))
    return ((-most, most), (Fraction(0), most))[(bounds(node.this, scope)[0] or -1) >= 0]


def _magnitude(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = bounds(node.this, scope)
    if low is None or high is None:
        return Fraction(0), None
    return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _rounded(node: exp.Expr, scope: Scope) -> Bounds:
    low, high = bounds(node.this, scope)
    if node.args.get("decimals") is not None or low is None or high is None:
        return (None if low is None else low - 1), (
            None if high is None else high + 1
        )  # half of the last digit kept, at most
    half = Fraction(1, 2)
    if isinstance(node, exp.Floor):
        return Fraction(math.floor(low)), Fraction(math.floor(high))
    if isinstance(node, exp.Ceil):
        return Fraction(math.ceil(low)), Fraction(math.ceil(high))
    return Fraction(-math.floor(-low + half)), Fraction(math.floor(high + half))


def _case(node: exp.Expr, scope: Scope) -> Bounds:
    return hull([bounds(part, scope) for part in results(node)])


def _first_present(node: exp.Expr, scope: Scope) -> Bounds:
    return hull([bounds(part, scope) for part in (node.this, *node.expressions)])


def _smallest(node: exp.Expr, scope: Scope) -> Bounds:
    """Below every constant that stands there, because NULLs are skipped and a constant never is one."""
    parts = [node.this, *node.expressions]
    constants = _constants(parts, scope)
    low, high = hull([bounds(part, scope) for part in parts])
    return low, min(constants) if constants else high


def _greatest(node: exp.Expr, scope: Scope) -> Bounds:
    parts = [node.this, *node.expressions]
    constants = _constants(parts, scope)
    low, high = hull([bounds(part, scope) for part in parts])
    return max(constants) if constants else low, high


def _constants(parts: Sequence[exp.Expr], scope: Scope) -> list[Fraction]:
    numbers = [part for part in parts if isinstance(part.this if isinstance(part, exp.Neg) else part, exp.Literal)]
    return [low for low, _ in (bounds(part, scope) for part in numbers) if low is not None]


def _sign(_: exp.Expr, __: Scope) -> Bounds:
    return Fraction(-1), Fraction(1)


def _root(node: exp.Expr, scope: Scope) -> Bounds:
    """Between 0 and a number whose square is large enough."""
    _, high = bounds(node.this, scope)
    return Fraction(0), None if high is None else Fraction(math.isqrt(math.ceil(max(high, Fraction(0)))) + 1)


def _power(node: exp.Expr, scope: Scope) -> Bounds:
    power, (low, high) = node.expression.unnest(), bounds(node.this, scope)
    if not isinstance(power, exp.Literal) or not power.is_int or int(power.name) > 8 or low is None or high is None:
        return UNBOUNDED
    exponent = int(power.name)
    ends = [low**exponent, high**exponent, *([Fraction(0)] if low <= 0 <= high else [])]
    return min(ends), max(ends)


def _length(node: exp.Expr, scope: Scope) -> Bounds:
    inner = node.this.unnest()
    longest = scope.field(inner).longest if isinstance(inner, exp.Column) else None
    return Fraction(0), None if longest is None else Fraction(longest)


def _part(node: exp.Expr, scope: Scope) -> Bounds:
    name = node.this.name.upper() if isinstance(node, exp.Extract) else _PART_OF[type(node)]
    inner = (node.expression if isinstance(node, exp.Extract) else node.this).unnest()
    dates = scope.field(inner).dates if isinstance(inner, exp.Column) else None
    if name == "YEAR" and dates is not None:
        return Fraction(dates[0].year), Fraction(dates[1].year)
    ends = _PART_BOUNDS.get(name)
    return UNBOUNDED if ends is None else (Fraction(ends[0]), Fraction(ends[1]))


def _days_between(node: exp.Expr, scope: Scope) -> Bounds:
    """Between two dates with bounds, in days; weeks, months and years are fewer."""
    sides = [side.unnest() for side in (node.this, node.expression)]
    known = [scope.field(side).dates if isinstance(side, exp.Column) else None for side in sides]
    if known[0] is None or known[1] is None:
        return UNBOUNDED
    (a, b), (c, d) = known[0], known[1]
    return Fraction((a - d).days), Fraction((b - c).days)


_CONDITIONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between)
_RULES: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Bounds]] = {
    exp.Literal: _literal,
    exp.Null: _null,
    exp.Paren: _inside,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Neg: _negated,
    exp.Add: _added,
    exp.Sub: _subtracted,
    exp.Mul: _multiplied,
    exp.Div: _divided,
    exp.IntDiv: _wholly_divided,
    exp.Mod: _remainder,
    exp.Abs: _magnitude,
    exp.Floor: _rounded,
    exp.Ceil: _rounded,
    exp.Round: _rounded,
    exp.Case: _case,
    exp.If: _case,
    exp.Coalesce: _first_present,
    exp.Nullif: _inside,
    exp.Least: _smallest,
    exp.Greatest: _greatest,
    exp.Sign: _sign,
    exp.Sqrt: _root,
    exp.Pow: _power,
    exp.Length: _length,
    exp.Extract: _part,
    exp.DateDiff: _days_between,
    **dict.fromkeys(_PART_OF, _part),
}

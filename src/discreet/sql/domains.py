"""Every value that a group key can have, where that follows from the catalog: then all groups appear and no delta is paid.

A value that is not in the domain is dropped, so a mistake here could lose rows but never show a private key.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from fractions import Fraction

from sqlglot import exp

from discreet.sql.bounds import bounds, results
from discreet.sql.scope import KeyValue, Scope

_MOST_VALUES = 10_000
Domain = tuple[KeyValue, ...]
_CONDITIONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between,
               exp.Like, exp.ILike, exp.StartsWith, exp.Contains)  # fmt: skip
_WHOLE = (exp.Floor, exp.Ceil, exp.IntDiv, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek, exp.DayOfYear,
          exp.Extract, exp.Sign)  # fmt: skip


def domain(node: exp.Expr, scope: Scope) -> Domain | None:
    """All values of a checked expression but NULL, unless NULL is declared or written; None where they are not public."""
    found = _domain(node, scope)
    if found is None or len(found) > _MOST_VALUES:
        return None
    return tuple(dict.fromkeys(found))


def _domain(node: exp.Expr, scope: Scope) -> Domain | None:
    if isinstance(node, exp.Paren):
        return _domain(node.this, scope)
    if isinstance(node, _CONDITIONS):
        return (False, True)
    if isinstance(node, _WHOLE) or (isinstance(node, exp.Round) and node.args.get("decimals") is None):
        return _whole_numbers(node, scope)
    if type(node) in _MAPS:
        return _mapped(node, scope, _MAPS[type(node)])
    rule = _RULES.get(type(node))
    return None if rule is None else rule(node, scope)


def _literal(node: exp.Expr, _: Scope) -> Domain:
    if isinstance(node, exp.Null):
        return (None,)
    if isinstance(node, exp.Boolean):
        return (bool(node.this),)
    return (node.name if node.is_string else _number(Fraction(node.name)),)


def _negated(node: exp.Expr, scope: Scope) -> Domain | None:
    inner = _domain(node.this, scope)
    if inner is None or any(type(value) is not int for value in inner):
        return None
    return tuple(-int(value or 0) for value in inner)


def _case(node: exp.Expr, scope: Scope) -> Domain | None:
    joined = _joined([_domain(part, scope) for part in results(node)])
    last = node.args.get("default" if isinstance(node, exp.Case) else "false")
    return joined if joined is None or last is not None else (*joined, None)


def _coalesced(node: exp.Expr, scope: Scope) -> Domain | None:
    parts = [node.this, *node.expressions]
    joined = _joined([_domain(part, scope) for part in parts])
    if joined is None or not isinstance(parts[-1], exp.Literal):
        return joined
    return tuple(value for value in joined if value is not None)


def _column(node: exp.Expr, scope: Scope) -> Domain | None:
    field = scope.field(node)
    if field.values is not None:
        known: Domain | None = field.values
    elif field.kind == "bool":
        known = (False, True)
    elif field.kind in ("int", "small"):
        known = _whole_numbers(node, scope)
    else:
        known = None
    return (*known, None) if known is not None and field.nullable and None not in known else known


def _whole_numbers(node: exp.Expr, scope: Scope) -> Domain | None:
    low, high = bounds(node, scope)
    if low is None or high is None or high - low > _MOST_VALUES:
        return None
    return tuple(range(math.ceil(low), math.floor(high) + 1))


def _joined(parts: list[Domain | None]) -> Domain | None:
    found: list[KeyValue] = []
    for part in parts:
        if part is None:
            return None
        found.extend(part)
    return tuple(found)


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _mapped(node: exp.Expr, scope: Scope, rule: Callable[[int, int], Fraction]) -> Domain | None:
    """Arithmetic on whole numbers: the image, where it is whole again."""
    sides = [_domain(node.this, scope), _domain(node.expression, scope)]
    if any(side is None or any(type(v) is not int for v in side) for side in sides):
        return None
    left, right = (tuple(int(v) for v in side or () if v is not None) for side in sides)
    if len(left) * len(right) > 10 * _MOST_VALUES:
        return None
    image = [rule(a, b) for a in left for b in right if not (isinstance(node, exp.Mod) and b == 0)]
    return tuple(int(v) for v in image) if all(v.denominator == 1 for v in image) else None


def _remainder(a: int, b: int) -> Fraction:
    return Fraction(int(math.fmod(a, b)))  # the sign of the first, as the engine has it


def _months(node: exp.Expr, scope: Scope) -> Domain | None:
    """The first day of every year, quarter or month between a date column's bounds."""
    inner = node.this.unnest()
    field = scope.field(inner) if isinstance(inner, exp.Column) else None
    step = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}.get(node.args["unit"].name.upper())
    if field is None or field.dates is None or step is None:
        return None
    first, last = (end.year * 12 + end.month - 1 for end in field.dates)
    known = tuple(date(m // 12, m % 12 + 1, 1).isoformat() for m in range(first - first % step, last + 1, step))
    return (*known, None) if field.nullable else known


_MAPS: dict[type[exp.Expr], Callable[[int, int], Fraction]] = {
    exp.Add: lambda a, b: Fraction(a + b),
    exp.Sub: lambda a, b: Fraction(a - b),
    exp.Mul: lambda a, b: Fraction(a * b),
    exp.Mod: _remainder,
}
_RULES: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Domain | None]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Null: _literal,
    exp.Boolean: _literal,
    exp.Neg: _negated,
    exp.Case: _case,
    exp.If: _case,
    exp.Coalesce: _coalesced,
    exp.TimestampTrunc: _months,
    exp.DateTrunc: _months,
}

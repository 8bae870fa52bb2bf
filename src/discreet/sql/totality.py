"""Whether an expression can fail on a row. What cannot is passed to the engine bare; all else is wrapped, and gives NULL."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.sql.bounds import results
from discreet.sql.scope import COMPUTED, Scope

_NUMBERS = {"int", "small", "real", "decimal"}
_SMALL = 2**31
_PARTS: tuple[type[exp.Expr], ...] = (exp.Year, exp.Month, exp.Day)
_COMPARISONS: tuple[type[exp.Expr], ...] = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def total_kind(node: exp.Expr, scope: Scope) -> str | None:
    """The kind of an expression that cannot fail whatever the row; None where that is not known."""
    if isinstance(node, exp.Column):
        return scope.field(node).kind
    if isinstance(node, exp.Literal):
        return _literal(node)
    if isinstance(node, exp.Boolean):
        return "bool"
    for kinds, rule in _RULES:
        if isinstance(node, kinds):
            return rule(node, scope)
    return None


def holds_computed(node: exp.Expr) -> bool:
    """Whether a subquery, a window or an aggregate is in it, which the engine cannot wrap."""
    return any(column.text("table") == COMPUTED for column in node.find_all(exp.Column))


def _literal(node: exp.Literal) -> str:
    if node.is_string:
        return "text"
    if not node.name.isdecimal():
        return "decimal"
    return "small" if int(node.name) < _SMALL else "int"


def _inside(node: exp.Expr, scope: Scope) -> str | None:
    return total_kind(node.this, scope)


def _arithmetic(node: exp.Expr, scope: Scope) -> str | None:
    sides = {total_kind(node.this, scope), total_kind(node.expression, scope)}
    if not sides <= _NUMBERS:
        return None
    return "real" if "real" in sides else "int" if sides == {"small"} else None


def _ratio(node: exp.Expr, scope: Scope) -> str | None:
    sides = {total_kind(node.this, scope), total_kind(node.expression, scope)}
    return "real" if sides <= _NUMBERS else None


def _whole_ratio(node: exp.Expr, scope: Scope) -> str | None:
    divisor = node.expression
    if isinstance(divisor, exp.Literal) and divisor.is_int and int(divisor.name) > 0:
        return "small" if total_kind(node.this, scope) == total_kind(divisor, scope) == "small" else None
    return None


def _alike(sides: list[exp.Expr], scope: Scope) -> str | None:
    """The common kind of things that can be compared without a cast that fails."""
    kinds = {total_kind(side, scope) for side in sides if not isinstance(side, exp.Null)}
    if kinds == {"date", "text"} and all(
        isinstance(side, exp.Literal) for side in sides if total_kind(side, scope) == "text"
    ):
        return "date"  # a date in quotes is read while binding, before anything is charged
    if len(kinds) == 1:
        return kinds.pop()
    if None in kinds or not kinds <= _NUMBERS or ("decimal" in kinds and "real" not in kinds):
        return None  # what a decimal is compared with is cast to its width, and may not fit
    return "real" if "real" in kinds else "int"


def _compared(node: exp.Expr, scope: Scope) -> str | None:
    return "bool" if _alike([node.this, node.expression], scope) else None


def _between(node: exp.Expr, scope: Scope) -> str | None:
    return "bool" if _alike([node.this, node.args["low"], node.args["high"]], scope) else None


def _in(node: exp.Expr, scope: Scope) -> str | None:
    return "bool" if _alike([node.this, *node.expressions], scope) else None


def _logic(node: exp.Expr, scope: Scope) -> str | None:
    sides = [node.this, node.args.get("expression")]
    return "bool" if all(total_kind(side, scope) == "bool" for side in sides if side is not None) else None


def _is(node: exp.Expr, scope: Scope) -> str | None:
    return "bool" if total_kind(node.this, scope) else None


def _case(node: exp.Expr, scope: Scope) -> str | None:
    if isinstance(node, exp.Case) and node.this is not None:
        return None
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    if any(total_kind(branch.this, scope) != "bool" for branch in branches):
        return None
    return _alike(results(node), scope)


def _several(node: exp.Expr, scope: Scope) -> str | None:
    return _alike([node.this, *node.expressions], scope)


def _of_real(node: exp.Expr, scope: Scope) -> str | None:
    return "real" if total_kind(node.this, scope) == "real" and not node.args.get("decimals") else None


def _signed(node: exp.Expr, scope: Scope) -> str | None:
    kind = total_kind(node.this, scope)
    return kind if kind in ("real", "small") else None


def _of_text(node: exp.Expr, scope: Scope) -> str | None:
    return "text" if total_kind(node.this, scope) == "text" else None


def _length(node: exp.Expr, scope: Scope) -> str | None:
    return "small" if total_kind(node.this, scope) == "text" else None


def _part(node: exp.Expr, scope: Scope) -> str | None:
    inner = node.expression if isinstance(node, exp.Extract) else node.this
    return "small" if total_kind(inner, scope) == "date" else None


def _days(node: exp.Expr, scope: Scope) -> str | None:
    return "small" if total_kind(node.this, scope) == total_kind(node.expression, scope) == "date" else None


def _like(node: exp.Expr, scope: Scope) -> str | None:
    return "bool" if total_kind(node.this, scope) == "text" else None


_RULES: list[tuple[tuple[type[exp.Expr], ...], Callable[[exp.Expr, Scope], str | None]]] = [
    ((exp.Paren,), _inside),
    ((exp.Add, exp.Sub, exp.Mul), _arithmetic),
    ((exp.IntDiv, exp.Mod), _whole_ratio),
    ((exp.Div,), _ratio),
    (_COMPARISONS, _compared),
    ((exp.Between,), _between),
    ((exp.In,), _in),
    ((exp.And, exp.Or, exp.Not), _logic),
    ((exp.Is,), _is),
    ((exp.Case, exp.If), _case),
    ((exp.Coalesce, exp.Least, exp.Greatest), _several),
    ((exp.Floor, exp.Ceil, exp.Round), _of_real),
    ((exp.Neg, exp.Abs), _signed),
    ((exp.Lower, exp.Upper, exp.Trim), _of_text),
    ((exp.Length,), _length),
    ((*_PARTS, exp.Extract), _part),
    ((exp.DateDiff,), _days),
    ((exp.Like, exp.ILike), _like),
]

"""What kind of value an expression has, and which of its parts could fail on a row.

Kinds are int, small (a whole number far from overflow whatever the row), real, text, bool, date and null. Operands must be
of like kinds, or the question is refused: an implicit cast could fail. What is left that can fail (integer overflow, a date
beyond the calendar, a logarithm) is wrapped in TRY just where it stands. Wrapping a whole expression would not do: the engine
rewrites AND, CASE, IN and BETWEEN, and an error inside of them escapes the TRY around them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from sqlglot import exp

from discreet.errors import NotAllowed
from discreet.sql.bounds import results
from discreet.sql.scope import COMPUTED, Scope

NUMBERS = {"int", "small", "real"}
_SMALL = 2**31
_CASTS = {
    exp.DataType.Type.INT: "int", exp.DataType.Type.BIGINT: "int", exp.DataType.Type.DOUBLE: "real",
    exp.DataType.Type.FLOAT: "real", exp.DataType.Type.VARCHAR: "text", exp.DataType.Type.TEXT: "text",
    exp.DataType.Type.DATE: "date", exp.DataType.Type.BOOLEAN: "bool",
}  # fmt: skip


def kind_of(node: exp.Expr, scope: Scope) -> str:
    """The kind of a checked expression, or a refusal where its parts do not fit together."""
    if isinstance(node, exp.Column):
        return scope.field(node).kind or "unknown"
    rule = _KINDS.get(type(node))
    if rule is None:
        raise _unlike()
    return rule(node, scope)


def _unlike() -> NotAllowed:
    return NotAllowed("The types of the question do not fit together.", next_step="Compare and add like with like.")


def holds_computed(node: exp.Expr) -> bool:
    """Whether a subquery, a window or an aggregate is in it, which the engine cannot wrap."""
    return any(column.text("table") == COMPUTED for column in node.find_all(exp.Column))


def needs_wrapping(node: exp.Expr, scope: Scope) -> bool:
    """Whether this very node can fail, whatever its operands are."""
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        if isinstance(node.expression, exp.Interval):
            return True
        kinds = {kind_of(node.this, scope), kind_of(node.expression, scope)}
        return "real" not in kinds and kinds != {"small"}
    if isinstance(node, exp.IntDiv | exp.Mod):
        divisor = node.expression
        whole = isinstance(divisor, exp.Literal) and divisor.is_int and int(divisor.name) > 0
        return not (whole and kind_of(node.this, scope) == kind_of(divisor, scope) == "small")
    if isinstance(node, exp.Neg | exp.Abs):
        return kind_of(node.this, scope) == "int"
    if isinstance(node, exp.Floor | exp.Ceil | exp.Round):
        return kind_of(node.this, scope) != "real" or node.args.get("decimals") is not None
    return isinstance(node, _CAN_FAIL)


_CAN_FAIL = (
    exp.Sqrt,
    exp.Exp,
    exp.Ln,
    exp.Log,
    exp.Pow,
    exp.Substring,
    exp.Left,
    exp.Right,
    exp.DateTrunc,
    exp.TimestampTrunc,
)


# Kinds


def alike(parts: Sequence[exp.Expr], scope: Scope) -> str:
    """The common kind of parts that can stand for each other without a cast that fails."""
    kinds = {kind_of(part, scope) for part in parts} - {"null"}
    if "date" in kinds and "text" in kinds and all(is_date(part) for part in parts if kind_of(part, scope) == "text"):
        kinds.discard("text")
    if not kinds:
        return "null"
    if len(kinds) == 1 and "unknown" not in kinds:
        return kinds.pop()
    if kinds <= NUMBERS:
        return "real" if "real" in kinds else "int"
    raise _unlike()


def fit_together(one: str | None, other: str | None) -> bool:
    """Whether values of two kinds can be compared without a cast that fails."""
    return one == other is not None or {one, other} <= NUMBERS


def is_date(node: exp.Expr) -> bool:
    """Whether a text in quotes is a date as everybody writes it."""
    inner = node.unnest()
    try:
        return isinstance(inner, exp.Literal) and inner.is_string and bool(date.fromisoformat(inner.name))
    except ValueError:
        return False


def _need(node: exp.Expr, scope: Scope, *wanted: str) -> str:
    kind = kind_of(node, scope)
    if kind not in (*wanted, "null"):
        raise _unlike()
    return kind


def _literal(node: exp.Expr, _: Scope) -> str:
    if node.is_string:
        return "text"
    return "real" if not node.name.isdecimal() else "small" if int(node.name) < _SMALL else "int"


def _fixed(kind: str) -> Callable[[exp.Expr, Scope], str]:
    return lambda _, __: kind


def _inside(node: exp.Expr, scope: Scope) -> str:
    return kind_of(node.this, scope)


def _arithmetic(node: exp.Expr, scope: Scope) -> str:
    if isinstance(node.expression, exp.Interval) and not isinstance(node, exp.Mul):
        return _need(node.this, scope, "date")
    kinds = {_need(node.this, scope, *NUMBERS), _need(node.expression, scope, *NUMBERS)}
    return "real" if "real" in kinds else "int"


def _ratio(node: exp.Expr, scope: Scope) -> str:
    _arithmetic(node, scope)
    return "real"


def _whole_ratio(node: exp.Expr, scope: Scope) -> str:
    kind = _arithmetic(node, scope)
    return "small" if not needs_wrapping(node, scope) else kind


def _signed(node: exp.Expr, scope: Scope) -> str:
    return _need(node.this, scope, *NUMBERS)


def _to_real(node: exp.Expr, scope: Scope) -> str:
    for part in (node.this, node.args.get("expression")):
        if part is not None:
            _need(part, scope, *NUMBERS)
    return "real"


def _rounded(node: exp.Expr, scope: Scope) -> str:
    decimals = node.args.get("decimals")
    if decimals is not None and not isinstance(
        decimals.this if isinstance(decimals, exp.Neg) else decimals, exp.Literal
    ):
        raise _unlike()
    return _need(node.this, scope, *NUMBERS)


def _compared(node: exp.Expr, scope: Scope) -> str:
    alike([node.this, node.expression], scope)
    return "bool"


def _between(node: exp.Expr, scope: Scope) -> str:
    alike([node.this, node.args["low"], node.args["high"]], scope)
    return "bool"


def _in(node: exp.Expr, scope: Scope) -> str:
    alike([node.this, *node.expressions], scope)
    return "bool"


def _logic(node: exp.Expr, scope: Scope) -> str:
    for side in (node.this, node.args.get("expression")):
        if side is not None:
            _need(side, scope, "bool")
    return "bool"


def _is(node: exp.Expr, scope: Scope) -> str:
    kind_of(node.this, scope)
    if not isinstance(node.expression, exp.Null):
        _need(node.this, scope, "bool")
        _need(node.expression, scope, "bool")
    return "bool"


def _case(node: exp.Expr, scope: Scope) -> str:
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    operand = node.this if isinstance(node, exp.Case) else None
    if operand is not None:
        alike([operand, *(branch.this for branch in branches)], scope)
    else:
        for branch in branches:
            _need(branch.this, scope, "bool")
    return alike(results(node), scope)


def _several(node: exp.Expr, scope: Scope) -> str:
    return alike([node.this, *node.expressions], scope)


def _pair(node: exp.Expr, scope: Scope) -> str:
    alike([node.this, node.expression], scope)
    return kind_of(node.this, scope)


def _cast(node: exp.Expr, scope: Scope) -> str:
    kind_of(node.this, scope)
    return _CASTS[node.args["to"].this]


def _of_text(kind: str, *others: tuple[str, str]) -> Callable[[exp.Expr, Scope], str]:
    """A function of a text, with further arguments of given kinds."""

    def rule(node: exp.Expr, scope: Scope) -> str:
        _need(node.this, scope, "text")
        for name, wanted in others:
            if node.args.get(name) is not None:
                _need(node.args[name], scope, wanted, *(("int",) if wanted == "small" else ()))
        return kind

    return rule


def _part(node: exp.Expr, scope: Scope) -> str:
    _need(node.expression if isinstance(node, exp.Extract) else node.this, scope, "date")
    return "small"


def _truncated(node: exp.Expr, scope: Scope) -> str:
    return _need(node.this, scope, "date")


def _days(node: exp.Expr, scope: Scope) -> str:
    for side in (node.this, node.expression):
        _need(side, scope, "date")
    return "small"


_KINDS: dict[type[exp.Expr], Callable[[exp.Expr, Scope], str]] = {
    exp.Literal: _literal, exp.Boolean: _fixed("bool"), exp.Null: _fixed("null"), exp.Paren: _inside,
    exp.Add: _arithmetic, exp.Sub: _arithmetic, exp.Mul: _arithmetic, exp.Div: _ratio, exp.IntDiv: _whole_ratio,
    exp.Mod: _whole_ratio, exp.Neg: _signed, exp.Abs: _signed, exp.Sign: lambda node, scope: _signed(node, scope) and "small",
    exp.Floor: _rounded, exp.Ceil: _rounded, exp.Round: _rounded,
    exp.Sqrt: _to_real, exp.Exp: _to_real, exp.Ln: _to_real, exp.Log: _to_real, exp.Pow: _to_real,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ), _compared),
    exp.Between: _between, exp.In: _in, exp.And: _logic, exp.Or: _logic, exp.Not: _logic, exp.Is: _is,
    exp.Case: _case, exp.If: _case, exp.Coalesce: _several, exp.Least: _several, exp.Greatest: _several, exp.Nullif: _pair,
    exp.Cast: _cast, exp.TryCast: _cast,
    exp.Like: _of_text("bool"), exp.ILike: _of_text("bool"), exp.Lower: _of_text("text"), exp.Upper: _of_text("text"),
    exp.Trim: _of_text("text", ("expression", "text")), exp.Length: _of_text("small"),
    exp.Substring: _of_text("text", ("start", "small"), ("length", "small")),
    exp.Left: _of_text("text", ("expression", "small")), exp.Right: _of_text("text", ("expression", "small")),
    exp.StartsWith: _of_text("bool", ("expression", "text")), exp.Contains: _of_text("bool", ("expression", "text")),
    exp.StrPosition: _of_text("small", ("substr", "text")),
    **dict.fromkeys((exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek, exp.DayOfYear, exp.Extract), _part),
    exp.DateTrunc: _truncated, exp.TimestampTrunc: _truncated, exp.DateDiff: _days,
}  # fmt: skip

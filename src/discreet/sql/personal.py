"""Aggregates and windows within one person's rows: exact and independent of order, with bounds that follow."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from discreet.errors import JoinsPeople, NotAllowed
from discreet.sql.bounds import bounds, hull
from discreet.sql.expressions import Special, check, condition_text, safe_text
from discreet.sql.kinds import kind_of
from discreet.sql.scope import Bounds, Field, Scope
from discreet.sql.steps import steps_of

_RANKS: dict[type[exp.Expr], str] = {exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank"}
_SHIFTS: dict[type[exp.Expr], str] = {
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
    exp.LastValue: "last_value",
}
_EXTREMES: dict[type[exp.Expr], str] = {
    exp.Min: "min",
    exp.Max: "max",
    exp.LogicalOr: "bool_or",
    exp.LogicalAnd: "bool_and",
}
_KNOWN = "COUNT, SUM, AVG, MIN, MAX, BOOL_OR or BOOL_AND"


def personal_aggregates(inner: Special) -> Special:
    """Stand-ins for aggregates, in a SELECT that groups by the person or stands in a correlated subquery."""

    def special(node: exp.Expr, scope: Scope) -> exp.Expr | None:
        if isinstance(node, exp.AggFunc | exp.Filter):
            sql, facts = aggregate(node, scope, inner, fewest=1)
            return scope.compute(sql, facts)
        return inner(node, scope)

    return special


def personal_windows(inner: Special) -> Special:
    """Stand-ins for windows that stay within one person's rows."""

    def special(node: exp.Expr, scope: Scope) -> exp.Expr | None:
        if isinstance(node, exp.Window):
            sql, facts = _window(node, scope, inner)
            return scope.compute(sql, facts)
        return inner(node, scope)

    return special


def aggregate(node: exp.Expr, scope: Scope, special: Special, *, over: str = "", fewest: int = 0) -> tuple[str, Field]:
    """SQL and facts of one aggregate over at least `fewest` rows. Sums are of grid steps: their order does not matter."""
    condition = None
    if isinstance(node, exp.Filter):
        condition = condition_text(check(node.expression.this, scope, special), scope)
        node = node.this
    kept = f" FILTER (WHERE {condition})" if condition else ""
    tail, most = f"{kept}{over}", None if scope.is_public else scope.per_person
    argument = node.this
    if isinstance(argument, exp.Distinct) and not isinstance(node, exp.Count):
        raise NotAllowed("Only COUNT takes DISTINCT.", next_step="Leave DISTINCT out.")
    if isinstance(node, exp.Count):
        least = fewest if isinstance(argument, exp.Star) and condition is None else 0
        ends = Fraction(least), None if most is None else Fraction(most)
        return _count(argument, scope, special, tail), Field("", "small", ends)
    if type(node) in _EXTREMES:
        inner = check(argument, scope, special)
        facts = Field("", kind_of(inner, scope), bounds(inner, scope))
        return f"{_EXTREMES[type(node)]}({safe_text(inner, scope)}){tail}", facts
    if isinstance(node, exp.Sum | exp.Avg) and scope.is_public:
        inner = check(argument, scope, special)
        kind = "real" if isinstance(node, exp.Avg) or kind_of(inner, scope) == "real" else "int"
        return f"{node.key}({safe_text(inner, scope)}){tail}", Field("", kind)
    if isinstance(node, exp.Sum | exp.Avg):
        steps = steps_of(check(argument, scope, special), scope)
        low, high = steps.low * steps.step, steps.high * steps.step
        total = f"(CAST(sum({steps.sql}){tail} AS DOUBLE) * {float(steps.step)!r})"
        if isinstance(node, exp.Avg):
            return f"({total} / count({steps.sql}){tail})", Field("", "real", (low, high))
        return total, Field("", "real", _summed(low, high, most))
    raise NotAllowed("That aggregate cannot be taken of one person's rows.", next_step=f"Use {_KNOWN}.")


def _summed(low: Fraction, high: Fraction, most: int | None) -> Bounds:
    if most is None:
        return (Fraction(0) if low >= 0 else None), (Fraction(0) if high <= 0 else None)
    return hull([(low, high), (low * most, high * most)])


def _count(argument: exp.Expr, scope: Scope, special: Special, tail: str) -> str:
    if isinstance(argument, exp.Star):
        return f"count(*){tail}"
    if isinstance(argument, exp.Distinct):
        parts = [safe_text(check(part, scope, special), scope) for part in argument.expressions]
        if len(parts) != 1:
            raise NotAllowed("COUNT DISTINCT takes one thing.", next_step="Count one column.")
        return f"count(DISTINCT {parts[0]}){tail}"
    return f"count({safe_text(check(argument, scope, special), scope)}){tail}"


def _window(node: exp.Window, scope: Scope, special: Special) -> tuple[str, Field]:
    if node.args.get("spec") or node.args.get("alias") or node.args.get("first"):
        raise NotAllowed("Windows with frames or names are not known here.", next_step="Leave the frame out.")
    parts = [check(part, scope, special) for part in node.args.get("partition_by") or ()]
    if not scope.is_public and not any(scope.is_owner(part) for part in parts):
        raise JoinsPeople(
            "This window looks at rows of different people.",
            next_step="Put the column that names the person into PARTITION BY.",
        )
    partition = ", ".join(safe_text(part, scope) for part in parts)
    given = node.args["order"].expressions if node.args.get("order") else []
    order = [
        f"{safe_text(check(one.this, scope, special), scope)}{' DESC' if one.args.get('desc') else ''} NULLS LAST"
        for one in given
    ]
    function, columns = node.this, [scope.text(column) for column in scope.columns()]
    by_position = isinstance(function, exp.RowNumber) or type(function) in _SHIFTS
    order += columns if by_position else []  # ties are broken by the whole row, so that the order is total
    ordered = f" ORDER BY {', '.join(order)}" if order else ""
    over = f" OVER (PARTITION BY {partition or '1'}{ordered})"
    if type(function) in _RANKS:
        most = None if scope.per_person is None else Fraction(scope.per_person)
        return f"{_RANKS[type(function)]}(){over}", Field("", "small", (Fraction(1), most))
    if type(function) in _SHIFTS:
        return _shifted(function, scope, special, over)
    return aggregate(function, scope, special, over=over, fewest=1)


def _shifted(function: exp.Expr, scope: Scope, special: Special, over: str) -> tuple[str, Field]:
    inner = check(function.this, scope, special)
    offset = function.args.get("offset")
    if function.args.get("default") is not None or (
        offset is not None and not (isinstance(offset, exp.Literal) and offset.is_int)
    ):
        raise NotAllowed("LAG and LEAD take a column and a whole number.", next_step="Write LAG(x) or LAG(x, 2).")
    argument = safe_text(inner, scope) + (f", {offset.name}" if offset is not None else "")
    facts = (
        scope.field(inner) if isinstance(inner, exp.Column) else Field("", kind_of(inner, scope), bounds(inner, scope))
    )
    return f"{_SHIFTS[type(function)]}({argument}){over}", replace(facts, step=None)

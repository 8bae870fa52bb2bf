"""Window functions: always within the rows of one person, or over public rows."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.algebra.aggregates import Aggregate, Frame, Order, RowFunction, Window
from discreet.algebra.expressions import Expression, call
from discreet.errors import JoinsPeople, NotAllowed, UnknownName
from discreet.sql.expressions.person_aggregates import aggregate, rebase_aggregate
from discreet.sql.expressions.row_expressions import only
from discreet.sql.expressions.type_matching import unsupported
from discreet.sql.reader.reader_model import Environment

_ROW_FUNCTIONS: dict[type[exp.Expr], RowFunction] = {
    exp.RowNumber: RowFunction.ROW_NUMBER, exp.Rank: RowFunction.RANK, exp.DenseRank: RowFunction.DENSE_RANK, exp.Ntile: RowFunction.NTILE,
    exp.Lag: RowFunction.LAG, exp.Lead: RowFunction.LEAD, exp.FirstValue: RowFunction.FIRST, exp.LastValue: RowFunction.LAST,
}  # fmt: skip
_MAX_OFFSET = 10_000
_Ends = tuple[int | None, int | None]


def window(node: exp.Window, env: Environment) -> Expression:
    """Read a window function and add its column."""
    scope = env.scope
    if not scope.takes_windows:
        raise NotAllowed(
            "A window function is allowed only in SELECT and QUALIFY.",
            next_step="Compute it in a subquery in FROM and refer to its column.",
        )
    scope.takes_windows = False
    try:
        asked = _window(_named(node, env), env)
    finally:
        scope.takes_windows = True
    return scope.window(asked)


def _named(node: exp.Window, env: Environment) -> exp.Window:
    """Expand OVER w to the window that WINDOW defines."""
    name = node.args.get("alias")
    if name is None:
        return node
    known = env.scope.windows.get(name.name.lower())
    if known is None:
        raise UnknownName("The query has no window of this name.", next_step="Define it with WINDOW w AS (…).")
    if any(node.args.get(part) for part in ("partition_by", "order", "spec")) or known.args.get("alias"):
        raise NotAllowed("A named window cannot be extended.", next_step="Write the whole window in OVER (…).")
    made = node.copy()
    made.set("alias", None)
    for part in ("partition_by", "order", "spec"):
        made.set(part, known.args.get(part))
    made.set("this", node.this)
    return made


def _window(node: exp.Window, env: Environment) -> Window:
    scope = env.scope
    if any(value for name, value in node.args.items() if name not in ("this", "partition_by", "order", "spec", "over")):
        raise unsupported("OVER")
    parts = [env.read(part) for part in node.args.get("partition_by") or ()]
    if not scope.is_public and not any(scope.is_person(part) for part in parts):
        raise JoinsPeople(
            "This window function would read rows of different people.",
            next_step="Add the person's id column to PARTITION BY.",
        )
    order = tuple(key for part in _ordered(node) for key in sort_keys(part, env))
    what, value, offset = _function(node.this, env)
    frame, keeps_order = _frame(node.args.get("spec"), what, order)
    if what is RowFunction.LAST and frame == Frame(None, None):
        what, order = RowFunction.FIRST, _reversed(order)
    return Window(
        operation=rebase_aggregate(scope, what) if isinstance(what, Aggregate) else what,
        value=None if value is None else scope.rebase(value),
        offset=offset,
        partition=tuple(scope.rebase(part) for part in parts if scope.is_public or not scope.is_person(part)),
        order=tuple(Order(scope.rebase(key.by), key.descending) for key in order) if keeps_order else (),
        frame=frame if isinstance(what, Aggregate) else None,
    )


def _ordered(node: exp.Window) -> list[exp.Expr]:
    order = node.args.get("order")
    return order.expressions if order is not None else []


def sort_keys(node: exp.Expr, env: Environment) -> list[Order]:
    """Read a key of ORDER BY. NULLs are last unless NULLS FIRST is given."""
    if any(value for name, value in node.args.items() if name not in ("this", "desc", "nulls_first")):
        raise unsupported("ORDER BY")
    key, descending = env.read(node.this), bool(node.args.get("desc"))
    first = (
        [Order(call("is_null", key), descending=True)]
        if node.args.get("nulls_first") and key.properties.nullable
        else []
    )
    return [*first, Order(key, descending)]


def _reversed(order: tuple[Order, ...]) -> tuple[Order, ...]:
    """Reverse an order. NULLs, which were last, come first."""
    keys: list[Order] = []
    for key in order:
        if key.by.properties.nullable:
            keys.append(Order(call("is_null", key.by), descending=True))
        keys.append(replace(key, descending=not key.descending))
    return tuple(keys)


def _function(node: exp.Expr, env: Environment) -> tuple[RowFunction | Aggregate, Expression | None, int]:
    position = _ROW_FUNCTIONS.get(type(node))
    if position is None:
        return aggregate(node, env), None, 0
    if position is RowFunction.NTILE:
        only(node, "this")
        return position, None, _whole(node.this, "NTILE needs a whole number from 1 to 1,000.", "Write NTILE(4).")
    if position in (RowFunction.LAG, RowFunction.LEAD):
        offset = node.args.get("offset")
        wrong, right = (
            "LAG and LEAD take a column and, optionally, a whole number of rows.",
            "Write LAG(x) or LAG(x, 2).",
        )
        if any(value for name, value in node.args.items() if name not in ("this", "offset")):
            raise NotAllowed(wrong, next_step=right)
        return position, env.read(node.this), 1 if offset is None else _whole(offset, wrong, right)
    if position in (RowFunction.FIRST, RowFunction.LAST):
        only(node, "this")
        return position, env.read(node.this), 0
    only(node)
    return position, None, 0


def _whole(node: exp.Expr, wrong: str, right: str) -> int:
    if not isinstance(node, exp.Literal) or not node.is_int or not 0 <= int(node.name) <= _MAX_OFFSET:
        raise NotAllowed(wrong, next_step=right)
    return int(node.name)


def _frame(spec: exp.Expr | None, what: RowFunction | Aggregate, order: tuple[Order, ...]) -> tuple[Frame | None, bool]:
    """Return the frame, and whether the order matters. Over all rows of a partition it does not."""
    if spec is None:
        return None, True
    start, end = _ends(spec)
    if spec.args.get("kind") == "ROWS":
        if isinstance(what, Aggregate):
            return Frame(start, end), True
        if what is RowFunction.LAST and (start, end) == (None, None):
            return Frame(None, None), True
        if what is RowFunction.FIRST and start is None and (end is None or end >= 0):
            return None, True
    elif spec.args.get("kind") == "RANGE" and start is None and end in (None, 0):
        if what is RowFunction.LAST and end is None:
            return Frame(None, None), True
        if isinstance(what, Aggregate) or what is RowFunction.FIRST:
            return None, (end == 0 and bool(order)) or not isinstance(what, Aggregate)
    raise NotAllowed(
        "This window frame is not supported. Frames must be ROWS BETWEEN whole numbers, for aggregates only.",
        next_step="Write for example ROWS BETWEEN 2 PRECEDING AND CURRENT ROW.",
    )


def _ends(spec: exp.Expr) -> _Ends:
    if spec.args.get("exclude"):
        raise unsupported("EXCLUDE")
    start = _end(spec.args.get("start"), spec.args.get("start_side"), away="PRECEDING")
    end = _end(spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"), away="FOLLOWING")
    if start is not None and end is not None and start > end:
        raise unsupported("OVER")
    return start, end


def _end(end: exp.Expr | str | None, side: str | None, *, away: str) -> int | None:
    """Return an end of a frame as an offset, negative before the row; None for UNBOUNDED."""
    if end == "CURRENT ROW":
        return 0
    if end == "UNBOUNDED" and side == away:
        return None
    if isinstance(end, exp.Expr):
        rows = _whole(
            end,
            "The ends of a window frame must be whole numbers.",
            "Write for example ROWS BETWEEN 2 PRECEDING AND CURRENT ROW.",
        )
        return -rows if side == "PRECEDING" else rows
    raise unsupported("OVER")

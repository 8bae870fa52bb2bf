"""Window clauses: partition, order and frame."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.algebra.aggregates import Frame, RowFunction, Window
from discreet.algebra.relations import Relation
from discreet.engines.sqlgen.common_subexpressions import Levels


def by(names: Sequence[str]) -> list[str]:
    """Sort keys, NULLs last."""
    return [f"{name} NULLS LAST" for name in names]


def window(within: Sequence[str], order: Sequence[str]) -> str:
    """Write the content of OVER (…)."""
    parts = [f"PARTITION BY {', '.join(within)}"] if within else []
    parts += [f"ORDER BY {', '.join(order)}"] if order else []
    return " ".join(parts)


def rows_of(asked: Window, rows: Relation, levels: Levels, ids: Sequence[str]) -> str:
    """Partition by the person, always; add a total order if positions matter."""
    owner = [] if rows.is_public else ["o"]
    levels.used.update(owner)
    order = [f"{levels.text(key.by)} {'DESC' if key.descending else 'ASC'} NULLS LAST" for key in asked.order]
    if asked.is_by_position:
        levels.used.update(ids)
        order += by(ids)
    brackets = window([*owner, *(levels.text(part) for part in asked.partition)], order)
    return " ".join(part for part in (brackets, _frame(asked)) if part)


def row_function(asked: Window, levels: Levels) -> str:
    """Write a window function that is not an aggregate."""
    value = "" if asked.value is None else levels.name(asked.value)
    match asked.operation:
        case RowFunction.LAG | RowFunction.LEAD:
            return f"{asked.operation.value}({value}, {asked.offset})"
        case RowFunction.NTILE:
            return f"ntile({asked.offset})"
        case RowFunction():
            return f"{asked.operation.value}({value})"
    message = "an aggregate is not a row function"
    raise TypeError(message)


def _frame(asked: Window) -> str:
    """Write the frame. FIRST_VALUE and LAST_VALUE without an order range over the whole partition."""
    if asked.frame is not None:
        return f"ROWS BETWEEN {_end(asked.frame, start=True)} AND {_end(asked.frame, start=False)}"
    if asked.operation in (RowFunction.FIRST, RowFunction.LAST) and not asked.order:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    return ""


def _end(frame: Frame, *, start: bool) -> str:
    bound = frame.start if start else frame.end
    if bound is None:
        return "UNBOUNDED PRECEDING" if start else "UNBOUNDED FOLLOWING"
    if bound == 0:
        return "CURRENT ROW"
    return f"{abs(bound)} {'PRECEDING' if bound < 0 else 'FOLLOWING'}"

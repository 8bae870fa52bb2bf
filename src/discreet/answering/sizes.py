"""How large an answer is, as far as that is known before anything is paid: from the plan, never from the data."""

from __future__ import annotations

import math

from discreet.algebra.after import Folded, Pairs, Release, Select, Sorted, Stacked, View
from discreet.answering.plan import Plan
from discreet.errors import TooLarge


def check_cells(plan: Plan, most: int) -> None:
    """Refuse a question whose answer is certain to have more cells: rows times columns."""
    if _rows(plan, plan.view) * len(plan.columns) > most:
        raise too_large(most, paid=False)


def too_large(most: int, *, paid: bool) -> TooLarge:
    """What to do instead: what was paid for is kept, and costs nothing more."""
    kept = " It is paid for and kept: asking again costs nothing more." if paid else ""
    return TooLarge(
        f"As JSON this answer would have more than {most:,} cells.{kept}",
        next_step="Ask for it as application/vnd.apache.parquet (Accept), or for fewer groups: LIMIT, HAVING, fewer keys.",
    )


def _rows(plan: Plan, view: View) -> int:
    """The rows that a table has at least, whatever is measured."""
    match view:
        case Release(question=number, having=None):
            keys = plan.questions[number].keys
            sets = [[keys[at].values for at in priced.keys] for priced in plan.priced[number]]
            if plan.questions[number].choose is not None:
                return 0
            return sum(math.prod(len(values or ()) for values in product) for product in sets)
        case Select(table=table, where=None):
            return _rows(plan, table)
        case Sorted(table=table, limit=limit):
            rows = _rows(plan, table)
            return rows if limit is None else min(rows, limit)
        case Stacked(tables=tables):
            return sum(_rows(plan, table) for table in tables)
        case Pairs(left=left, right=right):
            return _rows(plan, left) * _rows(plan, right)
        case Release() | Select() | Folded():
            return 0

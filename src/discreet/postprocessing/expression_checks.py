"""What can be computed after the noise, checked before anything is charged: afterwards it is too late to refuse."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.algebra.query import Query
from discreet.algebra.released_expressions import (
    After,
    Apply,
    ColumnOf,
    Constant,
    Estimate,
    Folded,
    Grouping,
    KeyOf,
    Known,
    Over,
    Pairs,
    Release,
    Select,
    Sorted,
    Stacked,
    View,
    parts_of,
)
from discreet.errors import NotAllowed, TooLarge
from discreet.postprocessing.operators import MOST_ARGUMENTS
from discreet.postprocessing.row_matching import check_size, equalities

FOLDS = frozenset({"sum", "avg", "min", "max", "count"})
RANKS = frozenset({"row_number", "rank", "dense_rank"})
ESTIMATES: dict[str, tuple[int, int]] = {
    "measure": (1, 1), "quantile": (1, 1), "average": (2, 2),
    **dict.fromkeys(("var_samp", "var_pop", "std_samp", "std_pop"), (3, 3)),
    **dict.fromkeys(("covar_samp", "covar_pop"), (4, 6)), **dict.fromkeys(("slope", "intercept"), (5, 6)), "corr": (6, 6),
}  # fmt: skip
"""How many measures an estimate is read from, at least and at most."""
_DEEPEST = 200
_USUAL_GROUPS = 10_000
_MOST_COLUMNS = 2_000


def names_of(view: View) -> tuple[str, ...]:
    """The names of a table's columns."""
    match view:
        case Release() | Select():
            return tuple(name for name, _ in view.columns)
        case Folded():
            return (*(name for name, _ in view.keys), *(name for name, _, _ in view.folds))
        case Pairs():
            return (*names_of(view.left), *names_of(view.right))
        case Stacked():
            return names_of(view.tables[0])
        case Sorted():
            return names_of(view.table)


def check_view(view: View, queries: Sequence[Query]) -> None:
    """Refuse a table with an operator, a column or a measure that is not known, or with too many columns."""
    _checked(view, queries, {}, 0)
    most_rows(view, queries)


def most_rows(view: View, queries: Sequence[Query]) -> int:
    """How many rows a table can have, where groups are public; a refusal where it is too large."""
    return _check_sizes(view, queries, {})


def _check_sizes(view: View, queries: Sequence[Query], known: dict[int, int], *, is_matched: bool = False) -> int:
    """How many rows a table can have, where groups are public; too large a one is refused before it is paid for.

    Where groups are private, as many are reckoned with as are usual, and the table is looked at once more when it is made. Pairs that a
    condition has equal (`is_matched`) are never all made.
    """
    if id(view) in known:
        return known[id(view)]
    matched = isinstance(view, Select) and any(equalities(view.where))
    below = [_check_sizes(table, queries, known, is_matched=matched) for table in _below(view)]
    match view:
        case Release():
            counts = [queries[view.query].groups_in(keys) for keys in queries[view.query].sets]
            rows = sum(_USUAL_GROUPS if count is None else count for count in counts)
        case Pairs():
            rows = max(below) if is_matched else math.prod(below)
        case Sorted(limit=limit) if limit is not None:
            rows = min(limit, *below)
        case _:
            rows = sum(below)
    known[id(view)] = rows
    check_size(rows, len(names_of(view)))
    return rows


def _checked(view: View, queries: Sequence[Query], widths: dict[int, int], depth: int) -> int:
    """The number of columns; a table that stands many times is looked at once."""
    if id(view) in widths:
        return widths[id(view)]
    if depth > _DEEPEST:
        raise TooLarge("The question is nested too deeply.", next_step="Say it in fewer levels.")
    below = [_checked(table, queries, widths, depth + 1) for table in _below(view)]
    if isinstance(view, Stacked) and len(set(below)) != 1:
        raise NotAllowed(
            "Tables below each other need the same number of columns.", next_step="Select the same columns."
        )
    if isinstance(view, Folded) and any(op not in FOLDS or (op != "count" and of is None) for _, op, of in view.folds):
        raise _unknown()
    for after in _expressions(view):
        for part in parts_of(after):
            _check_part(part)
            if isinstance(view, Release):
                _check_released(part, queries[view.query])
            else:
                _check_column(part, below[0])
    widths[id(view)] = (
        sum(below)
        if isinstance(view, Pairs)
        else below[0]
        if isinstance(view, Sorted | Stacked)
        else len(names_of(view))
    )
    if widths[id(view)] > _MOST_COLUMNS:
        raise TooLarge("There are too many columns.", next_step="Select fewer columns.")
    return widths[id(view)]


def _below(view: View) -> tuple[View, ...]:
    match view:
        case Release():
            return ()
        case Pairs():
            return view.left, view.right
        case Stacked():
            return view.tables
    return (view.table,)


def _expressions(view: View) -> list[After]:
    match view:
        case Release():
            return [*(after for _, after in view.columns), *_some(view.having)]
        case Select():
            return [*(after for _, after in view.columns), *_some(view.where)]
        case Folded():
            return [*(after for _, after in view.keys), *(after for _, _, after in view.folds if after is not None)]
        case Sorted():
            return [after for after, _ in view.order]
    return []


def _some(after: After | None) -> tuple[After, ...]:
    return () if after is None else (after,)


def _check_part(part: After) -> None:
    if isinstance(part, Apply):
        least, most = MOST_ARGUMENTS.get(part.op, (1, 0))
        if not least <= len(part.args) <= most:
            raise _unknown()
    if isinstance(part, Over):
        wanted = (
            (0, 1) if part.op == "count" else (1, 1) if part.op in FOLDS else (0, 0) if part.op in RANKS else (1, 0)
        )
        if not wanted[0] <= len(part.args) <= wanted[1]:
            raise _unknown()


def _check_column(part: After, width: int) -> None:
    if isinstance(part, KeyOf | Grouping | Estimate | Known) or (
        isinstance(part, ColumnOf) and not 0 <= part.at < width
    ):
        message = "an expression names what its table does not have"
        raise ValueError(message)


def _check_released(part: After, query: Query) -> None:
    match part:
        case KeyOf() | Grouping():
            known = 0 <= part.key < len(query.keys)
        case Estimate():
            least, most = ESTIMATES.get(part.kind, (1, 0))
            known = least <= len(part.measures) <= most and all(0 <= m < len(query.measures) for m in part.measures)
        case ColumnOf():
            known = False
        case Known() | Constant() | Apply() | Over():
            known = True
    if not known:
        message = "an expression names what its question does not have"
        raise ValueError(message)


def _unknown() -> NotAllowed:
    return NotAllowed(
        "That cannot be computed from noisy numbers here.",
        next_step="Use arithmetic, comparisons, CASE, CAST, ROUND, ABS, LEAST, GREATEST or COALESCE over aggregates.",
    )

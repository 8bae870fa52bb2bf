"""Compute the answer table of a plan from released numbers only."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.released_expressions import (
    After,
    Apply,
    ColumnOf,
    Constant,
    Estimate,
    Folded,
    Grouping,
    KeyOf,
    Over,
    Pairs,
    Release,
    Select,
    Sorted,
    Stacked,
    View,
    parts_of,
)
from discreet.postprocessing.boolean_logic import joint_events, truth
from discreet.postprocessing.estimation.estimates import Cells, estimated
from discreet.postprocessing.noisy_columns import (
    Column,
    Mask,
    Sides,
    concatenated,
    constant,
    exact_column,
    from_arrow,
    remembered,
)
from discreet.postprocessing.noisy_groups import Noisy
from discreet.postprocessing.operators import apply_operator
from discreet.postprocessing.ordering import sort_keys, sorted_rows
from discreet.postprocessing.plan import Plan
from discreet.postprocessing.result_windows import apply_window, frames_of
from discreet.postprocessing.row_matching import check_size, matching_rows


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of one length. `population` is the number of rows before noisy values filtered them."""

    columns: tuple[Column, ...]
    size: int
    population: int
    chosen_by_noise: bool = False

    def kept(self, rows: NDArray[np.int64] | Mask, *, by_noise: bool = False) -> Table:
        columns = tuple(column.take(rows, chosen_by_noise=by_noise) for column in self.columns)
        size = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
        chosen = self.chosen_by_noise or by_noise
        return Table(columns, size, self.population if chosen else size, chosen)


def table_of(plan: Plan, noisy: Sequence[Sequence[Noisy]]) -> Table:
    """Return the table of the plan's view, from the released groups of each query."""
    return _Viewer(plan, noisy).table(plan.view)


class _Viewer:
    """Evaluates tables bottom-up. A table that is used twice is evaluated once, so that both uses read the same noise."""

    def __init__(self, plan: Plan, noisy: Sequence[Sequence[Noisy]]) -> None:
        self._plan, self._noisy = plan, noisy
        self._known: dict[int, Table] = {}

    def table(self, view: View) -> Table:
        if id(view) not in self._known:
            self._known[id(view)] = self._table(view)
        return self._known[id(view)]

    def _table(self, view: View) -> Table:
        match view:
            case Release():
                return self._released(view)
            case Select():
                table = (
                    self._paired(view.table, view.where) if isinstance(view.table, Pairs) else self.table(view.table)
                )
                return _selected(table, [after for _, after in view.columns], view.where, _columns_of)
            case Folded():
                return _folded(self.table(view.table), view)
            case Pairs():
                return self._paired(view, None)
            case Stacked():
                return _stacked([self.table(table) for table in view.tables])
            case Sorted():
                return _sorted(self.table(view.table), view)

    def _released(self, view: Release) -> Table:
        """One row for each group of each grouping set."""
        number, query = view.query, self._plan.queries[view.query]
        sets = [
            Cells(number, query, grouping, noisy)
            for grouping, noisy in zip(self._plan.grouping_sets[number], self._noisy[number], strict=True)
        ]
        size = sum(len(cells) for cells in sets)
        expressions = [after for after in (view.having, *(after for _, after in view.columns)) if after is not None]
        parts = dict.fromkeys(part for after in expressions for part in parts_of(after))
        leaves = [part for part in parts if not isinstance(part, Constant | Apply | Over)]
        table = Table(tuple(self._leaf(leaf, sets, size) for leaf in leaves), size, size)
        place: dict[After, int] = {leaf: at for at, leaf in enumerate(leaves)}
        return _selected(table, [after for _, after in view.columns], view.having, lambda leaf: place[leaf])

    def _leaf(self, leaf: After, sets: Sequence[Cells], size: int) -> Column:
        match leaf:
            case Estimate():
                return estimated(leaf, sets)
            case KeyOf():
                return _key(leaf.key, sets)
            case Grouping():
                parts = [np.full(len(cells), int(leaf.key not in cells.grouping.keys), np.int64) for cells in sets]
                return exact_column(np.concatenate(parts))
        return constant(self._plan.people, size)

    def _paired(self, view: View, where: After | None) -> Table:
        """Join two tables. Only pairs of rows that satisfy the equalities in WHERE are created."""
        if not isinstance(view, Pairs):
            return self.table(view)
        left, right = self._paired(view.left, where), self.table(view.right)
        first, second = matching_rows((left.columns, left.size), (right.columns, right.size), where)
        columns = [column.take(first) for column in left.columns]
        columns += [column.take(second) for column in right.columns]
        tags = [0] * len(left.columns) + [1] * len(right.columns)
        tagged = tuple(_tagged(column, tag) for column, tag in zip(columns, tags, strict=True))
        population = max(left.population * right.population, len(first))
        return Table(tagged, len(first), population, left.chosen_by_noise or right.chosen_by_noise)


def _tagged(column: Column, tag: int) -> Column:
    """Mark the side of a join in the events: the same measure on the other side belongs to another row."""
    return replace(column, events={(tag, event): draws for event, draws in column.events.items()})


def _key(key: int, sets: Sequence[Cells]) -> Column:
    """Return a key over all grouping sets; NULL if it is rolled up."""
    parts = [
        from_arrow(cells.noisy.keys[cells.grouping.keys.index(key)])
        if key in cells.grouping.keys
        else constant(None, len(cells))
        for cells in sets
    ]
    return _below_each_other(parts)


def _below_each_other(parts: Sequence[Column]) -> Column:
    """Concatenate columns."""
    if len(parts) == 1:
        return parts[0]
    arounds = [(part.around, len(part)) for part in parts]

    def around(level: Fraction) -> Sides:
        nothing = [(np.full(length, np.nan), np.full(length, np.nan)) for _, length in arounds]
        sides = [none if inner is None else inner(level) for (inner, _), none in zip(arounds, nothing, strict=True)]
        return np.concatenate([low for low, _ in sides]), np.concatenate([high for _, high in sides])

    return Column(
        *concatenated(parts),
        joint_events(parts),
        None if all(inner is None for inner, _ in arounds) else remembered(around),
        all(part.steady for part in parts),
    )


def _columns_of(leaf: After) -> int:
    assert isinstance(leaf, ColumnOf)  # noqa: S101  the plan has checked it
    return leaf.at


# Tables


def _selected(table: Table, columns: Sequence[After], where: After | None, place: Callable[[After], int]) -> Table:
    """Compute columns from the rows whose condition is true. Windows see only these rows."""
    if where is not None:
        condition = _Scope(table, place).column(where)
        table = table.kept(truth(condition)[0], by_noise=condition.is_noisy)
    scope = _Scope(table, place)
    return replace(table, columns=tuple(scope.column(after) for after in columns))


def _sorted(table: Table, view: Sorted) -> Table:
    scope = _Scope(table, _columns_of)
    order = [(scope.column(after), falling) for after, falling in view.order]
    rows = sorted_rows(sort_keys(order), table.size)
    if view.limit is None or view.limit >= table.size:
        return table.kept(rows)
    return table.kept(rows[: view.limit], by_noise=any(column.is_noisy for column, _ in order))


def _folded(table: Table, view: Folded) -> Table:
    """Return one row for each combination of keys, in the order of their first rows; without keys, one row."""
    scope = _Scope(table, _columns_of)
    keys = [scope.column(after) for _, after in view.keys]
    if not table.size and not keys:
        return _nothing(view)
    frames = frames_of(
        table.size, keys, (), population=table.population, chosen_by_noise=table.chosen_by_noise, each=False
    )
    first = frames.rows[frames.starts] if table.size else frames.rows
    columns = [key.take(first) for key in keys]
    for at, (_, op, after) in enumerate(view.folds):
        columns.append(apply_window(op, None if after is None else scope.column(after), frames, (scope, at)))
    chosen = frames.is_noisy and bool(keys)
    return Table(tuple(columns), len(first), table.population if chosen else len(first), chosen)


def _nothing(view: Folded) -> Table:
    """Return the aggregates of an empty table: COUNT is 0, the others are NULL."""
    columns = [exact_column(np.zeros(1, np.int64)) if op == "count" else constant(None, 1) for _, op, _ in view.folds]
    return Table(tuple(columns), 1, 1)


def _stacked(tables: Sequence[Table]) -> Table:
    check_size(sum(table.size for table in tables), len(tables[0].columns))
    columns = tuple(_below_each_other(parts) for parts in zip(*(table.columns for table in tables), strict=True))
    chosen = any(table.chosen_by_noise for table in tables)
    return Table(columns, sum(t.size for t in tables), sum(t.population for t in tables), chosen)


class _Scope:
    """Evaluates expressions over one table. A window that is used twice is computed once, so that its draws are counted once."""

    def __init__(self, table: Table, place: Callable[[After], int]) -> None:
        self._table, self._place = table, place
        self._windows: dict[Over, Column] = {}

    def column(self, after: After) -> Column:
        match after:
            case Constant():
                return constant(after.value, self._table.size)
            case Apply():
                return apply_operator(after.op, [self.column(arg) for arg in after.args])
            case Over():
                if after not in self._windows:
                    self._windows[after] = self._over(after)
                return self._windows[after]
        return self._table.columns[self._place(after)]

    def _over(self, window: Over) -> Column:
        event: Hashable = (self, window)
        frames = frames_of(
            self._table.size,
            [self.column(part) for part in window.partition],
            [(self.column(part), falling) for part, falling in window.order],
            population=self._table.population,
            chosen_by_noise=self._table.chosen_by_noise,
            each=True,
        )
        column = self.column(window.args[0]) if window.args else None
        return apply_window(window.op, column, frames, event)

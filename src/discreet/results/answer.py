"""Answer: rows with their intervals, computed from what is stored and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.exact import Number, read_level
from discreet.core.number_format import CONFIDENCE
from discreet.postprocessing.estimation.population import population_sides
from discreet.postprocessing.noisy_columns import (
    Column,
    Mask,
    Sides,
    arrow_type,
    days,
    is_date,
    numbers,
    text_of,
    to_arrow,
)
from discreet.postprocessing.noisy_groups import Noisies
from discreet.postprocessing.plan import Plan
from discreet.postprocessing.view import Table, table_of
from discreet.results import answer_notes
from discreet.results.answer_base import AnswerBase, Ends, Interval
from discreet.results.stored_answer import read_stored, stored_form

__all__ = ["Answer", "Interval", "read_stored", "stored_form"]
_EPOCH = date(1970, 1, 1)
_PART = 2**22
"""Characters of a part."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer(AnswerBase):
    """An answer at hand: what was stored, read by its plan."""

    plan: Plan
    stored: bytes
    drawn: Noisies | None = field(default=None, repr=False, compare=False)
    """What was stored, where that is at hand."""
    _computed: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return self._table.size

    @property
    def _table(self) -> Table:
        """Groups after HAVING, ORDER BY and LIMIT, all of which look at noisy values only."""
        if "table" not in self._computed:
            self._computed["table"] = table_of(self.plan, self.drawn or read_stored(self.stored))
        table: Table = self._computed["table"]
        return table

    def parts(self, most: int, *, level: Number) -> Iterator[Answer]:
        """The same answer, at most so many rows at a time and fewer where they are long, to be read at one level."""
        known, columns = read_level(level), self._table.columns
        longest = sum(column.longest for column in columns)
        size = max(1, min(most, _PART // max(longest, 1)))
        if len(self) <= size:
            yield self
            return
        sides, types, has_ends = self._sides(known), self.types, self._has_ends(known)
        for start in range(0, max(len(self), 1), size):
            rows = slice(start, min(start + size, len(self)))
            part = Answer(self.plan, self.stored, loss=self.loss, replayed=self.replayed, receipt=self.receipt)
            cut = tuple(column.part(rows) for column in columns)
            part._computed["table"] = replace(self._table, columns=cut, size=rows.stop - rows.start)
            part._computed["sides", known] = [
                None if ends is None else (ends[0][rows], ends[1][rows]) for ends in sides
            ]
            part._computed.update({"types": types, ("has ends", known): has_ends})
            yield part

    @property
    def columns(self) -> list[str]:
        return list(self.plan.columns)

    @property
    def types(self) -> list[pa.DataType]:
        if "types" not in self._computed:
            self._computed["types"] = [arrow_type(column) for column in self._table.columns]
        types: list[pa.DataType] = self._computed["types"]
        return types

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self._by_row([_shown_values(column) for column in self._table.columns])

    @property
    def notes(self) -> tuple[str, ...]:
        columns, widths = self._table.columns, self._widths(read_level(CONFIDENCE))
        return (
            *self.plan.notes,
            *answer_notes.of_price(self.loss),
            *answer_notes.of_widths(self.columns, columns, widths),
        )

    def intervals(self, level: Number) -> list[dict[str, Interval | None]]:
        sides = zip(self._table.columns, self._sides(read_level(level)), strict=True)
        return self._by_row([_shown_sides(column, ends) for column, ends in sides])

    def population_intervals(self, level: Number) -> list[dict[str, tuple[float, float] | None]]:
        """Noise and sampling of counts, shares and means, as if the people were drawn from a large population; None for other cells."""
        return self._by_row(population_sides(self.plan, read_stored(self.stored), level))

    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        widths = zip(self._table.columns, self._widths(read_level(level)), strict=True)
        return self._by_row([_shown_widths(column, width) for column, width in widths])

    def _sides(self, level: Fraction) -> list[Sides | None]:
        """The intervals of each column, found once a level: widths and notes read them, too."""
        if ("sides", level) not in self._computed:
            self._computed["sides", level] = [sides_at(column, level) for column in self._table.columns]
        sides: list[Sides | None] = self._computed["sides", level]
        return sides

    def _widths(self, level: Fraction) -> list[NDArray[np.float64] | None]:
        """The larger side of each column's intervals, in the same way."""
        if ("widths", level) not in self._computed:
            both = zip(self._table.columns, self._sides(level), strict=True)
            self._computed["widths", level] = [half_width(column, ends) for column, ends in both]
        widths: list[NDArray[np.float64] | None] = self._computed["widths", level]
        return widths

    def _by_row(self, columns: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        names = self.plan.columns
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def arrays(self, level: Number) -> Iterator[tuple[str, pa.Array, Ends | None]]:
        known = read_level(level)
        columns = zip(self.plan.columns, self._table.columns, self.types, strict=True)
        intervals = zip(self._sides(known), self._has_ends(known), strict=True)
        for (name, column, kind), (ends, has_ends) in zip(columns, intervals, strict=True):
            yield name, to_arrow(column, kind), _arrow_ends(column, ends) if ends is not None and has_ends else None

    def _has_ends(self, level: Fraction) -> list[bool]:
        """Which columns have an interval in any cell."""
        if ("has ends", level) not in self._computed:
            self._computed["has ends", level] = [
                ends is not None and not _lost(ends).all() for ends in self._sides(level)
            ]
        has_ends: list[bool] = self._computed["has ends", level]
        return has_ends


def sides_at(column: Column, level: Fraction) -> Sides | None:
    """The intervals of a column: all n draws behind a cell hold together where each holds at 1 - (1 - level) / n."""
    if not column.is_noisy or column.around is None:
        return None
    draws = sum(column.events.values())
    each = level if draws == 1 else 1 - (1 - level) / draws
    low, high = column.around(each)
    _, is_number = numbers(column)
    shown = is_number | ~column.valid | is_date(column.values)
    return np.where(shown, low, np.nan), np.where(shown, high, np.nan)


def half_width(column: Column, ends: Sides | None) -> NDArray[np.float64] | None:
    """The larger side, NaN where there is none."""
    if ends is None:
        return None
    middle = days(column.values) if is_date(column.values) else numbers(column)[0]
    exact = middle.astype(np.float64)
    return np.where(column.valid, np.maximum(exact - ends[0], ends[1] - exact), np.nan)


def _shown_values(column: Column) -> list[Any]:
    values = column.python
    if column.values.dtype.kind in "MO":
        return [text_of(value) if isinstance(value, date) else value for value in values]
    return values


def _shown_sides(column: Column, ends: Sides | None) -> list[Interval | None]:
    if ends is None:
        return [None] * len(column)
    has_days = is_date(column.values)
    cells = zip(ends[0].tolist(), ends[1].tolist(), _lost(ends).tolist(), strict=True)
    return [None if gone else _dates(low, high) if has_days else (low, high) for low, high, gone in cells]


def _lost(sides: Sides) -> Mask:
    """The cells without an interval."""
    return np.isnan(sides[0]) | np.isnan(sides[1])


def _arrow_ends(column: Column, sides: Sides) -> Ends:
    """The intervals of a column as two arrays."""
    lost = _lost(sides)
    if not is_date(column.values):
        return pa.array(sides[0], mask=lost), pa.array(sides[1], mask=lost)
    low, high = (np.floor(np.where(lost, 0, side)).astype("datetime64[D]") for side in sides)
    return pa.array(low, mask=lost), pa.array(high, mask=lost)


def _dates(low: float, high: float) -> tuple[str, str]:
    return (_EPOCH + timedelta(low)).isoformat(), (_EPOCH + timedelta(high)).isoformat()


def _shown_widths(column: Column, widths: NDArray[np.float64] | None) -> list[float | None]:
    if widths is None:
        return [None] * len(column)
    return [None if lost else width for width, lost in zip(widths.tolist(), np.isnan(widths).tolist(), strict=True)]

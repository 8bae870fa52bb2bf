"""Answer: rows with their intervals, computed from what is stored and from nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from discreet.answering.post import Cell, Interval
from discreet.answering.release import Noisy
from discreet.exact import Number
from discreet.loss import Loss
from discreet.sql.plan import Plan


def stored_form(noisy: Noisy) -> bytes:
    """What the ledger keeps of an answer, and all that is needed to show it again."""
    return json.dumps({"keys": noisy.keys, "measures": noisy.measures}, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """A private answer. ± covers the noise around the bounded, clamped value, not rows that limits cut off."""

    plan: Plan
    stored: bytes
    loss: Loss
    replayed: bool
    receipt: str

    @property
    def columns(self) -> list[str]:
        return [output.name for output in self.plan.outputs]

    def _cells(self) -> list[Cell]:
        """Groups after HAVING, ORDER BY and LIMIT, all of which look at noisy values only."""
        document = json.loads(self.stored)
        columns = list(zip(*document["measures"], strict=True)) if document["keys"] else []
        cells = [Cell(self.plan, tuple(key), noisy) for key, noisy in zip(document["keys"], columns, strict=True)]
        if self.plan.having is not None:
            condition = self.plan.having
            cells = [cell for cell in cells if cell.value(condition)]
        for post, falling in reversed(self.plan.order):
            cells.sort(key=lambda cell, post=post: _sortable(cell.value(post)), reverse=falling)  # type: ignore[misc]
        return cells[: self.plan.limit]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """In order, one dict a row."""
        return [{output.name: cell.value(output.post) for output in self.plan.outputs} for cell in self._cells()]

    def intervals(self, level: Number) -> list[dict[str, Interval | None]]:
        """(low, high) for every noisy cell, None for keys."""
        return [{o.name: cell.interval(o.post, level) for o in self.plan.outputs} for cell in self._cells()]

    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        """The larger side of every interval."""
        widths: list[dict[str, float | None]] = []
        for row, intervals in zip(self.rows, self.intervals(level), strict=True):
            widths.append(
                {name: None if i is None else max(row[name] - i[0], i[1] - row[name]) for name, i in intervals.items()}
            )
        return widths


def _sortable(value: Any) -> tuple[bool, str, Any]:
    """NULLs last, and values of one kind beside each other."""
    return value is None, type(value).__name__ if isinstance(value, str) else "", value if value is not None else 0

"""Answer: rows with their intervals, computed from what is stored and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from operator import itemgetter
from typing import Any

from discreet.answering.post import Cell, Interval
from discreet.answering.release import Noisy
from discreet.exact import Number
from discreet.loss import Loss
from discreet.sql.plan import Plan

_SHOWN_LEVEL = 0.95


def stored_form(noisy: Sequence[Noisy]) -> bytes:
    """What the ledger keeps of an answer, and all that is needed to show it again."""
    sets = [{"keys": one.keys, "measures": one.measures} for one in noisy]
    return json.dumps({"sets": sets}, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """A private answer. ± covers the noise around the bounded, clamped value, not rows that limits cut off."""

    plan: Plan
    stored: bytes
    loss: Loss
    replayed: bool
    receipt: str
    question: str = ""
    """The canonical question's hash, under which the ledger has every charge for it."""

    @property
    def columns(self) -> list[str]:
        return [output.name for output in self.plan.outputs]

    def _cells(self) -> list[Cell]:
        """Groups after HAVING, ORDER BY and LIMIT, all of which look at noisy values only."""
        cells = []
        for one, stored in zip(self.plan.sets, json.loads(self.stored)["sets"], strict=True):
            columns = list(zip(*stored["measures"], strict=True)) if stored["keys"] else []
            cells += [Cell(self.plan, one, key, noisy) for key, noisy in zip(stored["keys"], columns, strict=True)]
        if self.plan.having is not None:
            condition = self.plan.having
            cells = [cell for cell in cells if cell.value(condition)]
        for post, falling in reversed(self.plan.order):
            cells = [
                cell
                for _, cell in sorted(
                    ((_sortable(c.value(post)), c) for c in cells), key=itemgetter(0), reverse=falling
                )
            ]
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
                {
                    name: None if i is None or row[name] is None else max(row[name] - i[0], i[1] - row[name])
                    for name, i in intervals.items()
                }
            )
        return widths

    def to_arrow(self) -> Any:
        """An Arrow table of the values; ± columns are named `name ±`."""
        import pyarrow as pa  # noqa: PLC0415

        rows, widths = self.rows, self.half_widths(_SHOWN_LEVEL)
        columns: dict[str, list[Any]] = {}
        for name in self.columns:
            columns[name] = [row[name] for row in rows]
            if any(width[name] is not None for width in widths):
                columns[f"{name} ±"] = [width[name] for width in widths]
        return pa.table(columns)

    def to_polars(self) -> Any:
        """The same as a polars frame; needs polars."""
        import polars  # noqa: PLC0415

        return polars.from_arrow(self.to_arrow())

    def to_pandas(self) -> Any:
        """The same as a data frame; needs pandas."""
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str:
        """A table with its ± for notebooks."""
        table = self.to_arrow()
        head = "".join(f"<th>{escape(name)}</th>" for name in table.column_names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_shown(value))}</td>" for value in row.values()) + "</tr>"
            for row in table.to_pylist()
        )
        note = f"± in {100 * _SHOWN_LEVEL:g} of 100 answers; ε {self.loss.epsilon:g}" + (
            ", replayed" if self.replayed else ""
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{note}</p>"


def _shown(value: Any) -> str:
    if value is None:
        return "—"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


def _sortable(value: Any) -> tuple[bool, str, Any]:
    """NULLs last, and values of one kind beside each other."""
    return value is None, type(value).__name__ if isinstance(value, str) else "", value if value is not None else 0

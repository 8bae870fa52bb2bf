"""An answer as people meet it, near or far: the same columns, intervals, tables and words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

import pyarrow as pa

from discreet.exact import Number
from discreet.loss import Loss

CONFIDENCE = 0.95
"""The share of answers that shown ± cover."""
Interval: TypeAlias = tuple[float, float] | tuple[str, str]
"""Where the bounded truth lies; dates as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(ABC):
    """A private answer. ± covers the noise around the bounded, clamped value, not rows that limits cut off."""

    loss: Loss
    replayed: bool
    receipt: str
    """The canonical question's hash, under which the ledger has every charge for it; empty for what is public and free."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """Their names, in order."""

    @property
    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """In order, one dict a row; dates as text."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What should be known beside the numbers."""

    @abstractmethod
    def intervals(self, level: Number) -> list[dict[str, Interval | None]]:
        """(low, high) for every noisy cell, None for keys; an end that nothing bounds is infinite."""

    @abstractmethod
    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        """The larger side of every interval; of dates in days."""

    @abstractmethod
    def arrays(self) -> Iterator[tuple[str, pa.Array, pa.Array | None]]:
        """Each column with its values and, where it is noisy, its ±."""

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True  # an answer without rows is one

    def to_arrow(self) -> Any:
        """An Arrow table of the values; ± columns are named `name ±`."""
        names, arrays = [], []
        for name, values, widths in self.arrays():
            names += [name] if widths is None else [name, f"{name} ±"]
            arrays += [values] if widths is None else [values, widths]
        return pa.table(arrays, names=names)

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
        columns = [column.to_pylist() for column in table.columns]
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in zip(*columns, strict=True)
        )
        replayed = ", replayed" if self.replayed else ""
        said = [f"± in {100 * CONFIDENCE:g} of 100 answers; ε {self.loss.epsilon:g}{replayed}", *self.notes]
        words = "".join(f"<p>{escape(line)}</p>" for line in said)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{words}"


def _cell(value: Any) -> str:
    if value is None:
        return "—"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)

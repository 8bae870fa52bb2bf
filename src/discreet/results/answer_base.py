"""The interface of an answer, local or remote: columns, intervals, tables, pictures and text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from discreet.accounting.loss_plots import Picture
from discreet.core.documenting import inherit_parameter_docs
from discreet.core.exact import Number
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.core.optional_imports import optional
from discreet.results import display, interval_bars, tabular

Interval: TypeAlias = tuple[float, float] | tuple[str, str]
"""An interval for the bounded value; ends of dates are text."""
Ends: TypeAlias = tuple[pa.Array, pa.Array]
"""The lower and the upper ends of a column's intervals."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AnswerBase(ABC):
    """A private answer. ± covers the noise around the bounded, clamped value. It does not cover rows beyond the contribution bounds."""

    def __init_subclass__(cls) -> None:
        inherit_parameter_docs(cls)

    loss: Loss
    replayed: bool
    """Whether it is a repeated answer, which was not charged again."""
    receipt: str
    """The key of its charges in the ledger; empty for a public answer, which is free."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The names of the columns, in order."""

    @property
    @abstractmethod
    def types(self) -> list[pa.DataType]:
        """The Arrow types of the columns, in order."""

    @property
    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """The rows in order, as dictionaries; dates are text."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """Notes on the answer, for people."""

    @abstractmethod
    def intervals(self, level: Number) -> list[dict[str, Interval | None]]:
        """Return (low, high) for every noisy cell, None for keys. An end without a bound is infinite.

        Args:
            level: Confidence level, such as 0.95.
        """

    @abstractmethod
    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        """Return the larger side of every interval; for dates in days.

        Args:
            level: Confidence level, such as 0.95.
        """

    @abstractmethod
    def arrays(self, level: Number) -> Iterator[tuple[str, pa.Array, Ends | None]]:
        """Return each column with its values and, if it is noisy, the ends of its intervals.

        Args:
            level: Confidence level, such as 0.95.
        """

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True  # also without rows

    def to_arrow(self, *, level: Number = CONFIDENCE) -> Any:
        """Return an Arrow table. A noisy column `visits` is followed by its interval, `visits_low` and `visits_high`.

        Args:
            level: Confidence level of the intervals.
        """
        return tabular.table_of(self.arrays(level))

    def to_polars(self, *, level: Number = CONFIDENCE) -> Any:
        """Return the same as a polars frame.

        Args:
            level: Confidence level of the intervals.
        """
        return optional("polars").from_arrow(self.to_arrow(level=level))

    def to_pandas(self, *, level: Number = CONFIDENCE) -> Any:
        """Return the same as a pandas frame.

        Args:
            level: Confidence level of the intervals.
        """
        optional("pandas")
        return self.to_arrow(level=level).to_pandas()

    def plot(self) -> Picture:
        """Draw all measures with their intervals. Notebooks show the picture; `.save("answer.svg")` writes it."""
        return interval_bars.picture_of(self, self.half_widths(CONFIDENCE), self.intervals(CONFIDENCE))

    def __repr__(self) -> str:
        return display.text_of(self, self.half_widths(CONFIDENCE), level=CONFIDENCE)

    def _repr_html_(self) -> str:
        """Return a table with ± and bars, for notebooks."""
        return display.html_of(self, self.half_widths(CONFIDENCE), self.intervals(CONFIDENCE), level=CONFIDENCE)

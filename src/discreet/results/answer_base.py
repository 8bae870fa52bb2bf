"""An answer as people meet it, near or far: the same columns, intervals, tables, pictures and words."""

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
"""Where the bounded truth lies; dates as text."""
Ends: TypeAlias = tuple[pa.Array, pa.Array]
"""The lower and the upper ends of a column's intervals."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Shown(ABC):
    """A private answer. ± covers the noise around the bounded, clamped value, not rows that limits cut off."""

    def __init_subclass__(cls) -> None:
        inherit_parameter_docs(cls)

    loss: Loss
    replayed: bool
    """Whether it was asked before, and nobody paid for it now."""
    receipt: str
    """The canonical query's hash, under which the ledger has every charge for it; empty for what is public and free."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """Their names, in order."""

    @property
    @abstractmethod
    def types(self) -> list[pa.DataType]:
        """Their types, in order."""

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
        """(low, high) for every noisy cell, None for keys; an end that nothing bounds is infinite.

        Args:
            level: In which share of all answers the bounded value lies inside, such as 0.95.
        """

    @abstractmethod
    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        """The larger side of every interval; of dates in days.

        Args:
            level: In which share of all answers the bounded value lies inside, such as 0.95.
        """

    @abstractmethod
    def arrays(self, level: Number) -> Iterator[tuple[str, pa.Array, Ends | None]]:
        """Each column with its values and, where it is noisy, the ends of its intervals.

        Args:
            level: In which share of all answers the bounded value lies inside, such as 0.95.
        """

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True  # an answer without rows is one

    def to_arrow(self, *, level: Number = CONFIDENCE) -> Any:
        """An Arrow table; a noisy column `visits` is followed by its interval, `visits_low` and `visits_high`.

        Args:
            level: In which share of all answers the bounded value lies inside; 0.95 unless another is given.
        """
        return tabular.table_of(self.arrays(level))

    def to_polars(self, *, level: Number = CONFIDENCE) -> Any:
        """The same as a polars frame.

        Args:
            level: In which share of all answers the bounded value lies inside; 0.95 unless another is given.
        """
        return optional("polars").from_arrow(self.to_arrow(level=level))

    def to_pandas(self, *, level: Number = CONFIDENCE) -> Any:
        """The same as a pandas frame.

        Args:
            level: In which share of all answers the bounded value lies inside; 0.95 unless another is given.
        """
        optional("pandas")
        return self.to_arrow(level=level).to_pandas()

    def plot(self) -> Picture:
        """A picture of all measures, each value with its interval: notebooks show it, `.save("answer.svg")` keeps it."""
        return interval_bars.picture_of(self, self.half_widths(CONFIDENCE), self.intervals(CONFIDENCE))

    def __repr__(self) -> str:
        return display.text_of(self, self.half_widths(CONFIDENCE), level=CONFIDENCE)

    def _repr_html_(self) -> str:
        """A table with its ± and bars, for notebooks."""
        return display.html_of(self, self.half_widths(CONFIDENCE), self.intervals(CONFIDENCE), level=CONFIDENCE)

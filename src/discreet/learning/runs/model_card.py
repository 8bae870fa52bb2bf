"""The card of a model: every learned number with its interval, and the cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import pyarrow as pa

from discreet.core.exact import Number, read_level
from discreet.results.answer_base import AnswerBase, Ends, Interval


@dataclass(frozen=True, slots=True)
class LearnedNumber:
    """One number of a model: its name, its value, and the standard deviation of its error."""

    name: str
    value: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Card(AnswerBase):
    """All numbers of a model. Intervals are for the result of the method without noise, unless the remarks say more.

    Args:
        learned: The numbers.
        remarks: What the intervals cover, and other remarks.
    """

    learned: tuple[LearnedNumber, ...]
    remarks: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        return ["number", "value"]

    @property
    def types(self) -> list[pa.DataType]:
        return [pa.string(), pa.float64()]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [{"number": each.name, "value": each.value} for each in self.learned]

    @property
    def notes(self) -> tuple[str, ...]:
        return self.remarks

    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        times = _deviations(level)
        return [{"number": None, "value": times * each.deviation} for each in self.learned]

    def intervals(self, level: Number) -> list[dict[str, Interval | None]]:
        times = _deviations(level)
        ends = [(each.value - times * each.deviation, each.value + times * each.deviation) for each in self.learned]
        return [{"number": None, "value": pair} for pair in ends]

    def numbers(self, level: Number) -> list[dict[str, Any]]:
        """Return each number with its half-width, as JSON.

        Args:
            level: Share of releases in which the intervals hold.
        """
        widths = [row["value"] for row in self.half_widths(level)]
        return [{**row, "within": width} for row, width in zip(self.rows, widths, strict=True)]

    def arrays(self, level: Number) -> Iterator[tuple[str, pa.Array, Ends | None]]:
        ends = [row["value"] for row in self.intervals(level)]
        yield "number", pa.array([each.name for each in self.learned], pa.string()), None
        sides = tuple(pa.array([pair[at] for pair in ends if pair], pa.float64()) for at in (0, 1))
        yield "value", pa.array([each.value for each in self.learned], pa.float64()), (sides[0], sides[1])


def _deviations(level: Number) -> float:
    """Return the half-width of a normal interval at a level, in standard deviations."""
    return NormalDist().inv_cdf((1 + float(read_level(level))) / 2)

"""A model's card: every number that was learned, with its ±, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import pyarrow as pa

from discreet.core.exact import Number, read_level
from discreet.results.answer_base import Ends, Interval, Shown


@dataclass(frozen=True, slots=True)
class Learned:
    """One number of a model: what it is, its value, and the standard deviation of its error."""

    name: str
    value: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Card(Shown):
    """All numbers of a model. ± is around what the method would give without noise; the model says what else it covers.

    Args:
        learned: The numbers.
        remarks: What should be known beside them.
    """

    learned: tuple[Learned, ...]
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
        """Each with its ±, as JSON has them.

        Args:
            level: In which share of all releases ± holds.
        """
        widths = [row["value"] for row in self.half_widths(level)]
        return [{**row, "within": width} for row, width in zip(self.rows, widths, strict=True)]

    def arrays(self, level: Number) -> Iterator[tuple[str, pa.Array, Ends | None]]:
        ends = [row["value"] for row in self.intervals(level)]
        yield "number", pa.array([each.name for each in self.learned], pa.string()), None
        sides = tuple(pa.array([pair[at] for pair in ends if pair], pa.float64()) for at in (0, 1))
        yield "value", pa.array([each.value for each in self.learned], pa.float64()), (sides[0], sides[1])


def _deviations(level: Number) -> float:
    """So many of them on either side hold a normal error at a level."""
    return NormalDist().inv_cdf((1 + float(read_level(level))) / 2)

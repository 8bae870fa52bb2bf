"""Warnings about costs and answers. They depend on public and released values only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.core.loss import Loss
from discreet.postprocessing.noisy_columns import Column, numbers

HIGH_EPSILON = 20
"""Above this, the odds about one person may change by a factor of e**20, half a billion: that is almost no protection."""


def of_price(loss: Loss) -> Iterator[str]:
    """Warn if epsilon is so high that the answer is almost exact."""
    if loss.epsilon > HIGH_EPSILON:
        yield (
            f"ε {loss.epsilon:g} is above {HIGH_EPSILON}: an answer at this price protects people very little; "
            "use a smaller epsilon"
        )


def of_widths(names: Sequence[str], columns: Sequence[Column], widths: Sequence[np.ndarray | None]) -> Iterator[str]:
    """Warn if ± is larger than the noisy number."""
    for name, column, width in zip(names, columns, widths, strict=True):
        if width is None:
            continue
        values, is_number = numbers(column)
        shown = is_number & ~np.isnan(width)
        lost = int(np.count_nonzero(shown & (width > np.abs(values.astype(np.float64)))))
        if lost:
            rows = int(np.count_nonzero(shown))
            where = "" if rows == 1 else f" in {lost:,} of {rows:,} rows"
            yield (
                f"{name}: ± is wider than the number itself{where}, which is then mostly noise; "
                "use a larger epsilon, or include more people"
            )

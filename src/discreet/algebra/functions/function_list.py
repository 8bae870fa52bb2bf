"""The list of SQL functions for the reference, generated from their records."""

from __future__ import annotations

from discreet.algebra.functions import (
    casts,
    comparisons,
    date_formats,
    dates,
    logic,
    numbers,
    powers,
    rounding,
    spans,
    texts,
    times,
)

_GROUPS = {
    "comparisons": (comparisons,),
    "logic and choices": (logic,),
    "numbers": (numbers, rounding, powers),
    "texts": (texts,),
    "dates": (dates, spans, date_formats),
    "timestamps": (times,),
    "casts from and to text": (casts,),
}


def listing() -> list[tuple[str, str, str]]:
    """Return group, usage and description of each record."""
    return [
        (group, record.signature.says, record.says)
        for group, modules in _GROUPS.items()
        for module in modules
        for record in module.RECORDS
    ]

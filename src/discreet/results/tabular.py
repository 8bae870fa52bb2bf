"""An answer as columns that machines read: plain numbers, and beside `visits` its interval as `visits_low` and `visits_high`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from discreet.results.answer_base import Ends


def interval_names(columns: Sequence[str], noisy: Collection[str]) -> dict[str, tuple[str, str]]:
    """What the two ends of each noisy column are called: `name_low` and `name_high`, with underscores where a column has that name."""
    taken = set(columns)
    names = {}
    for column in columns:
        if column in noisy:
            ends = f"{column}_low", f"{column}_high"
            while taken & set(ends):
                ends = f"{ends[0]}_", f"{ends[1]}_"
            taken |= set(ends)
            names[column] = ends
    return names


def table_of(given: Iterable[tuple[str, pa.Array, Ends | None]]) -> Any:
    """Columns of an answer as an Arrow table, each noisy one followed by the ends of its interval.

    Ends are reals, of dates dates; an end that nothing bounds is infinite, and one of a cell without an interval is null.
    """
    arrays = {name: (values, ends) for name, values, ends in given}
    names = interval_names(list(arrays), [name for name, (_, ends) in arrays.items() if ends is not None])
    columns: dict[str, Any] = {}
    for name, (values, ends) in arrays.items():
        columns[name] = values
        columns |= {} if ends is None else dict(zip(names[name], ends, strict=True))
    return pa.table(columns)

"""An answer as an Arrow table: a noisy column `visits` is followed by its interval, `visits_low` and `visits_high`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from discreet.results.answer_base import Ends


def interval_names(columns: Sequence[str], noisy: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the names of both ends of each noisy column: `name_low` and `name_high`, with underscores if a column has that name."""
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
    """Return the columns of an answer as an Arrow table, each noisy one followed by the ends of its interval.

    Ends are reals, or dates for dates. An end without a bound is infinite; the ends of a cell without an interval are null.
    """
    arrays = {name: (values, ends) for name, values, ends in given}
    names = interval_names(list(arrays), [name for name, (_, ends) in arrays.items() if ends is not None])
    columns: dict[str, Any] = {}
    for name, (values, ends) in arrays.items():
        columns[name] = values
        columns |= {} if ends is None else dict(zip(names[name], ends, strict=True))
    return pa.table(columns)

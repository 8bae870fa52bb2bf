"""Queries of a session: how many rows meet a condition on each of some columns."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.core.exact import finite
from discreet.errors import BadInput
from discreet.measurement.domain import Bin, Column, Domain
from discreet.measurement.measurer import Conjunction

SessionQuery: TypeAlias = Mapping[str, Any] | str
"""Conditions by column: a value, a list of values, or a `Between`; None is NULL. A row counts if it meets all of them.
Or one condition in SQL."""
Runs: TypeAlias = tuple[tuple[int, int], ...]
"""Codes of a column, as the first and the last code of each run of consecutive ones."""
_MOST_VALUES = 10_000
_MOST_CACHED = 10_000
"""Conditions whose codes are cached."""


@dataclass(frozen=True, slots=True)
class Between:
    """Values from `lower` to `upper`, both included. An end that is not given is open.

    Args:
        lower: The smallest value, or None.
        upper: The largest value, or None.
    """

    lower: Any = None
    upper: Any = None


class QueryReader:
    """Turns conditions by column into queries in codes. Conditions on one column repeat, so their codes are cached.

    Args:
        domain: Public description of the rows.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._order = {name: at for at, name in enumerate(domain.names)}
        self._cached: dict[tuple[str, type, Any], Runs | None] = {}

    def conjunction(self, query: Mapping[str, Any], *, most_cells: int) -> Conjunction:
        """Return a query in codes, without the conditions that every code meets; or refuse it.

        Args:
            query: Conditions by column.
            most_cells: Largest table over the columns of the query.
        """
        if not isinstance(query, Mapping):
            raise BadInput("A query is a mapping of columns to conditions.", next_step='Give {"ward": "ICU"}.')
        met = [(name, self._runs(name, condition)) for name, condition in query.items()]
        met = sorted(((name, runs) for name, runs in met if runs is not None), key=lambda part: self._order[part[0]])
        columns = self._domain.check(tuple(name for name, _ in met), most=most_cells)
        return Conjunction(columns, tuple(runs for _, runs in met if runs is not None))

    def _runs(self, name: str, condition: Any) -> Runs | None:
        """The codes that meet a condition; None if all do."""
        key = (name, type(condition), condition) if isinstance(condition, Between | str | int) else None
        try:
            if key in self._cached:
                return self._cached[key]
        except TypeError:  # an end that cannot be hashed: it is refused below
            key = None
        column = self._domain.column(name)
        codes = _codes(column, condition)
        runs = runs_of(codes) if len(codes) < column.size else None
        if key is not None and len(self._cached) < _MOST_CACHED:
            self._cached[key] = runs
        return runs


def _codes(column: Column, condition: Any) -> list[int]:
    """The codes that meet a condition, in order."""
    if isinstance(condition, Between):
        codes = _within(column, condition)
    elif isinstance(condition, list | tuple | AbstractSet):
        if len(condition) > _MOST_VALUES:
            raise BadInput(f"A condition has at most {_MOST_VALUES:,} values.", next_step="Give a range.")
        codes = sorted({code for value in condition for code in _equal(column, value)})
    else:
        codes = _equal(column, condition)
    if not codes:
        raise BadInput(f"No value of {column.name} meets this condition.", next_step="Use declared values or bounds.")
    return codes


def _equal(column: Column, value: Any) -> list[int]:
    """The code of one value. A bin is the code of a value only if it contains nothing else."""
    if value is not None and any(isinstance(label, Bin) for label in column.labels):
        return _within(column, Between(value, value))
    codes = [code for code, label in enumerate(column.labels) if _is_same(label, value)]
    if not codes:
        raise BadInput(f"A value is not among those of {column.name}.", next_step="Use declared values.")
    return codes


def _is_same(label: Any, value: Any) -> bool:
    return isinstance(label, bool) == isinstance(value, bool) and bool(label == value)


def _within(column: Column, between: Between) -> list[int]:
    """The codes whose values lie between two ends. A bin that lies partly between them is refused."""
    try:
        lower, upper = _end(between.lower), _end(between.upper)
        return [
            code
            for code, label in enumerate(column.labels)
            if label is not None and _is_inside(column, label, lower, upper)
        ]
    except TypeError:
        raise BadInput(
            f"The ends of a range must have the type of {column.name}.",
            next_step="Give numbers, dates or texts, as in the column.",
        ) from None


def _end(value: Any) -> Any:
    """A number as an exact one; any other value unchanged."""
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        number = finite(value)
        if number is None:
            raise BadInput("The end of a range must be a finite number.", next_step="Leave out an end that is open.")
        return number
    return value


def _is_inside(column: Column, label: Any, lower: Any, upper: Any) -> bool:
    if not isinstance(label, Bin):
        value = _end(label)
        return bool((lower is None or value >= lower) and (upper is None or value <= upper))
    first, last, meets = ends_of(label)
    if (lower is not None and not meets(lower, last)) or (upper is not None and not meets(first, upper)):
        return False
    if (lower is not None and first < lower) or (upper is not None and last > upper):
        raise BadInput(
            f"The range cuts a bin of {column.name}.",
            next_step=f"Start and end at the ends of bins: this one goes from {first} to {last}.",
        )
    return True


def ends_of(label: Bin) -> tuple[Any, Any, Callable[[Any, Any], bool]]:
    """The first and the last value of a bin, and the comparison with which two ends meet: real numbers share no end."""
    if isinstance(label.upper, date):
        return label.lower, label.upper - timedelta(1), operator.le
    assert isinstance(label.lower, Fraction)  # noqa: S101  as the upper one
    if label.is_whole:
        return math.ceil(label.lower), math.ceil(label.upper) - 1, operator.le
    return label.lower, label.upper, operator.lt


def runs_of(codes: list[int]) -> Runs:
    """Group consecutive codes into runs."""
    firsts = [code for before, code in zip([-2, *codes], codes, strict=False) if code != before + 1]
    lasts = [code for code, after in zip(codes, [*codes[1:], -1], strict=True) if code + 1 != after]
    return tuple(zip(firsts, lasts, strict=True))

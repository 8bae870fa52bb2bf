"""Columns in a catalog, read strictly: [tables.visits.columns] age = { type = "integer", lower = 0, upper = 110 }."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.catalog.declarations import LARGEST_STEP, Column, Type, Value
from discreet.catalog.declared_values import PYTHON_TYPES, canonical, moment
from discreet.core.exact import finite, power_of_two_below
from discreet.errors import BadCatalog

KEYS = {"type", "lower", "upper", "values", "nullable", "granularity", "max_length"}
Wrong: TypeAlias = Callable[[str, str, str], BadCatalog]
"""Makes the error for a key: the key, the problem, the next step."""


def read_column(path: str, name: str, section: Mapping[str, Any], wrong: Wrong) -> Column:
    """Read the section of one column, or refuse it with the key that is wrong."""
    if "$" in name or not name.isprintable():
        raise wrong(path, "has a name with $ or a control character in it", "Rename the column in a view or file.")
    try:
        kind = Type(section.get("type"))
    except ValueError:
        kinds = ", ".join(member.value for member in Type)
        raise wrong(path, "has no valid type", f"Set type to one of: {kinds}.") from None
    lower, upper = _bounds(path, kind, section, wrong)
    nullable, max_length = section.get("nullable", False), section.get("max_length", 256)
    if nullable not in (True, False) or type(max_length) is not int or not 1 <= max_length <= 4096:
        raise wrong(
            path,
            "has an invalid nullable or max_length",
            "Use true or false for nullable, and 1 to 4096 for max_length.",
        )
    described = Column(
        name=name,
        type=kind,
        lower=lower,
        upper=upper,
        values=_values(path, kind, section.get("values"), wrong),
        nullable=nullable,
        granularity=_granularity(path, section.get("granularity"), wrong),
        max_length=max_length,
    )
    if described.is_bounded_number and max(map(abs, described.steps)) > LARGEST_STEP:
        raise wrong(path, "has bounds too far from zero for its grid", "Set a larger granularity.")
    return described


def _bounds(path: str, kind: Type, section: Mapping[str, Any], wrong: Wrong) -> tuple[Any, Any]:
    given: list[Any] = [section.get("lower"), section.get("upper")]
    if given == [None, None]:
        return None, None
    if kind is Type.DATE:
        good = all(type(end) is date for end in given)
    elif kind is Type.TIMESTAMP:
        given = [moment(end, at) for end, at in zip(given, (time.min, time.max), strict=True)]
        good = None not in given
    else:
        good = kind in (Type.INTEGER, Type.REAL) and all(finite(end) is not None for end in given)
        given = [finite(end) for end in given] if good else given
    if not good or given[0] >= given[1]:
        raise wrong(
            path, "needs lower below upper, both of the column's type", "Declare both bounds from public knowledge."
        )
    return given[0], given[1]


def _values(path: str, kind: Type, given: Any, wrong: Wrong) -> tuple[Value, ...] | None:
    if given is None:
        return None
    types = PYTHON_TYPES[kind]
    fits = isinstance(given, list) and all(
        isinstance(value, types)
        and isinstance(value, bool) == (kind is Type.BOOLEAN)
        and isinstance(value, datetime) == (kind is Type.TIMESTAMP)
        for value in given
    )
    values = [canonical(kind, value) for value in given] if fits else []
    if not values or None in values or len(set(values)) != len(values):
        raise wrong(path, "has values that are empty, repeated or of another type", "List each value once.")
    return tuple(value for value in values if value is not None)


def _granularity(path: str, given: Any, wrong: Wrong) -> Fraction | None:
    if given is None:
        return None
    step = finite(given)
    if step is None or step <= 0 or step != power_of_two_below(step):
        raise wrong(path, "has a granularity that is not a power of two", "Use a power of two such as 0.25, 1 or 1024.")
    return step

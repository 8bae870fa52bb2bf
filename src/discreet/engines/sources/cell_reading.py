"""Read cells: whatever a source holds becomes a canonical value of the declared type, or NULL, and never an error.

A cell that names a person, or is on the path to one, is read exactly or not at all: two people must never become one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from fractions import Fraction

from discreet.catalog import Column, Type
from discreet.engines.sqlgen.dialects.duckdb import TYPES, canonical, clamped, integer, literal, quoted, real

INTEGERS = frozenset(
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
)
"""The engine's integer types."""
_DOUBLES = frozenset({"FLOAT", "DOUBLE"})
_LARGEST, _SMALLEST = 2.0**100, 2.0**-100
_WHOLE_NUMBER = "' *[+-]?[0-9]+([.]0*)? *'"


def cast(column: Column, types: Mapping[str, str]) -> str:
    """Read a column of the source `s` as its declared type; what does not fit becomes NULL.

    The result for a cell does not depend on how the source stores its column, since one cell may decide that for all: a number
    written as text is rounded like a number, and an integer stored as a double is written without a decimal point.
    """
    raw, given = f"s.{quoted(column.name)}", types.get(column.name.lower(), "")
    match column.type:
        case Type.TEXT:
            return _as_text(raw, given)
        case Type.BOOLEAN:
            return _as_boolean(raw, given)
        case Type.INTEGER | Type.REAL if given == "VARCHAR":
            return _number_from_text(raw, column.type)
        case Type.TIMESTAMP if given in ("VARCHAR", "TIMESTAMP_NS"):
            return _timestamp_from_text(raw)
    return f"TRY_CAST({raw} AS {TYPES[column.type]})"


def _number_from_text(raw: str, kind: Type) -> str:
    """Read a number, however it is written; true and false are 1 and 0, as in a boolean column."""
    digits = f"(CASE lower({raw}) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {raw} END)"
    if kind is Type.REAL:
        return f"TRY_CAST({digits} AS DOUBLE)"
    return f"CASE WHEN regexp_full_match({digits}, {_WHOLE_NUMBER}) THEN TRY_CAST({digits} AS BIGINT) ELSE TRY_CAST(TRY_CAST({digits} AS DOUBLE) AS BIGINT) END"


def _timestamp_from_text(raw: str) -> str:
    """Read a timestamp, converted to UTC if it has a zone (a cast to TIMESTAMP alone drops the zone). Digits beyond microseconds are cut."""
    return f"TRY_CAST(TRY_CAST(CAST({raw} AS VARCHAR) AS TIMESTAMP WITH TIME ZONE) AS TIMESTAMP)"


def _as_boolean(raw: str, given: str) -> str:
    """Read a boolean; of the numbers, only 1 and 0."""
    if given == "BOOLEAN":
        return raw
    if given in INTEGERS | _DOUBLES or given.startswith("DECIMAL"):
        return f"(CASE {raw} WHEN 1 THEN true WHEN 0 THEN false END)"
    if given != "VARCHAR":
        return f"TRY_CAST({raw} AS BOOLEAN)"
    return (
        f"coalesce(TRY_CAST({raw} AS BOOLEAN), CASE TRY_CAST({raw} AS DOUBLE) WHEN 1 THEN true WHEN 0 THEN false END)"
    )


def _as_text(raw: str, given: str) -> str:
    """Read a cell as text; an integer that the source stores as a double is written without a decimal point."""
    if given not in _DOUBLES:
        return f"TRY_CAST({raw} AS VARCHAR)"
    whole = f"{raw} = floor({raw}) AND abs({raw}) < {real(2.0**53)}"
    return f"(CASE WHEN {whole} THEN CAST(CAST({raw} AS BIGINT) AS VARCHAR) ELSE TRY_CAST({raw} AS VARCHAR) END)"


def canonical_as_read(name: str, column: Column) -> str:
    """Make a cast value canonical. Reals that could overflow or underflow in a product become NULL or 0; text is truncated."""
    if column.type is Type.REAL:
        inside = f"CASE WHEN abs({name}) < {real(_SMALLEST)} THEN {real(0.0)} ELSE {name} END"
        return f"CASE WHEN abs({name}) <= {real(_LARGEST)} THEN {inside} END"
    if column.type is Type.TEXT:
        return f"CASE WHEN NOT contains({name}, chr(0)) THEN left({name}, {column.max_length}) END"
    return canonical(name, column.type)


def within_bounds(name: str, column: Column) -> str:
    """Clamp a canonical value to the declared bounds, so that every condition sees the clamped value."""
    ends = _ends(column)
    return name if ends is None else clamped(name, *ends)


def person(column: Column, types: Mapping[str, str]) -> str:
    """Read the person of a row. A value that would have to be truncated, rounded or clamped names no person."""
    value, ends = exactly(column, types, as_column=column), _ends(column)
    return value if ends is None else f"(CASE WHEN {value} BETWEEN {ends[0]} AND {ends[1]} THEN {value} END)"


def exactly(column: Column, types: Mapping[str, str], *, as_column: Column) -> str:
    """Read a column of the source `s` as the type of `as_column`, integer or text, only if nothing is lost. `types` are those of the source."""
    raw, kind = f"s.{quoted(column.name)}", as_column.type
    given = types.get(column.name.lower(), "")
    if kind is Type.TEXT:
        value = _as_text(raw, given)
        return (
            f"(CASE WHEN length({value}) <= {as_column.max_length} AND NOT contains({value}, chr(0)) THEN {value} END)"
        )
    if given in INTEGERS:
        return canonical(f"TRY_CAST({raw} AS BIGINT)", kind)
    if given in _DOUBLES:
        return f"(CASE WHEN {raw} = floor({raw}) AND abs({raw}) < {real(2.0**53)} THEN TRY_CAST({raw} AS BIGINT) END)"
    value = f"TRY_CAST({raw} AS VARCHAR)"
    whole = canonical(f"TRY_CAST({value} AS BIGINT)", kind)
    return f"(CASE WHEN regexp_full_match({value}, {_WHOLE_NUMBER}) THEN {whole} END)"


def _ends(column: Column) -> tuple[str, str] | None:
    low, high = column.lower, column.upper
    if isinstance(low, date) and isinstance(high, date):
        return literal(column.type, low), literal(column.type, high)
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        return None
    if column.type is Type.INTEGER:
        return integer(math.ceil(low)), integer(math.floor(high))
    return real(float(low)), real(float(high))

"""Values at the door: whatever a source holds becomes canonical values of the declared types, or NULL; never an error.

What names a person, or leads to one, is read exactly or not at all: two people must never become one.
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
"""The engine's types of whole numbers."""
_DOUBLES = frozenset({"FLOAT", "DOUBLE"})
_LARGEST, _SMALLEST = 2.0**100, 2.0**-100
_WHOLE_NUMBER = "' *[+-]?[0-9]+([.]0*)? *'"


def cast(column: Column, types: Mapping[str, str]) -> str:
    """A column of the source `s` in its declared type: what does not fit is NULL.

    What a cell becomes does not hang on how the source stores its column, which one cell may change for all: a number written as text is
    rounded as a number is, and a whole number stored as a double is written without a point.
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
    """A number, however it is written; true and false are 1 and 0, as they are where the source has booleans."""
    digits = f"(CASE lower({raw}) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {raw} END)"
    if kind is Type.REAL:
        return f"TRY_CAST({digits} AS DOUBLE)"
    return f"CASE WHEN regexp_full_match({digits}, {_WHOLE_NUMBER}) THEN TRY_CAST({digits} AS BIGINT) ELSE TRY_CAST(TRY_CAST({digits} AS DOUBLE) AS BIGINT) END"


def _timestamp_from_text(raw: str) -> str:
    """A timestamp, in UTC where a zone is written: a cast to TIMESTAMP alone would leave the zone out. Digits beyond microseconds are cut off."""
    return f"TRY_CAST(TRY_CAST(CAST({raw} AS VARCHAR) AS TIMESTAMP WITH TIME ZONE) AS TIMESTAMP)"


def _as_boolean(raw: str, given: str) -> str:
    """True or false; of numbers 1 and 0 alone."""
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
    """A cell as text; a whole number that the source stores as a double is written as it would be without."""
    if given not in _DOUBLES:
        return f"TRY_CAST({raw} AS VARCHAR)"
    whole = f"{raw} = floor({raw}) AND abs({raw}) < {real(2.0**53)}"
    return f"(CASE WHEN {whole} THEN CAST(CAST({raw} AS BIGINT) AS VARCHAR) ELSE TRY_CAST({raw} AS VARCHAR) END)"


def canonical_as_read(name: str, column: Column) -> str:
    """The canonical form of a cast value. Reals that would leave the doubles in a product are NULL or 0; text is cut."""
    if column.type is Type.REAL:
        inside = f"CASE WHEN abs({name}) < {real(_SMALLEST)} THEN {real(0.0)} ELSE {name} END"
        return f"CASE WHEN abs({name}) <= {real(_LARGEST)} THEN {inside} END"
    if column.type is Type.TEXT:
        return f"CASE WHEN NOT contains({name}, chr(0)) THEN left({name}, {column.max_length}) END"
    return canonical(name, column.type)


def within_bounds(name: str, column: Column) -> str:
    """A canonical value clamped to the declared bounds, so that every condition sees the clamped one."""
    ends = _ends(column)
    return name if ends is None else clamped(name, *ends)


def person(column: Column, types: Mapping[str, str]) -> str:
    """Who a row belongs to; what would be cut, rounded or clamped is nobody."""
    value, ends = exactly(column, types, as_column=column), _ends(column)
    return value if ends is None else f"(CASE WHEN {value} BETWEEN {ends[0]} AND {ends[1]} THEN {value} END)"


def exactly(column: Column, types: Mapping[str, str], *, as_column: Column) -> str:
    """A column of the source `s` in the type of `as_column`, integer or text, only where nothing is lost. `types` are those of the source."""
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

"""The DuckDB dialect: types, names, constants, and the few formulas that are not functions of the registry.

Every formula takes names or constants, so it may repeat them. It is total, and NULL stays NULL.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction

from discreet.algebra.aggregates import Fold
from discreet.algebra.grids import Grid
from discreet.algebra.value_properties import Value
from discreet.catalog import Type
from discreet.catalog.timestamps import FIRST_MOMENT, LAST_MOMENT, timestamp_at, timestamp_text

NAME = "duckdb"
TYPES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.BOOLEAN: "BOOLEAN",
}
_LEAST_INTEGER = "CAST('-9223372036854775808' AS BIGINT)"
_EPOCH = date(1970, 1, 1).toordinal()
_WIDE = 2**62


def quoted(identifier: str) -> str:
    """Quote an identifier."""
    return '"' + identifier.replace('"', '""') + '"'


# Constants


def string(value: str) -> str:
    """Write a string where the engine takes no expression, such as a path."""
    return "'" + value.replace("'", "''") + "'"


def text(value: str) -> str:
    """Write a text constant. Quotes are doubled; no other character is special."""
    return f"CAST({string(value)} AS VARCHAR)"


def integer(value: int) -> str:
    """Write a 64-bit constant. DuckDB would choose a narrower type for a small number, and overflow."""
    return f"CAST({value} AS BIGINT)"


def real(value: float) -> str:
    """Write a constant of type DOUBLE, never DECIMAL."""
    return f"CAST('{value!r}' AS DOUBLE)"


def day(value: date) -> str:
    """Write a DATE constant."""
    return f"CAST('{value.isoformat()}' AS DATE)"


def timestamp(value: datetime) -> str:
    """Write a TIMESTAMP constant."""
    return f"CAST('{timestamp_text(value)}' AS TIMESTAMP)"


def literal(kind: Type, value: Value | None) -> str:
    """Write a constant of a type; None is a NULL of that type."""
    match value:
        case None:
            return f"CAST(NULL AS {TYPES[kind]})"
        case bool():
            return "true" if value else "false"
        case int():
            return integer(value)
        case float():
            return real(value)
        case datetime():
            return timestamp(value)
        case date():
            return day(value)
    return text(value)


# Whole steps of a grid


def clamped(name: str, low: object, high: object) -> str:
    """Clamp a value between two constants; NULL stays NULL. LEAST and GREATEST are slower, and skip NULL."""
    return f"(CASE WHEN {name} < {low} THEN {low} WHEN {name} > {high} THEN {high} ELSE {name} END)"


def steps_of(name: str, kind: Type, steps: Grid) -> str:
    """Convert a value to grid steps by floor(v + 1/2); it must still be clamped. The dividend is clamped first, which keeps it in range."""
    if kind is Type.REAL:
        inside = clamped(name, real(float(steps.low * steps.step)), real(float(steps.high * steps.step)))
        return f"CAST(floor({inside} / {real(float(steps.step))} + {real(0.5)}) AS BIGINT)"
    number = _number(name, kind)
    if steps.step == 1:
        return number
    if steps.step > 1:
        size, first, last = int(steps.step), int(steps.low * steps.step), int(steps.high * steps.step)
        return f"(({clamped(number, first, last)} - {integer(first)} + {integer(size // 2)}) // {integer(size)} + {integer(steps.low)})"
    inside = clamped(number, math.floor(steps.low * steps.step), math.ceil(steps.high * steps.step))
    return f"({inside} * {integer(int(1 / steps.step))})"


def _number(name: str, kind: Type) -> str:
    """Convert a date to a day number, as `date.toordinal` counts."""
    if kind is Type.DATE:
        return f"({name} - {day(date(1970, 1, 1))} + {integer(_EPOCH)})"
    return f"CAST({name} AS BIGINT)" if kind is Type.BOOLEAN else name


def shifted(product: str, coarser: int) -> str:
    """Convert a product to the coarser unit: floor(p / 2**coarser + 1/2). A right shift rounds negative numbers down, too."""
    return f"(({product} + {(1 << coarser) >> 1}) >> {coarser})" if coarser else product


def bin_of(name: str, *, factor: int, first: int, last: int) -> str:
    """Return the index of the candidate nearest to a number of steps. `//` rounds towards 0, so the dividend is made non-negative first."""
    low, high = first * factor, last * factor
    return f"(({clamped(name, low, high)} - {integer(low)} + {integer(factor // 2)}) // {integer(factor)})"


# Folds: integers first, then one division or product at the end


def folded(fold: Fold, value: str | None, where: str | None) -> str:
    """Write the engine's aggregate over integers or canonical values."""
    kept = "" if where is None else f" FILTER (WHERE coalesce({where}, false))"
    calls = {
        Fold.ROWS: "count(*)",
        Fold.PRESENT: f"count({value})",
        Fold.DISTINCT: f"count(DISTINCT {value})",
        Fold.SUM: f"sum({value})",
        Fold.AVERAGE: f"sum({value})",
        Fold.LEAST: f"min({value})",
        Fold.LARGEST: f"max({value})",
        Fold.ANY: f"bool_or({value})",
        Fold.EVERY: f"bool_and({value})",
    }
    return calls[fold] + kept


def finished(fold: Fold, name: str, count: str, step: Fraction | None) -> str:
    """Write the value of a fold from its integers."""
    if fold is Fold.SUM and step is None:
        return f"nullif(TRY_CAST({name} AS BIGINT), {_LEAST_INTEGER})"
    if fold is Fold.SUM and step is not None:
        return f"({nearest_double(name)} * {real(float(step))})"
    if fold is Fold.AVERAGE:
        quotient = f"{nearest_double(name)} / CAST({count} AS DOUBLE)"
        return f"({quotient})" if step is None else f"(({quotient}) * {real(float(step))})"
    return name


def nearest_double(name: str) -> str:
    """Convert a 128-bit integer to the nearest double. DuckDB's own cast rounds both halves; parsing text rounds once."""
    small = f"{name} BETWEEN {-_WIDE} AND {_WIDE}"
    return f"(CASE WHEN {small} THEN CAST(CAST({name} AS BIGINT) AS DOUBLE) ELSE CAST(CAST({name} AS VARCHAR) AS DOUBLE) END)"


# Canonical values, and a text of each


def position_among(name: str, values: Sequence[str]) -> str:
    """Convert a text to its position among these values, one byte long and in their order; NULL for any other."""
    return f"TRY_CAST({name} AS ENUM({', '.join(map(string, values))}))"


def canonical(name: str, kind: Type) -> str:
    """Make a value canonical: no -2**63, no NaN, infinity or -0.0, nothing outside of the years 1 to 9999."""
    match kind:
        case Type.INTEGER:
            return f"nullif({name}, {_LEAST_INTEGER})"
        case Type.REAL:
            return f"(CASE WHEN isfinite({name}) THEN {name} + {real(0.0)} END)"
        case Type.DATE:
            return f"(CASE WHEN {name} BETWEEN {day(date.min)} AND {day(date.max)} THEN {name} END)"
        case Type.TIMESTAMP:
            first, last = (timestamp(timestamp_at(end)) for end in (FIRST_MOMENT, LAST_MOMENT))
            return f"(CASE WHEN {name} BETWEEN {first} AND {last} THEN {name} END)"
    return name


def content(name: str, kind: Type) -> str:
    """Write a value as text for the hash that orders rows: equal on every engine, never NULL; reals to a 1024th."""
    if kind is Type.REAL:
        whole = f"CAST(CAST(floor({name} * {real(1024.0)}) AS BIGINT) AS VARCHAR)"
        return f"(CASE WHEN {name} IS NULL THEN '\\N' WHEN abs({name}) < {real(2.0**50)} THEN {whole} ELSE 'x' END)"
    return f"coalesce({name if kind is Type.TEXT else f'CAST({name} AS VARCHAR)'}, '\\N')"


def hashed(parts: Sequence[str]) -> str:
    """Hash texts to the same number in every process and on every engine."""
    joined = ", '|', ".join(parts)
    return f"md5(concat({joined}))"

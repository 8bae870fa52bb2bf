"""Rules of numbers over whole columns: integers stay exact as long as they can, and nothing overflows into an error.

Each takes arrays of int64, float64 or Python integers, and gives values and where they are defined.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.postprocessing.noisy_columns import (
    WIDEST,
    Column,
    Mask,
    Values,
    as_text,
    narrowed,
    numbers,
    objects_of,
    types_of,
)

Ruled: TypeAlias = tuple[Values, Mask]
_SAFE = 2.0**62
_LARGEST_INTEGER = 2**63 - 1
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,30}\s*", re.ASCII)
_REAL = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\s*", re.ASCII)
_FINEST_DIGITS = 308


def floats(values: Values) -> NDArray[np.float64]:
    """The numbers as doubles."""
    return values.astype(np.float64, copy=False)


def everywhere(values: Values) -> Mask:
    """Defined in every row."""
    return np.ones(len(values), np.bool_)


def integral(rule: Callable[..., Any]) -> Callable[..., Ruled]:
    """+ - * and such: in integers where both are and the result has at most 127 bits, else in doubles."""

    def ruled(*parts: Values) -> Ruled:
        rough = rule(*(floats(part) for part in parts))
        peak = np.abs(rough).max(initial=0.0)
        if any(part.dtype.kind == "f" for part in parts) or not peak < float(WIDEST):
            return rough, np.isfinite(rough)
        if peak < _SAFE and all(part.dtype.kind == "i" for part in parts):
            return rule(*parts), everywhere(rough)
        return narrowed(rule(*(part.astype(object) for part in parts))), everywhere(rough)

    return ruled


def divided(a: Values, b: Values) -> Ruled:
    """NULL for a divisor of 0."""
    result = floats(a) / floats(b)
    return result, (floats(b) != 0) & np.isfinite(result)


def whole_quotient(a: Values, b: Values) -> Ruled:
    """Towards zero."""
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        result = np.trunc(floats(a) / floats(b))
        return result, (floats(b) != 0) & np.isfinite(result)
    wide = a.astype(object) if b.dtype == object else a
    count = np.abs(wide) // np.where(b == 0, 1, np.abs(b))
    return np.where((a < 0) != (b < 0), -count, count), (b != 0).astype(np.bool_)


def remaining(a: Values, b: Values) -> Ruled:
    """With the sign of the first."""
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        result = np.fmod(floats(a), floats(b))
        return result, (floats(b) != 0) & np.isfinite(result)
    wide = a.astype(object) if b.dtype == object else a
    rest = np.abs(wide) % np.where(b == 0, 1, np.abs(b))
    return np.where(a < 0, -rest, rest), (b != 0).astype(np.bool_)


def to_whole(rule: Callable[[Any], Any]) -> Callable[[Values], Ruled]:
    """FLOOR and CEIL: an integer, unless it is beyond all integers."""

    def ruled(a: Values) -> Ruled:
        if a.dtype.kind != "f":
            return a, everywhere(a)
        result = rule(a)
        return (result.astype(np.int64) if np.abs(result).max(initial=0.0) < _SAFE else result), np.isfinite(result)

    return ruled


def rounded(a: Values, digits: Values | None = None) -> Ruled:
    """Half away from zero, to so many digits; where a double has no such digits it stays as it is."""
    places = np.zeros(len(a)) if digits is None else np.trunc(floats(digits))
    if a.dtype.kind != "f" and not (places < 0).any():
        return a, everywhere(a)
    result = ends_rounded(floats(a), places)
    whole = a.dtype.kind != "f" and np.abs(result).max(initial=0.0) < 2**53
    return (result.astype(np.int64) if whole else result), np.isfinite(result)


def ends_rounded(values: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for ends of intervals, which may be infinite."""
    scale = np.power(10.0, np.clip(np.abs(places), 0, _FINEST_DIGITS))
    finer = places >= 0
    scaled = np.where(finer, np.abs(values) * scale, np.abs(values) / scale)
    whole = np.floor(scaled + 0.5)
    result = np.copysign(np.where(finer, whole / scale, whole * scale), values)
    return np.where(scaled < 2.0**52, result, values) + 0.0


def logarithm(a: Values) -> Ruled:
    """NULL for 0 and below."""
    return np.log(np.where(floats(a) > 0, floats(a), 1.0)), floats(a) > 0


def exponential(a: Values) -> Ruled:
    """NULL beyond the doubles."""
    result = np.exp(floats(a))
    return result, np.isfinite(result)


def power(a: Values, b: Values) -> Ruled:
    """NULL for roots of negative numbers, and for 0 to a negative power."""
    result = np.power(floats(a), floats(b))
    return result, np.isfinite(result)


# CAST


def cast_int(column: Column) -> Ruled:
    """Halves to the even neighbour; NULL beyond 64 bits and for text that is no integer."""
    if types_of(column) == {str}:
        read = (int(text) if _WHOLE.fullmatch(text) else _LARGEST_INTEGER + 1 for text in as_text(column).tolist())
        values, valid = objects_of(read, len(column)), column.valid
    else:
        values, valid = numbers(column)
    inside = (np.abs(values) <= _LARGEST_INTEGER).astype(np.bool_)
    if values.dtype.kind == "f":
        inside = np.abs(values) < 2.0**63
        values = np.rint(np.where(inside, values, 0.0)).astype(np.int64)
    return narrowed(np.where(inside, values, 0)), valid & inside


def cast_real(column: Column) -> Ruled:
    """NULL for text that is no number, and beyond the doubles."""
    if types_of(column) == {str}:
        texts = as_text(column).tolist()
        valid = np.fromiter((bool(_REAL.fullmatch(text)) for text in texts), np.bool_, len(texts)) & column.valid
        read = (float(text) if there else 0.0 for text, there in zip(texts, valid.tolist(), strict=True))
        values = np.fromiter(read, np.float64, len(texts))
    else:
        values, valid = numbers(column)
    return np.where(np.isfinite(floats(values)), floats(values), 0.0), valid & np.isfinite(floats(values))

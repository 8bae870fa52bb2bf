"""Roots, logarithms and powers. All but the root are rounded to float32, so that all engines agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.algebra.functions.intervals import COARSE, hull, loosened, overlap, reaching_zero, root
from discreet.algebra.functions.record_rules import Rule, is_nullable, magnitudes_of, real
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import AS_READ, UNBOUNDED, Bounds, Magnitudes, ValueProperties
from discreet.catalog import Type

_R = Type.REAL
_LARGEST, _LEAST = Fraction(2) ** AS_READ.large, Fraction(2) ** -AS_READ.fine
_LARGEST_SQL, _LEAST_SQL = (f"CAST('{float(end)!r}' AS DOUBLE)" for end in (_LARGEST, _LEAST))
_ZERO = "CAST(0 AS DOUBLE)"
_SATURATED = "69.3147180559945"
"""A few ulps below the logarithm of 2**100."""
_LOGARITHM = Magnitudes(10, 60)
"""Of logarithms: below 1,024, and at least the distance of 1 to the next double, in any base."""
_BLUR = Fraction(1, 2**40)
"""Larger than the change of a logarithm when a bound is rounded to a double."""
_HIGHEST_POWER = 64


def _coarse(sql: str) -> str:
    return f"CAST(TRY_CAST({sql} AS FLOAT) AS DOUBLE)"


def _within_sql(sql: str) -> str:
    return f"(CASE WHEN (abs({sql}) < {_LEAST_SQL}) THEN {_ZERO} WHEN (abs({sql}) <= {_LARGEST_SQL}) THEN {sql} END)"


# Properties


def _root(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    magnitudes = magnitudes_of(args[0])
    nullable = args[0].nullable or args[0].low is None or args[0].low < 0
    return real(
        loosened(root(args[0].bounds)),
        Magnitudes(magnitudes.large // 2 + 1, magnitudes.fine // 2 + 1),
        nullable=nullable,
    )


def _logarithm(log: Callable[[float], float]) -> Rule:
    """Return bounds from the logarithms of the bounds, within those of all doubles."""

    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        low, high = args[0].bounds
        magnitudes, two = magnitudes_of(args[0]), Fraction(log(2.0))
        ends = _log_end(low, log, -1), _log_end(high, log, 1)
        known = overlap(ends, (-magnitudes.fine * two - 1, magnitudes.large * two + 1))
        return real(loosened(known, COARSE), _LOGARITHM, nullable=args[0].nullable or low is None or low <= 0)

    return rule


def _log_end(end: Fraction | None, log: Callable[[float], float], side: int) -> Fraction | None:
    if end is None or end < Fraction(2) ** -1000 or end > Fraction(2) ** 1000:
        return None
    return Fraction(0) if end == 1 else Fraction(log(float(end))) + side * _BLUR


def _exponential(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    low, high = args[0].bounds
    least = Fraction(0) if low is None or low < -69 else Fraction(math.exp(min(float(low), 69.0)))
    most = _LARGEST if high is None or high > 69 else Fraction(math.exp(max(float(high), -69.0)))
    return real(overlap(loosened((least, most), COARSE), (Fraction(0), _LARGEST)), AS_READ, nullable=is_nullable(args))


def _power(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    base, exponent = (arg.bounds for arg in args)
    bounds = _whole_power(base, exponent)
    if bounds is None:
        bounds = _positive_power(base, exponent)
    low, high = reaching_zero(loosened(bounds, COARSE), 2 * _LEAST)
    return real(overlap((low, high), (-_LARGEST, _LARGEST)), AS_READ, nullable=True)


def _whole_power(base: Bounds, exponent: Bounds) -> Bounds | None:
    """Return the bounds of x**n for a small integer constant n. Even powers are not negative."""
    power, (low, high) = exponent[0], base
    if power is None or power != exponent[1] or power.denominator != 1 or not 0 <= power <= _HIGHEST_POWER:
        return None
    is_even = power % 2 == 0
    if low is None or high is None:
        is_positive = is_even or (low is not None and low >= 0)
        return (Fraction(0) if is_positive else None), None
    ends = [low ** int(power), high ** int(power), *([Fraction(0)] if is_even and low <= 0 <= high else [])]
    return min(ends), max(ends)


def _positive_power(base: Bounds, exponent: Bounds) -> Bounds:
    """Return bounds from the corners, if the base is not negative."""
    if base[0] is None or base[0] < 0:
        return UNBOUNDED
    if base[0] == 0 or base[1] is None or exponent[0] is None or exponent[1] is None:
        is_rising = exponent[0] is not None and exponent[0] >= 0 and base[1] is not None and exponent[1] is not None
        ends = [_corner(base[1], power) for power in exponent] if is_rising else []
        return Fraction(0), None if not ends or None in ends else max(
            Fraction(1), *(end for end in ends if end is not None)
        )
    corners = [_corner(x, y) for x in base for y in exponent]
    known = [corner for corner in corners if corner is not None]
    return hull([(corner, corner) for corner in known]) if len(known) == len(corners) else (Fraction(0), None)


def _corner(base: Fraction | None, power: Fraction | None) -> Fraction | None:
    """Return a power in doubles, if it is in their range."""
    if base is None or power is None or not Fraction(2) ** -900 < base < Fraction(2) ** 900:
        return None
    exponent = float(power) * math.log2(float(base))
    return Fraction(2.0**exponent) if abs(exponent) < 200 else None


def _within(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    low, high = reaching_zero(args[0].bounds, _LEAST)
    magnitudes = magnitudes_of(args[0])
    nullable = args[0].nullable or magnitudes.large > AS_READ.large
    return real(
        (low, high),
        Magnitudes(min(magnitudes.large, AS_READ.large), min(magnitudes.fine, AS_READ.fine)),
        nullable=nullable,
    )


# Records


def _of_one(
    name: str, spelled: tuple[str, ...], *, nulls: Nulls, properties: Rule, template: str, says: str
) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=spelled,
        signature=Signature(says=f"{spelled[0]}(x)", takes=(_R,), gives=_R),
        nulls=nulls,
        properties=properties,
        accepts=None,
        effort=Effort(400),
        engines={"duckdb": template},
        says=says,
    )


def _log_record(name: str, spelled: tuple[str, ...], log: Callable[[float], float], says: str) -> Function:
    template = f"(CASE WHEN ({{0}} > 0) THEN {_coarse(f'{name}({{0}})')} END)"
    return _of_one(
        name,
        spelled,
        nulls=Nulls.RULE,
        properties=_logarithm(log),
        template=template,
        says=f"{says}; NULL for 0 and below",
    )


RECORDS = (
    _of_one(
        "sqrt", ("SQRT",), nulls=Nulls.RULE, properties=_root, template="(CASE WHEN ({0} >= 0) THEN sqrt({0}) END)",
        says="the square root, as an IEEE double; NULL below 0",
    ),
    _log_record("ln", ("LN",), math.log, "the natural logarithm, to 24 bits"),
    _log_record("log10", ("LOG10", "LOG"), math.log10, "the logarithm to base 10, to 24 bits"),
    _log_record("log2", ("LOG2",), math.log2, "the logarithm to base 2, to 24 bits"),
    _of_one(
        "exp", ("EXP",), nulls=Nulls.IF_ANY, properties=_exponential,
        template=(
            f"(CASE WHEN ({{0}} > CAST('{_SATURATED}' AS DOUBLE)) THEN {_LARGEST_SQL} "
            f"WHEN ({{0}} < CAST('-{_SATURATED}' AS DOUBLE)) THEN {_ZERO} ELSE {_coarse('exp({0})')} END)"
        ),
        says="e to the power of x, to 24 bits; at most 2 ** 100, and 0 below 2 ** -100",
    ),
    Function(
        name="pow",
        version=1,
        spelled=("POW", "POWER", "**", "^"),
        signature=Signature(says="POW(x, y)", takes=(_R, _R), gives=_R),
        nulls=Nulls.MAYBE,
        properties=_power,
        accepts=None,
        effort=Effort(2000),
        engines={"duckdb": _within_sql(_coarse("pow({0}, {1})"))},
        says="x to the power of y, to 24 bits; NULL if it is undefined or beyond 2 ** 100, 0 below 2 ** -100",
    ),
    _of_one(
        "within", ("WITHIN",), nulls=Nulls.RULE, properties=_within, template=_within_sql("{0}"),
        says="a real clipped to the supported range: NULL beyond 2 ** 100, 0 below 2 ** -100",
    ),
)  # fmt: skip
register(*RECORDS)

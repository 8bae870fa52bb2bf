"""Arithmetic: integers in 64 bits (NULL beyond), reals as IEEE doubles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.algebra.functions.intervals import (
    divided,
    holds_zero,
    loosened,
    magnitude,
    multiplied,
    negated,
    remainder,
    smallest,
    summed,
    wholly_divided,
)
from discreet.algebra.functions.record_rules import (
    Domain,
    Rule,
    counted,
    image,
    integer,
    is_nullable,
    listed_image,
    magnitudes_of,
    real,
)
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import WHOLE, Bounds, Magnitudes, Value, ValueProperties
from discreet.catalog import Type

_I, _R = Type.INTEGER, Type.REAL
_ZERO = "CAST(0 AS DOUBLE)"
_CANCELLED = 52
"""Bits that a difference of doubles can lose."""
_LARGEST_QUOTIENT = Fraction(2) ** 63
_MOD_ROUNDING = Fraction(1, 2**50)
_DIVISOR = "(CASE WHEN ({1} <> 0) THEN {1} END)"
"""NULL instead of 0, so that a division cannot fail, however the engine reorders the statement."""


def narrowed(sql: str) -> str:
    """Cast a HUGEINT or DOUBLE to BIGINT; NULL outside of ±(2**63 - 1). Negating twice makes -2**63 NULL, too."""
    return f"TRY_CAST((-CAST(TRY_CAST((-{sql}) AS BIGINT) AS HUGEINT)) AS BIGINT)"


def _wide(sign: str) -> str:
    return narrowed(f"(CAST({{0}} AS HUGEINT) {sign} CAST({{1}} AS HUGEINT))")


# Properties of integers


def _whole(bounds: Callable[[Bounds, Bounds], Bounds], values: Callable[[Sequence[ValueProperties]], Domain]) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        a, b = args
        return integer(bounds(a.bounds, b.bounds), nullable=is_nullable(args), values=values(args))

    return rule


def _wholly_divided(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    a, b = args
    nullable = is_nullable(args) or holds_zero(b.bounds)
    return counted(wholly_divided(a.bounds, b.bounds), nullable=nullable, values=listed_image(args, truncated))


def _whole_remainder(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    a, b = args
    most = magnitude(b.bounds)[1]
    bounds = remainder(a.bounds, None if most is None else max(most - 1, Fraction(0)))
    return counted(bounds, nullable=is_nullable(args) or holds_zero(b.bounds), values=image(args, rest))


def _of_whole(bounds: Callable[[Bounds], Bounds], value: Callable[[int], int]) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        return counted(bounds(args[0].bounds), nullable=is_nullable(args), values=listed_image(args, value))

    return rule


def truncated(a: int, b: int) -> int | None:
    """Return the quotient, truncated towards zero."""
    if b == 0:
        return None
    return abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))


def rest(a: int, b: int) -> int | None:
    """Return the remainder of a / b, with the sign of a."""
    quotient = truncated(a, b)
    return None if quotient is None else a - b * quotient


def _added(a: int, b: int) -> int:
    return a + b


def _subtracted(a: int, b: int) -> int:
    return a - b


def _multiplied(a: int, b: int) -> int:
    return a * b


def _held(rule: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    return lambda a, b: value if abs(value := rule(a, b)) < 2**63 else None


# Properties of reals


def _real(
    bounds: Callable[[Bounds, Bounds], Bounds],
    magnitudes: Callable[[Magnitudes, Magnitudes], Magnitudes],
    value: Callable[[float, float], float | None],
) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        a, b = args
        ends = loosened(bounds(a.bounds, b.bounds))
        return real(
            ends,
            magnitudes(magnitudes_of(a), magnitudes_of(b)),
            nullable=is_nullable(args),
            values=_listed(args, value),
        )

    return rule


def _listed(args: Sequence[ValueProperties], value: Callable[..., float | None]) -> Domain:
    """Return listed values only if those of all arguments are listed."""
    return image(args, _unsigned(value)) if all(arg.values is not None for arg in args) else None


def _unsigned(value: Callable[..., float | None]) -> Callable[..., Value | None]:
    """Replace -0.0 by 0.0."""
    return lambda *numbers: None if (number := value(*numbers)) is None else number + 0.0


def _sum_reach(a: Magnitudes, b: Magnitudes) -> Magnitudes:
    return Magnitudes(max(a.large, b.large) + 1, max(a.fine, b.fine) + _CANCELLED)


def _product_reach(a: Magnitudes, b: Magnitudes) -> Magnitudes:
    return Magnitudes(a.large + b.large, a.fine + b.fine)


def _quotient_reach(a: Magnitudes, b: Magnitudes) -> Magnitudes:
    return Magnitudes(a.large + b.fine, a.fine + b.large)


def _difference(a: Bounds, b: Bounds) -> Bounds:
    return summed(a, negated(b))


def _divided(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    a, b = args
    values = _listed(args, lambda x, y: x / y if y else None)
    nullable = is_nullable(args) or holds_zero(b.bounds)
    return real(
        loosened(divided(a.bounds, b.bounds)),
        _quotient_reach(magnitudes_of(a), magnitudes_of(b)),
        nullable=nullable,
        values=values,
    )


def _remainder(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    """Bound the remainder by |y| plus the rounding errors of x / y and of its product with y."""
    a, b = args
    most = magnitude(b.bounds)[1]
    furthest = smallest([magnitude(a.bounds)[1], None if most is None else most * _LARGEST_QUOTIENT])
    magnitudes = _sum_reach(magnitudes_of(a), magnitudes_of(b))
    if furthest is None:
        return real((None, None), magnitudes, nullable=True)
    low, high = remainder(a.bounds, most)
    blur = furthest * _MOD_ROUNDING
    ends = (None if low is None else low - blur), (None if high is None else high + blur)
    return real(ends, magnitudes, nullable=True)


def _of_real(bounds: Callable[[Bounds], Bounds], value: Callable[[float], float]) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        ends = bounds(args[0].bounds)
        return real(ends, magnitudes_of(args[0]), nullable=is_nullable(args), values=_listed(args, value))

    return rule


def _from_whole(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    return real(loosened(args[0].bounds), WHOLE, nullable=is_nullable(args), values=_listed(args, float))


# Records

_WIDE, _NARROW = Effort(2500), Effort(250)
"""An overflow of 64 bits is the slowest case."""


def _binary(
    name: str, sign: str, kind: Type, *, nulls: Nulls, properties: Rule, template: str, effort: Effort, says: str
) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=(sign, "MOD") if sign == "%" else (sign,),
        signature=Signature(says=f"a {sign} b", takes=(kind, kind), gives=kind),
        nulls=nulls,
        properties=properties,
        accepts=None,
        effort=effort,
        engines={"duckdb": template},
        says=says,
    )


def _unary(name: str, spelled: str, kind: Type, *, usage: str, properties: Rule, template: str, says: str) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=(spelled,),
        signature=Signature(says=usage, takes=(kind,), gives=kind),
        nulls=Nulls.IF_ANY,
        properties=properties,
        accepts=None,
        effort=Effort(400),
        engines={"duckdb": template},
        says=says,
    )


RECORDS = (
    _binary(
        "add_int", "+", _I, nulls=Nulls.RULE, effort=_WIDE, template=_wide("+"), says="the sum of integers; NULL beyond 64 bits",
        properties=_whole(summed, lambda args: listed_image(args, _held(_added))),
    ),
    _binary(
        "sub_int", "-", _I, nulls=Nulls.RULE, effort=_WIDE, template=_wide("-"), says="the difference of integers; NULL beyond 64 bits",
        properties=_whole(_difference, lambda args: listed_image(args, _held(_subtracted))),
    ),
    _binary(
        "mul_int", "*", _I, nulls=Nulls.RULE, effort=_WIDE, template=_wide("*"), says="the product of integers; NULL beyond 64 bits",
        properties=_whole(multiplied, lambda args: image(args, _held(_multiplied))),
    ),
    _unary(
        "neg_int", "-", _I, usage="-a", properties=_of_whole(negated, lambda a: -a), template="(-{0})",
        says="an integer with the opposite sign",
    ),
    _unary(
        "abs_int", "ABS", _I, usage="ABS(a)", properties=_of_whole(magnitude, abs), template="abs({0})",
        says="the absolute value of an integer",
    ),
    _binary(
        "int_div", "//", _I, nulls=Nulls.RULE, effort=_NARROW, properties=_wholly_divided, template=f"({{0}} // {_DIVISOR})",
        says="integer division, truncated towards zero; NULL for a divisor of 0",
    ),
    _binary(
        "mod_int", "%", _I, nulls=Nulls.RULE, effort=_NARROW, properties=_whole_remainder, template=f"({{0}} % {_DIVISOR})",
        says="the remainder of integer division, with the sign of the first argument; NULL for a divisor of 0",
    ),
    _binary(
        "add", "+", _R, nulls=Nulls.IF_ANY, effort=_NARROW, template="({0} + {1})", says="the sum of reals, as IEEE doubles",
        properties=_real(summed, _sum_reach, lambda a, b: a + b),
    ),
    _binary(
        "sub", "-", _R, nulls=Nulls.IF_ANY, effort=_NARROW, template="({0} - {1})", says="the difference of reals, as IEEE doubles",
        properties=_real(_difference, _sum_reach, lambda a, b: a - b),
    ),
    _binary(
        "mul", "*", _R, nulls=Nulls.IF_ANY, effort=_NARROW, template=f"(({{0}} * {{1}}) + {_ZERO})", says="the product of reals, as IEEE doubles",
        properties=_real(multiplied, _product_reach, lambda a, b: a * b),
    ),
    _unary(
        "neg", "-", _R, usage="-a", properties=_of_real(negated, lambda a: -a), template=f"((-{{0}}) + {_ZERO})",
        says="a real with the opposite sign",
    ),
    _unary("abs", "ABS", _R, usage="ABS(a)", properties=_of_real(magnitude, math.fabs), template="abs({0})", says="the absolute value of a real"),
    _binary(
        "div", "/", _R, nulls=Nulls.RULE, effort=_NARROW, properties=_divided, template=f"(({{0}} / {_DIVISOR}) + {_ZERO})",
        says="division as IEEE doubles, also of integers; NULL for a divisor of 0",
    ),
    _binary(
        "mod", "%", _R, nulls=Nulls.RULE, effort=_NARROW, properties=_remainder,
        template=(
            f"(CASE WHEN (abs(({{0}} / {_DIVISOR})) < CAST('9223372036854775808' AS DOUBLE)) "
            f"THEN (({{0}} - ({{1}} * trunc(({{0}} / {_DIVISOR})))) + {_ZERO}) END)"
        ),
        says="x - y * trunc(x / y) in doubles; NULL for a divisor of 0, and if the quotient exceeds 64 bits",
    ),
    Function(
        name="real",
        version=1,
        spelled=("CAST",),
        signature=Signature(says="CAST(a AS DOUBLE)", takes=(_I,), gives=_R),
        nulls=Nulls.IF_ANY,
        properties=_from_whole,
        accepts=None,
        effort=Effort(200),
        engines={"duckdb": "CAST({0} AS DOUBLE)"},
        says="an integer as the nearest double",
    ),
)  # fmt: skip
register(*RECORDS)

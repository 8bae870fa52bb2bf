"""Rounding to integers and digits, and buckets of equal width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.algebra.expressions import Expression
from discreet.algebra.functions.intervals import away, loosened, overlap, stepped
from discreet.algebra.functions.numbers import narrowed
from discreet.algebra.functions.record_rules import (
    Rule,
    as_given,
    constant,
    constant_of,
    counted,
    image,
    integer,
    is_nullable,
    listed_image,
    magnitudes_of,
    real,
    whole_constant,
)
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import Bounds, Magnitudes, ValueProperties
from discreet.catalog import Type

_I, _R = Type.INTEGER, Type.REAL
_MOST_DIGITS = 15
_MOST_TENS = 18
MOST_BUCKETS = 10_000


# ValueProperties


def _to_whole(step: Callable[[Fraction], int]) -> Rule:
    """Return the properties of a nondecreasing function: its values at the bounds."""

    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        listed = None if args[0].values is None else image(args, lambda value: _held(step(Fraction(value))))
        return integer(stepped(args[0].bounds, step), nullable=is_nullable(args), values=listed)

    return rule


def _held(value: int) -> int | None:
    return value if abs(value) < 2**63 else None


def _sign(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    bounds = overlap(stepped(args[0].bounds, _sign_of), (Fraction(-1), Fraction(1)))
    return counted(bounds, nullable=is_nullable(args), values=listed_image(args, _sign_of))


def _sign_of(value: Fraction | float) -> int:
    return (value > 0) - (value < 0)


def _digits(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    """Multiply, round and divide: each step is nondecreasing and adds one rounding error."""
    scale = Fraction(10) ** int(constant_of(args[1]))  # type: ignore[arg-type]  # checked by `accepts`
    low, high = loosened(args[0].bounds)
    ends = stepped((None if low is None else low * scale, None if high is None else high * scale), away)
    bounds: Bounds = (None if ends[0] is None else ends[0] / scale), (None if ends[1] is None else ends[1] / scale)
    magnitudes = magnitudes_of(args[0])
    return real(loosened(bounds), Magnitudes(max(magnitudes.large + 1, 51), 51), nullable=args[0].nullable)


def _tens(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    digits = constant_of(args[1])
    assert isinstance(digits, int)  # noqa: S101  checked by `accepts`
    bounds = stepped(args[0].bounds, lambda end: to_tens(int(end), digits))
    return integer(
        bounds, nullable=args[0].nullable, values=listed_image(args, lambda value, n: _held(to_tens(value, n)))
    )


def to_tens(value: int, digits: int) -> int:
    """Round to a power of ten, halves away from zero."""
    if digits >= 0:
        return value
    unit = 10**-digits
    nearest = (abs(value) + unit // 2) // unit * unit
    return nearest if value >= 0 else -nearest


def _buckets(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    low, high, count = (constant_of(arg) for arg in args[1:])
    assert isinstance(low, float) and isinstance(high, float) and isinstance(count, int)  # noqa: S101, PT018
    first, last = 0, count + 1
    if args[0].low is not None:
        first = bucket(_double(args[0].low, -math.inf), low, high, count)
    if args[0].high is not None:
        last = bucket(_double(args[0].high, math.inf), low, high, count)
    return counted((Fraction(first), Fraction(last)), nullable=args[0].nullable)


def _double(end: Fraction, towards: float) -> float:
    """Return a bound as a double, rounded away from the other bound."""
    try:
        nearest = float(end)
    except OverflowError:
        return towards
    is_outside = Fraction(nearest) == end or (Fraction(nearest) < end) == (towards < 0)
    return nearest if is_outside else math.nextafter(nearest, towards)


def bucket(value: float, low: float, high: float, count: int) -> int:
    """Return the number of the bucket, computed in doubles."""
    if value < low:
        return 0
    if value >= high:
        return count + 1
    return min(max(math.floor((value - low) / ((high - low) / count)) + 1, 1), count)


# Constants


def _accepts_digits(args: Sequence[Expression]) -> str | None:
    digits = whole_constant(args[1])
    if digits is None or not -_MOST_DIGITS <= digits <= _MOST_DIGITS:
        return f"The digits of ROUND must be an integer constant from -{_MOST_DIGITS} to {_MOST_DIGITS}."
    return None


def _accepts_tens(args: Sequence[Expression]) -> str | None:
    digits = whole_constant(args[1])
    if digits is None or not -_MOST_TENS <= digits <= _MOST_DIGITS:
        return f"For an integer, the digits of ROUND must be an integer constant from -{_MOST_TENS} to {_MOST_DIGITS}."
    return None


def _accepts_buckets(args: Sequence[Expression]) -> str | None:
    low, high, count = constant(args[1]), constant(args[2]), whole_constant(args[3])
    if not isinstance(low, float) or not isinstance(high, float) or count is None:
        return "The bounds and the number of buckets of WIDTH_BUCKET must be constants."
    if not low < high or not 1 <= count <= MOST_BUCKETS or (high - low) / count < abs(low) * 2.0**-40:
        return f"WIDTH_BUCKET needs low < high, and from 1 to {MOST_BUCKETS:,} buckets that are not too narrow."
    return None


# Templates


def _digits_sql(sql: Sequence[str], args: Sequence[Expression]) -> str:
    digits = whole_constant(args[1]) or 0
    scale = f"CAST('1e{abs(digits)}' AS DOUBLE)"
    there, back = ("*", "/") if digits >= 0 else ("/", "*")
    return f"((round(({sql[0]} {there} {scale})) {back} {scale}) + CAST(0 AS DOUBLE))"


def _tens_sql(sql: Sequence[str], args: Sequence[Expression]) -> str:
    digits = whole_constant(args[1]) or 0
    return f"({sql[0]})" if digits >= 0 else narrowed(f"round(CAST({sql[0]} AS HUGEINT), {digits})")


_BUCKET_SQL = (
    "(CASE WHEN ({0} < {1}) THEN CAST(0 AS BIGINT) WHEN ({0} >= {2}) THEN ({3} + 1) WHEN ({0} >= {1}) THEN "
    "LEAST(GREATEST((TRY_CAST(floor((({0} - {1}) / (({2} - {1}) / CAST({3} AS DOUBLE)))) AS BIGINT) + 1), 1), {3}) END)"
)


# Records


def _whole(name: str, spelled: tuple[str, ...], *, step: Callable[[Fraction], int], sql: str, says: str) -> Function:
    usage = "CAST(x AS INTEGER)" if spelled[0] == "CAST" else f"{spelled[0]}(x)"
    return Function(
        name=name,
        version=1,
        spelled=spelled,
        signature=Signature(says=usage, takes=(_R,), gives=_I),
        nulls=Nulls.RULE,
        properties=_to_whole(step),
        accepts=None,
        effort=Effort(1500),
        engines={"duckdb": narrowed(sql)},
        says=f"{says}; NULL beyond 64 bits",
    )


def _signum(name: str, kind: Type) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=("SIGN",),
        signature=Signature(says="SIGN(x)", takes=(kind,), gives=_I),
        nulls=Nulls.IF_ANY,
        properties=_sign,
        accepts=None,
        effort=Effort(200),
        engines={"duckdb": "CAST(sign({0}) AS BIGINT)"},
        says="-1, 0 or 1",
    )


RECORDS = (
    _whole("int", ("CAST",), step=round, sql="{0}", says="the nearest integer; halves round to the even one"),
    _whole("floor", ("FLOOR",), step=math.floor, sql="floor({0})", says="the largest integer that is not above x"),
    _whole(
        "ceil", ("CEIL", "CEILING"), step=math.ceil, sql="ceil({0})", says="the smallest integer that is not below x"
    ),
    _whole("round", ("ROUND",), step=away, sql="round({0})", says="the nearest integer; halves round away from zero"),
    _whole("trunc", ("TRUNC",), step=math.trunc, sql="trunc({0})", says="the whole part"),
    _signum("sign_int", _I),
    _signum("sign", _R),
    Function(
        name="round_int",
        version=1,
        spelled=("ROUND", "FLOOR", "CEIL", "CEILING", "TRUNC"),
        signature=Signature(says="ROUND(a)", takes=(_I,), gives=_I),
        nulls=Nulls.IF_ANY,
        properties=as_given,
        accepts=None,
        effort=Effort(100),
        engines={"duckdb": "({0})"},
        says="the integer itself",
    ),
    Function(
        name="round_to",
        version=1,
        spelled=("ROUND",),
        signature=Signature(says="ROUND(x, 2)", takes=(_R, _I), gives=_R),
        nulls=Nulls.IF_ANY,
        properties=_digits,
        accepts=_accepts_digits,
        effort=Effort(400),
        engines={"duckdb": _digits_sql},
        says="rounded to n decimal digits as a double, halves away from zero; a negative n rounds to tens, hundreds, …",
    ),
    Function(
        name="round_int_to",
        version=1,
        spelled=("ROUND",),
        signature=Signature(says="ROUND(a, -2)", takes=(_I, _I), gives=_I),
        nulls=Nulls.RULE,
        properties=_tens,
        accepts=_accepts_tens,
        effort=Effort(2500),
        engines={"duckdb": _tens_sql},
        says="an integer rounded to tens, hundreds, …, halves away from zero; NULL beyond 64 bits",
    ),
    Function(
        name="width_bucket",
        version=1,
        spelled=("WIDTH_BUCKET",),
        signature=Signature(says="WIDTH_BUCKET(x, low, high, n)", takes=(_R, _R, _R, _I), gives=_I),
        nulls=Nulls.IF_ANY,
        properties=_buckets,
        accepts=_accepts_buckets,
        effort=Effort(600),
        engines={"duckdb": _BUCKET_SQL},
        says="number of the bucket of equal width, from 1 to n; 0 below low, n + 1 from high on",
    ),
)
register(*RECORDS)

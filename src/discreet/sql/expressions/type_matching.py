"""Implicit conversions between types.

Integers become reals next to reals, a quoted date becomes a date, a date next to a timestamp becomes its midnight, and
NULL takes any type. Nothing else is converted implicitly: it could fail on a row, or differ between engines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time

from discreet.algebra.expressions import Expression, Literal, call
from discreet.algebra.registry import Function, spelled
from discreet.catalog import Type
from discreet.errors import NotAllowed

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}([.]\d{1,6})?)?)?", re.ASCII)
CASTS_KNOWN = "Cast to INTEGER, DOUBLE, VARCHAR, DATE, TIMESTAMP or BOOLEAN instead."


def apply(word: str, *args: Expression) -> Expression:
    """Call the first function with this SQL spelling that accepts the arguments, if necessary as reals."""
    records = spelled(word)
    if not records:
        raise unsupported(word)
    for widen in (False, True):
        for record in records:
            fitting = _fitting(record, args, widen=widen)
            if fitting is not None:
                return call(record.name, *fitting)
    raise type_mismatch()


def to_common_type(args: Sequence[Expression]) -> list[Expression]:
    """Convert values to one common type."""
    kind = _common(args, widen=True)
    if kind is None:
        raise type_mismatch()
    return [as_type(arg, kind) for arg in args]


def as_type(expression: Expression, kind: Type) -> Expression:
    """Convert a value to a type implicitly, or refuse."""
    converted = _converted(expression, kind, widen=True)
    if converted is None:
        raise type_mismatch()
    return converted


def condition(expression: Expression) -> Expression:
    """Return a BOOLEAN expression, or refuse."""
    converted = _converted(expression, Type.BOOLEAN, widen=False)
    if converted is None:
        raise NotAllowed("A condition must be a BOOLEAN.", next_step="Write a comparison, for example x > 0.")
    return converted


def cast(expression: Expression, kind: Type) -> Expression:
    """Read CAST. A value that cannot be converted becomes NULL."""
    easy = _converted(expression, kind, widen=True)
    if easy is not None:
        return easy
    if kind is Type.BOOLEAN and expression.properties.type in (Type.INTEGER, Type.REAL):
        return apply("<>", expression, Literal(Type.INTEGER, 0))
    if kind is Type.REAL and expression.properties.type is Type.BOOLEAN:
        return call("real", cast(expression, Type.INTEGER))
    for record in spelled("CAST"):
        if record.signature.gives is kind and record.signature.result([expression.properties.type]) is kind:
            return call(record.name, expression)
    raise NotAllowed("CAST from this type to that type is not supported.", next_step=CASTS_KNOWN)


def real(expression: Expression) -> Expression:
    """Convert an integer to a real; a constant directly."""
    if isinstance(expression, Literal):
        return Literal(Type.REAL, None if expression.value is None else float(expression.value))  # type: ignore[arg-type]
    return call("real", expression)


def is_null(expression: Expression) -> bool:
    """Whether an expression is the constant NULL."""
    return isinstance(expression, Literal) and expression.value is None


def type_mismatch() -> NotAllowed:
    """Return the refusal of values with incompatible types."""
    return NotAllowed(
        "Values of different types are compared or combined.",
        next_step="Use values of the same type, or CAST one of them.",
    )


def unsupported(word: str) -> NotAllowed:
    """Return the refusal of a function or construct without a record."""
    return NotAllowed(
        f"{word.upper()} is not supported here.",
        next_step="See the SQL reference in the documentation for the supported functions and common alternatives.",
    )


def _fitting(record: Function, args: Sequence[Expression], *, widen: bool) -> list[Expression] | None:
    """Return the arguments converted for a record, or None if they do not match."""
    parameters = record.signature.parameters(len(args))
    if parameters is None:
        return None
    free = [arg for arg, want in zip(args, parameters, strict=True) if want is None]
    variable = _common(free, widen=widen, among=record.signature.among) if free else None
    if free and variable is None:
        return None
    fitting: list[Expression] = []
    for arg, want in zip(args, parameters, strict=True):
        converted = _converted(arg, want or variable or arg.properties.type, widen=widen)
        if converted is None:
            return None
        fitting.append(converted)
    return fitting if record.signature.result([arg.properties.type for arg in fitting]) is not None else None


def _common(args: Sequence[Expression], *, widen: bool, among: frozenset[Type] = frozenset(Type)) -> Type | None:
    """Return a type that all arguments can be converted to, or None."""
    given = [arg for arg in args if not is_null(arg)]
    kinds = {arg.properties.type for arg in given}
    if not kinds:
        return next(kind for kind in (Type.BOOLEAN, *Type) if kind in among)
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {Type.DATE, Type.TEXT} and all(
        _day(arg) is not None for arg in given if arg.properties.type is Type.TEXT
    ):
        return Type.DATE
    if Type.TIMESTAMP in kinds and all(_converted(arg, Type.TIMESTAMP, widen=widen) is not None for arg in given):
        return Type.TIMESTAMP
    return Type.REAL if widen and kinds == {Type.INTEGER, Type.REAL} else None


def _converted(expression: Expression, kind: Type, *, widen: bool) -> Expression | None:
    if expression.properties.type is kind:
        return expression
    if is_null(expression):
        return Literal(kind, None)
    if kind is Type.DATE:
        day = _day(expression)
        return None if day is None else Literal(Type.DATE, day)
    if kind is Type.TIMESTAMP:
        return _as_timestamp(expression)
    return real(expression) if widen and kind is Type.REAL and expression.properties.type is Type.INTEGER else None


def _as_timestamp(expression: Expression) -> Expression | None:
    """Convert a quoted timestamp, or a date to its midnight; return None for anything else."""
    if expression.properties.type is Type.DATE and not isinstance(expression, Literal):
        return call("timestamp_of_date", expression)
    value = expression.value if isinstance(expression, Literal) else None
    if type(value) is date:
        return Literal(Type.TIMESTAMP, datetime.combine(value, time.min))
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        return Literal(Type.TIMESTAMP, datetime.fromisoformat(value))
    except ValueError:
        return None


def _day(expression: Expression) -> date | None:
    """Return the date of a quoted YYYY-MM-DD, or None."""
    if (
        not isinstance(expression, Literal)
        or not isinstance(expression.value, str)
        or not _DATE.fullmatch(expression.value)
    ):
        return None
    try:
        return date.fromisoformat(expression.value)
    except ValueError:
        return None

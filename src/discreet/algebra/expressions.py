"""Expressions: columns, constants and calls of registered functions.

They are immutable and typed. Their public properties are derived on construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from typing import TypeAlias

from discreet.algebra.registry import Function, Nulls, function
from discreet.algebra.value_properties import AS_READ, FURTHEST, LARGEST_INTEGER, Origin, Value, ValueProperties
from discreet.catalog import Type
from discreet.catalog.timestamps import ordinal_of
from discreet.errors import NotAllowed, TooLarge

MOST_CALLS = 400
DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Field:
    """A column, by its position in the relation that the expression is evaluated over."""

    at: int
    properties: ValueProperties = field(compare=False, repr=False)

    calls = 0
    depth = 0


@dataclass(frozen=True, slots=True)
class Literal:
    """A typed constant. None is NULL."""

    type: Type
    value: Value | None
    properties: ValueProperties = field(init=False, compare=False, repr=False)

    calls = 0
    depth = 0

    def __post_init__(self) -> None:
        if self.value is not None and not _is_canonical(self.type, self.value):
            raise NotAllowed(
                "A constant in the query is out of range.",
                next_step="Use a number of at most 64 bits (or 2^100 in magnitude, if decimal), or a date in the years 1 to 9999.",
            )
        object.__setattr__(self, "properties", _literal_properties(self.type, self.value))


@dataclass(frozen=True, slots=True)
class Call:
    """A registered function applied to arguments of matching types."""

    function: Function
    args: tuple[Expression, ...]
    properties: ValueProperties = field(init=False, compare=False, repr=False)
    calls: int = field(init=False, compare=False, repr=False)
    depth: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        calls, depth = 1 + sum(arg.calls for arg in self.args), 1 + max((arg.depth for arg in self.args), default=0)
        if calls > MOST_CALLS or depth > DEEPEST:
            raise TooLarge(
                "An expression is too long or nested too deeply.",
                next_step="Use fewer function calls in one expression.",
            )
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "properties", _call_properties(self.function, self.args))


Expression: TypeAlias = Field | Literal | Call


def call(name: str, *args: Expression) -> Expression:
    """Return a call of the named function.

    If the magnitude of a real result could exceed the range of doubles, the result is clipped with `within`.
    """
    result = Call(function(name), args)
    magnitudes = result.properties.magnitudes
    if magnitudes is not None and (magnitudes.large > FURTHEST or magnitudes.fine > FURTHEST):
        return Call(function("within"), (result,))
    return result


def fields_of(expression: Expression) -> Iterator[Field]:
    """Yield every column that an expression reads."""
    if isinstance(expression, Field):
        yield expression
    elif isinstance(expression, Call):
        for arg in expression.args:
            yield from fields_of(arg)


def shift_fields(expression: Expression, by: int) -> Expression:
    """Return the expression with all column positions shifted, as needed on the right side of a join."""
    if isinstance(expression, Field):
        return Field(expression.at + by, expression.properties)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(shift_fields(arg, by) for arg in expression.args))
    return expression


def substituted(expression: Expression, columns: Sequence[Expression]) -> Expression:
    """Return the expression with each column replaced by the expression that computes it."""
    if isinstance(expression, Field):
        return columns[expression.at]
    if isinstance(expression, Call):
        return Call(expression.function, tuple(substituted(arg, columns) for arg in expression.args))
    return expression


def conjuncts(condition: Expression) -> list[Expression]:
    """Return the parts of a condition that are connected by AND."""
    if isinstance(condition, Call) and condition.function.name == "and":
        return [part for arg in condition.args for part in conjuncts(arg)]
    return [condition]


def conjunction(conditions: Sequence[Expression]) -> Expression | None:
    """Return the conjunction of the conditions, or None for an empty list."""
    if not conditions:
        return None
    joined = conditions[0]
    for condition in conditions[1:]:
        joined = call("and", joined, condition)
    return joined


def _is_canonical(kind: Type, value: Value) -> bool:
    match kind:
        case Type.INTEGER:
            return type(value) is int and abs(value) <= LARGEST_INTEGER
        case Type.REAL:
            return type(value) is float and (value == 0 or 2.0**-100 <= abs(value) <= 2.0**100) and str(value) != "-0.0"
        case Type.TEXT:
            return (
                type(value) is str and "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)
            )
        case Type.DATE:
            return type(value) is date
        case Type.TIMESTAMP:
            return type(value) is datetime and value.tzinfo is None
    return type(value) is bool


def _literal_properties(kind: Type, value: Value | None) -> ValueProperties:
    low = high = None
    if isinstance(value, date):
        low = high = Fraction(ordinal_of(value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low = high = Fraction(value)
    return ValueProperties(
        type=kind,
        low=low,
        high=high,
        values=(value,),
        nullable=value is None,
        longest=len(value) if isinstance(value, str) else 0 if kind is Type.TEXT else None,
        magnitudes=AS_READ if kind is Type.REAL else None,
    )


def _call_properties(record: Function, args: tuple[Expression, ...]) -> ValueProperties:
    properties = [arg.properties for arg in args]
    result = record.signature.result([each.type for each in properties])
    if result is None:
        raise NotAllowed(
            f"{record.spelled[0]} does not accept arguments of these types.",
            next_step=f"Write {record.signature.says}.",
        )
    refusal = record.accepts(args) if record.accepts is not None else None
    if refusal is not None:
        raise NotAllowed(refusal, next_step="See the list of functions in the SQL reference.")
    nullable = record.nulls is Nulls.MAYBE or (
        record.nulls is Nulls.IF_ANY and any(each.nullable for each in properties)
    )
    derived = record.properties(properties, result)
    return replace(
        derived, nullable=nullable if record.nulls is not Nulls.RULE else derived.nullable, origin=_origin(record, args)
    )


def _origin(record: Function, args: tuple[Expression, ...]) -> Origin | None:
    """Return the public relation that all columns come from, if there is exactly one."""
    reading = [arg for arg in args if next(fields_of(arg), None) is not None]
    origins = [arg.properties.origin for arg in reading if arg.properties.origin is not None]
    if (
        not origins
        or len(origins) < len(reading)
        or any(origin.relation is not origins[0].relation for origin in origins)
    ):
        return None
    parts = tuple(arg.properties.origin.expression if arg.properties.origin is not None else arg for arg in args)
    return Origin(origins[0].relation, Call(record, parts), any(origin.outer for origin in origins))

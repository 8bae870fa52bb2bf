"""The registry of SQL functions and operators. Everything about a function is in its record.

The allow-list, the SQL reference, the fuzzer's grammar and the SQL of every engine are generated from it. No field has a
default: a record with a missing part fails at import. `None` marks a function that an engine does not support.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from discreet.algebra.value_properties import ValueProperties
from discreet.catalog import Type

if TYPE_CHECKING:
    from discreet.algebra.expressions import Expression

ENGINES = ("duckdb",)
Template: TypeAlias = str | Callable[[Sequence[str], Sequence["Expression"]], str]
"""SQL with {0}, {1}, … for the arguments; or a function of the arguments' SQL and of the arguments themselves."""


class Nulls(Enum):
    """When a call is NULL."""

    IF_ANY = "if any argument is"
    MAYBE = "where any argument is, or the result is undefined"
    NEVER = "never"
    RULE = "as its properties state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Argument and result types of a function.

    `takes` lists the argument types; None is a type variable, the same type in all places. The last `repeats` arguments
    may be repeated any number of times, and `last` follows them. If `gives` is None, the result has the type of
    the type variable, which is one of `among`. `says` shows how the function is written.
    """

    says: str
    takes: tuple[Type | None, ...]
    repeats: int = 0
    last: tuple[Type | None, ...] = ()
    gives: Type | None
    among: frozenset[Type] = frozenset(Type)

    def parameters(self, count: int) -> tuple[Type | None, ...] | None:
        """Return the parameter types for `count` arguments, or None if the function does not take that many."""
        more = count - len(self.takes) - len(self.last)
        if more < 0 or (more and (not self.repeats or more % self.repeats)):
            return None
        repeated = self.takes[-self.repeats :] * (more // self.repeats) if more else ()
        return (*self.takes, *repeated, *self.last)

    def result(self, types: Sequence[Type]) -> Type | None:
        """Return the result type for arguments of these types, or None if they do not match."""
        parameters = self.parameters(len(types))
        if parameters is None:
            return None
        variable = {given for given, parameter in zip(types, parameters, strict=True) if parameter is None}
        fixed = all(parameter is None or given is parameter for given, parameter in zip(types, parameters, strict=True))
        if not fixed or len(variable) > 1 or not variable <= self.among:
            return None
        return self.gives if self.gives is not None else next(iter(variable))


@dataclass(frozen=True, slots=True)
class Effort:
    """Upper bound on the time of one call, in nanoseconds, for all values.

    `fixed` counts once per round of repeated arguments; `letter`, per possible character of the texts, or with
    `is_product` per pair of characters of two texts. The numbers were measured on the slowest known values and
    multiplied by four for slower machines. A test repeats the measurement.
    """

    fixed: float
    letter: float = 0.0
    is_product: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """The record of one function or operator.

    `spelled` lists its names in SQL. `properties` derives the properties of the result from those of the arguments.
    `accepts` returns a refusal for arguments of the right types that are not allowed (a pattern that is not a constant),
    or None. Each template in `engines` is total: it returns NULL where the result is undefined, and canonical values
    for canonical values. `effort` bounds the time of one call; `says` describes the result for the reference.
    """

    name: str
    version: int
    spelled: tuple[str, ...]
    signature: Signature
    nulls: Nulls
    properties: Callable[[Sequence[ValueProperties], Type], ValueProperties]
    accepts: Callable[[Sequence[Expression]], str | None] | None
    effort: Effort
    engines: Mapping[str, Template | None]
    says: str

    def __post_init__(self) -> None:
        if (
            set(self.engines) != set(ENGINES)
            or not self.spelled
            or not self.says
            or self.version < 1
            or self.effort.fixed <= 0
        ):
            message = f"the record of {self.name} is not complete"
            raise ValueError(message)

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.name == other.name

    def __repr__(self) -> str:
        return f"<{self.name}>"


_REGISTRY: dict[str, Function] = {}


def register(*records: Function) -> None:
    """Add records to the registry. Names must be unique."""
    for record in records:
        if record.name in _REGISTRY:
            message = f"{record.name} is registered twice"
            raise ValueError(message)
        _REGISTRY[record.name] = record


def function(name: str) -> Function:
    """Return the record of a function by its internal name."""
    return _REGISTRY[name]


def all_functions() -> Iterator[Function]:
    """Iterate over all records in order of their names."""
    return iter(sorted(_REGISTRY.values(), key=lambda record: record.name))


def spelled(word: str) -> list[Function]:
    """Return the records with this SQL spelling, in order of registration. The first whose types match is used."""
    return [record for record in _REGISTRY.values() if word in record.spelled]

"""One registry of functions and operators: whatever is known of a function stands in its record, and nowhere else.

The allow-list, the documentation of SQL, the grammar of the fuzzer and the statements of every engine are made from it. No field has a
default, so that a record with a part missing fails at import; an engine that lacks a function says None.
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
"""SQL with {0}, {1}, … for the arguments; or a function of their SQL and of themselves, for lists and constants."""


class Nulls(Enum):
    """When a call is NULL."""

    IF_ANY = "if any argument is"
    MAYBE = "where any argument is, or the result is undefined"
    NEVER = "never"
    RULE = "as its properties say"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The types that a function takes and gives.

    `takes` are the types of its arguments, None for a type variable that is one type throughout; where `repeats` the last `repeats` of
    them may come any number of times more, and `last` follows them all. `gives` None is the type variable's type, which is one of `among`.
    """

    says: str
    takes: tuple[Type | None, ...]
    repeats: int = 0
    last: tuple[Type | None, ...] = ()
    gives: Type | None
    among: frozenset[Type] = frozenset(Type)

    def parameters(self, count: int) -> tuple[Type | None, ...] | None:
        """The parameters for so many arguments; None where there cannot be so many."""
        more = count - len(self.takes) - len(self.last)
        if more < 0 or (more and (not self.repeats or more % self.repeats)):
            return None
        repeated = self.takes[-self.repeats :] * (more // self.repeats) if more else ()
        return (*self.takes, *repeated, *self.last)

    def result(self, types: Sequence[Type]) -> Type | None:
        """The type of a call; None where the arguments do not fit."""
        wanted = self.parameters(len(types))
        if wanted is None:
            return None
        variable = {given for given, want in zip(types, wanted, strict=True) if want is None}
        fixed = all(want is None or given is want for given, want in zip(types, wanted, strict=True))
        if not fixed or len(variable) > 1 or not variable <= self.among:
            return None
        return self.gives if self.gives is not None else next(iter(variable))


@dataclass(frozen=True, slots=True)
class Effort:
    """The nanoseconds that one call takes at most, whatever the values: `fixed`, once for each round of arguments that repeat, and `letter` for
    each letter that its texts can have; with `is_product`, for each letter of one text and each of the other.

    Measured on the dearest values that are known, times four for slower machines: a test measures again.
    """

    fixed: float
    letter: float = 0.0
    is_product: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """What is known of one function or operator.

    `spelled` is how SQL writes it. `properties` derives bounds, values, lengths and magnitudes of the result from those of the arguments.
    `accepts` says why arguments are refused that have the right types (a pattern that is no constant), or None. Each template of `engines`
    is total, gives NULL where the result is undefined, and canonical values from canonical values. `effort` is how long one call can take.
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
    """Add records; a name stands once."""
    for record in records:
        if record.name in _REGISTRY:
            message = f"{record.name} is registered twice"
            raise ValueError(message)
        _REGISTRY[record.name] = record


def function(name: str) -> Function:
    """The record of a name."""
    return _REGISTRY[name]


def all_functions() -> Iterator[Function]:
    """All records, by name."""
    return iter(sorted(_REGISTRY.values(), key=lambda record: record.name))


def spelled(word: str) -> list[Function]:
    """The records that SQL writes like this, in order of registration: the first whose types fit is meant."""
    return [record for record in _REGISTRY.values() if word in record.spelled]

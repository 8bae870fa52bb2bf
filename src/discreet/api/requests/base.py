"""Base of all requests: documented parameters, limits that are checked on construction, and the fields of all runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, MISSING, Field, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast, dataclass_transform

from discreet.errors import BadInput, TooLarge

if TYPE_CHECKING:
    from discreet.api.requests.types import Counts
    from discreet.core.exact import Number
    from discreet.sql.reader.query_text import Parameters

T = TypeVar("T")
Plan = TypeVar("Plan")

PYTHON, HTTP, CLI = "Python", "HTTP", "command line"
EVERYWHERE = (PYTHON, HTTP, CLI)


def param(
    doc: str,
    *,
    default: Any = MISSING,
    choices: tuple[str, ...] = (),
    min_length: int | None = None,
    max_length: int | None = None,
    pattern: str | None = None,
    gt: float | None = None,
    ge: float | None = None,
    lt: float | None = None,
    le: float | None = None,
    option: str | None = None,
    where: tuple[str, ...] = EVERYWHERE,
) -> Any:
    """Declare a parameter of a request.

    Args:
        doc: What it means, for `help()`, the HTTP schema, the command line and the reference page.
        default: Its value if it is not given. Without one it is required.
        choices: All values that it can have.
        min_length: Of text or of a list.
        max_length: Of text or of a list.
        pattern: A regular expression for text that comes over HTTP.
        gt: Exclusive lower limit of a number.
        ge: Lower limit of a number.
        lt: Exclusive upper limit of a number.
        le: Upper limit of a number.
        option: Name on the command line, if it is not the field's.
        where: The interfaces that have it.
    """
    lengths = {"min_length": min_length, "max_length": max_length, "pattern": pattern}
    limits = {**lengths, "gt": gt, "ge": ge, "lt": lt, "le": le}
    facts = {
        "doc": doc,
        "choices": choices,
        "limits": {name: limit for name, limit in limits.items() if limit is not None},
        "option": option,
        "where": where,
    }
    return field(default=default, metadata=facts)


@dataclass_transform(frozen_default=True, field_specifiers=(param,))
def request(kind: type[T]) -> type[T]:
    """Make a request of a class whose fields are declared by `param`."""
    return dataclass(frozen=True, slots=True)(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """A declared parameter, as the generators of interfaces read it."""

    name: str
    type: str
    """The name of its type, without `| None`."""
    is_optional: bool
    """Whether None stands for "not given"."""
    is_positional: bool
    default: Any
    """MISSING if it is required."""
    doc: str
    choices: tuple[str, ...]
    limits: Mapping[str, Any]
    """By the names that pydantic has for them."""
    option: str
    """Its name on the command line."""
    where: tuple[str, ...]

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is MISSING


def params(kind: type[Request[Any, Any]], *, where: str = PYTHON) -> tuple[Param, ...]:
    """The parameters of a request in one interface: positional ones, then its own, then those that it shares with others."""
    return _params(cast(Any, kind), where)


@cache
def _params(kind: Any, where: str) -> tuple[Param, ...]:
    own = kind.__annotations__
    declared = [_param(each) for each in fields(kind)]
    declared.sort(key=lambda each: (not each.is_positional, each.name not in own, each.where == (PYTHON,)))
    return tuple(each for each in declared if where in each.where)


def body_params(kind: type[Request[Any, Any]]) -> tuple[Param, ...]:
    """The parameters that JSON carries: those that are not part of the address."""
    return _body_params(cast(Any, kind))


@cache
def _body_params(kind: Any) -> tuple[Param, ...]:
    return tuple(each for each in _params(kind, HTTP) if f"{{{each.name}}}" not in kind.http_path)


def _param(declared: Field[Any]) -> Param:
    written = cast(str, declared.type)  # request modules postpone the evaluation of annotations
    return Param(
        name=declared.name,
        type=written.removesuffix(" | None"),
        is_optional=written.endswith(" | None"),
        is_positional=not declared.kw_only,
        default=declared.default,
        doc=declared.metadata["doc"],
        choices=declared.metadata["choices"],
        limits=declared.metadata["limits"],
        option=declared.metadata["option"] or f"--{declared.name.replace('_', '-')}",
        where=declared.metadata["where"],
    )


@request
class Request(Generic[T, Plan]):
    """A call of the API. `T` is what it returns, `Plan` what its free plan returns (Never if it has none)."""

    http_method: ClassVar[str] = "POST"
    http_path: ClassVar[str] = ""
    """Where a server takes it. Parameters in braces are part of the address."""
    http_plan_path: ClassVar[str] = ""
    """Where a server plans it; the same as `http_path` if its body can say `"dry": true`, empty if it has no plan."""
    http_example: ClassVar[Mapping[str, Any]] = {}
    """Its JSON, for the documents."""

    def __post_init__(self) -> None:
        for each in params(type(self)):
            check_limits(each, getattr(self, each.name))
        self.check()

    def check(self) -> None:
        """Refuse parameters that contradict each other."""

    def present(self, outcome: Any) -> T:
        """What the caller gets of what was released."""
        return cast(T, outcome)


def check_limits(declared: Param, value: object) -> None:
    """Refuse a value outside its choices or limits. A value of another type is left to the code that reads it."""
    limits = declared.limits
    if value is None:
        if declared.is_optional:
            return
        raise BadInput(f"{declared.name} is needed.", next_step=f"Give it: {declared.doc}")
    if declared.choices and value not in declared.choices:
        raise BadInput(
            f"There is no {declared.name} of that name.", next_step=f"Use one of: {', '.join(declared.choices)}."
        )
    if isinstance(value, str):
        if len(value) > limits.get("max_length", len(value)):
            raise TooLarge(
                f"{declared.name} is too long.", next_step=f"Use at most {limits['max_length']:,} characters."
            )
        if len(value) < limits.get("min_length", 0):
            raise BadInput(f"{declared.name} is empty.", next_step=f"Give it: {declared.doc}")
    if declared.type == "int" and type(value) is int and not _is_within(value, limits):
        raise BadInput(f"{declared.name} is out of its range.", next_step=f"Use a value {_range(limits)}.")


def _is_within(value: int, limits: Mapping[str, Any]) -> bool:
    return (
        limits.get("ge", value) <= value <= limits.get("le", value)
        and ("gt" not in limits or value > limits["gt"])
        and ("lt" not in limits or value < limits["lt"])
    )


def _range(limits: Mapping[str, Any]) -> str:
    words = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    return ", ".join(f"{word} {limits[name]:,}" for name, word in words.items() if name in limits)


@request
class PaidRequest(Request[T, Plan]):
    """A request that can be charged."""

    _: KW_ONLY
    request_id: str | None = param(
        "Name of this call. A call repeated under the same name is charged once.",
        default=None,
        max_length=200,
        where=(PYTHON,),
    )


@request
class RunRequest(PaidRequest[T, Plan]):
    """A run: one charge, then all measurements of protected rows that the charge covers."""

    _: KW_ONLY
    epsilon: Number | None = param("Privacy cost of the run, at `delta`. There is no default.", default=None, gt=0)
    delta: Number | None = param(
        "Delta used to convert epsilon to zCDP. It is not charged. Leave it out for pure epsilon.",
        default=None,
        gt=0,
        lt=1,
    )
    rho: Number | None = param("Privacy cost as zCDP, instead of epsilon and delta.", default=None, gt=0)
    parameters: Parameters = param(
        "Values for the placeholders of a SELECT: a mapping for :name, or a sequence for ?.",
        default=(),
        option="--param",
    )
    name: str | None = param(
        "Name under which the release is loaded later.", default=None, max_length=200, pattern=r"^\w[^/]*$"
    )


@request
class TableRunRequest(RunRequest[T, Plan]):
    """A run that counts protected rows in tables."""

    _: KW_ONLY
    bins: Counts | None = param("Number of bins of numeric columns, by column; 32 if not given.", default=None)
    reuse: bool = param(
        "Start from measurements of the same rows that you have paid for or that are published, at no cost. "
        "A run with another name is then another release.",
        default=False,
    )

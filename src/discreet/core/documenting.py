"""What is said about parameters once is told by `help()` wherever they are taken: by every class that overrides a method, and by every method that
takes the keys of a `TypedDict`, whose `Annotated` types say what they are.
"""

from __future__ import annotations

import re
from inspect import Parameter, cleandoc, isfunction, signature
from types import FunctionType, SimpleNamespace
from typing import Protocol, get_args, get_type_hints, is_typeddict

_ENTRY = re.compile(r"^ +\*{0,2}(\w+): .+$", re.MULTILINE)
_UNPACKED = re.compile(r"^ +\*\*.+\n?", re.MULTILINE)
_HEADING = "Args:\n"


class Told(Protocol):
    """Whose subclasses tell all about their parameters."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        tell_arguments(cls)


def tell_arguments(kind: type) -> None:
    """Add what the bases and unpacked `TypedDict`s say about parameters to the methods of a class that do not say it themselves.

    Args:
        kind: The class.
    """
    for name, method in vars(kind).items():
        if not isfunction(method):
            continue
        inherited = [vars(base)[name] for base in kind.__mro__[1:] if isfunction(vars(base).get(name))]
        keys = _spelled_out(method)
        own = cleandoc(method.__doc__ or (inherited[0].__doc__ if inherited else "") or "")
        own = _UNPACKED.sub("", own) if keys else own
        known = set(_entries(own))
        more = {key: line for base in inherited for key, line in _entries(cleandoc(base.__doc__ or "")).items()}
        lines = [line for key, line in {**more, **keys}.items() if key not in known]
        if lines:
            method.__doc__ = "\n".join([own.rstrip() if known else f"{own}\n\n{_HEADING}".rstrip("\n"), *lines])


def _entries(text: str) -> dict[str, str]:
    return {entry[1]: entry[0] for entry in _ENTRY.finditer(text.partition(_HEADING)[2])}


def _spelled_out(method: FunctionType) -> dict[str, str]:
    """Show the keys of an unpacked `TypedDict` as the parameters that they are; and what is said of each."""
    taken = signature(method)
    last = next((one for one in taken.parameters.values() if one.kind is Parameter.VAR_KEYWORD), None)
    if last is None or not str(last.annotation).startswith("Unpack["):
        return {}
    written = SimpleNamespace(__annotations__={last.name: last.annotation})
    (keys,) = get_args(get_type_hints(written, globalns=method.__globals__, include_extras=True)[last.name])
    if not is_typeddict(keys):
        return {}
    hints = get_type_hints(keys, include_extras=True)
    others = [one for one in taken.parameters.values() if one is not last]
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=..., annotation=get_args(hints[name])[0]) for name in hints]
    method.__signature__ = taken.replace(parameters=[*others, *more])  # type: ignore[attr-defined]  # what `inspect` looks for
    return {name: f"    {name}: {get_args(hint)[1]}" for name, hint in hints.items()}

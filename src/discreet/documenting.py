"""What a base class says about parameters is said by every class that overrides it, so that `help()` tells all of it and it is written once."""

from __future__ import annotations

import re
from inspect import cleandoc, isfunction

_ENTRY = re.compile(r"^ +\*{0,2}(\w+): .+$", re.MULTILINE)
_HEADING = "Args:\n"


def tell_arguments(kind: type) -> None:
    """Add what the bases say about parameters to the methods of a class that do not say it themselves.

    Args:
        kind: The class.
    """
    for name, method in vars(kind).items():
        inherited = [vars(base)[name] for base in kind.__mro__[1:] if isfunction(vars(base).get(name))]
        if not isfunction(method) or not inherited:
            continue
        own = cleandoc(method.__doc__ or inherited[0].__doc__ or "")
        known = set(_entries(own))
        more = {key: line for base in inherited for key, line in _entries(cleandoc(base.__doc__ or "")).items()}
        lines = [line for key, line in more.items() if key not in known]
        if lines:
            method.__doc__ = "\n".join([own if known else f"{own}\n\n{_HEADING}".rstrip("\n"), *lines])


def _entries(text: str) -> dict[str, str]:
    return {entry[1]: entry[0] for entry in _ENTRY.finditer(text.partition(_HEADING)[2])}

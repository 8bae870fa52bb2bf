"""`help()` on an overriding method shows the parameters that its base class documents."""

from __future__ import annotations

import re
from inspect import cleandoc, isfunction

_ENTRY = re.compile(r"^ +\*{0,2}(\w+): .+$", re.MULTILINE)
_HEADING = "Args:\n"


def inherit_parameter_docs(kind: type) -> None:
    """Add to the methods of a class what its bases say about parameters that the methods do not document themselves.

    Args:
        kind: The class.
    """
    for name, method in vars(kind).items():
        if not isfunction(method):
            continue
        bases = [vars(base)[name] for base in kind.__mro__[1:] if isfunction(vars(base).get(name))]
        own = cleandoc(method.__doc__ or (bases[0].__doc__ if bases else "") or "")
        known = set(_entries(own))
        inherited = {key: line for base in bases for key, line in _entries(cleandoc(base.__doc__ or "")).items()}
        lines = [line for key, line in inherited.items() if key not in known]
        if lines:
            method.__doc__ = "\n".join([own.rstrip() if known else f"{own}\n\n{_HEADING}".rstrip("\n"), *lines])


def _entries(text: str) -> dict[str, str]:
    return {entry[1]: entry[0] for entry in _ENTRY.finditer(text.partition(_HEADING)[2])}

"""The reference of a verb as Markdown: its parameters in Python, over HTTP and on the command line."""

from __future__ import annotations

import inspect
from typing import Any

from discreet.api.requests.base import CLI, HTTP, Param, Request, params

_JSON = {
    "bool": "boolean",
    "int": "integer",
    "str": "string",
    "str | Table": "string",
    "tuple[str, ...]": "list of strings",
    "Counts": "object of integers",
    "Marginals": "integer, or list of lists of strings",
    "Number": "number",
    "Parameters": "object or list",
    "Prices": "object of numbers",
    "Sequence[SessionQuery]": "list of objects or strings",
    "Workload": "list of objects",
    "str | RunRelease": "string",
}
"""The JSON form of each type that is not an object of its own."""


def reference(name: str, kind: type[Request[Any, Any]]) -> str:
    """A section about one verb.

    Args:
        name: Of the verb.
        kind: Its request.
    """
    over_http, in_terminal = params(kind, where=HTTP), {each.name: each for each in params(kind, where=CLI)}
    rows = [_row(each, each in over_http, each.name in in_terminal) for each in params(kind)]
    lines = [f"## `{name}`", "", inspect.cleandoc(str(kind.__doc__)), ""]
    if kind.http_path:
        lines += [f"HTTP: `{kind.http_method} {kind.http_path}`" + _planning(kind), ""]
    header = ["| Python | HTTP | command line | default | meaning |", "|---|---|---|---|---|"]
    lines += [*header, *rows, ""] if rows else ["No parameters.", ""]
    return "\n".join(lines)


def _planning(kind: type[Request[Any, Any]]) -> str:
    """How a plan is asked for over HTTP."""
    if not kind.http_plan_path:
        return ""
    return (
        ', with `"dry": true` for its plan'
        if kind.http_plan_path == kind.http_path
        else f", `POST {kind.http_plan_path}` for its plan"
    )


def _row(each: Param, is_in_json: bool, is_option: bool) -> str:
    json_type = f"`{each.name}`: {_JSON.get(each.type, 'object')}" if is_in_json else "—"
    option = "—" if not is_option else f"`{each.name.upper()}`" if each.is_positional else f"`{each.option}`"
    default = "required" if each.is_required else "—" if each.default is None else f"`{each.default!r}`"
    meaning = f"{each.doc} {_limits(each)}".strip()
    cells = (f"`{each.name}: {each.type}`", json_type, option, default, meaning)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _limits(each: Param) -> str:
    """Choices and limits, as a sentence."""
    words = {"ge": "at least {}", "gt": "above {}", "le": "at most {}", "lt": "below {}"}
    words |= {"min_length": "at least {} long", "max_length": "at most {} long"}
    said = [words[name].format(f"{limit:,}") for name, limit in each.limits.items() if name in words]
    said += [f"one of {', '.join(f'`{choice}`' for choice in each.choices)}"] if each.choices else []
    return f"({'; '.join(said)})" if said else ""

"""Options of a command, made from the parameters of a request."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from discreet.api.requests.base import CLI, Param, Request, params
from discreet.errors import BadInput


@dataclass(frozen=True, slots=True)
class Text:
    """How values of a type are written on the command line."""

    annotation: Any
    """For the parser of options; a list is an option that may be repeated."""
    read: Callable[[Any], Any]
    """What was written, as the request takes it; ValueError if it cannot be read."""
    example: str = ""


def columns_in(text: str) -> list[str]:
    """Names of columns, such as ward,age."""
    return [name.strip() for name in text.split(",")]


def _counts(given: list[str]) -> dict[str, int]:
    return {column: int(number) for column, number in _by_column(given)}


def _prices(given: list[str]) -> dict[str, float]:
    return {column: float(number) for column, number in _by_column(given)}


def _by_column(given: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in given:
        column, _, number = text.rpartition("=")
        yield column.strip(), number


def _marginals(given: list[str]) -> int | list[list[str]]:
    return int(given[0]) if len(given) == 1 and given[0].isdecimal() else [columns_in(text) for text in given]


def _parameters(given: list[str]) -> dict[str, Any]:
    """name=value: a number where it reads as one, text otherwise."""
    read: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError
        try:
            read[name] = json.loads(value)
        except ValueError:
            read[name] = value
    return read


_TEXTS = {
    "bool": Text(bool, bool),
    "int": Text(int, int),
    "str": Text(str, str),
    "str | Table": Text(str, str),
    "Classifier | Decider": Text(str, str),
    "Counts": Text(list[str], _counts, "age=16"),
    "Marginals": Text(list[str], _marginals, "ward,age"),
    "Number": Text(float, float),
    "Parameters": Text(list[str], _parameters, "limit=100"),
    "Prices": Text(list[str], _prices, "diagnosis=0.2"),
}
"""By the name of a type."""


def with_options_of(
    *kinds: type[Request[Any, Any]], without: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a request; it gets what was written as the mapping `options`.

    Args:
        *kinds: The request; or several, of which the command has all options, and chooses one.
        without: Parameters that the command has other options for.
    """
    taken = [each for each in _params_of(kinds) if each.name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**written: Any) -> None:
            options = {each.name: written.pop(each.name) for each in taken}
            command(_read(taken, options), **written)

        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        run.__signature__ = inspect.Signature([*map(_option, taken), *own])  # type: ignore[attr-defined]  # what Typer reads
        run.__annotations__ = {}
        return run

    return decorate


def _params_of(kinds: Iterable[type[Request[Any, Any]]]) -> list[Param]:
    """Parameters by name; one that some of the requests do not have is an option that can be left out."""
    by_verb = {kind.__name__.removesuffix("Request").lower(): params(kind, where=CLI) for kind in kinds}
    known: dict[str, Param] = {}
    for each in (each for declared in by_verb.values() for each in declared):
        known.setdefault(each.name, each)

    def optional(each: Param) -> Param:
        verbs = [verb for verb, declared in by_verb.items() if each.name in {other.name for other in declared}]
        if len(verbs) == len(by_verb):
            return each
        doc = f"{each.doc} For {', '.join(verbs)}."
        return replace(each, doc=doc, is_positional=False, is_optional=True, default=None)

    taken = map(optional, known.values())
    return sorted(taken, key=lambda each: not each.is_positional)


def _read(taken: Iterable[Param], written: Mapping[str, Any]) -> dict[str, Any]:
    """What was written, by the parameters of the request; what was not is left out."""
    given = [(each, written[each.name]) for each in taken if written[each.name] not in (None, [])]
    return {each.name: _value(each, value) for each, value in given}


def _value(each: Param, written: Any) -> Any:
    text = _TEXTS[each.type]
    try:
        return text.read(written)
    except ValueError:
        example = f"Write {each.option} {text.example}, for example."
        raise BadInput(f"{each.option} cannot be read.", next_step=example) from None


def _option(each: Param) -> inspect.Parameter:
    """The parameter of a command for a parameter of a request."""
    text = _TEXTS[each.type]
    annotation, default = text.annotation, inspect.Parameter.empty if each.is_required else each.default
    is_list = annotation == list[str]
    repeated = f"such as {text.example}; may be repeated" if is_list else ""
    notes = [note for note in (repeated, each.choices and f"one of {', '.join(each.choices)}") if note]
    help_text = f"{each.doc} ({'; '.join(notes)})" if notes else each.doc
    if each.is_positional and each.is_required:
        return _parameter(each, annotation, typer.Argument(help=help_text), default)
    if is_list and not each.is_required:
        default = None  # what is not written is left to the request
    option = typer.Option(
        each.option,
        help=help_text,
        min=each.limits.get("ge") if each.type == "int" else None,
        max=each.limits.get("le") if each.type == "int" else None,
        autocompletion=(lambda: list(each.choices)) if each.choices else None,
    )
    return _parameter(each, annotation | None if default is None else annotation, option, default)


def _parameter(each: Param, annotation: Any, how: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, how]
    )

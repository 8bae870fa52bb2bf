"""Options of a command, made from the parameters of a request."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
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
    """What was written, as the request takes it."""
    example: str = ""


def columns_in(text: str) -> list[str]:
    """Names of columns, such as ward,age."""
    return [name.strip() for name in text.split(",")]


def _counts(given: list[str]) -> dict[str, int]:
    try:
        return {column: int(number) for column, number in _by_column(given)}
    except ValueError:
        raise BadInput("A column and a whole number are needed.", next_step="Write age=16, for instance.") from None


def _prices(given: list[str]) -> dict[str, float]:
    try:
        return {column: float(number) for column, number in _by_column(given)}
    except ValueError:
        raise BadInput("A column and an epsilon are needed.", next_step="Write diagnosis=0.2, for instance.") from None


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
            raise BadInput("A parameter is name=value.", next_step="Write --param limit=100.")
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
    "Counts": Text(list[str], _counts, "age=16, may be repeated"),
    "Marginals": Text(list[str], _marginals, "an integer, or ward,age, may be repeated"),
    "Number": Text(float, float),
    "Parameters": Text(list[str], _parameters, "name=value, may be repeated"),
    "Prices": Text(list[str], _prices, "diagnosis=0.2, may be repeated"),
}
"""By the name of a type."""


def with_options_of(
    kind: type[Request[Any, Any]], *, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a request; it gets what was written as the mapping `options`.

    Args:
        kind: The request.
        without: Parameters that the command has other options for.
    """
    taken = [each for each in params(kind, where=CLI) if each.name not in without]

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


def _read(taken: Iterable[Param], written: Mapping[str, Any]) -> dict[str, Any]:
    """What was written, by the parameters of the request; what was not is left out."""
    return {
        each.name: _TEXTS[each.type].read(written[each.name]) for each in taken if written[each.name] not in (None, [])
    }


def _option(each: Param) -> inspect.Parameter:
    """The parameter of a command for a parameter of a request."""
    text = _TEXTS[each.type]
    notes = [note for note in (text.example, each.choices and f"one of {', '.join(each.choices)}") if note]
    help_text = f"{each.doc} ({'; '.join(notes)})" if notes else each.doc
    annotation, default = text.annotation, inspect.Parameter.empty if each.is_required else each.default
    if each.is_positional and each.is_required:
        return _parameter(each, annotation, typer.Argument(help=help_text), default)
    if annotation == list[str] and not each.is_required:
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

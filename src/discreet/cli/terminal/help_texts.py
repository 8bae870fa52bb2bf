"""`discreet help`: explain an error code, or show the help of a command."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

import typer

from discreet.cli.terminal.options import JsonOption
from discreet.cli.terminal.printing import INDENT, fill, print_json
from discreet.errors import BadInput

_LIST_WIDTH = 79
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


_PAGES = ("errors.md", "errors-collection.md", "errors-ledger.md")
"""Links to docs/reference, so that an installed package has them too."""


@cache
def meanings() -> dict[str, str]:
    """Every error code with its section in docs/reference, as plain paragraphs."""
    folder = files("discreet.cli")
    pages = [folder.joinpath(name).read_text(encoding="utf-8") for name in _PAGES]
    sections = [section.partition("\n") for page in pages for section in page.split("\n## ")[1:]]
    return {code: _LINK.sub(r"\1", text).strip() for code, _, text in sections}


def _complete(incomplete: str) -> list[str]:
    return [code for code in meanings() if code.startswith(incomplete)]


def explain_code(
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(help="Error code or command. Default: list all codes.", autocompletion=_complete),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Explain an error code, or show the help of a command."""
    if not topic:
        _list_codes(as_json=as_json)
        return
    code = " ".join(topic)
    text = meanings().get(code)
    if text is None:
        _show_command(context, topic)
    elif as_json:
        print_json({"code": code, "meaning": text})
    else:
        typer.echo("\n".join(["", f"  {code}", *map(fill, text.split("\n\n")), ""]))


def _list_codes(*, as_json: bool) -> None:
    if as_json:
        print_json(meanings())
        return
    longest = max(map(len, meanings()))
    for code, text in meanings().items():
        line = f"{INDENT}{code:{longest}}{INDENT}{' '.join(text.split())}"
        typer.echo(line if len(line) <= _LIST_WIDTH else f"{line[: _LIST_WIDTH - 1]}…")


def _show_command(context: typer.Context, names: list[str]) -> None:
    """Print the help of a command. An unknown name is refused with the most similar names."""
    here: Any = context.find_root()
    for name in names:
        command = getattr(here.command, "commands", {}).get(name)
        if command is None:
            near = get_close_matches(names[0], [*meanings(), *context.find_root().command.commands], n=1)  # type: ignore[attr-defined]
            raise BadInput(
                "There is no error code or command of this name.",
                next_step=f"Did you mean `discreet help {near[0]}`?"
                if near
                else "Run `discreet help` to list all codes.",
            )
        here = command.make_context(name, [], parent=here, resilient_parsing=True)
    typer.echo(here.get_help())

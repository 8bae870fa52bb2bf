"""Print lines and JSON. Lines are wrapped at the width of a terminal, and never in a pipe or a file."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from typing import Any, TextIO

import typer

_NARROWEST, _ENDLESS = 40, 100_000
INDENT = "  "


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    typer.echo(json.dumps(value, ensure_ascii=False))


def say_done(line: str, fields: dict[str, Any], *, as_json: bool) -> None:
    """Report what the command did: one line of text, or its fields as JSON."""
    if as_json:
        print_json(fields)
    else:
        typer.echo(line)


def width_of(stream: TextIO) -> int:
    """Number of columns that a line may have."""
    if not stream.isatty() and "COLUMNS" not in os.environ:
        return _ENDLESS
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def fill(text: str, *, first: str = INDENT, stream: TextIO | None = None) -> str:
    """Wrap one paragraph. The first line starts with `first`, the others are indented by its length."""
    lines = textwrap.wrap(
        " ".join(text.split()),
        width_of(stream or sys.stdout),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)

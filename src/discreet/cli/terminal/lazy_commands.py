"""Commands that are named now and imported when they are run, so that `discreet --help` waits for none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


@dataclass(frozen=True, slots=True)
class Late:
    """Where a command is, what it does in a few words, and a line that runs it."""

    place: str
    """module:function in this room."""
    _: KW_ONLY
    summary: str
    example: str
    settings: dict[str, Any] | None = None
    """For the parser of its arguments."""


class LateCommand(TyperCommand):
    """Stands for a command in lists, and becomes it when its arguments are read."""

    def __init__(self, name: str, late: Late) -> None:
        super().__init__(name, short_help=late.summary)
        self._late = late

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself."""
        return self.imported().make_context(info_name, args, parent, **extra)

    def imported(self) -> Any:
        """The command itself."""
        module, _, function = self._late.place.partition(":")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        command = getattr(import_module(f"discreet.cli.{module}"), function)
        alone.command(self.name, context_settings=self._late.settings)(command)
        return get_command(alone)


def group_of(name: str, summary: str, commands: Mapping[str, Late]) -> TyperGroup:
    """Commands under one name, such as `discreet ledger`."""
    late = [LateCommand(below, command) for below, command in commands.items()]
    return TyperGroup(
        name=name, help=summary, short_help=summary, commands=late, no_args_is_help=True, rich_markup_mode=None
    )  # fmt: skip

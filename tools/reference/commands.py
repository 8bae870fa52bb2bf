"""The command line: every command with its example, its options, and the exit codes."""

import typer

from discreet.cli.app import COMMANDS, GROUPS, command
from discreet.cli.terminal.exit_codes import ExitCode
from tools.reference.markdown import table


def examples():
    """The example of every command, in the order of the page."""
    return [late.example for _, late in _all()]


def _all():
    """Every command by its full name."""
    yield from ((f"discreet {name}", late) for name, late in COMMANDS.items())
    for group, (_, below) in GROUPS.items():
        yield from ((f"discreet {group} {name}", late) for name, late in below.items())


def exit_codes():
    """What each exit code means."""
    return table(["code", "meaning"], [[str(int(code)), code.meaning] for code in ExitCode])


def command_lists():
    """A table of the commands, and one for each group of them."""
    lines = _commands(COMMANDS, "discreet")
    for name, (summary, below) in GROUPS.items():
        lines += ["", f"**`discreet {name}`**: {summary}", "", *_commands(below, f"discreet {name}")]
    return lines


def _commands(commands, path):
    rows = [[f"`{path} {name}`", late.summary, f"`{late.example}`"] for name, late in commands.items()]
    return table(["command", "what it does", "example"], rows)


def option_lists(*names):
    """A section for each of these commands, and for each command of these groups."""
    lines, top = [], command()
    for name in names:
        found = {f"{name} {below}": each for below, each in getattr(top.commands[name], "commands", {}).items()}
        for path, each in (found or {name: top.commands[name]}).items():
            lines += ["", f"## discreet {path}", "", *_options(each, path.rpartition(" ")[2])]
    return lines[1:]


def _options(late, name):
    with late.make_context(name, [], resilient_parsing=True) as context:
        taken = [each for each in context.command.params if each.name not in ("help", "json", "as_json")]
        rows = [[_written(each), getattr(each, "help", None) or "", _default(each)] for each in taken]
    return table(["option", "meaning", "default"], rows) if rows else ["No options."]


def _written(option):
    if isinstance(option, typer.core.TyperArgument):
        return f"`{option.name.upper()}`"
    return ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))


def _default(option):
    if option.required:
        return "required"
    value = option.default
    return "" if value is None or value is False or callable(value) or value in ((), []) else f"`{value}`"

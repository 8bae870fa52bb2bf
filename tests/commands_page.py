"""The lists of docs/reference/cli.md, from the commands themselves: `python -m tests.commands_page` writes them."""

from pathlib import Path

from discreet.cli.app import COMMANDS, GROUPS
from discreet.cli.terminal.exit_codes import ExitCode

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"


def examples():
    """The example of every command, in the order of the page."""
    return [late.example for late in COMMANDS.values()] + [
        late.example for _, below in GROUPS.values() for late in below.values()
    ]


def page_with_commands(page):
    """The page with its lists made anew."""
    codes = ["| code | |", "|---|---|", *(f"| {code:d} | {code.meaning} |" for code in ExitCode)]
    commands = _table(COMMANDS, "discreet")
    for name, (summary, below) in GROUPS.items():
        commands += ["", f"**`discreet {name}`**: {summary}", "", *_table(below, f"discreet {name}")]
    return _replaced(_replaced(page, "exit codes", codes), "commands", commands)


def _table(commands, path):
    rows = (f"| `{path} {name}` | {late.summary} | `{late.example}` |" for name, late in commands.items())
    return ["| | | |", "|---|---|---|", *rows]


def _replaced(page, what, lines):
    begin, end = f"<!-- {what}: begin -->", f"<!-- {what}: end -->"
    head, _, rest = page.partition(begin)
    return "\n".join([head + begin, "", *lines, "", end + rest.partition(end)[2]])


if __name__ == "__main__":
    PAGE.write_text(page_with_commands(PAGE.read_text()))

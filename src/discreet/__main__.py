"""`python -m discreet` and the `discreet` command."""

import logging
import sys

from discreet.cli.app import command
from discreet.cli.terminal.exit_codes import ExitCode, exit_code
from discreet.cli.terminal.printing import INDENT, fill, print_json, width_of
from discreet.errors import BadInput, DiscreetError, QueryRefused


def main() -> None:
    """Run the command line; an error on purpose is told in a few lines and becomes an exit code."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns about statements that are refused anyway
    try:
        command()(prog_name="discreet")
    except DiscreetError as error:
        code = exit_code(error)
        if "--json" in sys.argv:
            where = {"place": error.place._asdict()} if isinstance(error, QueryRefused) and error.place else {}
            print_json({"error": {"code": error.code, "message": error.problem, "next_step": error.next_step, **where}})
        else:
            sys.stderr.write(_told(error, code))
        sys.exit(code)


def _told(error: DiscreetError, code: ExitCode) -> str:
    """What is wrong, what to do next, and where to read on."""
    # A failure may come after the charge, so it says nothing about what was spent; its own text does.
    what = f"failed: {error.code}" if code is ExitCode.FAILURE else f"refused: {error.code} (nothing was spent)"
    words = (fill(text, stream=sys.stderr) for text in (error.problem, error.next_step))
    lines = [f"{INDENT}{what}", *_marked(error), *words]
    more = [] if type(error) is BadInput else [f"{INDENT}more: discreet help {error.code}"]  # that one says it all here
    return "\n".join(["", *lines, *more, "", ""])


def _marked(error: DiscreetError) -> list[str]:
    """The line of the query that is refused, with its place marked below it; as much of it as the terminal shows."""
    if not isinstance(error, QueryRefused) or error.place is None or not error.asked:
        return []
    line = error.asked.split("\n")[error.place.line - 1].expandtabs(1)
    first, room = error.place.column - 1, width_of(sys.stderr) - 2 * len(INDENT)
    left_out = max(0, first - room // 2) if len(line) > room else 0
    shown = line[left_out : left_out + room]
    wide = max(1, min(error.place.end - error.place.start, len(shown) - (first - left_out)))
    return ["", f"{INDENT * 2}{shown}", f"{INDENT * 2}{' ' * (first - left_out)}{'^' * wide}", ""]


if __name__ == "__main__":
    main()

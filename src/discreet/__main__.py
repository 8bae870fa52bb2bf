"""`python -m discreet` and the `discreet` command."""

import logging
import sys

from discreet.cli.app import command
from discreet.cli.exit_codes import ExitCode, exit_code
from discreet.cli.printing import INDENT, fill, print_json
from discreet.errors import BadInput, DiscreetError


def main() -> None:
    """Run the command line; an error on purpose is told in a few lines and becomes an exit code."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns about statements that are refused anyway
    try:
        command()(prog_name="discreet")
    except DiscreetError as error:
        code = exit_code(error)
        if "--json" in sys.argv:
            print_json({"error": {"code": error.code, "message": error.problem, "next_step": error.next_step}})
        else:
            sys.stderr.write(_told(error, code))
        sys.exit(code)


def _told(error: DiscreetError, code: ExitCode) -> str:
    """What is wrong, what to do next, and where to read on."""
    # A failure may come after the charge, so it says nothing about what was spent; its own text does.
    what = f"failed: {error.code}" if code is ExitCode.FAILURE else f"refused: {error.code} (nothing was spent)"
    lines = [f"{INDENT}{what}", *(fill(text, stream=sys.stderr) for text in (error.problem, error.next_step))]
    more = [] if type(error) is BadInput else [f"{INDENT}more: discreet help {error.code}"]  # that one says it all here
    return "\n".join(["", *lines, *more, "", ""])


if __name__ == "__main__":
    main()

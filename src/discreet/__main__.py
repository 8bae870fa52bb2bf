"""`python -m discreet` and the `discreet` command."""

import json
import logging
import sys

from discreet.cli.app import app
from discreet.cli.exit_codes import ExitCode, exit_code
from discreet.errors import DiscreetError


def main() -> None:
    """Run the command line; an error on purpose is told in two lines and becomes an exit code."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns about statements that are refused anyway
    try:
        app()
    except DiscreetError as error:
        code = exit_code(error)
        if "--json" in sys.argv:
            told = {"code": error.code, "message": error.problem, "next_step": error.next_step}
            sys.stdout.write(json.dumps({"error": told}) + "\n")
            sys.exit(code)
        # A failure may come after the charge, so it says nothing about what was spent; its own text does.
        what = f"failed: {error.code}" if code is ExitCode.FAILURE else f"refused: {error.code} (nothing was spent)"
        sys.stderr.write(f"\n  {what}\n  {error.problem}\n  {error.next_step}\n\n")
        sys.exit(code)


if __name__ == "__main__":
    main()

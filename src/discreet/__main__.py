"""`python -m discreet` and the `discreet` command."""

import sys

from discreet.cli.app import app
from discreet.cli.exit_codes import exit_code
from discreet.errors import DiscreetError


def main() -> None:
    """Run the command line; an error on purpose is told in two lines and becomes an exit code."""
    try:
        app()
    except DiscreetError as error:
        sys.stderr.write(f"\n  refused: {error.code} (nothing was spent)\n  {error.problem}\n  {error.next_step}\n\n")
        sys.exit(exit_code(error))


if __name__ == "__main__":
    main()

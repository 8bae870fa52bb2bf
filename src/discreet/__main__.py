"""`python -m discreet` and the `discreet` command."""

from discreet.cli.app import app


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()

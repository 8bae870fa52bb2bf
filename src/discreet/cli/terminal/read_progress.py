"""Progress of reading a source, which may take long. It goes to stderr, and only in a terminal."""

from __future__ import annotations

import sys

import typer


def print_read_progress(table: str, number: int, tables: int) -> None:
    """Print that a table is being read into the snapshot, which happens once for each data version."""
    if sys.stderr.isatty():
        typer.echo(f"reading {table} into the snapshot ({number} of {tables}) …", err=True)

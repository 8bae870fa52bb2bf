"""Edit the text of a catalog: add bounds to a column, or reset paths."""

from __future__ import annotations

import re
from fractions import Fraction

from discreet.catalog.toml_lines import end_of_table, key_lines
from discreet.catalog.toml_reader import parse_catalog
from discreet.errors import BadCatalog


def with_bounds(text: str, *, table: str, column: str, bounds: tuple[Fraction, Fraction], source: str) -> str:
    """Add lower and upper to a column without bounds, with a comment on their source."""
    lines = text.split("\n")
    at = key_lines(text).get(f"tables.{table}.columns.{column}")
    lower, upper = map(number, bounds)
    if at is not None and (end := end_of_table(lines[at - 1])) is not None:
        line = lines[at - 1]
        lines[at - 1] = f"{line[:end].rstrip(' ,')}, lower = {lower}, upper = {upper} {line[end:]}  # bounds: {source}"
    elif at is not None and lines[at - 1].lstrip().startswith("["):
        lines[at - 1] += f"\nlower = {lower}\nupper = {upper}  # bounds: {source}"
    edited = "\n".join(lines)
    owned = parse_catalog(edited).tables.get(table)
    described = None if owned is None else owned.columns.get(column)
    if described is None or described.lower is None:
        raise BadCatalog(
            f"{table}.{column} is not in the catalog, or is written in a form to which bounds cannot be added.",
            next_step=f'Write it on one line, as columns.{column} = {{ type = "real" }}.',
        )
    return edited


def in_folder(text: str) -> str:
    """Remove all paths, so that data and ledger are in the catalog's own folder."""
    paths = re.compile(r"(source|ledger|collector)\.(path|snapshot|anchor)|tables\.[^.]+\.path")
    named = {line for key, line in key_lines(text).items() if paths.fullmatch(key)}
    edited = "\n".join(line for at, line in enumerate(text.split("\n"), start=1) if at not in named)
    catalog = parse_catalog(edited)
    if catalog.source != "." or any(table.path for table in catalog.all_tables.values()):
        raise BadCatalog(
            "The paths of the data are written in a form that cannot be changed.",
            next_step="Write each on its own line, such as path = … below [source].",
        )
    return edited


def number(value: Fraction) -> str:
    """Format a number for TOML."""
    return str(value.numerator) if value.denominator == 1 else repr(float(value))

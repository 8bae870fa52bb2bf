"""A catalog's text with something changed in it: bounds and where they come from; or where the data is."""

from __future__ import annotations

import re
from fractions import Fraction

from discreet.catalog.toml_lines import end_of_table, key_lines
from discreet.catalog.toml_reader import parse_catalog
from discreet.errors import BadCatalog


def with_bounds(text: str, *, table: str, column: str, bounds: tuple[Fraction, Fraction], source: str) -> str:
    """The same text with lower and upper for a column that has none, and a comment that says how they were found."""
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
            f"{table}.{column} is not in the catalog, or written in a way that bounds cannot be put into.",
            next_step=f'Write it on one line, as columns.{column} = {{ type = "real" }}.',
        )
    return edited


def in_folder(text: str) -> str:
    """The same catalog for files and books in its own folder, whatever places it names now."""
    places = re.compile(r"(source|ledger|collector)\.(path|snapshot|anchor)|tables\.[^.]+\.path")
    named = {line for key, line in key_lines(text).items() if places.fullmatch(key)}
    edited = "\n".join(line for at, line in enumerate(text.split("\n"), start=1) if at not in named)
    catalog = parse_catalog(edited)
    if catalog.source != "." or any(table.path for table in catalog.all_tables.values()):
        raise BadCatalog(
            "The places of the data are written in a way that cannot be changed.",
            next_step="Write them on lines of their own, as path = … below [source].",
        )
    return edited


def number(value: Fraction) -> str:
    """A number as TOML has it."""
    return str(value.numerator) if value.denominator == 1 else repr(float(value))

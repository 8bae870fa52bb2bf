"""A catalog's text with bounds written into it, and where they come from."""

from __future__ import annotations

from fractions import Fraction

from discreet.catalog.lines import key_lines
from discreet.catalog.reader import parse_catalog
from discreet.errors import BadCatalog


def with_bounds(text: str, *, table: str, column: str, bounds: tuple[Fraction, Fraction], source: str) -> str:
    """The same text with lower and upper for a column that has none, and a comment that says how they were found."""
    at = key_lines(text).get(f"tables.{table}.columns.{column}")
    if at is None:
        raise BadCatalog("The column is not in the catalog.", next_step="Declare it first, with its type.")
    lines = text.splitlines()
    lower, upper = (_number(end) for end in bounds)
    head, brace, tail = lines[at - 1].rpartition("}")
    if brace:
        lines[at - 1] = f"{head.rstrip()}, lower = {lower}, upper = {upper} }}{tail}  # bounds: {source}"
    else:
        lines.insert(at, f"lower = {lower}\nupper = {upper}  # bounds: {source}")
    edited = "\n".join(lines) + "\n"
    parse_catalog(edited)
    return edited


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(float(value))

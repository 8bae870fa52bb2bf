"""CSV files, read by their header line only. If types were guessed from the rows, one row could change the meaning of all others."""

from __future__ import annotations

import csv
from pathlib import Path

from discreet.engines.sqlgen.dialects.duckdb import string
from discreet.errors import BadCatalog

_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_HEADER = 1_000_000


def read_csv(file: Path, *, options: str = "") -> str:
    """Build the FROM item for a CSV file, with every cell as text; `options` are further options of the engine.

    The delimiter is the most frequent candidate in the header. Quotes are doubled within quotes. Rows that do not fit are skipped, and
    so are cells beyond the header's. Any line ending is accepted: in strict mode DuckDB would refuse the whole file.
    """
    delimiter, names = _header(file)
    columns = ", ".join(f"{string(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({string(str(file))}, auto_detect = false, header = true, delim = {string(delimiter)}, quote = '\"', escape = '\"', "
        f"nullstr = '', ignore_errors = true, strict_mode = false, parallel = false, columns = {{{columns}}}{options})"
    )


def _header(file: Path) -> tuple[str, list[str]]:
    """Return the delimiter and the column names: unnamed columns are named by position, and repeated names get a number."""
    with file.open("rb") as lines:
        first = lines.readline(_LONGEST_HEADER)
    try:
        line = first.partition(b"\r")[0].decode("utf-8-sig").rstrip("\n")
    except UnicodeDecodeError:
        raise _refused(file, "is not UTF-8", "Save the file as UTF-8.") from None
    if not line.strip() or "\0" in line or line.count('"') % 2:
        raise _refused(file, "is empty or has no header line", "Put the column names into the first line of the file.")
    delimiter = max(_DELIMITERS, key=lambda mark: len(_cells(line, mark)))
    names: dict[str, str] = {}
    for at, cell in enumerate(_cells(line, delimiter), start=1):
        wanted = cell.strip() or f"column {at}"
        name, again = wanted, 2
        while name.lower() in names:
            name, again = f"{wanted} ({again})", again + 1
        names[name.lower()] = name
    return delimiter, list(names.values())


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a cell longer than any header needs
        return []


def _refused(file: Path, problem: str, next_step: str) -> BadCatalog:
    return BadCatalog(f"{file.name}: its first line {problem}.", next_step=next_step)

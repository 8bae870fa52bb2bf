"""A first draft of a catalog, from the schema of files alone: names and types, never a value."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from discreet.catalog.model import Type
from discreet.errors import BadCatalog

_HEAD = """\
# Written by `discreet init` from names and types alone. Say what is public knowledge, then delete what you do not need.
# Bounds and values come from what anybody may know about such data, never from the data itself.

[source]
path = {source}

[ledger]
path = "ledger.sqlite"

[budget]                 # all analysts together; there is no default: how much may be learned about one person in all?
# epsilon = 5.0
# delta = 1e-6

# [budget.analysts.alice]
# epsilon = 2.0
"""


def draft_catalog(source: str | Path) -> str:
    """The text of a discreet.toml for a file, or for the Parquet and CSV files of a folder."""
    place = Path(source)
    files = sorted(place.glob("*.parquet")) + sorted(place.glob("*.csv")) if place.is_dir() else [place]
    files = [file for file in files if file.is_file() and file.suffix in (".parquet", ".csv")]
    if not files:
        raise BadCatalog(
            "There is no Parquet or CSV file there.", next_step="Give a file, or a folder that holds some."
        )
    folder = place if place.is_dir() else place.parent
    parts = [_HEAD.format(source=_quoted(str(folder)))]
    parts += [_table(file.stem, _schema(file)) for file in files]
    return "\n".join(parts)


def _schema(file: Path) -> dict[str, Type]:
    if file.suffix == ".csv":
        with file.open(newline="") as lines:
            return dict.fromkeys(next(csv.reader(lines), []), Type.TEXT)  # a CSV has names only
    import pyarrow.parquet as pq  # noqa: PLC0415

    return {field.name: _type(str(field.type)) for field in pq.read_schema(file)}


def _type(arrow: str) -> Type:
    if arrow.startswith(("int", "uint")):
        return Type.INTEGER
    if arrow.startswith(("float", "double", "half", "decimal")):
        return Type.REAL
    if arrow.startswith(("date", "timestamp")):
        return Type.DATE
    return Type.BOOLEAN if arrow == "bool" else Type.TEXT


def _table(name: str, columns: Mapping[str, Type]) -> str:
    person = next((column for column in columns if column.lower().endswith("id")), "")
    lines = [
        f"[tables.{_key(name)}]",
        f"privacy_unit = {_quoted(person)}{' ' * 8}# the column that names the person; or public = true instead",
        "# max_rows = 1          # how many rows of one person count",
    ]
    hints = {
        Type.INTEGER: "  # lower = …, upper = … to sum it; values = [ … ] to group by it",
        Type.REAL: "  # lower = …, upper = … to sum or average it",
        Type.TEXT: "  # values = [ … ] to group by it without delta",
    }
    lines += [
        f'columns.{_key(column)} = {{ type = "{kind.value}" }}{hints.get(kind, "") if column != person else ""}'
        for column, kind in columns.items()
    ]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _quoted(name)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

"""A first draft of a catalog, from the schema of files alone: names and types, never a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from discreet.catalog.model import Type, Value

LEDGER = "ledger.sqlite"
_HEAD = """\
# {origin} Say what is public knowledge, then delete what you do not need.
# Bounds and values come from what anybody may know about such data, never from the data itself.

[source]
{source}

[ledger]
path = "{ledger}"

[budget]                 # all analysts together; there is no default: how much may be learned about one person in all?
# epsilon = 5.0
# delta = 1e-6

# [budget.analysts.alice]
# epsilon = 2.0
"""
_HINTS = {
    Type.INTEGER: "lower = …, upper = … to sum it; values = [ … ] to group by it",
    Type.REAL: "lower = …, upper = … to sum or average it",
    Type.TEXT: "values = [ … ] to group by it without delta",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDraft:
    """What is known about a column; the hint says what the owner may add."""

    type: Type
    facts: Mapping[str, Value | list[Value]] = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDraft:
    """What is known about a table; nobody is named where the person is empty."""

    name: str
    person: str
    columns: Mapping[str, ColumnDraft]
    max_rows: int | None = None
    path: str = ""
    notes: tuple[str, ...] = ()


def draft_catalog(schemas: Mapping[str, Mapping[str, Type]], *, source: str) -> str:
    """The text of a discreet.toml for tables of which only names and types are known."""
    tables = [_table(name, columns) for name, columns in schemas.items()]
    return write_draft(tables, origin="Written by `discreet init` from names and types alone.", source=source)


def write_draft(tables: Iterable[TableDraft], *, origin: str, source: str | None) -> str:
    """The text of a discreet.toml: what is known as facts, what is not as comments for the owner to fill in."""
    place = f"path = {_toml(source)}" if source else '# path = "…"           # the folder of the files'
    return "\n".join([_HEAD.format(origin=origin, source=place, ledger=LEDGER), *map(_table_text, tables)])


def _table(name: str, columns: Mapping[str, Type]) -> TableDraft:
    person = next((column for column in columns if column.lower().endswith("id")), "")
    return TableDraft(
        name=name, person=person, columns={column: ColumnDraft(type=kind) for column, kind in columns.items()}
    )


def _table_text(table: TableDraft) -> str:
    rows = "# max_rows = 1          " if table.max_rows is None else f"max_rows = {table.max_rows}{' ' * 12}"
    lines = [
        f"[tables.{_key(table.name)}]",
        *(f"# {note}" for note in table.notes),
        *([f"path = {_toml(table.path)}"] if table.path else []),
        f"privacy_unit = {_toml(table.person)}{' ' * 8}# the column that names the person; or public = true instead",
        f"{rows}# how many rows of one person count",
        *(_column_text(name, column, owns=name == table.person) for name, column in table.columns.items()),
    ]
    return "\n".join(lines) + "\n"


def _column_text(name: str, column: ColumnDraft, *, owns: bool) -> str:
    facts = "".join(f", {fact} = {_toml(value)}" for fact, value in column.facts.items())
    settled = owns or not column.facts.keys().isdisjoint({"lower", "values"})
    hint = column.hint or ("" if settled else _HINTS.get(column.type, ""))
    return f'columns.{_key(name)} = {{ type = "{column.type.value}"{facts} }}' + (f"  # {hint}" if hint else "")


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _toml(name)


def _toml(value: Value | list[Value]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)

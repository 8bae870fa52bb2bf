"""Write the text of a first catalog. Unknown values become comments that say what to add and which queries need it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from discreet.catalog.catalog_editing import number
from discreet.catalog.declarations import EACH_ROW, Type, Value

Setting: TypeAlias = Value | Fraction | list[Value]
"""The value of one key of a column."""
LEDGER = "ledger.sqlite"
_HEAD = """\
# {origin}
# Bounds and values come from what anybody may know about such data, never from the data itself.

[source]
{source}

[ledger]
path = "{ledger}"

[budget]                 # all analysts together: how much may be learned about one person in all
{budget}
"""
_NO_BUDGET = """\
# epsilon = 5.0          # there is no default
# delta = 1e-6

# [budget.analysts.alice]
# epsilon = 2.0"""
_HINTS = {
    Type.INTEGER: "SUM, AVG and GROUP BY without delta need lower = …, upper = …",
    Type.REAL: "SUM and AVG need lower = …, upper = …",
    Type.TEXT: "GROUP BY without delta needs values = [ … ]",
    Type.DATE: "GROUP BY without delta needs lower = …, upper = …",
    Type.TIMESTAMP: "GROUP BY days or hours without delta needs lower = …, upper = …",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDraft:
    """A column of a draft. The hint says what the data owner may add."""

    type: Type
    facts: Mapping[str, Setting] = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDraft:
    """A table of a draft.

    `person` is the column with the person's id, which may refer to another table; "row" if each row is a person; empty if
    unknown.
    """

    name: str
    person: str
    columns: Mapping[str, ColumnDraft]
    refers_to: tuple[str, str] | None = None
    is_public: bool = False
    max_rows: int | None = None
    path: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetDraft:
    """The caps of the dataset and of each analyst."""

    epsilon: float
    delta: float
    analysts: Mapping[str, float]


def write_draft(
    tables: Iterable[TableDraft], *, origin: str, source: str | None, budget: BudgetDraft | None = None
) -> str:
    """Return the text of a discreet.toml. Without a budget, it contains a commented example."""
    path = f"path = {_toml(source)}" if source else '# path = "…"           # the folder of the files'
    spent = _NO_BUDGET if budget is None else _budget_text(budget)
    head = _HEAD.format(origin=origin, source=path, ledger=LEDGER, budget=spent)
    return "\n".join([head, *map(_table_text, tables)])


def _budget_text(budget: BudgetDraft) -> str:
    lines = [f"epsilon = {budget.epsilon!r}", f"delta = {budget.delta!r}"]
    for name, epsilon in budget.analysts.items():
        lines += ["", f"[budget.analysts.{_key(name)}]", f"epsilon = {epsilon!r}"]
    return "\n".join(lines)


def _table_text(table: TableDraft) -> str:
    lines = [
        f"[tables.{_key(table.name)}]",
        *(f"# {note}" for note in table.notes),
        *([f"path = {_toml(table.path)}"] if table.path else []),
        *_owner_lines(table),
        *(_column_text(name, column, owns=name == table.person) for name, column in table.columns.items()),
    ]
    return "\n".join(lines) + "\n"


def _owner_lines(table: TableDraft) -> list[str]:
    if table.is_public:
        return ["public = true           # everybody may learn every row"]
    if table.person == EACH_ROW.column and table.person not in table.columns:
        return ['privacy_unit = "row"     # each row is a person; who has several rows is protected in each alone']
    unit = _toml(table.person)
    if table.refers_to is not None:
        unit = f"{{ column = {unit}, references = {_toml('.'.join(table.refers_to))} }}"
    rows = "# max_rows = 1          " if table.max_rows is None else f"max_rows = {table.max_rows}{' ' * 12}"
    return [
        f'privacy_unit = {unit}{" " * 8}# the column that names the person; or "row", or public = true instead',
        f"{rows}# how many rows of one person count; noise grows with it",
    ]


def _column_text(name: str, column: ColumnDraft, *, owns: bool) -> str:
    facts = "".join(f", {fact} = {_toml(value)}" for fact, value in column.facts.items())
    settled = owns or not column.facts.keys().isdisjoint({"lower", "values"})
    hints = [column.hint, "" if settled else _HINTS.get(column.type, "")]
    hint = "; ".join(filter(None, hints))
    return f'columns.{_key(name)} = {{ type = "{column.type.value}"{facts} }}' + (f"  # {hint}" if hint else "")


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _toml(name)


def _toml(value: Setting) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return number(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)

"""Scenes: the generated people of an attack, either the lab's own or in the shape of a catalog with one secret column.

A scene uses only the public part of a catalog: it reads neither data nor the ledger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.random_lists import TABLE, Lists
from discreet.attacks.lab.success_bounds import Row
from discreet.catalog import Catalog, Column, Table, Type
from discreet.catalog.public_view import public_tables
from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.sql.builder import quote

Bits = npt.NDArray[np.bool_]
Tables = dict[str, Mapping[str, Any]]

_MIN_IDS = 4096
"""The column that identifies people must have at least this many values."""
_DAYS = (date(2020, 1, 1), date(2025, 12, 31))
_PEOPLE = """
[tables.people]
privacy_unit = "id"
columns.id = {{ type = "integer", lower = 0, upper = {last} }}
columns.name = {{ type = "text" }}
columns.secret = {{ type = "boolean" }}
"""


def people_catalog(people: int) -> str:
    """Return the catalog of a table `people` with id, name and secret. Ids are public, secrets are not."""
    return _PEOPLE.format(last=max(1, people - 1))


def people_table(secrets: Bits) -> dict[str, Any]:
    """Return the columns of that table; person 3 is called p3."""
    ids = np.arange(secrets.size)
    return {"id": ids, "name": [f"p{i}" for i in ids], "secret": secrets}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The lab's own people, with an id and a secret, and the SQL that an attacker needs to query them."""

    table: str = "people"
    number: str = "id"
    """A public integer that identifies people."""
    first: int = 0
    """The number of the first person; the next ones count up."""
    secret: str = "secret"  # noqa: S105
    """A condition that is true for half of the people. The attacker wants to know it for one person."""
    lists: str = "lists"
    """A public table of the attacker."""
    max_rows: int = 1
    bound: Row = success_bounds.bit

    @property
    def is_the_labs(self) -> bool:
        """Whether the stories of the lectures fit."""
        return True

    @property
    def secret_in_words(self) -> str:
        """The secret, in words."""
        return "the secret" if self.is_the_labs else f"a row with {self.secret}"

    def world(self, secrets: Bits, _: np.random.Generator, lists: Lists | None = None) -> tuple[Tables, str | Catalog]:
        """Return tables in which people have these secrets, and their catalog."""
        text = people_catalog(secrets.size)
        if lists is None:
            return {"people": people_table(secrets)}, text
        return {"people": people_table(secrets), self.lists: lists.table()}, text + TABLE


LAB = Scene()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogScene(Scene):
    """Generated people in the shape of one table of a catalog."""

    declared: Table
    handle: Column
    hidden: Column
    catalog: Catalog

    @property
    def is_the_labs(self) -> bool:
        """The stories of the lectures do not fit."""
        return False

    def world(
        self, secrets: Bits, rng: np.random.Generator, lists: Lists | None = None
    ) -> tuple[Tables, str | Catalog]:
        """Return tables in the shape of the catalog's table, with random values in all other columns."""
        from discreet.samples.dummy import dummy_tables  # noqa: PLC0415  heavy; only worlds need it

        declared = {self.declared.name: replace(self.declared, path=None)}
        only = replace(self.catalog, tables=declared, graphs={})
        (details,) = public_tables(only)
        seed = int(rng.integers(2**32))
        (table,) = dummy_tables([{**details, "max_rows": 1}], people=secrets.size, seed=seed).values()
        columns = table.to_pydict()
        numbers = range(self.first, self.first + secrets.size)
        columns[self.handle.name] = [str(number) if self.handle.type is Type.TEXT else number for number in numbers]
        columns[self.hidden.name] = [_value(self.hidden, bool(bit), rng) for bit in secrets]
        tables: Tables = {self.declared.name: columns}
        if lists is not None:
            tables[self.lists] = lists.table()
            declared[self.lists] = Table(name=self.lists, columns={}, unit=None)
        return tables, only


def scene_of(catalog: Catalog) -> CatalogScene:
    """Return a scene in the shape of a catalog's first table with a column that identifies people and another one."""
    for table in catalog.tables.values():
        handle = None if table.is_public or (table.unit is not None and table.unit.path) else _handle(table)
        hidden = None if handle is None else _hidden(table, handle)
        if handle is None or hidden is None:
            continue
        name = quote(table.name)
        number = f"{name}.{quote(handle.name)}"
        return CatalogScene(
            table=name,
            number=f"CAST({number} AS INTEGER)" if handle.type is Type.TEXT else number,
            first=1 if handle.lower is None else int(handle.lower) + 1,  # type: ignore[arg-type]  # of an integer
            secret=_condition(f"{name}.{quote(hidden.name)}", hidden),
            lists="lists" if table.name.lower() != "lists" else "attackers_lists",
            max_rows=table.max_rows,
            bound=success_bounds.bit if catalog.neighbours is Neighbours.ADD_REMOVE else success_bounds.membership,
            declared=table,
            handle=handle,
            hidden=hidden,
            catalog=catalog,
        )
    raise BadInput(
        "No table of this catalog has a column that identifies people and another column to keep secret.",
        next_step="Use the lab's own people.",
    )


def _handle(table: Table) -> Column | None:
    """Return the column that identifies people, or any column with enough values if each row is one person."""
    own = table.own_column
    columns = table.columns.values() if own is None else [table.columns[own]]
    return next((column for column in columns if column.values is None and _fits_everyone(column)), None)


def _fits_everyone(column: Column) -> bool:
    if column.type is Type.TEXT:
        return column.max_length >= len(str(_MIN_IDS))
    if column.type is not Type.INTEGER:
        return False
    return not column.is_bounded_number or column.upper - column.lower > _MIN_IDS  # type: ignore[operator]


def _hidden(table: Table, handle: Column) -> Column | None:
    """Return the secret column: the one whose values are easiest to reduce to yes and no."""
    others = [column for column in table.columns.values() if column is not handle and len(column.values or "ab") > 1]
    return min(others, key=_preference, default=None)


def _preference(column: Column) -> int:
    """Rank columns: booleans first, numbers without bounds last."""
    if column.type is Type.BOOLEAN:
        return 0
    return 1 if column.values is not None else 2 if column.lower is not None else 3


def _ends(column: Column) -> tuple[Any, Any, Any]:
    """Return the lower end, the middle and the upper end of a column, with defaults if it has no bounds."""
    low: Any = column.lower
    high: Any = column.upper
    if column.type is Type.DATE:
        low, high = _DAYS if low is None else (low, high)
        return low, low + timedelta(days=(high - low).days // 2 + 1), high
    if column.type is Type.TIMESTAMP:
        low, high = (datetime.combine(end, time.min) for end in _DAYS) if low is None else (low, high)
        return low, low + (high - low) / 2, high
    low, high = (Fraction(0), Fraction(100)) if low is None else (low, high)
    if column.type is Type.INTEGER:
        return math.ceil(low), math.floor((low + high) / 2) + 1, math.floor(high)
    return float(low), float((low + high) / 2), float(high)


def _value(column: Column, bit: bool, rng: np.random.Generator) -> Any:
    """Return a value for which the secret condition equals the bit."""
    if column.values is not None:
        others = column.values[1:]
        return column.values[0] if bit else others[int(rng.integers(len(others)))]
    if column.type is Type.BOOLEAN:
        return bit
    if column.type is Type.TEXT:
        return "yes" if bit else "no"
    low, _, high = _ends(column)
    return high if bit else low


def _condition(name: str, column: Column) -> str:
    if column.values is not None:
        return f"{name} = {_literal(column.values[0])}"
    if column.type is Type.BOOLEAN:
        return name
    if column.type is Type.TEXT:
        return f"{name} = 'yes'"
    return f"{name} >= {_literal(_ends(column)[1])}"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value}'"
    return (
        f"DATE '{value}'" if isinstance(value, date) else str(value).upper() if isinstance(value, bool) else repr(value)
    )

"""Scenes: who the people of a world are. The lab's own, or people made up in the shape of a catalog, of whom one column is the secret.

What a scene knows of a catalog is public, and its rows are drawn from nothing else: no data is read for it, and no books.
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

_ROOM = 4096
"""So many people must have a number of their own in the column that tells them apart."""
_DAYS = (date(2020, 1, 1), date(2025, 12, 31))
_PEOPLE = """
[tables.people]
privacy_unit = "id"
columns.id = {{ type = "integer", lower = 0, upper = {last} }}
columns.name = {{ type = "text" }}
columns.secret = {{ type = "boolean" }}
"""


def people_catalog(people: int) -> str:
    """The catalog of a table `people` of id, name and secret: ids are public, secrets are not."""
    return _PEOPLE.format(last=max(1, people - 1))


def people_table(secrets: Bits) -> dict[str, Any]:
    """The columns of that table; person 3 is called p3."""
    ids = np.arange(secrets.size)
    return {"id": ids, "name": [f"p{i}" for i in ids], "secret": secrets}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The lab's own people, with an id and a secret; in SQL, what an attacker writes about them."""

    table: str = "people"
    number: str = "id"
    """An integer that tells people apart, and that everybody knows."""
    first: int = 0
    """The number of the first of them; those who follow count up."""
    secret: str = "secret"  # noqa: S105
    """A condition, which holds of half of them: what it says of one person is what an attacker wants."""
    lists: str = "lists"
    """A public table of the attacker's own."""
    max_rows: int = 1
    bound: Row = success_bounds.bit

    @property
    def is_the_labs(self) -> bool:
        """Whether stories of the lectures fit."""
        return True

    @property
    def wanted(self) -> str:
        """What people have, or have not."""
        return "the secret" if self.is_the_labs else f"a row with {self.secret}"

    def world(self, secrets: Bits, _: np.random.Generator, lists: Lists | None = None) -> tuple[Tables, str | Catalog]:
        """Tables in which people have these secrets, and their catalog."""
        text = people_catalog(secrets.size)
        if lists is None:
            return {"people": people_table(secrets)}, text
        return {"people": people_table(secrets), self.lists: lists.table()}, text + TABLE


LAB = Scene()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogScene(Scene):
    """People made up in the shape of one table of a catalog."""

    declared: Table
    handle: Column
    hidden: Column
    catalog: Catalog

    @property
    def is_the_labs(self) -> bool:
        """They have nothing to do with them."""
        return False

    def world(
        self, secrets: Bits, rng: np.random.Generator, lists: Lists | None = None
    ) -> tuple[Tables, str | Catalog]:
        """The same in the shape of the table; all other columns are whatever the catalog allows."""
        from discreet.samples.dummy import dummy_tables  # noqa: PLC0415  heavy; only worlds need it

        declared = {self.declared.name: replace(self.declared, path=None)}
        only = replace(self.catalog, tables=declared, graphs={})
        (facts,) = public_tables(only)
        seed = int(rng.integers(2**32))
        (table,) = dummy_tables([{**facts, "max_rows": 1}], people=secrets.size, seed=seed).values()
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
    """People of a catalog's shape: of the first table in which one can ask for a person and there is something to hide."""
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
        "No table of this catalog has a column by which one could ask for one person, and another to hide.",
        next_step="Play with the lab's own people.",
    )


def _handle(table: Table) -> Column | None:
    """A column with room for a number of everybody's own: the one that names people, or any where each row is a person."""
    own = table.own_column
    columns = table.columns.values() if own is None else [table.columns[own]]
    return next((column for column in columns if column.values is None and _has_room(column)), None)


def _has_room(column: Column) -> bool:
    if column.type is Type.TEXT:
        return column.max_length >= len(str(_ROOM))
    if column.type is not Type.INTEGER:
        return False
    return not column.is_bounded_number or column.upper - column.lower > _ROOM  # type: ignore[operator]  # both are numbers


def _hidden(table: Table, handle: Column) -> Column | None:
    """What is to hide: a column of which two values are as good as any."""
    others = [column for column in table.columns.values() if column is not handle and len(column.values or "ab") > 1]
    return min(others, key=_preference, default=None)


def _preference(column: Column) -> int:
    """A yes or no is the plainest secret, a number without bounds the oddest."""
    if column.type is Type.BOOLEAN:
        return 0
    return 1 if column.values is not None else 2 if column.lower is not None else 3


def _ends(column: Column) -> tuple[Any, Any, Any]:
    """Of a column without declared values: its lower end, its middle and its upper end, made up where it has none."""
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
    """A value of which the condition says the bit."""
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

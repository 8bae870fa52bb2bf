"""What a name means: columns by table and by lineage, never by guess."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.catalog import Column, Table
from discreet.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Field:
    """A column of one table of the question."""

    alias: str
    table: Table
    column: Column

    @property
    def is_public(self) -> bool:
        return self.table.is_public

    @property
    def is_owner(self) -> bool:
        """Whether this very column names the person a row belongs to."""
        unit = self.table.unit
        return unit is not None and not unit.path and unit.column == self.column.name


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables of a question by their alias."""

    tables: dict[str, Table]

    def find(self, name: str, alias: str | None) -> Field:
        """The one column that is meant."""
        aliases = [one for one in self.tables if alias is None or one.lower() == alias.lower()]
        if not aliases:
            raise UnknownName("There is no such table in this question.", next_step="Use a name or alias from FROM.")
        found = [
            Field(one, self.tables[one], column)
            for one in aliases
            for column in self.tables[one].columns.values()
            if column.name.lower() == name.lower()  # SQL does not mind the case
        ]
        if not found:
            raise UnknownName(f"There is no column {name}.", next_step="Use a column that the catalog declares.")
        if len(found) > 1:
            raise UnknownName(f"The column {name} is in several tables.", next_step=f"Write table.{name}.")
        return found[0]

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
        if alias is not None and alias not in self.tables:
            raise UnknownName(
                f"There is no table {alias} in this question.", next_step="Use a name or alias from FROM."
            )
        aliases = [alias] if alias is not None else list(self.tables)
        found = [
            Field(one, self.tables[one], self.tables[one].columns[name])
            for one in aliases
            if name in self.tables[one].columns
        ]
        if not found:
            raise UnknownName(f"There is no column {name}.", next_step="Use a column that the catalog declares.")
        if len(found) > 1:
            raise UnknownName(f"The column {name} is in several tables.", next_step=f"Write table.{name}.")
        return found[0]

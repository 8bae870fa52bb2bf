"""What a name means within one SELECT: its sources side by side, and the columns that were added while it was read.

The relation of a scope only grows: marks, windows and scalars are appended, so that a position stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.algebra.aggregates import Window
from discreet.algebra.expressions import Call, Expression, Field, Literal, call, fields_of, shift_fields, substituted
from discreet.algebra.relations import Filter, Join, Mark, Relation, Windowed
from discreet.errors import NotAllowed, UnknownName
from discreet.sql.reader.error_location import unknown_name

if TYPE_CHECKING:
    from discreet.sql.reader.reader_model import Environment, Rows

OUTER = 10**6
"""Columns of the SELECT around this one are read as positions from here on, and one level further for each level further out."""
MOST_COVERS = 64


@dataclass(frozen=True, slots=True)
class Source:
    """A relation behind FROM: what the query calls it, the names of its columns, the position of the first, and its place in FROM."""

    called: str
    names: tuple[str, ...]
    first: int = 0
    nth: int = 0

    def positions(self, name: str) -> list[int]:
        """Where a name stands; SQL does not mind the case."""
        return [self.first + at for at, own in enumerate(self.names) if own.lower() == name.lower()]


@dataclass(eq=False)
class Scope:
    """The sources of one SELECT, within the SELECT around it, if any.

    Each set of `covers` holds positions of which, in every row, at least one is the owner and the others are the owner or NULL. `merged` is
    what a column of USING means without a table's name. `beside` is the other side of a join while a condition of one side is read.
    """

    relation: Relation
    sources: list[Source]
    parent: Scope | None = None
    merged: dict[str, tuple[int, ...]] = field(default_factory=dict)
    covers: list[frozenset[int]] = field(default_factory=list)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    """What SELECT names, for the clauses that may use it."""
    windows: dict[str, exp.Expr] = field(default_factory=dict)
    """What WINDOW names."""
    pending: list[exp.Expr] = field(default_factory=list)
    """Conditions of inner joins that read the SELECT around this one, and are read with WHERE."""
    consumed: set[int] = field(default_factory=set)
    """Equalities of WHERE that are keys of an inner join."""
    beside: Scope | None = None
    takes_windows: bool = False

    @classmethod
    def of(cls, rows: Rows, source: Source, parent: Scope | None = None) -> Scope:
        """One source alone."""
        relation = rows.relation
        sure = {
            at
            for at, column in enumerate(relation.columns)
            if column.properties.person and not column.properties.nullable
        }
        covers = [frozenset({at}) for at in sorted(sure | rows.people)]
        return cls(relation, [source], parent, covers=covers)

    @property
    def is_public(self) -> bool:
        return self.relation.is_public

    @property
    def width(self) -> int:
        return len(self.relation.columns)

    # Names

    def resolve(self, column: exp.Column) -> Expression:
        """What a column's name means here, or in the SELECT around: there, at positions from OUTER on."""
        if column.args.get("db") or column.args.get("catalog"):
            raise NotAllowed("A column name has at most two parts: table and column.", next_step="Write table.column.")
        own = self.locate(column)
        if own is not None:
            return own
        elsewhere = (
            self.beside is not None and self.beside is not self.parent and bool(self.beside.matching_positions(column))
        )
        if self.parent is not None and not elsewhere:
            return shift_fields(self.parent.resolve(column), OUTER)
        raise self._no_column(column)

    def _no_column(self, column: exp.Column) -> UnknownName:
        table, name = column.table, column.name
        called = [source for source in self.sources if source.called.lower() == table.lower()]
        whose = "The tables in FROM have" if not table else f"The table {table} has"
        problem = f"{whose} no column {name}." if called or not table else f"FROM has no table {table}."
        known = [
            f"{source.called}.{own}" if own.lower() == name.lower() and source.called else own
            for source in self.sources
            for own in source.names
            if "$" not in own
        ]
        return unknown_name(problem, name, known, next_step="Use a column of the tables in FROM.")

    def locate(self, column: exp.Column) -> Expression | None:
        """What a name means among the sources of this SELECT; None if nothing."""
        name, places = column.name.lower(), self.matching_positions(column)
        beside = self.beside is not None and not column.table and bool(self.beside.matching_positions(column))
        shared = not column.table and name in self.merged
        if (len(places) > 1 and not shared) or (places and beside):
            raise UnknownName(f"Several tables have a column {column.name}.", next_step=f"Write table.{column.name}.")
        if shared:
            return self._merged(name)
        return self.relation.field(places[0]) if places else None

    def matching_positions(self, column: exp.Column) -> list[int]:
        """The positions that a name could mean among the sources of this SELECT."""
        table = column.table.lower()
        sources = [source for source in self.sources if not table or source.called.lower() == table]
        return [at for source in sources for at in source.positions(column.name)]

    def columns(self, called: str = "") -> list[tuple[str, Expression]]:
        """Every column that the query can see, in order, one of USING once; or those of one source."""
        listed: list[tuple[str, Expression]] = []
        seen: set[str] = set()
        for source in sorted(self.sources, key=lambda source: source.nth):
            if called and source.called.lower() != called.lower():
                continue
            for at, name in enumerate(source.names, start=source.first):
                shared = not called and name.lower() in self.merged
                if shared and name.lower() in seen:
                    continue
                seen.add(name.lower())
                listed.append((name, self._merged(name.lower()) if shared else self.relation.field(at)))
        return listed

    def _merged(self, name: str) -> Expression:
        parts = [self.relation.field(at) for at in self.merged[name]]
        return parts[0] if len(parts) == 1 else call("coalesce", *parts)

    def is_person(self, expression: Expression) -> bool:
        """Whether an expression is, in every row, the person whom the row belongs to."""
        if not expression.properties.person:
            return False
        if not expression.properties.nullable:
            return True
        parts = (
            expression.args
            if isinstance(expression, Call) and expression.function.name == "coalesce"
            else (expression,)
        )
        places = {part.at for part in parts if isinstance(part, Field)}
        return any(cover <= places for cover in self.covers)

    # Expressions

    def replacement(self, _node: exp.Expr, _here: Environment) -> Expression | None:
        """What an aggregate or a key stands for, in a SELECT that groups; nothing here."""
        return None

    def rebase(self, expression: Expression) -> Expression:
        """The same expression over what the relation has become; refused if it reads the SELECT around this one."""
        if any(part.at >= OUTER for part in fields_of(expression)):
            raise NotAllowed(
                "This subquery uses a column of the outer query in a place where that is not supported.",
                next_step="Use the outer column only in the subquery's WHERE, as in inner.x = outer.x.",
            )
        return substituted(expression, [self.relation.field(at) for at in range(self.width)])

    # Growing

    def keep(self, conditions: Sequence[Expression]) -> None:
        """Only the rows for which all conditions are true."""
        if conditions:
            self.relation = Filter(self.relation, self.rebase(all_of(conditions)))

    def mark(
        self, inner: Scope, keys: Sequence[tuple[Expression, Expression]], on: Expression | None, *, fan_out: int
    ) -> Field:
        """A column that says whether the relation of another scope has a row that fits."""
        pairs = tuple((self.rebase(ours), inner.rebase(theirs)) for ours, theirs in keys)
        self.relation = Mark(self.relation, inner.relation, pairs, on, fan_out)
        return self.relation.field(self.width - 1)

    def append(self, join: Join) -> int:
        """The columns of a row that each row meets once; the position of the first."""
        first = self.width
        self.relation = join
        return first

    def window(self, window: Window) -> Field:
        """A column for a window, the same one where it was asked for before."""
        below = self.relation
        if isinstance(below, Windowed):
            width = len(below.rows.columns)
            if window in below.windows:
                return below.field(width + below.windows.index(window))
            if all(part.at < width for expression in window.parts for part in fields_of(expression)):
                self.relation = Windowed(below.rows, (*below.windows, window))
                return self.relation.field(self.width - 1)
        self.relation = Windowed(below, (window,))
        return self.relation.field(self.width - 1)

    def shift(self, by: int) -> None:
        """Every source stands further on, because another was put before."""
        self.sources = [replace(source, first=source.first + by) for source in self.sources]
        self.merged = {name: tuple(at + by for at in places) for name, places in self.merged.items()}
        self.covers = [frozenset(at + by for at in cover) for cover in self.covers]


def all_of(conditions: Sequence[Expression]) -> Expression:
    """All conditions as one."""
    return conditions[0] if len(conditions) == 1 else call("and", *conditions)


def mapped(expression: Expression, places: dict[int, Field]) -> Expression:
    """The same expression with columns read elsewhere, by position."""
    if isinstance(expression, Field):
        return places.get(expression.at, expression)
    if isinstance(expression, Literal):
        return expression
    return Call(expression.function, tuple(mapped(arg, places) for arg in expression.args))


def positions(expression: Expression) -> set[int]:
    """Where the columns that an expression reads stand."""
    return {part.at for part in fields_of(expression)}

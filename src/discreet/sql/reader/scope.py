"""Name resolution within one SELECT: its sources, and the columns that are added while it is read.

The relation of a scope only grows at its end (by marks, windows and scalar subqueries), so positions stay valid.
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
"""Columns of the enclosing SELECT have positions from here on; each further level adds this offset again."""
MOST_COVERS = 64


@dataclass(frozen=True, slots=True)
class Source:
    """A relation in FROM: its name in the query, its column names, its first position, and its number in FROM."""

    called: str
    names: tuple[str, ...]
    first: int = 0
    nth: int = 0

    def positions(self, name: str) -> list[int]:
        """Return the positions of columns with this name, ignoring case."""
        return [self.first + at for at, own in enumerate(self.names) if own.lower() == name.lower()]


@dataclass(eq=False)
class Scope:
    """The sources of one SELECT, and the scope of the enclosing SELECT, if any.

    In every row, at least one position of each set in `covers` is the person's id, and the others are that id or NULL.
    `merged` maps a column of USING, used without a table name, to its positions. `beside` is the other side of a join
    while a condition of one side is read.
    """

    relation: Relation
    sources: list[Source]
    parent: Scope | None = None
    merged: dict[str, tuple[int, ...]] = field(default_factory=dict)
    covers: list[frozenset[int]] = field(default_factory=list)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    """Aliases of the SELECT list, for the clauses that may use them."""
    windows: dict[str, exp.Expr] = field(default_factory=dict)
    """Named windows of the WINDOW clause."""
    pending: list[exp.Expr] = field(default_factory=list)
    """Conditions of inner joins that use the enclosing SELECT. They are read together with WHERE."""
    consumed: set[int] = field(default_factory=set)
    """Ids of the equalities in WHERE that became keys of an inner join."""
    beside: Scope | None = None
    takes_windows: bool = False

    @classmethod
    def of(cls, rows: Rows, source: Source, parent: Scope | None = None) -> Scope:
        """Return a scope with a single source."""
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
        """Resolve a column here, or in an enclosing SELECT (at positions from OUTER on)."""
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
        """Resolve a column among the sources of this SELECT, or return None."""
        name, places = column.name.lower(), self.matching_positions(column)
        beside = self.beside is not None and not column.table and bool(self.beside.matching_positions(column))
        shared = not column.table and name in self.merged
        if (len(places) > 1 and not shared) or (places and beside):
            raise UnknownName(f"Several tables have a column {column.name}.", next_step=f"Write table.{column.name}.")
        if shared:
            return self._merged(name)
        return self.relation.field(places[0]) if places else None

    def matching_positions(self, column: exp.Column) -> list[int]:
        """Return the positions that a column name matches among the sources of this SELECT."""
        table = column.table.lower()
        sources = [source for source in self.sources if not table or source.called.lower() == table]
        return [at for source in sources for at in source.positions(column.name)]

    def columns(self, called: str = "") -> list[tuple[str, Expression]]:
        """Return all visible columns in order, with columns of USING once; or the columns of one source."""
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
        """Whether an expression equals the person's id in every row."""
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
        """Return the column that replaces an aggregate or key in a grouped SELECT; None here."""
        return None

    def rebase(self, expression: Expression) -> Expression:
        """Return the expression over the current relation. Refused if it uses the enclosing SELECT."""
        if any(part.at >= OUTER for part in fields_of(expression)):
            raise NotAllowed(
                "This subquery uses a column of the outer query in a place where that is not supported.",
                next_step="Use the outer column only in the subquery's WHERE, as in inner.x = outer.x.",
            )
        return substituted(expression, [self.relation.field(at) for at in range(self.width)])

    # Growing

    def keep(self, conditions: Sequence[Expression]) -> None:
        """Keep only rows that fulfil all conditions."""
        if conditions:
            self.relation = Filter(self.relation, self.rebase(all_of(conditions)))

    def mark(
        self, inner: Scope, keys: Sequence[tuple[Expression, Expression]], on: Expression | None, *, fan_out: int
    ) -> Field:
        """Add a column that tells whether the relation of another scope has a matching row."""
        pairs = tuple((self.rebase(ours), inner.rebase(theirs)) for ours, theirs in keys)
        self.relation = Mark(self.relation, inner.relation, pairs, on, fan_out)
        return self.relation.field(self.width - 1)

    def append(self, join: Join) -> int:
        """Append the columns of a row that each row matches at most once. Return the position of the first."""
        first = self.width
        self.relation = join
        return first

    def window(self, window: Window) -> Field:
        """Return the column of a window function; equal windows share a column."""
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
        """Shift all positions, because another source was placed before."""
        self.sources = [replace(source, first=source.first + by) for source in self.sources]
        self.merged = {name: tuple(at + by for at in places) for name, places in self.merged.items()}
        self.covers = [frozenset(at + by for at in cover) for cover in self.covers]


def all_of(conditions: Sequence[Expression]) -> Expression:
    """Return the conjunction of the conditions."""
    return conditions[0] if len(conditions) == 1 else call("and", *conditions)


def mapped(expression: Expression, places: dict[int, Field]) -> Expression:
    """Return the expression with some columns replaced, by position."""
    if isinstance(expression, Field):
        return places.get(expression.at, expression)
    if isinstance(expression, Literal):
        return expression
    return Call(expression.function, tuple(mapped(arg, places) for arg in expression.args))


def positions(expression: Expression) -> set[int]:
    """Return the positions of the columns that an expression reads."""
    return {part.at for part in fields_of(expression)}

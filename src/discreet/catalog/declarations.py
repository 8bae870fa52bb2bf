"""Public facts about protected data. Everything here may be shown to anybody; nothing here was read from a row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fractions import Fraction

from discreet.accounting import Filter
from discreet.core.exact import exact, power_of_two_below
from discreet.core.loss import Neighbours

LARGEST_STEP = 2**52
"""Grid steps are exact in a double, and sums of them in 128 bits."""

ROWS_ABOUT = 10**6
"""What a protected table is taken to have where its owner declares nothing."""
CHOSEN_FROM = 1_000
"""Rows of a person that a query chooses from, where it bounds them itself: nobody's further rows may be heard in the time."""


class Type(Enum):
    """What a column holds. Anything that does not fit is NULL."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"


Value = int | float | str | bool | date
"""A timestamp is a `datetime`, which is a `date` too, without a zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its type, and what is declared about its values.

    Numbers are clamped to [lower, upper] and put on a grid; without bounds they can be filtered on but not summed.
    Declared values make every group appear; other values are then dropped.
    """

    name: str
    type: Type
    lower: Fraction | date | None = None
    upper: Fraction | date | None = None
    values: tuple[Value, ...] | None = None
    nullable: bool = False
    """Whether NULL is a value like others, so that it is a group too."""
    granularity: Fraction | None = None
    max_length: int = 256
    """Text is cut to so many characters when it is read."""

    @property
    def is_bounded_number(self) -> bool:
        return isinstance(self.lower, Fraction) and isinstance(self.upper, Fraction)

    @property
    def grid_step(self) -> Fraction:
        """The grid that belongs to the column: declared, or a 2**-20th of the range brought to a power of two."""
        if self.granularity is not None:
            return self.granularity
        low, high = self._number_bounds()
        step = power_of_two_below((high - low) / 2**20) if high > low else Fraction(1)
        return max(step, Fraction(1)) if self.type is Type.INTEGER else step

    @property
    def steps(self) -> tuple[int, int]:
        """The bounds in grid steps, after rounding: what a stored value can be."""
        low, high = self._number_bounds()
        half = Fraction(1, 2)
        return math.floor(low / self.grid_step + half), math.floor(high / self.grid_step + half)

    def _number_bounds(self) -> tuple[Fraction, Fraction]:
        if not isinstance(self.lower, Fraction) or not isinstance(self.upper, Fraction):
            message = f"column {self.name} has no bounds"
            raise TypeError(message)
        return self.lower, self.upper


@dataclass(frozen=True, slots=True)
class Reference:
    """A step of a path to the person: this column here equals that column of that table."""

    column: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Who a row belongs to: a column of the table itself, or one at the end of a path of foreign keys; or each row is a person."""

    column: str
    path: tuple[Reference, ...] = ()
    is_row: bool = False
    """Whether each row is a person of its own, who has no id and is found in no other table; `column` is then the word for it."""


EACH_ROW = PrivacyUnit("row", is_row=True)
BOTH_ENDS = PrivacyUnit("both ends")
"""Of a table of edges: no one column says whose a row is, and no SQL reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table, public or protected. A protected row without an owner is dropped."""

    name: str
    columns: Mapping[str, Column]
    unit: PrivacyUnit | None
    max_rows: int = 1
    path: str | None = None
    is_bounded_once: bool = True
    """Whether rows are cut to max_rows when the snapshot is made, or by each query after its WHERE: of those that the snapshot keeps."""
    rows_about: int = ROWS_ABOUT
    """How large the table is, roughly, as the owner declares it and nobody counts it: answers leave when a table of this size would be read."""
    lists_people: bool = False
    """Whether everybody has exactly one row here, enforced: then, under replace-one, how many people there are is public."""

    @property
    def is_public(self) -> bool:
        return self.unit is None

    @property
    def rows_kept(self) -> int:
        """How many rows of a person the snapshot keeps: those that count, or those that each query chooses from."""
        return self.max_rows if self.is_bounded_once else max(self.max_rows, CHOSEN_FROM)

    @property
    def has_row_people(self) -> bool:
        """Whether each row is a person."""
        return self.unit is not None and self.unit.is_row

    @property
    def own_column(self) -> str | None:
        """The column of this table that names the person, or leads there; none in public tables and where each row is a person."""
        if self.unit is None or self.unit.is_row:
            return None
        return self.unit.path[0].column if self.unit.path else self.unit.column


@dataclass(frozen=True, slots=True)
class Regions:
    """A tree of regions, from a public table: a column a level, from the largest regions to the smallest, which the last names each by itself."""

    name: str
    table: str
    levels: tuple[str, ...]
    invariant: str | None = None
    """The level whose regions' totals are published as they are, outside of any epsilon: the promise is then between people of one region."""
    of: str | None = None
    """The protected table whose rows these totals count: all of them, by its own column of the last level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """An undirected network: declared nodes, and a table of edges that is asked through its verbs alone."""

    name: str
    nodes: str
    """The table with a row for each node: of people with privacy of a node, public with privacy of an edge."""
    key: str
    """The column of it that names a node."""
    edges: Table
    ends: tuple[str, str]
    privacy: str
    """What is protected: "node", a person with all their edges, or "edge", one edge."""
    max_degree: int | None = None
    """The most edges of a person that count, from public knowledge."""
    per_node: int | None = None
    """The most triangles of a person that count, from public knowledge."""
    cap: Filter | None = None
    """What may be spent on an edge, in an account of its own; None where a person is protected, and [budget] pays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All public facts of one dataset, with its budget."""

    source: str
    ledger: str
    cap: Filter
    analysts: Mapping[str, Filter] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    trees: Mapping[str, Regions] = field(default_factory=dict)
    graphs: Mapping[str, Network] = field(default_factory=dict)
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    snapshot: str | None = None
    anchor: str | None = None
    reports: str = ":memory:"
    """Where collections are kept: never with the ledger, as anybody may send to them."""
    collector: Mapping[str, int] = field(default_factory=dict)
    """How much they take."""
    rows_per_person: int | None = None
    """The most rows of one person in any query; joins that could give more are cut."""
    memory: str = "4GB"
    seconds: int = 60
    """What the engine may use for one query."""
    sha256: str = field(default="", compare=False)
    """Of the file that it was read from; empty where there was none."""

    @property
    def edge_tables(self) -> dict[str, Table]:
        """The tables of edges by name: none of `tables`, so that no query reaches them."""
        return {graph.edges.name: graph.edges for graph in self.graphs.values()}

    @property
    def all_tables(self) -> dict[str, Table]:
        """Everything that is read from the source, tables of edges too."""
        return {**self.tables, **self.edge_tables}


def default_delta(catalog: Catalog) -> Fraction | None:
    """What selecting groups costs unless a query says otherwise: a hundredth of what the account has for it."""
    return exact(catalog.cap.cap.delta) / 200 if catalog.cap.cap.delta else None

"""Data types of a catalog. Everything here is public; nothing here was read from a protected row."""

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
"""Up to this number, grid steps are exact in a double, and their sums in 128 bits."""

ROWS_ABOUT = 10**6
"""Assumed number of rows of a protected table if the data owner declares none."""
CHOSEN_FROM = 1_000
"""Maximum number of rows per person that the snapshot keeps if queries bound rows. More would show in the timing."""


class Type(Enum):
    """Type of a column. Values of another type are read as NULL."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"


Value = int | float | str | bool | date
"""A timestamp is a `datetime` (a subclass of `date`) without time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its type, and what is declared about its values.

    Numbers are clamped to [lower, upper] and quantized to a grid; without bounds they can be filtered but not summed.
    If `values` are declared, every value appears as a group, and rows with other values are dropped.
    """

    name: str
    type: Type
    lower: Fraction | date | None = None
    upper: Fraction | date | None = None
    values: tuple[Value, ...] | None = None
    nullable: bool = False
    """Whether NULL is a group like other values."""
    granularity: Fraction | None = None
    max_length: int = 256
    """Text is truncated to this number of characters when it is read."""

    @property
    def is_bounded_number(self) -> bool:
        return isinstance(self.lower, Fraction) and isinstance(self.upper, Fraction)

    @property
    def grid_step(self) -> Fraction:
        """Return the step of the grid: declared, or the power of two below a 2**20th of the range."""
        if self.granularity is not None:
            return self.granularity
        low, high = self._number_bounds()
        step = power_of_two_below((high - low) / 2**20) if high > low else Fraction(1)
        return max(step, Fraction(1)) if self.type is Type.INTEGER else step

    @property
    def steps(self) -> tuple[int, int]:
        """Return the bounds in grid steps, rounded as stored values are."""
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
    """A step of the path to the person: `column` of this table equals `key` of `table`."""

    column: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Whom a row belongs to: an id column, an id at the end of a path of foreign keys, or each row is a person."""

    column: str
    path: tuple[Reference, ...] = ()
    is_row: bool = False
    """Whether each row is a person without an id, who cannot be found in other tables. `column` is then `row`."""


EACH_ROW = PrivacyUnit("row", is_row=True)
BOTH_ENDS = PrivacyUnit("both ends")
"""Unit of a table of edges: a row belongs to two people, so SQL cannot read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A public or protected table. Protected rows without a person are dropped."""

    name: str
    columns: Mapping[str, Column]
    unit: PrivacyUnit | None
    max_rows: int = 1
    path: str | None = None
    is_bounded_once: bool = True
    """Whether rows are bounded to `max_rows` in the snapshot, or by each query after its WHERE."""
    rows_about: int = ROWS_ABOUT
    """Approximate size of the table, declared by the data owner and never counted.

    The time padding of answers uses it.
    """
    lists_people: bool = False
    """Whether each person has exactly one row here. Under replace-one, the number of people is then public."""

    @property
    def is_public(self) -> bool:
        return self.unit is None

    @property
    def rows_kept(self) -> int:
        """Return how many rows per person the snapshot keeps."""
        return self.max_rows if self.is_bounded_once else max(self.max_rows, CHOSEN_FROM)

    @property
    def has_row_people(self) -> bool:
        """Whether each row is a person."""
        return self.unit is not None and self.unit.is_row

    @property
    def own_column(self) -> str | None:
        """Return the column of this table with the person's id or the first key of the path; None if there is none."""
        if self.unit is None or self.unit.is_row:
            return None
        return self.unit.path[0].column if self.unit.path else self.unit.column


@dataclass(frozen=True, slots=True)
class Regions:
    """A tree of regions from a public table, with one column per level, from the largest regions to the smallest.

    The last level identifies a row of the table.
    """

    name: str
    table: str
    levels: tuple[str, ...]
    invariant: str | None = None
    """The level whose totals are published exactly. The guarantee then covers replacing a person within one region."""
    of: str | None = None
    """The protected table whose rows these totals count, by its column of the last level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """An undirected network: declared nodes, and a table of edges that only network queries can read."""

    name: str
    nodes: str
    """The table with one row per node: protected if privacy is `node`, public if it is `edge`."""
    key: str
    """Its column with the node's id."""
    edges: Table
    ends: tuple[str, str]
    privacy: str
    """What is protected: "node", a person with all their edges, or "edge", one edge."""
    max_degree: int | None = None
    """Maximum number of edges of a person that count, from public knowledge."""
    per_node: int | None = None
    """Maximum number of triangles of a person that count, from public knowledge."""
    cap: Filter | None = None
    """Cap of a separate account for privacy of edges; None for privacy of people, which is charged to [budget]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The public description of one dataset, with its budget."""

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
    """Path of the report store: never the ledger's, because anyone may send reports."""
    collector: Mapping[str, int] = field(default_factory=dict)
    """Quotas of the report store."""
    rows_per_person: int | None = None
    """Maximum number of rows of one person in any query, also after joins."""
    memory: str = "4GB"
    seconds: int = 60
    """Limits of the engine for one query."""
    sha256: str = field(default="", compare=False)
    """Hash of the catalog file; empty if it was not read from a file."""

    @property
    def edge_tables(self) -> dict[str, Table]:
        """Return the tables of edges by name. They are not in `tables`, so SQL cannot read them."""
        return {graph.edges.name: graph.edges for graph in self.graphs.values()}

    @property
    def all_tables(self) -> dict[str, Table]:
        """Return all tables of the source, including tables of edges."""
        return {**self.tables, **self.edge_tables}


def default_delta(catalog: Catalog) -> Fraction | None:
    """Return the default delta of private group selection: half a percent of the cap's delta."""
    return exact(catalog.cap.cap.delta) / 200 if catalog.cap.cap.delta else None

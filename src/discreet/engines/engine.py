"""The protocol of engines: look values up in public tables, and turn queries into exact integers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.expressions import Expression
from discreet.algebra.query import Query
from discreet.algebra.value_properties import Value
from discreet.catalog import Network, Type
from discreet.engines.exact_rows import ExactRows
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.engines.tables.exact_tables import ExactTables, PartedTables
from discreet.sql.reader.public_lookup import PublicLookup

Points: TypeAlias = tuple[Type, Sequence[Value | None]]
"""Values of one column, which are public, and their type."""


class Engine(PublicLookup, Protocol):
    """Where the data is. An engine never sees the text of a query, only its checked tree."""

    def bind(self, query: Query) -> None:
        """Refuse, before any charge, what the engine would refuse. Reads no protected row."""

    def run(self, query: Query, *, cancelled: threading.Event | None = None) -> list[ExactRows]:
        """Return the exact integers of each grouping set. Called after the charge; a failure gives one fixed message."""

    def bind_rows(self, query: Query) -> None:
        """Do the same for rows that are to be coded."""

    def tables(
        self, rows: Query, *, cancelled: threading.Event, sharing: int = 1
    ) -> AbstractContextManager[ExactTables]:
        """Hold exact tables over the keys of `rows`, by their index. Called after the charge.

        `cancelled` ends it. Each statement may take the seconds of one query, `sharing` times as long if that many read at once.
        """

    def parted_tables(
        self, rows: Query, *, cancelled: threading.Event, sharing: int = 1
    ) -> AbstractContextManager[PartedTables]:
        """Hold the same of all rows, of a training part, and of a held-out part. For the data owner: nothing of it may be returned."""

    def network(
        self, graph: Network, *, attribute: str | None, cancelled: threading.Event, sharing: int = 1
    ) -> ExactGraph:
        """Return a network as integers, with the group of each node by an attribute with declared values. Called after the charge."""

    def nodes_of(self, graph: Network) -> int:
        """Return the number of nodes of a network whose nodes are public. Reads no protected row."""

    def truths(self, condition: Expression, points: Mapping[int, Points]) -> NDArray[np.bool_]:
        """Return where a condition is true, for every combination of public values of its columns: one axis per column, in order.

        Reads no row.
        """

    def cancel(self, query: threading.Event) -> None:
        """Stop reading for a query, now or when its turn comes. Other queries are not disturbed."""

    def holding(self, queries: Sequence[Query]) -> AbstractContextManager[None]:
        """Hold the prepared public relations that these queries read, until the answer is returned."""

    def one_limit(self, query: threading.Event | None = None, *, sharing: int = 1) -> AbstractContextManager[float]:
        """Limit everything that this thread reads to the seconds of one query; yields the deadline, by the monotonic clock.

        Setting `query` ends it. The limit is `sharing` times as long if that many queries read at once.
        """

    def close(self) -> None:
        """Close the connection to the data."""

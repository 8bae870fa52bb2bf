"""What an engine is: it looks things up in public tables, and turns queries into exact integers."""

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
    """A place where data is. It never sees a query's text, only its checked tree."""

    def bind(self, query: Query) -> None:
        """Refuse, before any charge, what the engine would refuse; no protected row is read."""

    def run(self, query: Query, *, cancelled: threading.Event | None = None) -> list[ExactRows]:
        """The exact integers of each grouping set. Called after the charge; a failure is one fixed sentence."""

    def bind_rows(self, query: Query) -> None:
        """The same of rows that are to be coded; no protected row is read."""

    def tables(
        self, rows: Query, *, cancelled: threading.Event, sharing: int = 1
    ) -> AbstractContextManager[ExactTables]:
        """Exact tables over the keys of `rows`, by their number, as long as it lasts. Called after the charge.

        `taken_back` ends it; each statement has the seconds of a query, so many times where `sharing` read at the same time.
        """

    def parted_tables(
        self, rows: Query, *, cancelled: threading.Event, sharing: int = 1
    ) -> AbstractContextManager[PartedTables]:
        """The same of all rows, of most of them, and of the others. For the owner of the data: nothing of it may leave."""

    def network(
        self, graph: Network, *, attribute: str | None, cancelled: threading.Event, sharing: int = 1
    ) -> ExactGraph:
        """A network as whole numbers, with the group of each node by an attribute that has declared values. Called after the charge."""

    def nodes_of(self, graph: Network) -> int:
        """How many nodes a network has whose nodes are public: no protected row is read."""

    def truths(self, condition: Expression, points: Mapping[int, Points]) -> NDArray[np.bool_]:
        """Where a condition is true: for every combination of public values of its columns, by their number; an axis each, in this order.

        No row is read.
        """

    def cancel(self, query: threading.Event) -> None:
        """Stop reading for a query, now or when its turn comes; no other query is disturbed."""

    def holding(self, queries: Sequence[Query]) -> AbstractContextManager[None]:
        """While it lasts, what these queries read of public relations is there. Ended when the answer leaves."""

    def one_limit(self, query: threading.Event | None = None, *, sharing: int = 1) -> AbstractContextManager[float]:
        """While it lasts, everything that this thread reads together has the seconds of one query; when they end, by the monotonic clock.

        Whoever takes `query` back ends it. So many times the seconds where `sharing` queries read at the same time.
        """

    def close(self) -> None:
        """Let go of the data."""

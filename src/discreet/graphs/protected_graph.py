"""A network in memory, what is protected in it, and statistics that say so."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

from discreet.core.exact import read_count
from discreet.engines.graphs.exact_graphs import ExactGraph, new_salt
from discreet.errors import BadData, BadInput
from discreet.mechanisms.statistics.bounded import Account
from discreet.mechanisms.statistics.statistic import Statistic
from discreet.noise import SYSTEM_BITS

MOST_DEGREE = 10**6


class Privacy(Enum):
    """What two neighbouring graphs differ in."""

    EDGE = "edge"
    """One edge; the nodes and their number are public. A person with k edges is protected at k times epsilon."""
    NODE = "node"
    """One person with all their edges and attributes; nothing about nodes is public."""

    @classmethod
    def _missing_(cls, _: object) -> Privacy:
        raise BadInput("Unknown kind of privacy.", next_step='Give privacy="edge" or privacy="node".')


def read_privacy(value: object) -> Privacy:
    """Read a kind of privacy, or its name."""
    return Privacy(value if isinstance(value, Privacy | str) else None)


class Graph:
    """An undirected network. Its repr shows nothing, because all of it can be private.

    Args:
        edges: Pairs of labels, or a networkx graph. Repeated pairs are one edge; loops and edges to undeclared nodes
            are dropped.
        nodes: All labels; only a networkx graph has its own. They are never inferred from edges: then removing one
            person could also remove neighbours without other edges.
        attributes: Attribute of each node by label, for `assortativity`.
    """

    __slots__ = ("attributes", "exact")

    def __init__(
        self,
        edges: Any,
        nodes: Iterable[Hashable] | None = None,
        *,
        attributes: Mapping[Hashable, Hashable] | None = None,
    ) -> None:
        if nodes is None:
            if not hasattr(edges, "nodes") or not hasattr(edges, "edges"):
                raise BadData(
                    "The nodes of a graph must be declared.", next_step="Give nodes=, all of them, beside the edges."
                )
            edges, nodes = edges.edges(), edges.nodes()
        self.exact = ExactGraph.read(edges, nodes, salt=new_salt(SYSTEM_BITS.words(2, 64)))
        self.attributes: Mapping[Hashable, Hashable] = attributes or {}

    def __repr__(self) -> str:
        return "Graph(…): give it to edges, degrees, triangles, assortativity, clustering or rumour of discreet.graphs"


def read_graph(graph: object) -> Graph:
    """Return the graph, or refuse a value of another type."""
    if not isinstance(graph, Graph):
        raise BadData("A graph is needed here.", next_step="Give discreet.graphs.Graph(edges, nodes).")
    return graph


def read_max_degree(value: object, *, privacy: Privacy) -> int:
    """Read a bound on degrees; node privacy requires one."""
    if value is None:
        raise BadInput(
            f"With {privacy.value} privacy one person can have any number of edges.",
            next_step="Give a max_degree, from public knowledge or found privately (bound, find_max_degree). "
            "Edges beyond it are left out.",
        )
    return read_count(value, name="max_degree", most=MOST_DEGREE)


@dataclass(frozen=True, slots=True, repr=False)
class GraphStatistic(Statistic):
    """A private statistic of a graph. It names what is protected, and what its interval does not cover.

    Args:
        value: The released number.
        loss: Privacy cost.
        privacy: What is protected.
        bias: What bounding left out, in words; empty if nothing.
    """

    privacy: Privacy = Privacy.NODE
    bias: str = ""

    @classmethod
    def of(cls, statistic: Statistic, *, privacy: Privacy, bias: str = "") -> Self:
        """Make a statistic one of a graph.

        Args:
            statistic: The number with its intervals.
            privacy: What is protected.
            bias: What bounding left out, in words.
        """
        return cls(statistic.value, statistic.loss, statistic._around, privacy, bias)  # noqa: SLF001  its own base

    def __repr__(self) -> str:
        whom = "an edge (k edges of a person: k times that)" if self.privacy is Privacy.EDGE else "a person"
        bias = f"; {self.bias}" if self.bias else ""
        return f"{Statistic.__repr__(self)} for {whom}{bias}"


def charge(account: Account | None, mechanisms: list[Any]) -> None:
    """Charge the account, if there is one."""
    if account is not None:
        account.charge(mechanisms)

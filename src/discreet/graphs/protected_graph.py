"""A network as it is handed over, what is protected in it, and numbers that say so."""

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
    """What comes or goes between two graphs that must look alike."""

    EDGE = "edge"
    """One edge; who the nodes are, and how many, is public. Whoever has k edges has k times epsilon."""
    NODE = "node"
    """One person with all their edges and whatever is known about them; nothing about nodes is public."""

    @classmethod
    def _missing_(cls, _: object) -> Privacy:
        raise BadInput("There is no such kind of privacy.", next_step='Give privacy="edge" or privacy="node".')


def read_privacy(value: object) -> Privacy:
    """A kind of privacy, or its name."""
    return Privacy(value if isinstance(value, Privacy | str) else None)


class Graph:
    """An undirected network. Its repr shows nothing, because all of it may be private.

    Args:
        edges: Pairs of labels, or a graph of networkx. Pairs are merged; loops and edges to nodes that were not declared are no edges.
        nodes: All labels; left out only with networkx, whose graph has them. They are never read off the edges: one person would take bare neighbours along.
        attributes: What is known about each node, by label: for `assortativity`.
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
    """A graph, and nothing that merely looks like one."""
    if not isinstance(graph, Graph):
        raise BadData("A graph is needed here.", next_step="Give discreet.graphs.Graph(edges, nodes).")
    return graph


def read_max_degree(value: object, *, privacy: Privacy) -> int:
    """A bound on degrees, which node privacy needs."""
    if value is None:
        raise BadInput(
            f"With {privacy.value} privacy one person can have any number of edges.",
            next_step="Give a max_degree, from public knowledge or found privately (bound, find_max_degree): edges beyond it are left out.",
        )
    return read_count(value, name="max_degree", most=MOST_DEGREE)


@dataclass(frozen=True, slots=True, repr=False)
class GraphStatistic(Statistic):
    """A private number about a graph: it says for whom it is private, and what its ± does not cover.

    Args:
        value: The released number.
        loss: What it cost.
        privacy: What is protected.
        bias: What the bounded value leaves out; empty where it is the value itself.
    """

    privacy: Privacy = Privacy.NODE
    bias: str = ""

    @classmethod
    def of(cls, statistic: Statistic, *, privacy: Privacy, bias: str = "") -> Self:
        """A number that is about a graph.

        Args:
            statistic: The number.
            privacy: What is protected.
            bias: What the bounded value leaves out.
        """
        return cls(statistic.value, statistic.loss, statistic._around, privacy, bias)  # noqa: SLF001  its own base

    def __repr__(self) -> str:
        whom = "an edge (k edges of a person: k times that)" if self.privacy is Privacy.EDGE else "a person"
        bias = f"; {self.bias}" if self.bias else ""
        return f"{Statistic.__repr__(self)} for {whom}{bias}"


def pay(account: Account | None, mechanisms: list[Any]) -> None:
    """Charge what is about to be drawn, if somebody pays."""
    if account is not None:
        account.charge(mechanisms)

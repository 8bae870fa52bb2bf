"""A query about a network as the pipeline releases it: read in the engine, drawn there, and stored as noisy whole numbers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from discreet.algebra.digest import Json, digest
from discreet.algebra.query import Query
from discreet.catalog import Network, Table
from discreet.graphs.degrees import DegreeCounts
from discreet.graphs.edge_counts import DEGREES, DegreeBound
from discreet.graphs.mixing import GroupEdges
from discreet.graphs.network_answers import encoded
from discreet.graphs.network_query import GraphQuery
from discreet.graphs.protected_graph import Privacy
from discreet.graphs.triangles import ClosedPaths, TriangleLadder, TriangleProgram
from discreet.measurement.runs import time_for
from discreet.mechanisms import Mechanism
from discreet.pipeline.pipeline import READ_SLOTS, Resources
from discreet.planning.effort import SAFETY

_CHARGE, _READ, _KEPT = 8e6, 1e3, 8e3
"""Nanoseconds of a charge, for an edge or a node that is read, and for an edge that is kept or left out."""
_SHARED, _LISTED, _WEIGHED = 20e3, 12e3, 20e3
"""For an edge whose ends' common neighbours are counted, whose triangles are listed, and for a triangle of the program."""
_CELL, _SORTED = 5.0, 3e5
"""For a node in the table of each other node, and for all that one of them reaches, where that is sorted instead."""
_SEARCHED = 2.5
"""Programs of all bounds together take so many times as long as one."""
_DRAWN = 1e3
"""For a number that noise is drawn for and that is put in order."""


@dataclass(frozen=True, slots=True)
class NetworkRelease:
    """One of them.

    Args:
        graph: The network.
        nodes: The table of its nodes.
        query: What is asked.
        attribute: The column of its nodes that groups them, where it asks for groups.
        version: Of the data.
        label: How the books call it.
        nodes_about: How many nodes there are, about: declared or public.
    """

    graph: Network
    nodes: Table
    query: GraphQuery[Any]
    attribute: str | None
    version: int
    label: str
    nodes_about: int
    name: None = field(default=None, init=False)

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        return self.query.mechanisms

    @property
    def queries(self) -> tuple[Query, ...]:
        """No relation of the algebra is read."""
        return ()

    @property
    def edges_of(self) -> str | None:
        return self.graph.edges.name if self.query.privacy is Privacy.EDGE else None

    @property
    def digest(self) -> str:
        """Of what is asked, and of every public fact that the numbers hang on."""
        graph, asked = self.graph, dict[str, Json](self.query.described)
        network: dict[str, Json] = {
            "name": graph.name,
            "nodes": [graph.nodes, graph.key],
            "edges": [graph.edges.name, *graph.ends],
            "privacy": graph.privacy,
            "attribute": self.attribute,
        }
        return digest({"version": self.version, "network": network, "question": asked})

    @property
    def seconds(self) -> float:
        """From declared sizes alone, doubled for safety, with room for one person in as many triangles as there are edges."""
        edges = float(self.graph.edges.rows_about)
        nanoseconds = _CHARGE + (edges + self.nodes_about) * _READ + _work(self.query, edges, float(self.nodes_about))
        return SAFETY * nanoseconds / 1e9

    def compute(self, resources: Resources) -> bytes:
        """Noisy numbers; whatever is exact ends here."""
        until = time.monotonic() + time_for(self.seconds)
        network = resources.engine.network(
            self.graph, attribute=self.attribute, cancelled=resources.stopped, sharing=READ_SLOTS
        )
        return encoded(self.query, self.query.drawn(network, resources.bits, until=until))


def _work(query: GraphQuery[Any], edges: float, nodes: float) -> float:
    """What a query computes on a network of so many edges, in nanoseconds; triangles of the crowd and of one person are as many as edges, each."""
    match query:
        case TriangleLadder():
            return edges * _SHARED + nodes * min(nodes * _CELL, _SORTED)
        case TriangleProgram():
            return edges * _LISTED + 2 * edges * _WEIGHED * (_SEARCHED if query.per_node is None else 1)
        case ClosedPaths():
            return _work(query.closed, edges, nodes) + _work(query.spread, edges, nodes)
        case DegreeBound():
            return len(DEGREES) * edges * _KEPT
        case DegreeCounts():
            return edges * _KEPT + query.max_degree * _DRAWN
        case GroupEdges():
            return 2 * edges * _KEPT + query.cells * _DRAWN
        case _:
            return 2 * edges * _KEPT

"""A query about a network as the pipeline releases it: it reads edges in the engine and stores noisy integers."""

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
from discreet.graphs.network_answers import encode_answer
from discreet.graphs.network_query import GraphQuery
from discreet.graphs.protected_graph import Privacy
from discreet.graphs.triangles import ClosedPaths, TriangleLadder, TriangleProgram
from discreet.measurement.runs import time_for
from discreet.mechanisms import Mechanism
from discreet.pipeline.pipeline import READ_SLOTS, Resources
from discreet.planning.effort import SAFETY

_CHARGE, _READ, _KEPT = 8e6, 1e3, 8e3
"""Nanoseconds of a charge, of reading one edge or node, and of keeping or dropping one edge."""
_SHARED, _LISTED, _WEIGHED = 20e3, 12e3, 20e3
"""Nanoseconds of counting the common neighbours of an edge, of listing its triangles, and of one in the program."""
_CELL, _SORTED = 5.0, 3e5
"""Nanoseconds of a node in the dense table of another node, and of sorting the neighbourhood of a node instead."""
_SEARCHED = 2.5
"""Time of the programs of all bounds, relative to one program."""
_DRAWN = 1e3
"""Nanoseconds of drawing the noise of one number and sorting it."""


@dataclass(frozen=True, slots=True)
class NetworkRelease:
    """A query about a network with everything that the pipeline needs.

    Args:
        graph: The network.
        nodes: The table of its nodes.
        query: The query.
        attribute: Column of the nodes that groups them, if the query has groups.
        version: Data version.
        label: Text of the query in the ledger.
        nodes_about: Approximate number of nodes, declared or public.
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
        """Empty: a network is not a relation of the algebra."""
        return ()

    @property
    def edges_of(self) -> str | None:
        return self.graph.edges.name if self.query.privacy is Privacy.EDGE else None

    @property
    def digest(self) -> str:
        """Digest of the query and of every public value that the result depends on."""
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
        """Expected duration, from declared sizes alone and with a safety factor.

        It allows one person in as many triangles as there are edges.
        """
        edges = float(self.graph.edges.rows_about)
        nanoseconds = _CHARGE + (edges + self.nodes_about) * _READ + _work(self.query, edges, float(self.nodes_about))
        return SAFETY * nanoseconds / 1e9

    def compute(self, resources: Resources) -> bytes:
        """Return noisy numbers. Exact numbers do not leave this method."""
        until = time.monotonic() + time_for(self.seconds)
        network = resources.engine.network(
            self.graph, attribute=self.attribute, cancelled=resources.stopped, sharing=READ_SLOTS
        )
        return encode_answer(self.query, self.query.draw(network, resources.bits, until=until))


def _work(query: GraphQuery[Any], edges: float, nodes: float) -> float:
    """Nanoseconds of computing a query on a network of this size.

    It assumes as many triangles as edges, and as many again of one person.
    """
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

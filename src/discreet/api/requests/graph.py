"""The verbs of a network: one request for each, all with the network's name and a cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.api.requests.base import PaidRequest, body_params, param, request

if TYPE_CHECKING:
    from discreet.api.plans import GraphPlan
    from discreet.core.exact import Number
    from discreet.graphs.network_answers import GraphAnswer


@request
class GraphRequest(PaidRequest["GraphAnswer", "GraphPlan"]):
    """A query about a network. The catalog says whether it protects a person or one edge."""

    http_example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0}

    graph: str = param("Name of the network in the catalog.")
    _: KW_ONLY
    epsilon: Number = param("Privacy cost of the answer. There is no default.", gt=0)

    @property
    def verb(self) -> str:
        """Its name, such as "triangles": the last part of the address."""
        return self.http_path.rpartition("/")[2]

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters that were given beside the cost."""
        given = {each.name: getattr(self, each.name) for each in body_params(type(self)) if each.name != "epsilon"}
        return {name: value for name, value in given.items() if value is not None}


@request
class BoundedDegreeRequest(GraphRequest):
    """A query that needs a bound on degrees."""

    _: KW_ONLY
    max_degree: int | None = param(
        "Largest degree that is counted; with node privacy, the number of one person's edges that count. "
        "If not given, the catalog's `max_degree`.",
        default=None,
        ge=1,
    )


@request
class EdgesRequest(BoundedDegreeRequest):
    """Count the edges."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/edges"
    http_plan_path: ClassVar[str] = http_path


@request
class DegreesRequest(BoundedDegreeRequest):
    """Count the nodes with a degree of at most 0, 1, ..., `max_degree`."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/degrees"
    http_plan_path: ClassVar[str] = http_path


@request
class TrianglesRequest(GraphRequest):
    """Count the triangles."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/triangles"
    http_plan_path: ClassVar[str] = http_path

    _: KW_ONLY
    per_node: int | None = param(
        "With node privacy, the number of one person's triangles that count. If not given, the catalog's `per_node`, "
        "or a bound that is found for a quarter of epsilon.",
        default=None,
        ge=1,
    )


@request
class StarsRequest(BoundedDegreeRequest):
    """Count the sets of k edges that meet in a node, from degrees: free if those were charged already."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/stars"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {"k": 2, "epsilon": 1.0}

    k: int = param("Number of edges that meet.", ge=1, le=100)


@request
class ClusteringRequest(BoundedDegreeRequest):
    """Estimate the share of paths of two edges whose ends are connected."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/clustering"
    http_plan_path: ClassVar[str] = http_path

    _: KW_ONLY
    per_node: int | None = param("As for `triangles`.", default=None, ge=1)


@request
class AssortativityRequest(BoundedDegreeRequest):
    """Count the edges between groups of nodes that share a value of an attribute."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/assortativity"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {"attribute": "town", "epsilon": 1.0}

    attribute: str = param("Column of the nodes' table with declared values.", max_length=200)


@request
class RumourRequest(BoundedDegreeRequest):
    """Estimate how far a rumour spreads in a random network with these degrees: free if those were charged already."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/rumour"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {"transmission": 0.2, "epsilon": 1.0}

    transmission: Number = param("Probability that an edge passes the rumour on.", ge=0, le=1)


@request
class BoundRequest(GraphRequest):
    """Find a `max_degree` that keeps most edges with little noise, for node privacy without a known bound."""

    http_path: ClassVar[str] = "/v1/graphs/{graph}/bound"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {"then": 1.0, "epsilon": 0.25}

    _: KW_ONLY
    then: Number = param("The epsilon of the later answer that the bound is for.", gt=0)


GRAPH_REQUESTS: dict[str, type[GraphRequest]] = {
    kind.http_path.rpartition("/")[2]: kind
    for kind in (
        EdgesRequest,
        DegreesRequest,
        TrianglesRequest,
        StarsRequest,
        ClusteringRequest,
        AssortativityRequest,
        RumourRequest,
        BoundRequest,
    )
}
"""By the names of their verbs."""

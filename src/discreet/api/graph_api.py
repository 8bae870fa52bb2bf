"""A network of the catalog as an object: its verbs are requests about that network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.api.requests.base import params
from discreet.api.requests.graph import (
    GRAPH_REQUESTS,
    AssortativityRequest,
    BoundRequest,
    ClusteringRequest,
    DegreesRequest,
    EdgesRequest,
    GraphRequest,
    RumourRequest,
    StarsRequest,
    TrianglesRequest,
)
from discreet.api.verbs import Executor, graph_verb, name_verbs
from discreet.errors import BadInput

if TYPE_CHECKING:
    from discreet.api.plans import GraphPlan
    from discreet.core.exact import Number
    from discreet.graphs.network_answers import GraphAnswer


@name_verbs
class GraphApi:
    """A network that is asked about, local or remote. The catalog says whether an answer protects a person or one edge.

    Args:
        api: Executes the requests.
        listed: The network in the public catalog.
    """

    def __init__(self, api: Executor, listed: Mapping[str, Any]) -> None:
        self.api, self.name, self._privacy = api, str(listed["name"]), listed["privacy"]

    def __repr__(self) -> str:
        from discreet.graphs.network_verbs import PROTECTS  # noqa: PLC0415  heavy
        from discreet.graphs.protected_graph import Privacy  # noqa: PLC0415  heavy

        return f"GraphApi({self.name!r}): {PROTECTS[Privacy(self._privacy)]}"

    edges = graph_verb(EdgesRequest)
    degrees = graph_verb(DegreesRequest)
    triangles = graph_verb(TrianglesRequest)
    stars = graph_verb(StarsRequest)
    clustering = graph_verb(ClusteringRequest)
    assortativity = graph_verb(AssortativityRequest)
    rumour = graph_verb(RumourRequest)
    bound = graph_verb(BoundRequest)

    def ask(self, verb: str, *, epsilon: Number | None = None, **settings: Any) -> GraphAnswer:
        """Ask by the name of a verb.

        Args:
            verb: Such as "triangles".
            epsilon: Privacy cost of the answer. There is no default.
            **settings: The other parameters of the verb.
        """
        return self.api.execute(graph_request(self.name, verb, epsilon=epsilon, **settings))

    def explain(self, verb: str, *, epsilon: Number | None = None, **settings: Any) -> GraphPlan:
        """Say what a verb would cost and how exact it would be. Spends nothing and reads no edge.

        Args:
            verb: Such as "triangles".
            epsilon: Privacy cost of the answer. There is no default.
            **settings: The other parameters of the verb.
        """
        return self.api.plan(graph_request(self.name, verb, epsilon=epsilon, **settings))


def graph_request(graph: str, verb: object, **given: Any) -> GraphRequest:
    """The request of a verb. A parameter that is None was not given; one that the verb does not have is refused.

    Args:
        graph: Name of the network.
        verb: Name of the verb.
        **given: The other parameters.
    """
    kind = GRAPH_REQUESTS.get(verb) if isinstance(verb, str) else None
    if kind is None:
        raise BadInput("A network has no such verb.", next_step=f"Use one of: {', '.join(GRAPH_REQUESTS)}.")
    known = [each.name for each in params(kind) if each.name != "graph"]
    required = {each.name: None for each in params(kind) if each.is_required}
    settings = {name: value for name, value in given.items() if value is not None}
    if unknown := sorted(settings.keys() - set(known)):
        raise BadInput(f"{verb} has no parameter {unknown[0]}.", next_step=f"Give some of: {', '.join(known)}.")
    return kind(**{**required, **settings, "graph": graph})

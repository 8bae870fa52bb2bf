"""The verbs of a network in a catalog: which query each is, and what is computed from its noisy result."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.exact import Number, read_count
from discreet.errors import BadInput, TooLarge, UnknownName
from discreet.graphs.degrees import DegreeCounts, Degrees, degree_counts
from discreet.graphs.edge_counts import FoundBound, degree_bound, edge_count
from discreet.graphs.mixing import Mixing, group_edges
from discreet.graphs.network_query import GraphQuery
from discreet.graphs.protected_graph import GraphStatistic, Privacy
from discreet.graphs.rumours import Rumour, read_transmission, rumour
from discreet.graphs.triangles import closed_paths, triangle_count
from discreet.mechanisms.statistics.statistic import Statistic

Outcome = GraphStatistic | Degrees | Mixing | Rumour | FoundBound
PROTECTS = {
    Privacy.EDGE: "one edge: a person with k edges is protected at k times this epsilon",
    Privacy.NODE: "one person, with all their edges",
}
_MOST_STARS = 10**250
"""Stars of one node: their sum over all nodes must be a finite double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkProperties:
    """What is public about a network.

    Args:
        name: Its name in the catalog.
        privacy: What is protected.
        size: Number of nodes if it is public.
        max_degree: Default bound on degrees.
        per_node: Default bound on the triangles of one person.
        attributes: Declared values of the nodes' columns, as JSON values.
    """

    name: str
    privacy: Privacy
    size: int | None
    max_degree: int | None
    per_node: int | None
    attributes: Mapping[str, tuple[Hashable, ...]]


@dataclass(frozen=True, slots=True)
class Verb:
    """How the answer of a verb is made.

    Args:
        query: The query of a network, from its public properties, epsilon and the verb's other parameters.
        outcome: What is computed from the query's noisy result.
    """

    query: Callable[[NetworkProperties, Number, Mapping[str, Any]], GraphQuery[Any]]
    outcome: Callable[[Any, Mapping[str, Any]], Outcome]

    @property
    def is_plain(self) -> bool:
        """Whether the outcome is the noisy result itself."""
        return self.outcome is _itself


def _edges(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    return edge_count(privacy=properties.privacy, epsilon=epsilon, max_degree=_degree(properties, given))


def _degrees(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> DegreeCounts:
    return degree_counts(
        privacy=properties.privacy, epsilon=epsilon, max_degree=_degree(properties, given), size=properties.size
    )


def _triangles(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    bound = given.get("per_node", properties.per_node)
    return triangle_count(privacy=properties.privacy, epsilon=epsilon, per_node=bound, size=properties.size)


def _clustering(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    return closed_paths(
        privacy=properties.privacy,
        epsilon=epsilon,
        max_degree=_degree(properties, given),
        per_node=given.get("per_node", properties.per_node),
        size=properties.size,
    )


def _assortativity(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    groups = properties.attributes.get(str(given.get("attribute")))
    if groups is None:
        known = ", ".join(properties.attributes) or "none has any"
        raise BadInput(
            "An attribute is a column of the nodes with declared values.",
            next_step=f"Give an attribute, one of: {known}.",
        )
    return group_edges(
        privacy=properties.privacy, epsilon=epsilon, groups=groups, max_degree=_degree(properties, given)
    )


def _bound(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    return degree_bound(privacy=properties.privacy, epsilon=epsilon, then=given.get("then"))


def _stars(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    rays, query = read_count(given.get("k"), name="k", most=100), _degrees(properties, epsilon, given)
    if math.comb(query.max_degree, rays) > _MOST_STARS:
        raise TooLarge("The number of stars would overflow.", next_step="Give a smaller k or max_degree.")
    return query


def _rumour(properties: NetworkProperties, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    read_transmission(given.get("transmission"))
    return _degrees(properties, epsilon, given)


def _degree(properties: NetworkProperties, given: Mapping[str, Any]) -> int | None:
    most: int | None = given.get("max_degree", properties.max_degree)
    return most


def _itself(outcome: Outcome, _: Mapping[str, Any]) -> Outcome:
    return outcome


def _stars_of(spread: Degrees, given: Mapping[str, Any]) -> GraphStatistic:
    rays = given["k"]

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        low, high = spread.stars_interval(rays, level)
        return Fraction(low), Fraction(high)

    number = Statistic(spread.stars(rays), spread.loss, around)
    return GraphStatistic.of(number, privacy=spread.privacy, bias=spread.bias)


VERBS: dict[str, Verb] = {
    "edges": Verb(_edges, _itself),
    "degrees": Verb(_degrees, _itself),
    "triangles": Verb(_triangles, _itself),
    "stars": Verb(_stars, _stars_of),
    "clustering": Verb(_clustering, _itself),
    "assortativity": Verb(_assortativity, _itself),
    "rumour": Verb(_rumour, lambda spread, given: rumour(spread, transmission=given["transmission"])),
    "bound": Verb(_bound, _itself),
}
"""Stars and rumours are computed from degrees, and free if the same degrees were charged before."""


def unknown_network(known: Iterable[str]) -> UnknownName:
    """The refusal of a name that the catalog does not have. The names that it has are public."""
    listed = ", ".join(known) or "it has none"
    return UnknownName("The catalog has no such network.", next_step=f"Use one that it declares: {listed}.")

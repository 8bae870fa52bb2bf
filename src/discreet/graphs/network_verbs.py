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
    Privacy.EDGE: "one edge: somebody with k edges is protected at k times this epsilon",
    Privacy.NODE: "one person, with all their edges",
}
_MOST_STARS = 10**250
"""Of one node: what all of them add up to is a double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFacts:
    """What is public about a network.

    Args:
        name: What the catalog calls it.
        privacy: What is protected in it.
        size: How many nodes there are, where that is public.
        max_degree: The most edges of a person that count, unless a query says otherwise.
        per_node: The most triangles of a person that count, unless a query says otherwise.
        attributes: The declared values of columns of its nodes, as JSON has them.
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
        query: The query of a network, from its public facts, epsilon and the verb's other parameters.
        outcome: What is computed from the query's noisy result.
    """

    query: Callable[[NetworkFacts, Number, Mapping[str, Any]], GraphQuery[Any]]
    outcome: Callable[[Any, Mapping[str, Any]], Outcome]

    @property
    def is_plain(self) -> bool:
        """Whether the outcome is the noisy result itself."""
        return self.outcome is _itself


def _edges(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    return edge_count(privacy=facts.privacy, epsilon=epsilon, max_degree=_degree(facts, given))


def _degrees(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> DegreeCounts:
    return degree_counts(privacy=facts.privacy, epsilon=epsilon, max_degree=_degree(facts, given), size=facts.size)


def _triangles(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    bound = given.get("per_node", facts.per_node)
    return triangle_count(privacy=facts.privacy, epsilon=epsilon, per_node=bound, size=facts.size)


def _clustering(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    return closed_paths(
        privacy=facts.privacy,
        epsilon=epsilon,
        max_degree=_degree(facts, given),
        per_node=given.get("per_node", facts.per_node),
        size=facts.size,
    )


def _assortativity(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    groups = facts.attributes.get(str(given.get("attribute")))
    if groups is None:
        known = ", ".join(facts.attributes) or "none has any"
        raise BadInput(
            "An attribute is a column of the nodes with declared values.",
            next_step=f"Give an attribute, one of: {known}.",
        )
    return group_edges(privacy=facts.privacy, epsilon=epsilon, groups=groups, max_degree=_degree(facts, given))


def _bound(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    return degree_bound(privacy=facts.privacy, epsilon=epsilon, then=given.get("then"))


def _stars(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    rays, query = read_count(given.get("k"), name="k", most=100), _degrees(facts, epsilon, given)
    if math.comb(query.max_degree, rays) > _MOST_STARS:
        raise TooLarge("So many stars are no number that can be told.", next_step="Give a smaller k or max_degree.")
    return query


def _rumour(facts: NetworkFacts, epsilon: Number, given: Mapping[str, Any]) -> GraphQuery[Any]:
    read_transmission(given.get("transmission"))
    return _degrees(facts, epsilon, given)


def _degree(facts: NetworkFacts, given: Mapping[str, Any]) -> int | None:
    most: int | None = given.get("max_degree", facts.max_degree)
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
"""Stars and rumours are computed from degrees: asked beside them, they cost nothing more."""


def unknown_network(known: Iterable[str]) -> UnknownName:
    """The refusal of a name that the catalog does not have. The names that it has are public."""
    listed = ", ".join(known) or "it has none"
    return UnknownName("The catalog has no such network.", next_step=f"Use one that it declares: {listed}.")

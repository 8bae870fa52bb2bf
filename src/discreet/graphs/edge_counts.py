"""The number of edges, and a private bound on the number of edges of one person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.exact import Number, read_epsilon
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.errors import BadInput
from discreet.graphs.network_query import Drawn, GraphQuery, answer_query
from discreet.graphs.protected_graph import Graph, GraphStatistic, Privacy, read_graph, read_max_degree, read_privacy
from discreet.mechanisms import GeneralizedExponential, Laplace
from discreet.mechanisms.statistics.bounded import Account
from discreet.mechanisms.statistics.statistic import Statistic
from discreet.noise import RandomBits

EDGE_BIAS = "edges beyond max_degree are left out, so it is too low rather than too high"
DEGREES = tuple(2**power for power in range(17))
"""Candidates for a bound; public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeCount(GraphQuery[GraphStatistic]):
    """Count the edges; with node privacy, those that remain when degrees are bounded.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        max_degree: With node privacy, the number of one person's edges that count; otherwise None.
    """

    privacy: Privacy
    epsilon: Fraction
    max_degree: int | None

    @property
    def mechanisms(self) -> tuple[Laplace]:
        return (Laplace(sensitivity=self.max_degree or 1, epsilon=self.epsilon),)

    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002
        counted = network if self.max_degree is None else network.projected(self.max_degree)
        return [self.mechanisms[0].release(len(counted.ends), bits)]

    def result(self, drawn: Drawn) -> GraphStatistic:
        (mechanism,), (noisy,) = self.mechanisms, drawn
        released = with_error(mechanism, noisy, Loss(mechanism.pure_epsilon))
        return GraphStatistic.of(released, privacy=self.privacy, bias=EDGE_BIAS if self.max_degree else "")

    @property
    def within(self) -> float:
        return float(self.mechanisms[0].error(CONFIDENCE))


def edge_count(*, privacy: Privacy, epsilon: Number, max_degree: int | None) -> EdgeCount:
    """Check the parameters and return the query.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        max_degree: Required with node privacy; ignored with edge privacy.
    """
    most = None if privacy is Privacy.EDGE else read_max_degree(max_degree, privacy=privacy)
    return EdgeCount(privacy=privacy, epsilon=read_epsilon(epsilon), max_degree=most)


def edges(
    graph: Graph,
    *,
    epsilon: Number,
    privacy: Privacy | str,
    max_degree: int | None = None,
    account: Account | None = None,
) -> GraphStatistic:
    """Count the edges, with noise.

    Args:
        graph: The network.
        epsilon: Privacy cost for one edge or one person. There is no default.
        privacy: "edge" protects one edge, "node" one person with all their edges.
        max_degree: With node privacy, the number of one person's edges that count, from public knowledge.
        account: Charged before any noise is drawn. Without it nothing is charged.
    """
    query = edge_count(privacy=read_privacy(privacy), epsilon=epsilon, max_degree=max_degree)
    return answer_query(read_graph(graph).exact, query, account)


@dataclass(frozen=True, slots=True, repr=False)
class FoundBound:
    """A bound on degrees that was found privately: use it as `max_degree` if no bound is known.

    Args:
        max_degree: The bound.
    """

    max_degree: int
    bias: ClassVar[str] = "the bound keeps most edges; nothing about it is exact"

    def __repr__(self) -> str:
        return f"max_degree {self.max_degree:,} was found for a person"


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeBound(GraphQuery[FoundBound]):
    """Choose a bound among 1, 2, 4, ..., 65,536: its score is the number of edges that it keeps minus its noise scale.

    Args:
        privacy: Node privacy; edge privacy needs no bound.
        epsilon: Privacy cost of the choice.
        then: The epsilon of the later answer: a larger bound means more noise there.
    """

    privacy: Privacy
    epsilon: Fraction
    then: Fraction

    @property
    def mechanisms(self) -> tuple[GeneralizedExponential]:
        return (GeneralizedExponential(sensitivities=DEGREES, epsilon=self.epsilon),)

    def check(self) -> None:
        for bound in (DEGREES[0], DEGREES[-1]):  # refuses a scale for which no noise can be drawn
            Laplace(sensitivity=bound, epsilon=self.then)

    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002
        worth = [len(network.projected(bound).ends) - int(bound / self.then) for bound in DEGREES]
        return [int(self.mechanisms[0].release(np.array(worth, np.int64), bits))]

    def result(self, drawn: Drawn) -> FoundBound:
        return FoundBound(DEGREES[drawn[0]])


def degree_bound(*, privacy: Privacy, epsilon: Number, then: Number | None) -> DegreeBound:
    """Check the parameters and return the query.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost of the choice.
        then: The epsilon of the later answer.
    """
    if privacy is Privacy.EDGE:
        raise BadInput("With edge privacy no query needs a bound on degrees.", next_step="Ask without a bound.")
    exact = read_epsilon(epsilon)
    return DegreeBound(privacy=privacy, epsilon=exact, then=read_epsilon(then, name="then"))


def find_max_degree(graph: Graph, *, epsilon: Number, then: Number, account: Account | None = None) -> int:
    """Find a bound on degrees that keeps most edges with little noise, with node privacy. Use it as `max_degree`.

    One of 1, 2, 4, ..., 65,536 is chosen by the number of edges that it keeps minus its noise scale.

    Args:
        graph: The network.
        epsilon: Privacy cost of the choice, for one person. There is no default.
        then: The epsilon of the later answer: a larger bound means more noise there.
        account: Charged before any noise is drawn. Without it nothing is charged.
    """
    query = degree_bound(privacy=Privacy.NODE, epsilon=epsilon, then=then)
    return answer_query(read_graph(graph).exact, query, account).max_degree


def with_error(mechanism: Laplace, noisy: int, loss: Loss) -> Statistic:
    """Return a noisy count as a statistic with intervals, clipped at 0.

    Args:
        mechanism: Its noise is in the count.
        noisy: The noisy count.
        loss: Privacy cost.
    """

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        width = mechanism.error(level)
        return Fraction(max(0, noisy - width)), Fraction(max(0, noisy + width))

    return Statistic(float(max(0, noisy)), loss, around)

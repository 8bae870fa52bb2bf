"""How many edges there are, and a bound on those of a person."""

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
from discreet.graphs.network_query import Drawn, GraphQuery, answered
from discreet.graphs.protected_graph import Graph, GraphStatistic, Privacy, read_graph, read_max_degree, read_privacy
from discreet.mechanisms import GeneralizedExponential, Laplace
from discreet.mechanisms.statistics.bounded import Account
from discreet.mechanisms.statistics.statistic import Statistic
from discreet.noise import RandomBits

CUT = "edges beyond max_degree are left out, so it is too low rather than too high"
DEGREES = tuple(2**power for power in range(17))
"""Bounds among which one is searched: public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeCount(GraphQuery[GraphStatistic]):
    """How many edges there are; with node privacy, of those that bounding degrees leaves.

    Args:
        privacy: What is protected.
        epsilon: How much may be learned about it.
        max_degree: With node privacy, the most edges of a person that count; else None.
    """

    privacy: Privacy
    epsilon: Fraction
    max_degree: int | None

    @property
    def mechanisms(self) -> tuple[Laplace]:
        return (Laplace(sensitivity=self.max_degree or 1, epsilon=self.epsilon),)

    def drawn(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002  it takes no time
        counted = network if self.max_degree is None else network.projected(self.max_degree)
        return [self.mechanisms[0].release(len(counted.ends), bits)]

    def told(self, drawn: Drawn) -> GraphStatistic:
        (mechanism,), (noisy,) = self.mechanisms, drawn
        released = with_error(mechanism, noisy, Loss(mechanism.pure_epsilon))
        return GraphStatistic.of(released, privacy=self.privacy, bias=CUT if self.max_degree else "")

    @property
    def within(self) -> float:
        return float(self.mechanisms[0].error(CONFIDENCE))


def edge_count(*, privacy: Privacy, epsilon: Number, max_degree: int | None) -> EdgeCount:
    """The query, checked.

    Args:
        privacy: What is protected.
        epsilon: How much may be learned about it.
        max_degree: Needed with node privacy; not looked at without.
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
    """How many edges there are.

    Args:
        graph: The network.
        epsilon: How much may be learned about an edge, or about a person; there is no default.
        privacy: "edge" or "node": which of the two.
        max_degree: With node privacy: the most edges of a person that count, from public knowledge.
        account: What pays for it; nothing is drawn unless it does.
    """
    query = edge_count(privacy=read_privacy(privacy), epsilon=epsilon, max_degree=max_degree)
    return answered(read_graph(graph).exact, query, account)


@dataclass(frozen=True, slots=True, repr=False)
class FoundBound:
    """A bound on degrees that was found privately, for whoever knows none: to be given as `max_degree`.

    Args:
        max_degree: It.
    """

    max_degree: int
    bias: ClassVar[str] = "it keeps most edges, about, and is exact in nothing"

    def __repr__(self) -> str:
        return f"max_degree {self.max_degree:,} was found for a person"


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeBound(GraphQuery[FoundBound]):
    """One of 1, 2, 4, ..., 65,536, by how many edges each keeps less the noise that it costs.

    Args:
        privacy: Of a node: nothing else needs it.
        epsilon: How much may be learned about a person by looking for it.
        then: The epsilon of the answer that it is for: a wider bound has more noise there.
    """

    privacy: Privacy
    epsilon: Fraction
    then: Fraction

    @property
    def mechanisms(self) -> tuple[GeneralizedExponential]:
        return (GeneralizedExponential(sensitivities=DEGREES, epsilon=self.epsilon),)

    def check(self) -> None:
        for bound in (DEGREES[0], DEGREES[-1]):  # that there is such noise at all: by its width a bound is chosen
            Laplace(sensitivity=bound, epsilon=self.then)

    def drawn(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002  it takes no time
        worth = [len(network.projected(bound).ends) - int(bound / self.then) for bound in DEGREES]
        return [int(self.mechanisms[0].release(np.array(worth, np.int64), bits))]

    def told(self, drawn: Drawn) -> FoundBound:
        return FoundBound(DEGREES[drawn[0]])


def degree_bound(*, privacy: Privacy, epsilon: Number, then: Number | None) -> DegreeBound:
    """The query, checked.

    Args:
        privacy: What is protected.
        epsilon: How much may be learned about it.
        then: The epsilon of the answer that the bound is for.
    """
    if privacy is Privacy.EDGE:
        raise BadInput("With edge privacy nothing needs a bound on degrees.", next_step="Ask without one.")
    exact = read_epsilon(epsilon)
    return DegreeBound(privacy=privacy, epsilon=exact, then=read_epsilon(then, name="then"))


def find_max_degree(graph: Graph, *, epsilon: Number, then: Number, account: Account | None = None) -> int:
    """A bound on degrees that keeps most edges and is not too wide, private for a person: for whoever knows none.

    One of 1, 2, 4, ..., 65,536, by how many edges each keeps less the noise that it costs. Give it as `max_degree`.

    Args:
        graph: The network.
        epsilon: How much may be learned about a person by looking for it; there is no default.
        then: The epsilon of the answer that it is for: a wider bound has more noise there.
        account: What pays for it; nothing is drawn unless it does.
    """
    query = degree_bound(privacy=Privacy.NODE, epsilon=epsilon, then=then)
    return answered(read_graph(graph).exact, query, account).max_degree


def with_error(mechanism: Laplace, noisy: int, loss: Loss) -> Statistic:
    """A noisy count with its ±, at least 0.

    Args:
        mechanism: Whose noise is in it.
        noisy: What was drawn.
        loss: What it cost.
    """

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        width = mechanism.error(level)
        return Fraction(max(0, noisy - width)), Fraction(max(0, noisy + width))

    return Statistic(float(max(0, noisy)), loss, around)

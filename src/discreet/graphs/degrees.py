"""The degree distribution: one noisy release, and statistics that are computed from it at no further cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exact, read_count, read_epsilon
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.graphs.edge_counts import EDGE_BIAS
from discreet.graphs.network_query import Drawn, GraphQuery, answer_query
from discreet.graphs.protected_graph import Graph, Privacy, read_graph, read_max_degree, read_privacy
from discreet.mechanisms import Laplace
from discreet.mechanisms.statistics.bounded import Account
from discreet.noise import RandomBits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Degrees:
    """Noisy cumulative counts of nodes by degree. Everything computed from them is free.

    Args:
        at_most: Number of nodes with a degree of at most 0, 1, ...: integers in ascending order.
        noisy: The counts as they were released, before they were made ascending.
        size: Number of nodes: public with edge privacy, noisy with node privacy.
        mechanism: Its noise is in the counts.
        privacy: What is protected.
    """

    at_most: Integers
    noisy: Integers
    size: int
    mechanism: Laplace
    privacy: Privacy

    @property
    def loss(self) -> Loss:
        """Privacy cost."""
        return Loss(self.mechanism.pure_epsilon)

    @property
    def bias(self) -> str:
        """What the counts leave out, in words; empty if nothing."""
        if self.privacy is Privacy.NODE:
            return EDGE_BIAS
        return "" if self._has_all else "nodes with more edges than max_degree are left out"

    @property
    def _has_all(self) -> bool:
        """Whether the counts include all nodes, so that the last count is public."""
        return self.privacy is Privacy.EDGE and len(self.noisy) >= self.size

    def error(self, confidence: Number) -> int:
        """Largest error of *all* released counts at once.

        Args:
            confidence: Share of releases in which it holds, such as 0.95.
        """
        return _error_of_all(self.mechanism, confidence)

    @property
    def counts(self) -> Integers:
        """Number of nodes with each degree."""
        return np.diff(self.at_most, prepend=0)

    @property
    def distribution(self) -> Floats:
        """Share of nodes with each degree."""
        counts = self.counts
        return counts / max(1, int(counts.sum()))

    def stars(self, k: int) -> float:
        """Number of sets of k edges that meet in a node: for k = 2, of paths of two edges.

        Args:
            k: From 1 to 100.
        """
        rays = read_count(k, name="k", most=100)
        return math.fsum(
            int(count) * math.comb(degree, rays) for degree, count in enumerate(self.counts.tolist()) if count
        )

    def stars_interval(self, k: int, level: Number) -> tuple[float, float]:
        """Interval for the number of k-stars in the graph with bounded degrees.

        It follows from a band that contains all released counts at once. It is wide if `max_degree` is large, because
        the release does not show that large degrees are absent.

        Args:
            k: From 1 to 100.
            level: Share of releases in which the interval holds, such as 0.95.
        """
        rays, width = read_count(k, name="k", most=100), self.error(level)
        low_at_most = np.maximum.accumulate(self.noisy - width).clip(0)
        high_at_most = np.minimum.accumulate((self.noisy + width)[::-1])[::-1].clip(0)
        fewest_nodes, most_nodes = (self.size,) * 2 if self._has_all else (int(low_at_most[-1]), int(high_at_most[-1]))
        steps = [math.comb(degree, rays - 1) for degree in range(len(self.noisy))]  # C(d+1, k) - C(d, k)

        def stars_of(at_most: Integers, nodes: int) -> float:
            return math.fsum(step * max(0, nodes - at) for step, at in zip(steps, at_most.tolist(), strict=True))

        return stars_of(high_at_most, fewest_nodes), stars_of(low_at_most, most_nodes)

    @property
    def mean(self) -> float:
        """Mean degree."""
        return float((self.distribution * np.arange(len(self.at_most))).sum())

    @property
    def branching(self) -> float:
        """⟨k(k-1)⟩/⟨k⟩: mean number of further neighbours of a neighbour.

        A rumour spreads if transmission times branching is above 1.
        """
        return 2 * self.stars(2) / max(1.0, self.stars(1))

    def __repr__(self) -> str:
        whom = "an edge" if self.privacy is Privacy.EDGE else "a person"
        return f"Degrees of about {self.size:,} nodes, mean {self.mean:.4g}, ε {self.loss.epsilon:.4g} for {whom}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeCounts(GraphQuery[Degrees]):
    """Count the nodes with a degree of at most 0, 1, ..., `max_degree`.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        max_degree: Largest degree that is counted; with node privacy, the number of one person's edges that count.
        size: Number of nodes with edge privacy, otherwise None.
    """

    privacy: Privacy
    epsilon: Fraction
    max_degree: int
    size: int | None

    @property
    def mechanisms(self) -> tuple[Laplace]:
        """L1 sensitivity: 2 for an edge; max_degree + 1 for a person, once degrees are bounded."""
        width = 2 if self.privacy is Privacy.EDGE else self.max_degree + 1
        return (Laplace(sensitivity=width, epsilon=self.epsilon, size=self.max_degree + 1),)

    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002
        counted = network if self.privacy is Privacy.EDGE else network.projected(self.max_degree)
        noisy: list[int] = self.mechanisms[0].release(counted.at_most(self.max_degree), bits).tolist()
        return noisy

    def result(self, drawn: Drawn) -> Degrees:
        noisy = np.array(drawn, np.int64)
        ordered = _in_order(noisy, self.size)
        size = int(ordered[-1]) if self.size is None else self.size
        return Degrees(ordered, noisy, size, self.mechanisms[0], self.privacy)

    @property
    def within(self) -> float:
        return float(_error_of_all(self.mechanisms[0], CONFIDENCE))


def degree_counts(*, privacy: Privacy, epsilon: Number, max_degree: int | None, size: int | None) -> DegreeCounts:
    """Check the parameters and return the query.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        max_degree: Required with node privacy. With edge privacy, the default is the largest possible degree.
        size: Number of nodes if it is public.
    """
    most = None if privacy is Privacy.NODE or size is None else max(1, size - 1)
    if max_degree is not None or most is None:
        most = read_max_degree(max_degree, privacy=privacy)
    nodes = size if privacy is Privacy.EDGE else None
    return DegreeCounts(privacy=privacy, epsilon=read_epsilon(epsilon), max_degree=most, size=nodes)


def degrees(
    graph: Graph,
    *,
    epsilon: Number,
    privacy: Privacy | str,
    max_degree: int | None = None,
    account: Account | None = None,
) -> Degrees:
    """Count the nodes with a degree of at most 0, 1, ..., `max_degree`, with noise.

    Args:
        graph: The network.
        epsilon: Privacy cost for one edge or one person. There is no default.
        privacy: "edge" protects one edge, "node" one person with all their edges.
        max_degree: With node privacy, the number of one person's edges that count. With edge privacy, nodes with more
            edges are left out; by default none are.
        account: Charged before any noise is drawn. Without it nothing is charged.
    """
    kind, whole = read_privacy(privacy), read_graph(graph).exact
    query = degree_counts(privacy=kind, epsilon=epsilon, max_degree=max_degree, size=whole.size)
    return answer_query(whole, query, account)


def _error_of_all(mechanism: Laplace, confidence: Number) -> int:
    """Largest error of all counts of a release at once, by a union bound."""
    return mechanism.error(1 - (1 - exact(confidence)) / mechanism.size)


def _in_order(noisy: Integers, most: int | None) -> Integers:
    """Round the least-squares fit among ascending sequences (pool adjacent violators), clipped to 0 and `most`."""
    sums: list[float] = []
    lengths: list[int] = []
    for value in noisy.tolist():
        total, length = float(value), 1
        while sums and sums[-1] * length > total * lengths[-1]:
            total, length = total + sums.pop(), length + lengths.pop()
        sums.append(total)
        lengths.append(length)
    fitted = np.repeat(np.array(sums) / np.array(lengths), lengths)
    return np.rint(np.clip(fitted, 0, most)).astype(np.int64)

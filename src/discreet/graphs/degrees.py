"""How many people have how many edges: one release, and much that follows from it for free."""

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
from discreet.graphs.edge_counts import CUT
from discreet.graphs.network_query import Drawn, GraphQuery, answered
from discreet.graphs.protected_graph import Graph, Privacy, read_graph, read_max_degree, read_privacy
from discreet.mechanisms import Laplace
from discreet.mechanisms.statistics.bounded import Account
from discreet.noise import RandomBits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Degrees:
    """Noisy numbers of nodes by degree; what is computed from them costs nothing more.

    Args:
        at_most: How many nodes have a degree of at most 0, 1, ...: whole numbers that never fall.
        noisy: The same as they were released, before they were put in order.
        size: How many nodes there are: public with edge privacy, noisy with node privacy.
        mechanism: What they were drawn from.
        privacy: What is protected.
    """

    at_most: Integers
    noisy: Integers
    size: int
    mechanism: Laplace
    privacy: Privacy

    @property
    def loss(self) -> Loss:
        """What it cost."""
        return Loss(self.mechanism.pure_epsilon)

    @property
    def bias(self) -> str:
        """What the released numbers leave out."""
        if self.privacy is Privacy.NODE:
            return CUT
        return "" if self._has_all else "nodes with more edges than max_degree are left out"

    @property
    def _has_all(self) -> bool:
        """Whether no node can be left out, so that the last number is public."""
        return self.privacy is Privacy.EDGE and len(self.noisy) >= self.size

    def error(self, confidence: Number) -> int:
        """How far off *all* of the released numbers may be, at once.

        Args:
            confidence: In which share of all releases, such as 0.95.
        """
        return _error_of_all(self.mechanism, confidence)

    @property
    def counts(self) -> Integers:
        """How many nodes have each degree."""
        return np.diff(self.at_most, prepend=0)

    @property
    def distribution(self) -> Floats:
        """The share of nodes with each degree."""
        counts = self.counts
        return counts / max(1, int(counts.sum()))

    def stars(self, k: int) -> float:
        """How many sets of k edges meet in a node: paths of two edges for k = 2.

        Args:
            k: How many edges, at least 1.
        """
        rays = read_count(k, name="k", most=100)
        return math.fsum(
            int(count) * math.comb(degree, rays) for degree, count in enumerate(self.counts.tolist()) if count
        )

    def stars_interval(self, k: int, level: Number) -> tuple[float, float]:
        """(low, high): where the number of stars of the bounded graph lies, from a band that all released numbers keep at once.

        It is wide where large degrees are allowed: nobody knows that there are none.

        Args:
            k: How many edges.
            level: In which share of all releases, such as 0.95.
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
        """The mean degree."""
        return float((self.distribution * np.arange(len(self.at_most))).sum())

    @property
    def branching(self) -> float:
        """⟨k(k-1)⟩/⟨k⟩: how many further neighbours a neighbour has. A rumour spreads if its transmission times this is above 1."""
        return 2 * self.stars(2) / max(1.0, self.stars(1))

    def __repr__(self) -> str:
        whom = "an edge" if self.privacy is Privacy.EDGE else "a person"
        return f"Degrees of about {self.size:,} nodes, mean {self.mean:.4g}, ε {self.loss.epsilon:.4g} for {whom}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeCounts(GraphQuery[Degrees]):
    """How many nodes have a degree of at most 0, 1, ..., `max_degree`.

    Args:
        privacy: What is protected.
        epsilon: How much may be learned about it.
        max_degree: The largest degree that is told apart; with node privacy, the most edges of a person that count.
        size: How many nodes there are, with edge privacy; else None.
    """

    privacy: Privacy
    epsilon: Fraction
    max_degree: int
    size: int | None

    @property
    def mechanisms(self) -> tuple[Laplace]:
        """An edge moves these numbers by 2 in all, a person by max_degree + 1 once degrees are bounded."""
        width = 2 if self.privacy is Privacy.EDGE else self.max_degree + 1
        return (Laplace(sensitivity=width, epsilon=self.epsilon, size=self.max_degree + 1),)

    def drawn(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002  it takes no time
        counted = network if self.privacy is Privacy.EDGE else network.projected(self.max_degree)
        noisy: list[int] = self.mechanisms[0].release(counted.at_most(self.max_degree), bits).tolist()
        return noisy

    def told(self, drawn: Drawn) -> Degrees:
        noisy = np.array(drawn, np.int64)
        ordered = _in_order(noisy, self.size)
        size = int(ordered[-1]) if self.size is None else self.size
        return Degrees(ordered, noisy, size, self.mechanisms[0], self.privacy)

    @property
    def within(self) -> float:
        return float(_error_of_all(self.mechanisms[0], CONFIDENCE))


def degree_counts(*, privacy: Privacy, epsilon: Number, max_degree: int | None, size: int | None) -> DegreeCounts:
    """The query, checked.

    Args:
        privacy: What is protected.
        epsilon: How much may be learned about it.
        max_degree: Needed with node privacy; without, all degrees that there can be where it is left out.
        size: How many nodes there are, where that is public.
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
    """How many nodes have a degree of at most 0, 1, ..., `max_degree`.

    Args:
        graph: The network.
        epsilon: How much may be learned about an edge, or about a person; there is no default.
        privacy: "edge" or "node": which of the two.
        max_degree: With node privacy: the most edges of a person that count. With edge privacy: nodes with more edges are left out; none are if it is not given.
        account: What pays for it; nothing is drawn unless it does.
    """
    kind, whole = read_privacy(privacy), read_graph(graph).exact
    query = degree_counts(privacy=kind, epsilon=epsilon, max_degree=max_degree, size=whole.size)
    return answered(whole, query, account)


def _error_of_all(mechanism: Laplace, confidence: Number) -> int:
    """How far off all numbers of a release may be, at once."""
    return mechanism.error(1 - (1 - exact(confidence)) / mechanism.size)


def _in_order(noisy: Integers, most: int | None) -> Integers:
    """The whole numbers closest to a least-squares fit that never falls, from 0 to `most`."""
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

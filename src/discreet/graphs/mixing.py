"""Edges between groups of nodes, and the assortativity coefficient: whether neighbours share an attribute."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, read_epsilon, read_level
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.errors import BadInput, TooLarge
from discreet.graphs.edge_counts import EDGE_BIAS
from discreet.graphs.network_query import Drawn, GraphQuery, answer_query
from discreet.graphs.protected_graph import Graph, Privacy, read_graph, read_max_degree, read_privacy
from discreet.mechanisms import Laplace
from discreet.mechanisms.statistics.bounded import Account
from discreet.noise import SYSTEM_BITS, RandomBits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_CELLS = 20_000
"""Pairs of groups; 199 groups have 19,900."""
_FEWEST_DRAWS, _DRAWS, _NUMBERS_DRAWN = 200, 2000, 4_000_000


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Mixing:
    """Noisy numbers of edges between groups.

    Args:
        groups: The values of the attribute.
        cells: Edges between group i and group j for i <= j, in the order of `itertools.combinations_with_replacement`.
        mechanism: Its noise is in the cells.
        privacy: What is protected.
    """

    groups: tuple[Hashable, ...]
    cells: Integers
    mechanism: Laplace
    privacy: Privacy

    @property
    def loss(self) -> Loss:
        """Privacy cost."""
        return Loss(self.mechanism.pure_epsilon)

    @property
    def bias(self) -> str:
        """What the cells leave out, in words; empty if nothing."""
        return f"between any two groups, {EDGE_BIAS}" if self.privacy is Privacy.NODE else ""

    @property
    def rows(self) -> list[dict[str, object]]:
        """One dict per cell: both groups, the noisy number of edges, and the half-width of its 95 % interval."""
        width = self.mechanism.error(0.95)
        pairs = itertools.combinations_with_replacement(self.groups, 2)
        return [
            {"one": one, "other": other, "edges": int(cell), "error": width}
            for (one, other), cell in zip(pairs, self.cells.tolist(), strict=True)
        ]

    @property
    def coefficient(self) -> float:
        """Newman's assortativity: 1 if all edges are within groups, 0 if groups do not matter."""
        return float(_coefficients(self.cells[None, :], len(self.groups))[0])

    def interval(self, level: Number, bits: RandomBits = SYSTEM_BITS) -> tuple[float, float]:
        """Approximate interval for the coefficient of the bounded graph, by a parametric bootstrap.

        Args:
            level: Share of releases in which the interval should hold, such as 0.95.
            bits: Source of randomness.
        """
        beta = 1 - float(read_level(level, name="level"))
        times = max(_FEWEST_DRAWS, min(_DRAWS, _NUMBERS_DRAWN // self.cells.size))
        noise = Laplace(
            sensitivity=self.mechanism.sensitivity, epsilon=self.mechanism.epsilon, size=times * self.cells.size
        )
        drawn = noise.release(np.tile(self.cells, times), bits).reshape(times, -1)
        low, high = np.quantile(_coefficients(drawn, len(self.groups)), [beta / 2, 1 - beta / 2])
        # Basic bootstrap: the error of the release is mirrored, because new noise is added to noisy cells and not to
        # true ones.
        return 2 * self.coefficient - float(high), 2 * self.coefficient - float(low)

    def __repr__(self) -> str:
        low, high = self.interval(0.95)
        whom = "an edge" if self.privacy is Privacy.EDGE else "a person"
        return (
            f"assortativity {self.coefficient:.3g}, from {low:.3g} to {high:.3g}, ε {self.loss.epsilon:.4g} for {whom}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEdges(GraphQuery[Mixing]):
    """Count the edges between each two groups of nodes.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        groups: The values of the attribute, in the order of the nodes' group numbers.
        max_degree: With node privacy, the number of one person's edges to any one group that count; otherwise None.
    """

    privacy: Privacy
    epsilon: Fraction
    groups: tuple[Hashable, ...]
    max_degree: int | None

    @property
    def mechanisms(self) -> tuple[Laplace]:
        """L1 sensitivity with node privacy: a person's edges are in one cell per group, at most max_degree in each."""
        width = 1 if self.max_degree is None else len(self.groups) * self.max_degree
        return (Laplace(sensitivity=width, epsilon=self.epsilon, size=self.cells),)

    @property
    def cells(self) -> int:
        """Number of pairs of groups, including each group with itself."""
        return len(self.groups) * (len(self.groups) + 1) // 2

    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002
        counted = _counted(network, len(self.groups), self.max_degree)
        noisy: list[int] = self.mechanisms[0].release(counted, bits).tolist()
        return noisy

    def result(self, drawn: Drawn) -> Mixing:
        return Mixing(self.groups, np.array(drawn, np.int64), self.mechanisms[0], self.privacy)

    @property
    def within(self) -> float:
        return float(self.mechanisms[0].error(CONFIDENCE))


def group_edges(*, privacy: Privacy, epsilon: Number, groups: Sequence[Hashable], max_degree: int | None) -> GroupEdges:
    """Check the parameters and return the query.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        groups: Two or more values.
        max_degree: Required with node privacy; ignored with edge privacy.
    """
    values = tuple(groups)
    if len(values) < 2 or len(set(values)) < len(values):
        raise BadInput("Two or more different groups are needed.", next_step='Give groups=["red", "blue"].')
    most = None if privacy is Privacy.EDGE else read_max_degree(max_degree, privacy=privacy)
    query = GroupEdges(privacy=privacy, epsilon=read_epsilon(epsilon), groups=values, max_degree=most)
    if query.cells > MOST_CELLS:
        raise TooLarge(
            f"The groups have more than {MOST_CELLS:,} pairs.", next_step="Take an attribute with fewer values."
        )
    return query


def assortativity(
    graph: Graph,
    *,
    groups: Sequence[Hashable],
    epsilon: Number,
    privacy: Privacy | str,
    max_degree: int | None = None,
    account: Account | None = None,
) -> Mixing:
    """Count the edges between groups of nodes that share a value of an attribute, with noise.

    With node privacy, the edges between each two groups are bounded separately. With one bound for all of them, one
    person could move edges from one cell to another.

    Args:
        graph: The network, with its `attributes`. A node with another value is in no group.
        groups: The values, from public knowledge.
        epsilon: Privacy cost for one edge or one person. There is no default.
        privacy: "edge" protects one edge, "node" one person with all their edges. With "edge", attributes are public.
        max_degree: With node privacy, the number of one person's edges to any one group that count.
        account: Charged before any noise is drawn. Without it nothing is charged.
    """
    kind, whole = read_privacy(privacy), read_graph(graph)
    query = group_edges(privacy=kind, epsilon=epsilon, groups=groups, max_degree=max_degree)
    return answer_query(_grouped(whole, query.groups), query, account)


def _grouped(graph: Graph, values: tuple[Hashable, ...]) -> ExactGraph:
    """Return the network with the group number of each node."""
    numbers = {value: i for i, value in enumerate(values)}
    groups = [_group_number(numbers, graph.attributes.get(label)) for label in graph.exact.labels]
    return replace(graph.exact, groups=np.array(groups, np.int64))


def _counted(network: ExactGraph, groups: int, most: int | None) -> Integers:
    """Count the edges of each cell, at most `most` of one person's edges to any one group. One pass over all edges."""
    assert network.groups is not None  # noqa: S101  the network was read with groups
    of_ends = network.groups[network.ends].reshape(-1, 2)
    among = (of_ends >= 0).all(axis=1)
    ends, of_ends = network.ends[among], of_ends[among]
    if most is not None:
        # Split each person into one node per group of their neighbours: bounding degrees then bounds each cell
        # separately.
        sides, indices = np.unique(ends * groups + of_ends[:, ::-1], return_inverse=True)
        kept = ExactGraph(sides.size, indices.reshape(-1, 2)).projected(most).ends
        of_ends = sides[kept[:, ::-1]] % groups
    low, high = np.sort(of_ends, axis=1).T
    return np.bincount(low * groups - low * (low - 1) // 2 + high - low, minlength=groups * (groups + 1) // 2)


def _group_number(numbers: dict[Hashable, int], value: object) -> int:
    try:
        return numbers.get(value, -1)
    except Exception:  # noqa: BLE001  `__hash__` of a foreign object can raise anything; such a value is in no group
        return -1


def _coefficients(cells: Integers, groups: int) -> Floats:
    """(Σ e_ii - Σ a_i²) / (1 - Σ a_i²), where e is the matrix of shares of edge ends; negative cells count as 0."""
    first, second = np.triu_indices(groups)  # in the order of the cells
    positive = np.maximum(cells, 0).astype(np.float64)
    shares = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1.0)
    within = shares[:, first == second].sum(axis=1)
    sides = ((shares[:, first == group].sum(axis=1), shares[:, second == group].sum(axis=1)) for group in range(groups))
    chance = sum((((one + other) / 2) ** 2 for one, other in sides), np.zeros(len(cells)))
    return np.where(chance < 1, (within - chance) / np.maximum(1 - chance, 1e-12), 0.0)

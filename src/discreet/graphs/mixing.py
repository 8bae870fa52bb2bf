"""Whether friends share attributes: edges between groups, and how much more of them there are within than chance would have."""

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
from discreet.graphs.edge_counts import CUT
from discreet.graphs.network_query import Drawn, GraphQuery, answered
from discreet.graphs.protected_graph import Graph, Privacy, read_graph, read_max_degree, read_privacy
from discreet.mechanisms import Laplace
from discreet.mechanisms.statistics.bounded import Account
from discreet.noise import SYSTEM_BITS, RandomBits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_CELLS = 20_000
"""Pairs of groups: of 199 groups."""
_FEWEST_DRAWS, _DRAWS, _NUMBERS_DRAWN = 200, 2000, 4_000_000


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Mixing:
    """Noisy numbers of edges between groups.

    Args:
        groups: The values of the attribute.
        cells: Edges between group i and group j for i <= j, in the order of `itertools.combinations_with_replacement`.
        mechanism: What they were drawn from.
        privacy: What is protected.
    """

    groups: tuple[Hashable, ...]
    cells: Integers
    mechanism: Laplace
    privacy: Privacy

    @property
    def loss(self) -> Loss:
        """What it cost."""
        return Loss(self.mechanism.pure_epsilon)

    @property
    def bias(self) -> str:
        """What the released numbers leave out."""
        return f"between any two groups, {CUT}" if self.privacy is Privacy.NODE else ""

    @property
    def rows(self) -> list[dict[str, object]]:
        """One dict a cell: both groups, the noisy number of edges, and its ± in 95 of 100 releases."""
        width = self.mechanism.error(0.95)
        pairs = itertools.combinations_with_replacement(self.groups, 2)
        return [
            {"one": one, "other": other, "edges": int(cell), "error": width}
            for (one, other), cell in zip(pairs, self.cells.tolist(), strict=True)
        ]

    @property
    def coefficient(self) -> float:
        """Newman's assortativity: 1 where all edges are within groups, 0 where they are as by chance."""
        return float(_coefficients(self.cells[None, :], len(self.groups))[0])

    def interval(self, level: Number, bits: RandomBits = SYSTEM_BITS) -> tuple[float, float]:
        """(low, high) of the coefficient of the bounded graph, by drawing the noise anew around what was released: about that level.

        Args:
            level: In which share of all releases, such as 0.95.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        beta = 1 - float(read_level(level, name="level"))
        times = max(_FEWEST_DRAWS, min(_DRAWS, _NUMBERS_DRAWN // self.cells.size))
        noise = Laplace(
            sensitivity=self.mechanism.sensitivity, epsilon=self.mechanism.epsilon, size=times * self.cells.size
        )
        drawn = noise.release(np.tile(self.cells, times), bits).reshape(times, -1)
        low, high = np.quantile(_coefficients(drawn, len(self.groups)), [beta / 2, 1 - beta / 2])
        # Around what was released, noise goes the other way than around what is true.
        return 2 * self.coefficient - float(high), 2 * self.coefficient - float(low)

    def __repr__(self) -> str:
        low, high = self.interval(0.95)
        whom = "an edge" if self.privacy is Privacy.EDGE else "a person"
        return (
            f"assortativity {self.coefficient:.3g}, from {low:.3g} to {high:.3g}, ε {self.loss.epsilon:.4g} for {whom}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEdges(GraphQuery[Mixing]):
    """How many edges there are between each two groups of nodes.

    Args:
        privacy: What is protected.
        epsilon: How much may be learned about it.
        groups: What they are called, in the order of the nodes' groups.
        max_degree: With node privacy, the most edges of a person to any one group that count; else None.
    """

    privacy: Privacy
    epsilon: Fraction
    groups: tuple[Hashable, ...]
    max_degree: int | None

    @property
    def mechanisms(self) -> tuple[Laplace]:
        """Whoever comes has edges in the cells of their own group, one for each group, and moves each by max_degree at most."""
        width = 1 if self.max_degree is None else len(self.groups) * self.max_degree
        return (Laplace(sensitivity=width, epsilon=self.epsilon, size=self.cells),)

    @property
    def cells(self) -> int:
        """Pairs of groups, a group with itself among them."""
        return len(self.groups) * (len(self.groups) + 1) // 2

    def drawn(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:  # noqa: ARG002  it takes no time
        counted = _counted(network, len(self.groups), self.max_degree)
        noisy: list[int] = self.mechanisms[0].release(counted, bits).tolist()
        return noisy

    def told(self, drawn: Drawn) -> Mixing:
        return Mixing(self.groups, np.array(drawn, np.int64), self.mechanisms[0], self.privacy)

    @property
    def within(self) -> float:
        return float(self.mechanisms[0].error(CONFIDENCE))


def group_edges(*, privacy: Privacy, epsilon: Number, groups: Sequence[Hashable], max_degree: int | None) -> GroupEdges:
    """The query, checked.

    Args:
        privacy: What is protected.
        epsilon: How much may be learned about it.
        groups: Two or more.
        max_degree: Needed with node privacy; not looked at without.
    """
    values = tuple(groups)
    if len(values) < 2 or len(set(values)) < len(values):
        raise BadInput("Two or more different groups are needed.", next_step='Give groups=["red", "blue"].')
    most = None if privacy is Privacy.EDGE else read_max_degree(max_degree, privacy=privacy)
    query = GroupEdges(privacy=privacy, epsilon=read_epsilon(epsilon), groups=values, max_degree=most)
    if query.cells > MOST_CELLS:
        raise TooLarge(
            f"So many groups have more than {MOST_CELLS:,} pairs.", next_step="Take an attribute with fewer values."
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
    """How many edges there are between groups of nodes that share a value of an attribute.

    With node privacy the edges between each two groups are bounded by themselves: bounding all at once would let one person
    move edges from one cell to another.

    Args:
        graph: The network, with its `attributes`. Who has none of the values is in no group.
        groups: The values, from public knowledge.
        epsilon: How much may be learned about an edge, or about a person; there is no default.
        privacy: "edge" or "node": which of the two. With edge privacy attributes are public.
        max_degree: With node privacy: the most edges of a person to any one group that count.
        account: What pays for it; nothing is drawn unless it does.
    """
    kind, whole = read_privacy(privacy), read_graph(graph)
    query = group_edges(privacy=kind, epsilon=epsilon, groups=groups, max_degree=max_degree)
    return answered(_grouped(whole, query.groups), query, account)


def _grouped(graph: Graph, values: tuple[Hashable, ...]) -> ExactGraph:
    """A network with the group of each node."""
    place = {value: i for i, value in enumerate(values)}
    groups = [_place(place, graph.attributes.get(label)) for label in graph.exact.labels]
    return replace(graph.exact, groups=np.array(groups, np.int64))


def _counted(network: ExactGraph, groups: int, most: int | None) -> Integers:
    """How many edges there are in each cell, with `most` of those of a person to any one group: one pass over all edges, however many cells there are."""
    assert network.groups is not None  # noqa: S101  asked of networks that were read with them
    of_ends = network.groups[network.ends].reshape(-1, 2)
    among = (of_ends >= 0).all(axis=1)
    ends, of_ends = network.ends[among], of_ends[among]
    if most is not None:
        # A person's edges to a group are a node of their own: the edges between two groups meet in no such node those between others.
        sides, places = np.unique(ends * groups + of_ends[:, ::-1], return_inverse=True)
        kept = ExactGraph(sides.size, places.reshape(-1, 2)).projected(most).ends
        of_ends = sides[kept[:, ::-1]] % groups
    low, high = np.sort(of_ends, axis=1).T
    return np.bincount(low * groups - low * (low - 1) // 2 + high - low, minlength=groups * (groups + 1) // 2)


def _place(place: dict[Hashable, int], value: object) -> int:
    try:
        return place.get(value, -1)
    except Exception:  # noqa: BLE001  what cannot be hashed is no value, whatever it raises
        return -1


def _coefficients(cells: Integers, groups: int) -> Floats:
    """(Σ e_ii - Σ a_i²) / (1 - Σ a_i²), e the shares of edge ends; cells below 0 count as 0."""
    first, second = np.triu_indices(groups)  # in the order of the cells
    positive = np.maximum(cells, 0).astype(np.float64)
    shares = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1.0)
    within = shares[:, first == second].sum(axis=1)
    sides = ((shares[:, first == group].sum(axis=1), shares[:, second == group].sum(axis=1)) for group in range(groups))
    chance = sum((((one + other) / 2) ** 2 for one, other in sides), np.zeros(len(cells)))
    return np.where(chance < 1, (within - chance) / np.maximum(1 - chance, 1e-12), 0.0)

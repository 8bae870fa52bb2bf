"""Exact whole numbers of a graph: counts that noise is added to, and the cuts that bound what one person can change.

Nodes are declared and never read off the edges. Pairs are merged, loops dropped, and an edge with an undeclared end is no edge.
Nodes are numbered by a keyed digest of their labels, so that the order of all others stays when one of them leaves: what is cut
away must not depend on who else is there.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import OutOfTime

Integers = NDArray[np.int64]
_SALT_BYTES = 16
_FEW = 200
"""A sort takes so many times as long for each number as a table does for each cell."""
_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True, repr=False)
class ExactGraph:
    """An undirected graph over numbered nodes. Its repr shows nothing: everything here is exact.

    Args:
        size: How many nodes there are.
        ends: The edges as two columns, the lower number first, each edge once; in the order in which `projected` meets them.
        labels: What each node is called, in the order of the numbers; none where nobody asks for them.
        groups: The number of each node's group, -1 for none; None where nobody asks for them.
    """

    size: int
    ends: Integers
    labels: tuple[Hashable, ...] = ()
    groups: Integers | None = None
    _known: dict[str, Any] = field(default_factory=dict, compare=False)
    """What was computed once."""

    @classmethod
    def read(cls, edges: Iterable[Any], nodes: Iterable[Hashable], *, salt: bytes) -> ExactGraph:
        """The graph of declared nodes.

        Args:
            edges: Pairs of labels; what is no pair of two different declared nodes is left out.
            nodes: All labels.
            salt: Of the digests; anything that was drawn without looking at the graph.
        """
        digests = {label: _digest(label, salt) for label in nodes}
        labels = tuple(sorted(digests, key=digests.__getitem__))
        number = {label: place for place, label in enumerate(labels)}
        pairs = {pair for edge in edges if (pair := _pair(edge, number)) is not None}
        ends = np.array(sorted(pairs), np.int64).reshape(-1, 2)
        keys = np.array([int.from_bytes(digests[label][:8], "big") for label in labels], np.uint64)
        order = np.lexsort((ends[:, 1], ends[:, 0], _mixed(keys, ends)))
        return cls(len(labels), ends[order], labels)

    def __repr__(self) -> str:
        return "ExactGraph(…)"

    @property
    def degrees(self) -> Integers:
        """Of each node."""
        return np.bincount(self.ends.ravel(), minlength=self.size)

    @property
    def neighbours(self) -> list[Integers]:
        """Of each node, sorted."""
        if "neighbours" not in self._known:
            both = np.concatenate([self.ends, self.ends[:, ::-1]])
            both = both[np.lexsort((both[:, 1], both[:, 0]))]
            starts = np.searchsorted(both[:, 0], np.arange(1, self.size))
            self._known["neighbours"] = np.split(both[:, 1], starts) if self.size else []
        known: list[Integers] = self._known["neighbours"]
        return known

    def projected(self, most: int) -> ExactGraph:
        """Edges kept one by one, in an order of their own, while both ends have fewer than `most`: every degree is at most that.

        A person more moves the number of edges by at most `most`, and #{degree <= k}, k = 0 ... most, by `most` + 1 in all. Not so what
        is counted on the edges themselves: many of them may change places.

        Args:
            most: The largest degree that is left.
        """
        taken = [0] * self.size
        kept = []
        for place, (one, other) in enumerate(self.ends.tolist()):
            if taken[one] < most and taken[other] < most:
                taken[one] += 1
                taken[other] += 1
                kept.append(place)
        return ExactGraph(self.size, self.ends[kept], self.labels)

    def among(self, chosen: Integers) -> ExactGraph:
        """The same nodes with only some of the edges.

        Args:
            chosen: Whether each edge stays, in the order of `ends`.
        """
        return ExactGraph(self.size, self.ends[chosen.astype(bool)], self.labels)

    def at_most(self, largest: int) -> Integers:
        """How many nodes have a degree of at most 0, 1, ..., `largest`.

        Args:
            largest: Where it ends.
        """
        counts = np.bincount(np.minimum(self.degrees, largest + 1), minlength=largest + 2)
        return np.cumsum(counts)[: largest + 1]

    def triangles_and_local(self, *, until: float = math.inf) -> tuple[int, int]:
        """The number of triangles, and the most common neighbours that any two nodes have: what one edge can add or take.

        Args:
            until: When to give up, by the monotonic clock.
        """
        if "local" not in self._known:
            self._known["local"] = self._counted_with_local(until)
        count, local = self._known["local"]
        return count, local

    def _counted_with_local(self, until: float) -> tuple[int, int]:
        near, corners, most = self.neighbours, 0, 0
        for node, around in enumerate(near):
            if not around.size:
                continue
            if time.monotonic() > until:
                raise out_of_time()
            met, often = _met(np.concatenate([near[other] for other in around]), node, around, self.size)
            corners, most = corners + met, max(most, often)
        return corners // 6, most

    def triangles(self, *, until: float = math.inf) -> Integers:
        """All triangles as three columns of nodes.

        Args:
            until: When to give up, by the monotonic clock.
        """
        if "triangles" not in self._known:
            self._known["triangles"] = self._listed_triangles(until)
        known: Integers = self._known["triangles"]
        return known

    def _listed_triangles(self, until: float) -> Integers:
        rank = np.argsort(np.argsort(self.degrees, kind="stable"), kind="stable").tolist()
        later: list[set[int]] = [set() for _ in range(self.size)]
        pairs = [(a, b) if rank[a] < rank[b] else (b, a) for a, b in self.ends.tolist()]
        for first, second in pairs:
            later[first].add(second)
        found: list[tuple[int, int, int]] = []
        for a, b in pairs:
            if time.monotonic() > until:
                raise out_of_time()
            found += ((a, b, c) for c in later[a] & later[b])
        return np.array(found, np.int64).reshape(-1, 3)


def _met(reached: Integers, node: int, around: Integers, size: int) -> tuple[int, int]:
    """How often the neighbours of a node are among those that are reached from it in two steps, and how often any other node is, at most.

    Counted in a table of all nodes; sorted where these are many and those few.
    """
    if reached.size * _FEW >= size:
        shared = np.bincount(reached, minlength=size)
        corners = int(shared[around].sum())
        shared[node] = 0
        return corners, int(shared.max(initial=0))
    nodes, often = np.unique(reached, return_counts=True)
    places = np.searchsorted(nodes, around)
    is_there = nodes[np.minimum(places, nodes.size - 1)] == around
    corners = int(often[places[is_there]].sum())
    often[np.searchsorted(nodes, node)] = 0  # every neighbour leads back
    return corners, int(often.max(initial=0))


def out_of_time() -> OutOfTime:
    """Return the error for a computation that takes far longer than expected."""
    return OutOfTime(
        "Counting the triangles took far longer than expected. The query was charged.",
        next_step="Ask again, which costs nothing more; or ask for another bound on the triangles of a person.",
    )


def new_salt(words: NDArray[np.uint64]) -> bytes:
    """A salt from fresh random words.

    Args:
        words: Two of 64 bits.
    """
    return words.tobytes()[:_SALT_BYTES]


def _digest(label: Hashable, salt: bytes) -> bytes:
    text = f"{type(label).__name__}:{label}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=salt).digest()


def _pair(edge: Any, number: dict[Hashable, int]) -> tuple[int, int] | None:
    """Return two different declared nodes, or None: a single edge must not decide whether the query fails."""
    try:
        one, other = (number[end] for end in edge)
    except (TypeError, KeyError, ValueError):
        return None
    return None if one == other else (min(one, other), max(one, other))


def _mixed(keys: NDArray[np.uint64], ends: Integers) -> NDArray[np.uint64]:
    """Return a pseudorandom number for each edge that depends on its two ends alone."""
    first, second, third = _MULTIPLIERS
    mixed = keys[ends[:, 0]] * first ^ keys[ends[:, 1]] * second
    mixed = (mixed ^ mixed >> np.uint64(31)) * third
    return mixed ^ mixed >> np.uint64(29)

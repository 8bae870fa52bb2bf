"""The spread of a rumour, from private degrees alone: threshold, reach, and a random network to simulate on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, finite
from discreet.errors import BadInput
from discreet.graphs.degrees import Degrees
from discreet.noise import SYSTEM_BITS, RandomBits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
_NEAR, _MOST_STEPS = 1e-12, 100


@dataclass(frozen=True, slots=True, repr=False)
class Rumour:
    """The expected spread of a rumour in a random network with these degrees.

    Real networks are clustered, and a rumour spreads a little less far there.

    Args:
        transmission: Probability that an edge passes the rumour on.
        threshold: Above this transmission the rumour reaches a positive share of any large network.
        reach: Expected share of people that it reaches.
    """

    transmission: float
    threshold: float
    reach: float

    def __repr__(self) -> str:
        reached = f"{100 * self.reach:.3g} of 100 people" if self.reach >= 1e-4 else "hardly anybody"
        return (
            f"a rumour that passes {self.transmission:.3g} of edges reaches {reached} (threshold {self.threshold:.3g})"
        )


def read_transmission(value: object) -> float:
    """Read the probability that an edge passes a rumour on."""
    chance = finite(value)
    if chance is None or not 0 <= chance <= 1:
        raise BadInput("A transmission is a probability from 0 to 1.", next_step="Give a transmission such as 0.2.")
    return float(chance)


def rumour(spread: Degrees, *, transmission: Number) -> Rumour:
    """Compute threshold and reach. Free, because the degrees have been charged.

    Citation: Newman 2002 (arXiv:cond-mat/0205009): S = 1 - G0(u), u = 1 - T + T G1(u).

    Args:
        spread: Private degrees.
        transmission: Probability that an edge passes the rumour on, from 0 to 1.
    """
    passed = read_transmission(transmission)
    ks = np.flatnonzero(spread.counts > 0).astype(np.float64)
    counts = spread.counts[spread.counts > 0].astype(np.float64)
    threshold = 1 / spread.branching if spread.branching > 0 else math.inf
    if not (counts * ks).sum() or not passed:
        return Rumour(passed, threshold, 0.0)
    u = _missed(ks, counts * ks / (counts * ks).sum(), passed)
    reach = 1 - float((counts * u**ks).sum()) / max(1.0, float(counts.sum()))
    return Rumour(passed, threshold, max(0.0, reach))


def _missed(ks: Floats, ends: Floats, passed: float) -> float:
    """Return the least u with u = 1 - T + T G1(u), by Newton's method from 0.

    The difference of both sides is convex and decreases up to the solution, so steps from the left never pass it. At or
    below the threshold, where u is 1, each step at least halves the error. The number of steps is therefore small for
    all inputs, which matters because the analyst chooses T and the number of degrees.
    """
    u = 0.0
    for _ in range(_MOST_STEPS):
        further = (ends * u ** np.maximum(ks - 2, 0))[ks > 1]
        wider = ks[ks > 1] - 1
        above = 1 - passed + passed * (float(ends[ks == 1].sum()) + u * float(further.sum())) - u
        slope = 1 - passed * float((further * wider).sum())
        if above < _NEAR or slope <= 0:
            break
        u = min(1.0, u + above / slope)
    return u


def random_network(spread: Degrees, bits: RandomBits = SYSTEM_BITS) -> Integers:
    """Draw a random network with about these degrees, as two columns of nodes. No edge is real.

    Args:
        spread: Private degrees.
        bits: Source of randomness.
    """
    degree_of = np.repeat(np.arange(spread.counts.size), spread.counts)
    ends = np.repeat(np.arange(degree_of.size), degree_of)
    ends = ends[np.argsort(bits.words(ends.size, 64), kind="stable")]
    pairs = np.sort(ends[: ends.size // 2 * 2].reshape(-1, 2), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def largest_share(edges: Integers, *, size: int, transmission: float, bits: RandomBits = SYSTEM_BITS) -> float:
    """Simulate once: the share of nodes in the largest outbreak, if each edge passes the rumour on independently.

    Args:
        edges: Two columns of nodes.
        size: Number of nodes.
        transmission: Probability that an edge passes the rumour on.
        bits: Source of randomness.
    """
    passed = bits.words(len(edges), 64) < np.uint64(min(int(transmission * 2.0**64), 2**64 - 1))
    parent = list(range(size))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for one, other in edges[passed].tolist():
        parent[root(one)] = root(other)
    return max(np.bincount([root(node) for node in range(size)]).tolist(), default=0) / max(1, size)

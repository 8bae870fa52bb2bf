"""How far a rumour goes, from private degrees alone: threshold, reach, and a made-up network to play on."""

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
    """What is expected of a rumour that passes along each edge with a chance, in a random network with these degrees.

    Real networks are clustered, and a rumour goes a little less far there.

    Args:
        transmission: That chance.
        threshold: The chance from which on it reaches a share of all people however many there are.
        reach: That share.
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
    """A chance that an edge passes a rumour on."""
    chance = finite(value)
    if chance is None or not 0 <= chance <= 1:
        raise BadInput("A transmission is a chance from 0 to 1.", next_step="Give a transmission such as 0.2.")
    return float(chance)


def rumour(spread: Degrees, *, transmission: Number) -> Rumour:
    """Threshold and reach; free, because degrees were paid for.

    Citation: Newman 2002 (arXiv:cond-mat/0205009): S = 1 - G0(u), u = 1 - T + T G1(u).

    Args:
        spread: Private degrees.
        transmission: The chance that an edge passes the rumour on, from 0 to 1.
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
    """The least u with u = 1 - T + T G1(u), by Newton's steps from 0.

    Both sides' difference is convex and falls until u, so steps from the left never pass it; where u is 1, at or below the threshold, the
    rest is at least halved by each. So there are few of them whatever the degrees are: whoever asks chooses both T and how many degrees there are.
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


def made_up(spread: Degrees, bits: RandomBits = SYSTEM_BITS) -> Integers:
    """Edges of a random network with about these degrees, as two columns: nobody in it exists.

    Args:
        spread: Private degrees.
        bits: Where randomness comes from: the system, unless a test says otherwise.
    """
    degree_of = np.repeat(np.arange(spread.counts.size), spread.counts)
    ends = np.repeat(np.arange(degree_of.size), degree_of)
    ends = ends[np.argsort(bits.words(ends.size, 64), kind="stable")]
    pairs = np.sort(ends[: ends.size // 2 * 2].reshape(-1, 2), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def largest_share(edges: Integers, *, size: int, transmission: float, bits: RandomBits = SYSTEM_BITS) -> float:
    """The share of nodes that the largest outbreak reaches, when each edge passes a rumour on with a chance: one simulation.

    Args:
        edges: Two columns of nodes.
        size: How many nodes there are.
        transmission: The chance.
        bits: Where randomness comes from: the system, unless a test says otherwise.
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

"""How many edges there are, and a bound on those of a person."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.exact import Number, read_epsilon
from discreet.graphs.graph import Graph, GraphStatistic, Privacy, pay, read_graph, read_max_degree, read_privacy
from discreet.loss import Loss
from discreet.mechanisms import GeneralizedExponential, Laplace
from discreet.mechanisms.bounded import Account
from discreet.mechanisms.statistic import Statistic
from discreet.noise import SYSTEM_BITS

CUT = "edges beyond max_degree are left out, so it is too low rather than too high"
DEGREES = tuple(2**power for power in range(17))
"""Bounds among which one is searched: public."""
_bits = SYSTEM_BITS


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
    kind, exact = read_privacy(privacy), read_graph(graph).exact
    if kind is Privacy.EDGE:
        mechanism, counted = Laplace(sensitivity=1, epsilon=epsilon), exact
    else:
        most = read_max_degree(max_degree, privacy=kind)
        mechanism, counted = Laplace(sensitivity=most, epsilon=epsilon), exact.projected(most)
    pay(account, [mechanism])
    released = noisy_count(mechanism, len(counted.ends))
    return GraphStatistic.of(released, privacy=kind, bias=CUT if kind is Privacy.NODE else "")


def find_max_degree(graph: Graph, *, epsilon: Number, then: Number, account: Account | None = None) -> int:
    """A bound on degrees that keeps most edges and is not too wide, private for a person: for whoever knows none.

    One of 1, 2, 4, ..., 65,536, by how many edges each keeps less the noise that it costs. Give it as `max_degree`.

    Args:
        graph: The network.
        epsilon: How much may be learned about a person by looking for it; there is no default.
        then: The epsilon of the answer that it is for: a wider bound has more noise there.
        account: What pays for it; nothing is drawn unless it does.
    """
    whole, rest = read_graph(graph).exact, read_epsilon(then, name="then")
    search = GeneralizedExponential(sensitivities=DEGREES, epsilon=epsilon)
    pay(account, [search])
    worth = [len(whole.projected(bound).ends) - int(bound / rest) for bound in DEGREES]
    return DEGREES[search.release(np.array(worth, np.int64), _bits)]


def noisy_count(mechanism: Laplace, count: int) -> Statistic:
    """A count with its noise and its ±.

    Args:
        mechanism: Whose noise it is.
        count: Exact.
    """
    return with_error(mechanism, mechanism.release(count, _bits), Loss(mechanism.pure_epsilon))


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

"""Triangles and clustering: by the ladder mechanism with edge privacy, by a linear program with node privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.exact import Number, read_count, read_epsilon, rounded_up
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.core.optional_imports import optional
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.engines.graphs.triangle_program import ROUNDING, bounded_triangles
from discreet.graphs.degrees import DegreeCounts, Degrees, degree_counts
from discreet.graphs.edge_counts import with_error
from discreet.graphs.network_query import Drawn, GraphQuery, answer_query
from discreet.graphs.protected_graph import Graph, GraphStatistic, Privacy, read_graph, read_privacy
from discreet.mechanisms import GeneralizedExponential, Ladder, Laplace, Mechanism, PureAdaptive
from discreet.mechanisms.adaptive_budget import Meter
from discreet.mechanisms.statistics.bounded import Account
from discreet.mechanisms.statistics.statistic import Statistic
from discreet.noise import RandomBits

_LOCAL_SHARE = Fraction(1, 10)
"""Share of epsilon for the noisy local sensitivity, from which the ladder's interval is computed."""
_SEARCH_SHARE = Fraction(1, 4)
"""Share of epsilon for finding a bound on the triangles of a person."""
BOUNDS = tuple(2**power for power in range(4, 17))
"""Candidates for a bound on the triangles of a person; public."""
_MOST_PER_NODE = 1 << 40
_CUT = "triangles beyond per_node of a person are left out, so it is too low rather than too high"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriangleLadder(GraphQuery[GraphStatistic]):
    """Count the triangles with edge privacy: the ladder mechanism, and the local sensitivity with Laplace noise.

    The interval is computed from the noisy local sensitivity, because one from the true value would reveal it.

    Args:
        epsilon: Privacy cost for one edge.
        size: Number of nodes; public.
    """

    epsilon: Fraction
    size: int

    @property
    def privacy(self) -> Privacy:  # type: ignore[override]  # always the same
        return Privacy.EDGE

    @property
    def mechanisms(self) -> tuple[Ladder, Laplace]:
        ladder = Ladder(epsilon=self.epsilon * (1 - _LOCAL_SHARE), most=max(0, self.size - 2))
        return ladder, Laplace(sensitivity=1, epsilon=self.epsilon * _LOCAL_SHARE)

    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:
        ladder, width = self.mechanisms
        count, local = network.triangles_and_local(until=until)
        return [ladder.release((count, local), bits), width.release(local, bits)]

    def result(self, drawn: Drawn) -> GraphStatistic:
        (ladder, width), (noisy, noisy_local) = self.mechanisms, drawn
        value = Fraction(noisy)

        def around(level: Fraction) -> tuple[Fraction, Fraction]:
            """Union bound: each of the two noises may fail with half of the allowed probability."""
            half = 1 - (1 - level) / 2
            reach = ladder.error_at(max(0, noisy_local + width.error(half)), half)
            return max(Fraction(0), value - reach), max(Fraction(0), value + reach)

        released = Statistic(float(max(value, Fraction(0))), Loss(rounded_up(self.epsilon)), around)
        return GraphStatistic.of(released, privacy=Privacy.EDGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriangleProgram(GraphQuery[GraphStatistic]):
    """Count triangles with node privacy, where at most `per_node` triangles of one person count.

    Args:
        epsilon: Privacy cost for one person.
        per_node: From public knowledge. If None, a bound is found for a quarter of epsilon.
    """

    epsilon: Fraction
    per_node: int | None

    @property
    def privacy(self) -> Privacy:  # type: ignore[override]  # always the same
        return Privacy.NODE

    def check(self) -> None:
        optional("scipy.optimize")  # before data are read: whether the import is needed depends on them
        if self.per_node is None:  # noise must be available for every bound that can be found
            self._search, [_around_bound(bound, self._shares[1]) for bound in BOUNDS]

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        if self.per_node is None:
            return (PureAdaptive(epsilon=self.epsilon),)
        return (_around_bound(self.per_node, self.epsilon),)

    @property
    def _shares(self) -> list[Fraction]:
        meter = Meter(PureAdaptive(epsilon=self.epsilon))
        return meter.shares([_SEARCH_SHARE, 1 - _SEARCH_SHARE], of=meter.left)

    @property
    def _search(self) -> GeneralizedExponential:
        widths = tuple(bound + ROUNDING for bound in BOUNDS)
        return GeneralizedExponential(sensitivities=widths, epsilon=self._shares[0])

    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:
        corners, size = network.triangles(until=until), network.size
        if self.per_node is not None:
            count = bounded_triangles(corners, size=size, most=self.per_node, until=until)
            return [_around_bound(self.per_node, self.epsilon).release(count, bits)]
        meter, rest = Meter(PureAdaptive(epsilon=self.epsilon), bits), self._shares[1]
        counts = [bounded_triangles(corners, size=size, most=bound, until=until) for bound in BOUNDS]
        worth = [count - int((bound + ROUNDING) / rest) for count, bound in zip(counts, BOUNDS, strict=True)]
        chosen = int(meter.draw(self._search, np.array(worth, np.int64)))
        return [chosen, meter.draw(_around_bound(BOUNDS[chosen], rest), counts[chosen])]

    def result(self, drawn: Drawn) -> GraphStatistic:
        loss = Loss(rounded_up(self.epsilon))
        if self.per_node is not None:
            mechanism, bias = _around_bound(self.per_node, self.epsilon), _CUT
        else:
            mechanism = _around_bound(BOUNDS[drawn[0]], self._shares[1])
            bias = f"{_CUT} (per_node {BOUNDS[drawn[0]]:,} was found)"
        return GraphStatistic.of(with_error(mechanism, drawn[-1], loss), privacy=Privacy.NODE, bias=bias)

    @property
    def within(self) -> float | None:
        return None if self.per_node is None else float(_around_bound(self.per_node, self.epsilon).error(CONFIDENCE))


def triangle_count(
    *, privacy: Privacy, epsilon: Number, per_node: int | None, size: int | None
) -> TriangleLadder | TriangleProgram:
    """Check the parameters and return the query.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        per_node: With node privacy, the number of one person's triangles that count. If None, a bound is found.
        size: Number of nodes if it is public.
    """
    exact = read_epsilon(epsilon)
    if privacy is Privacy.EDGE and size is not None:
        return TriangleLadder(epsilon=exact, size=size)
    bound = None if per_node is None else read_count(per_node, name="per_node", most=_MOST_PER_NODE)
    return TriangleProgram(epsilon=exact, per_node=bound)


def _around_bound(most: int, epsilon: Fraction) -> Laplace:
    return Laplace(sensitivity=most + ROUNDING, epsilon=epsilon)


def triangles(
    graph: Graph,
    *,
    epsilon: Number,
    privacy: Privacy | str,
    per_node: int | None = None,
    account: Account | None = None,
) -> GraphStatistic:
    """Count the triangles, with noise.

    Args:
        graph: The network.
        epsilon: Privacy cost for one edge or one person. There is no default.
        privacy: "edge" protects one edge, "node" one person with all their edges.
        per_node: With node privacy, the number of one person's triangles that count, from public knowledge. If None, a
            bound is found for a quarter of epsilon.
        account: Charged before any noise is drawn. Without it nothing is charged.
    """
    kind, whole = read_privacy(privacy), read_graph(graph).exact
    query = triangle_count(privacy=kind, epsilon=epsilon, per_node=per_node, size=whole.size)
    return answer_query(whole, query, account)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedPaths(GraphQuery[GraphStatistic]):
    """Estimate the share of paths of two edges whose ends are connected, from triangles and degrees.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost; half for each of the two queries.
        max_degree: As for degrees.
        per_node: As for triangles.
        size: Number of nodes with edge privacy, otherwise None.
    """

    privacy: Privacy
    epsilon: Fraction
    max_degree: int
    per_node: int | None
    size: int | None

    @property
    def closed(self) -> TriangleLadder | TriangleProgram:
        """The query for triangles."""
        return triangle_count(privacy=self.privacy, epsilon=self.epsilon / 2, per_node=self.per_node, size=self.size)

    @property
    def spread(self) -> DegreeCounts:
        """The query for degrees."""
        return degree_counts(privacy=self.privacy, epsilon=self.epsilon / 2, max_degree=self.max_degree, size=self.size)

    def check(self) -> None:
        self.closed.check()

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        return self.closed.mechanisms + self.spread.mechanisms

    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:
        return [*self.closed.draw(network, bits, until=until), *self.spread.draw(network, bits)]

    def result(self, drawn: Drawn) -> GraphStatistic:
        """Compute the share. Its interval is from fewest triangles / most paths to most triangles / fewest paths."""
        ends = len(drawn) - self.max_degree - 1
        closed, spread = self.closed.result(drawn[:ends]), self.spread.result(drawn[ends:])
        bias = "; ".join(filter(None, (closed.bias, spread.bias)))
        return GraphStatistic.of(_share(closed, spread, self.epsilon), privacy=self.privacy, bias=bias)


def closed_paths(
    *, privacy: Privacy, epsilon: Number, max_degree: int | None, per_node: int | None, size: int | None
) -> ClosedPaths:
    """Check the parameters and return the query.

    Args:
        privacy: What is protected.
        epsilon: Privacy cost.
        max_degree: As for degrees.
        per_node: As for triangles.
        size: Number of nodes if it is public.
    """
    half = read_epsilon(epsilon) / 2
    spread = degree_counts(privacy=privacy, epsilon=half, max_degree=max_degree, size=size)
    closed = triangle_count(privacy=privacy, epsilon=half, per_node=per_node, size=size)
    bound = closed.per_node if isinstance(closed, TriangleProgram) else None
    return ClosedPaths(
        privacy=privacy, epsilon=2 * half, max_degree=spread.max_degree, per_node=bound, size=spread.size
    )


def clustering(
    graph: Graph,
    *,
    epsilon: Number,
    privacy: Privacy | str,
    max_degree: int | None = None,
    per_node: int | None = None,
    account: Account | None = None,
) -> GraphStatistic:
    """Estimate the share of paths of two edges whose ends are connected: 3 triangles / paths.

    Each of the two queries has half of epsilon. The interval is from fewest triangles / most paths to most triangles /
    fewest paths. It is wide if `max_degree` is large.

    Args:
        graph: The network.
        epsilon: Privacy cost for one edge or one person. There is no default.
        privacy: "edge" protects one edge, "node" one person with all their edges.
        max_degree: Largest degree that is counted. Required with node privacy.
        per_node: With node privacy, the number of one person's triangles that count.
        account: Charged before any noise is drawn. Without it nothing is charged.
    """
    kind, whole = read_privacy(privacy), read_graph(graph).exact
    query = closed_paths(privacy=kind, epsilon=epsilon, max_degree=max_degree, per_node=per_node, size=whole.size)
    return answer_query(whole, query, account)


def _share(closed: GraphStatistic, spread: Degrees, epsilon: Fraction) -> Statistic:
    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        each = 1 - (1 - level) / 2
        few, many = closed.interval(each)
        fewest, most = spread.stars_interval(2, each)
        return _ratio(few, most, without=0), _ratio(many, fewest, without=1)

    value = _ratio(closed.value, spread.stars(2), without=0)
    return Statistic.within(value, Loss(rounded_up(epsilon)), around, bounds=(Fraction(0), Fraction(1)))


def _ratio(triangles: float, paths: float, *, without: int) -> Fraction:
    """3 triangles / paths, at most 1; `without` if there are no paths."""
    return min(Fraction(1), 3 * Fraction(triangles) / Fraction(paths)) if paths > 0 else Fraction(without)

"""Triangles: friends of friends who are friends. By the ladder for an edge, by a linear program for a person."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.engines.triangle_program import ROUNDING, Integers, bounded_triangles
from discreet.exact import Number, read_count, read_epsilon, rounded_up
from discreet.graphs.counting import noisy_count, with_error
from discreet.graphs.degrees import degrees
from discreet.graphs.graph import Graph, GraphStatistic, Privacy, pay, read_graph, read_max_degree, read_privacy
from discreet.loss import Loss
from discreet.mechanisms import GeneralizedExponential, Ladder, Laplace, PureAdaptive
from discreet.mechanisms.adaptive import Meter
from discreet.mechanisms.bounded import Account
from discreet.mechanisms.statistic import Statistic
from discreet.noise import SYSTEM_BITS
from discreet.optional import check_installed

_LOCAL_SHARE = Fraction(1, 10)
"""Of epsilon, for a noisy local sensitivity that the ladder's ± is computed from."""
_SEARCH_SHARE = Fraction(1, 4)
"""Of epsilon, for finding a bound on the triangles of a person."""
BOUNDS = tuple(2**power for power in range(4, 17))
"""On the triangles of a person, among which one is searched: public."""
_MOST_PER_NODE = 1 << 40
_CUT = "triangles beyond per_node of a person are left out, so it is too low rather than too high"
_bits = SYSTEM_BITS


def triangles(
    graph: Graph,
    *,
    epsilon: Number,
    privacy: Privacy | str,
    per_node: int | None = None,
    account: Account | None = None,
) -> GraphStatistic:
    """How many triangles there are.

    Args:
        graph: The network.
        epsilon: How much may be learned about an edge, or about a person; there is no default.
        privacy: "edge" or "node": which of the two.
        per_node: With node privacy: the most triangles of a person that count, from public knowledge; searched for a quarter of epsilon if it is left out.
        account: What pays for it; nothing is drawn unless it does.
    """
    kind, whole = read_privacy(privacy), read_graph(graph)
    if kind is Privacy.EDGE:
        return _by_ladder(whole, read_epsilon(epsilon), account)
    return _by_program(whole, read_epsilon(epsilon), per_node, account)


def _by_ladder(graph: Graph, epsilon: Fraction, account: Account | None) -> GraphStatistic:
    """The ladder, and the local sensitivity with noise of its own: its ± from the true one would tell it."""
    most = max(0, graph.exact.size - 2)
    ladder = Ladder(epsilon=epsilon * (1 - _LOCAL_SHARE), most=most)
    width = Laplace(sensitivity=1, epsilon=epsilon * _LOCAL_SHARE)
    pay(account, [ladder, width])
    count, local = graph.exact.triangles_and_local()
    value, noisy_local = Fraction(ladder.release((count, local), _bits)), width.release(local, _bits)

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        """Each of both may fail in half of the cases that are allowed to."""
        half = 1 - (1 - level) / 2
        reach = ladder.error_at(max(0, noisy_local + width.error(half)), half)
        return max(Fraction(0), value - reach), max(Fraction(0), value + reach)

    released = Statistic(float(max(value, Fraction(0))), Loss(rounded_up(epsilon)), around)
    return GraphStatistic.of(released, privacy=Privacy.EDGE)


def _by_program(graph: Graph, epsilon: Fraction, per_node: int | None, account: Account | None) -> GraphStatistic:
    check_installed("scipy")  # before anything is looked at: whether it is needed would tell something
    corners, size = graph.exact.triangles(), graph.exact.size
    if per_node is not None:
        most = read_count(per_node, name="per_node", most=_MOST_PER_NODE)
        mechanism = Laplace(sensitivity=most + ROUNDING, epsilon=epsilon)
        pay(account, [mechanism])
        return GraphStatistic.of(
            noisy_count(mechanism, bounded_triangles(corners, size=size, most=most)), privacy=Privacy.NODE, bias=_CUT
        )
    return _searched(corners, size, epsilon, account)


def _searched(corners: Integers, size: int, epsilon: Fraction, account: Account | None) -> GraphStatistic:
    """A bound is found, then triangles are counted with it. Both draws are charged before the first."""
    budget = PureAdaptive(epsilon=epsilon)
    meter = Meter(budget, _bits)
    first, rest = meter.shares([_SEARCH_SHARE, 1 - _SEARCH_SHARE], of=meter.left)
    search = GeneralizedExponential(sensitivities=tuple(bound + ROUNDING for bound in BOUNDS), epsilon=first)
    pay(account, [budget])
    counts = [bounded_triangles(corners, size=size, most=bound) for bound in BOUNDS]
    worth = [count - int((bound + ROUNDING) / rest) for count, bound in zip(counts, BOUNDS, strict=True)]
    chosen = meter.draw(search, np.array(worth, np.int64))
    mechanism = Laplace(sensitivity=BOUNDS[chosen] + ROUNDING, epsilon=rest)
    released = with_error(mechanism, meter.draw(mechanism, counts[chosen]), Loss(budget.pure_epsilon))
    return GraphStatistic.of(released, privacy=Privacy.NODE, bias=f"{_CUT} (per_node {BOUNDS[chosen]:,} was found)")


def clustering(
    graph: Graph,
    *,
    epsilon: Number,
    privacy: Privacy | str,
    max_degree: int | None = None,
    per_node: int | None = None,
    account: Account | None = None,
) -> GraphStatistic:
    """The share of paths of two edges whose ends are connected: 3 triangles / paths, from half of epsilon each.

    Its ± goes from the fewest triangles over the most paths to the most over the fewest; it is wide where large degrees are allowed.

    Args:
        graph: The network.
        epsilon: How much may be learned about an edge, or about a person; there is no default.
        privacy: "edge" or "node": which of the two.
        max_degree: The largest degree that is told apart; needed with node privacy.
        per_node: With node privacy: the most triangles of a person that count.
        account: What pays for it; nothing is drawn unless it does.
    """
    half, kind = read_epsilon(epsilon) / 2, read_privacy(privacy)
    _check(kind, max_degree, per_node)
    pay(account, [PureAdaptive(epsilon=2 * half)])
    closed = triangles(graph, epsilon=half, privacy=kind, per_node=per_node)
    spread = degrees(graph, epsilon=half, privacy=kind, max_degree=max_degree)

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        each = 1 - (1 - level) / 2
        few, many = closed.interval(each)
        fewest, most = spread.stars_interval(2, each)
        return _ratio(few, most, without=0), _ratio(many, fewest, without=1)

    value = _ratio(closed.value, spread.stars(2), without=0)
    released = Statistic.within(value, Loss(rounded_up(2 * half)), around, bounds=(Fraction(0), Fraction(1)))
    return GraphStatistic.of(released, privacy=kind, bias="; ".join(filter(None, (closed.bias, spread.bias))))


def _check(kind: Privacy, max_degree: int | None, per_node: int | None) -> None:
    """Refuse before anything is paid for what would be refused after."""
    if kind is Privacy.NODE:
        check_installed("scipy")
    if kind is Privacy.NODE or max_degree is not None:
        read_max_degree(max_degree, privacy=kind)
    if per_node is not None:
        read_count(per_node, name="per_node", most=_MOST_PER_NODE)


def _ratio(triangles: float, paths: float, *, without: int) -> Fraction:
    """3 triangles / paths, at most 1; `without` where there are no paths."""
    return min(Fraction(1), 3 * Fraction(triangles) / Fraction(paths)) if paths > 0 else Fraction(without)

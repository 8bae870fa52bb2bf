"""Choose the mechanisms of a query: one epsilon for the whole query, shared equally by everything that is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.algebra.query import MOST_GROUPS, Measure, MeasureKind, Query, quantile_of
from discreet.core.exact import root_above
from discreet.core.loss import Neighbours
from discreet.errors import NeedsDelta, NotAllowed, TooLarge
from discreet.mechanisms import Gaussian, Laplace, Mechanism, PartitionSelection, PermuteAndFlip
from discreet.postprocessing.grouping_sets import QUANTILE_LEVEL, GroupingSet

_PEOPLE = 2**40
_MOST_WORK = 10**9
"""The most cells and quantile candidates of one answer, so that its time is bounded before the charge."""
SELECTED_GROUPS = 10_000
"""The assumed number of groups, if the number is private."""
_END_LEVEL = 1 - (1 - QUANTILE_LEVEL) / 2
MECHANISMS = ("laplace", "gaussian")


@dataclass(frozen=True, slots=True)
class Norms:
    """Sensitivity of a measure over all groups of a set, in L1 and squared L2."""

    l1: int
    l2_squared: int


@dataclass(frozen=True, slots=True)
class Price:
    """The cost of the whole query, and the number of equal shares."""

    epsilon: Fraction
    shares: int
    gaussian: bool
    neighbours: Neighbours

    @property
    def share(self) -> Fraction:
        return self.epsilon / self.shares

    @property
    def rho_share(self) -> Fraction:
        return self.epsilon**2 / 2 / self.shares


def plan_mechanisms(
    queries: Sequence[Query], *, epsilon: Fraction, delta: Fraction | None, mechanism: str, neighbours: Neighbours
) -> tuple[tuple[GroupingSet, ...], ...]:
    """Return the grouping sets of every query. Laplace costs epsilon in all; Gaussian rho = epsilon**2 / 2.

    `delta` is the total for selecting groups; None if no group is selected.
    """
    if mechanism not in MECHANISMS:
        raise NotAllowed("That mechanism is not known.", next_step="Use laplace, gaussian or choose.")
    every_set = [(query, keys) for query in queries for keys in query.sets]
    selecting = [is_selected(query, keys) for query, keys in every_set]
    paid = sum(_shares(query) for query, _ in every_set)
    price = Price(epsilon, paid + sum(selecting), mechanism == "gaussian", neighbours)
    _check_work(every_set)
    per_set = iter(
        _with_selection(_measuring(query, keys, price), query, price, delta, sum(selecting))
        for query, keys in every_set
    )
    return tuple(tuple(next(per_set) for _ in query.sets) for query in queries)


def _shares(query: Query) -> int:
    """Return the number of shares of one grouping set: one for each measure, and one for each winner instead of the score."""
    measures = [index for index, measure in enumerate(query.measures) if not query.counts_all_people(measure)]
    if query.choose is None:
        return len(measures)
    return len([index for index in measures if index != query.choose.measure]) + query.choose.count


def is_selected(query: Query, keys: tuple[int, ...]) -> bool:
    """Return whether the groups of a set are private."""
    return any(query.keys[index].values is None for index in keys)


def selection_delta(queries: Sequence[Query], *, given: Fraction | None, usual: Fraction | None) -> Fraction | None:
    """Return the delta for selecting groups: as given, or the default; None if nothing is selected."""
    if not any(is_selected(query, keys) for query in queries for keys in query.sets):
        return None
    if given is None and usual is None:
        raise NeedsDelta(
            "The values of a group key are not declared, so which groups exist is private, and this account has no delta.",
            next_step="Ask the owner to declare the values, or for a budget with a delta.",
        )
    return usual if given is None else given


def groups_per_person(query: Query, keys: tuple[int, ...]) -> int:
    """Return how many groups of a set one person can be in: bounded by rows, by the contribution bound, and by the number of groups."""
    if not keys:
        return 1
    limits = [query.limits.rows, query.limits.groups, query.groups_in(keys)]
    return max(1, min(limit for limit in limits if limit is not None))


def norms(query: Query, measure: Measure, keys: tuple[int, ...], neighbours: Neighbours) -> Norms:
    """Return the sensitivity of a measure (ALGEBRA, "Sensitivity") from the bounds on rows and groups and what a row can add."""
    limits, largest = query.limits, measure.largest
    if measure.kind is MeasureKind.PEOPLE:
        groups = groups_per_person(query, keys)
        alone = Norms(groups, groups)
    elif limits.groups is not None and limits.rows_per_group is not None and len(keys) == len(query.keys):
        in_all = min(limits.rows, limits.groups * limits.rows_per_group)
        squared = min(limits.groups * limits.rows_per_group**2, in_all**2)
        alone = Norms(in_all * largest, squared * largest**2)
    else:
        alone = Norms(limits.rows * largest, limits.rows**2 * largest**2)
    return alone if neighbours is Neighbours.ADD_REMOVE else _replaced(query, measure, keys, alone)


def _replaced(query: Query, measure: Measure, keys: tuple[int, ...], alone: Norms) -> Norms:
    """Return the sensitivity if one person is replaced by another.

    In one cell it is the width of what a person can add. Over several cells it is twice the L1 norm; in L2 the factor is the square root of
    two if no row can add a negative number (two vectors without negative parts), else two.
    """
    if not keys:
        low, high = measure.ends
        rows = 1 if measure.kind is MeasureKind.PEOPLE else query.limits.rows
        width = rows * (max(high, 0) - min(low, 0))
        return Norms(max(width, 1), max(width, 1) ** 2)
    factor = 2 if measure.is_one_signed else 4
    return Norms(2 * alone.l1, factor * alone.l2_squared)


def _measuring(query: Query, keys: tuple[int, ...], price: Price) -> GroupingSet:
    """Return the mechanisms of every measure in one grouping set."""
    groups = query.groups_in(keys)
    if groups is not None and groups > MOST_GROUPS:
        raise TooLarge(
            "The query would have more than a million groups.",
            next_step="Group by fewer columns, or by coarser values.",
        )
    size = 2 if groups is None else groups  # any number but one: how many will be selected is not known yet
    mechanisms: list[tuple[Mechanism, ...]] = []
    for index, measure in enumerate(query.measures):
        if query.counts_all_people(measure) or (query.choose is not None and index == query.choose.measure):
            mechanisms.append(())
            continue
        if measure.kind is MeasureKind.QUANTILE:
            mechanisms.append(_quantiles(query, measure, keys, price))
            continue
        norm = norms(query, measure, keys, price.neighbours)
        if norm.l1 * _PEOPLE >= 2**126:
            raise TooLarge("The sum could overflow.", next_step="Ask the owner for narrower bounds or a coarser grid.")
        mechanisms.append((_adding(norm, price, size),))
    return GroupingSet(keys, tuple(mechanisms), choices=_choices(query, size, price))


def _choices(query: Query, groups: int, price: Price) -> tuple[PermuteAndFlip, ...]:
    """Return one choice for each winner, among the remaining groups.

    A person changes the score of each group by at most `moves`; if people are only added or removed, all scores change in one direction.
    """
    if query.choose is None:
        return ()
    measure, limits = query.measures[query.choose.measure], query.limits
    rows = 1 if measure.kind is MeasureKind.PEOPLE else min(limits.rows, limits.rows_per_group or limits.rows)
    moves = rows * measure.largest
    if moves * _PEOPLE >= 2**62:
        raise TooLarge("The sum could overflow.", next_step="Ask the owner for narrower bounds or a coarser grid.")
    monotone = price.neighbours is Neighbours.ADD_REMOVE and measure.is_one_signed
    return tuple(
        PermuteAndFlip(sensitivity=moves, epsilon=price.share, size=groups - taken, monotone=monotone)
        for taken in range(query.choose.count)
    )


def _adding(norm: Norms, price: Price, size: int) -> Mechanism:
    if price.gaussian:
        return Gaussian.for_rho(sensitivity=root_above(Fraction(norm.l2_squared)), rho=price.rho_share, size=size)
    return Laplace(sensitivity=norm.l1, epsilon=price.share, size=size)


def _quantiles(query: Query, measure: Measure, keys: tuple[int, ...], price: Price) -> tuple[Mechanism, ...]:
    """Return the mechanisms of the quantile and of both ends of its interval, shifted so that they are rarely on the wrong side."""
    third = _root_below(8 * price.rho_share / 3)  # an exponential mechanism of epsilon costs rho = epsilon**2 / 8
    parts = [third] * 3 if price.gaussian else [price.share / 2, price.share / 4, price.share / 4]
    middle, *ends = (
        quantile_of(
            measure, epsilon=part, rows=query.limits.rows, neighbours=price.neighbours, grouped=bool(keys)
        )
        for part in parts
    )  # fmt: skip
    low, high = (
        replace(end, shift=side * Fraction(end.error(_END_LEVEL))) for side, end in zip((-1, 1), ends, strict=True)
    )
    return middle, low, high


def _with_selection(
    measured: GroupingSet, query: Query, price: Price, delta: Fraction | None, selecting: int
) -> GroupingSet:
    """Add the selection of private groups. It is charged once for each group that one person can be in."""
    if not is_selected(query, measured.keys):
        return measured
    assert delta is not None  # noqa: S101  a query without one was refused
    times = groups_per_person(query, measured.keys) * (1 if price.neighbours is Neighbours.ADD_REMOVE else 2)
    each = _root_below(2 * price.rho_share / times) if price.gaussian else price.share / times
    selection = PartitionSelection(epsilon=each, delta=delta / selecting / times)
    return replace(measured, selection=selection, selections=times)


def _check_work(every_set: Sequence[tuple[Query, tuple[int, ...]]]) -> None:
    """Refuse, before the charge, a query whose noise would take too long: its time is proportional to the cells."""
    work = 0
    for query, keys in every_set:
        groups = query.groups_in(keys)
        cells = SELECTED_GROUPS if groups is None else groups
        work += cells * sum(_draws(measure) for measure in query.measures)
    if work > _MOST_WORK:
        raise TooLarge("The answer would take too long to draw.", next_step="Ask for fewer groups or fewer quantiles.")


def _draws(measure: Measure) -> int:
    """Numbers that are touched for one cell: three draws over all candidates for a quantile."""
    return 3 * (measure.bins.last - measure.bins.first + 1) if measure.kind is MeasureKind.QUANTILE else 1


def _root_below(square: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.floor(square * 2**120)), 2**60)

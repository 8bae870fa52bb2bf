"""What each measure costs: one epsilon for the whole question, shared over everything that is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import NotAllowed, TooLarge
from discreet.loss import Neighbours
from discreet.mechanisms import Gaussian, Laplace, Mechanism, PartitionSelection
from discreet.sql.plan import QUANTILE_LEVEL, GroupSet, Kind, Measure, Plan, Relation, quantile_of

_MOST_GROUPS = 10**6
_PEOPLE = 2**40
_END_LEVEL = 1 - (1 - QUANTILE_LEVEL) / 2
MECHANISMS = ("laplace", "gaussian")


@dataclass(frozen=True, slots=True)
class Norms:
    """How far one person can move a measure over all groups, for rows that add at most one each."""

    l1: int
    l2_squared: int


def groups_per_person(relation: Relation) -> int:
    """How many groups one person can be in."""
    cut = relation.cut
    limit = relation.rows_per_person if cut is None or cut.groups is None else cut.groups
    return min(limit, relation.rows_per_person)


def norms(
    relation: Relation, measure: Measure, keys: tuple[int, ...], *, finest: bool, neighbours: Neighbours
) -> Norms:
    """The norms of SEMANTICS: m rows anywhere, or k groups of r rows; twice that where one person replaces another.

    A person counts once in a group, so people are counted with r = 1. Coarser groupings may put all k groups into one.
    """
    rows, cut = relation.rows_per_person, relation.cut
    if measure.kind is Kind.PEOPLE:
        groups = groups_per_person(relation) if keys else 1
        made = Norms(groups, groups)
    elif finest and keys and cut is not None and cut.groups is not None and cut.rows_per_group is not None:
        made = Norms(rows, min(cut.groups * cut.rows_per_group**2, rows**2))
    else:
        made = Norms(rows, rows**2)
    return made if neighbours is Neighbours.ADD_REMOVE else Norms(2 * made.l1, 4 * made.l2_squared)


@dataclass(frozen=True, slots=True)
class _Price:
    """What the whole question costs, and over how many things it is shared."""

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


def priced(
    plan: Plan,
    sets: list[tuple[int, ...]],
    *,
    epsilon: Fraction,
    delta: Fraction | None,
    mechanism: str,
    neighbours: Neighbours,
) -> Plan:
    """The same plan with mechanisms. A Laplace question costs epsilon; a Gaussian one rho = epsilon**2 / 2."""
    if mechanism not in MECHANISMS:
        raise NotAllowed("That mechanism is not known.", next_step=f"Use {' or '.join(MECHANISMS)}.")
    selecting = [keys for keys in sets if any(plan.keys[index].domain is None for index in keys)]
    price = _Price(epsilon, len(plan.measures) * len(sets) + len(selecting), mechanism == "gaussian", neighbours)
    made = []
    for keys in sets:
        one = _measuring(plan, keys, price)
        if keys in selecting:
            assert delta is not None  # the planner has refused a question without one  # noqa: S101
            one = _selecting(one, plan.relation, price, delta / len(selecting))
        made.append(one)
    return replace(plan, sets=tuple(made))


def _measuring(plan: Plan, keys: tuple[int, ...], price: _Price) -> GroupSet:
    """The mechanisms of every measure in one grouping."""
    groups = plan.groups_in(GroupSet(keys, ()))
    if groups is not None and groups > _MOST_GROUPS:
        raise TooLarge("There would be more than a million groups.", next_step="Group by fewer columns.")
    size = 2 if groups is None else groups  # any number but one: how many will be selected is not known yet
    finest = len(keys) == len(plan.keys)
    made = []
    for measure in plan.measures:
        norm = norms(plan.relation, measure, keys, finest=finest, neighbours=price.neighbours)
        if measure.largest * norm.l1 * _PEOPLE >= 2**126:
            raise TooLarge("The sum could overflow.", next_step="Ask the owner for narrower bounds or a coarser grid.")
        if measure.kind is Kind.QUANTILE:
            made.append(_quantiles(measure, norm, price))
        else:
            made.append((_adding(measure, norm, price, size),))
    return GroupSet(keys, tuple(made))


def _adding(measure: Measure, norm: Norms, price: _Price, size: int) -> Mechanism:
    if price.gaussian:
        wide = _root_above(norm.l2_squared) * measure.largest
        return Gaussian.for_rho(sensitivity=wide, rho=price.rho_share, size=size)
    return Laplace(sensitivity=measure.largest * norm.l1, epsilon=price.share, size=size)


def _quantiles(measure: Measure, norm: Norms, price: _Price) -> tuple[Mechanism, ...]:
    """The quantile, and two draws that aim so far beside it that they rarely land on the wrong side."""
    rows = norm.l1 if price.neighbours is Neighbours.ADD_REMOVE else norm.l1 // 2
    third = _root_below(8 * price.rho_share / 3)  # an exponential mechanism of epsilon costs rho = epsilon**2 / 8
    parts = [third] * 3 if price.gaussian else [price.share / 2, price.share / 4, price.share / 4]
    middle, *ends = (
        replace(quantile_of(measure, epsilon=part, rows=rows), neighbours=price.neighbours) for part in parts
    )
    low, high = (
        replace(end, shift=side * Fraction(end.error(_END_LEVEL))) for side, end in zip((-1, 1), ends, strict=True)
    )
    return middle, low, high


def _selecting(one: GroupSet, relation: Relation, price: _Price, delta: Fraction) -> GroupSet:
    """Each key is kept by its own selection; a person is in at most so many groups, and pays for each."""
    times = groups_per_person(relation) * (1 if price.neighbours is Neighbours.ADD_REMOVE else 2)
    each = _root_below(2 * price.rho_share / times) if price.gaussian else price.share / times
    return replace(one, selection=PartitionSelection(epsilon=each, delta=delta / times), selections=times)


def _root_above(square: int) -> Fraction:
    """A square root rounded up, exact where it is whole."""
    if math.isqrt(square) ** 2 == square:
        return Fraction(math.isqrt(square))
    return Fraction(math.isqrt(square << 80) + 1, 2**40)


def _root_below(square: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.floor(square * 2**120)), 2**60)

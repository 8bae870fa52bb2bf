"""Statistics of bounded values, one value a person: histogram, sum, mean and variance, each with its ±, each paid for before it is drawn.

Values are put on a public grid (of at least 2**16 steps between the bounds, or one by one where they are said to be `whole`), clamped to the bounds in
steps, and added up as integers; then exact noise is added. Everything after the noise is computed from what was released, and nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Protocol

from discreet.core.exact import Number, read_epsilon, rounded_up
from discreet.core.loss import Loss, Neighbours, read_neighbours
from discreet.errors import BadInput
from discreet.mechanisms.additive.laplace_mechanism import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.statistics.binning import binned, by_category
from discreet.mechanisms.statistics.moments import Plan, Scale, total_of
from discreet.mechanisms.statistics.statistic import Histogram, Statistic
from discreet.noise import SYSTEM_BITS

_bits = SYSTEM_BITS


class Account(Protocol):
    """What pays: `discreet.accounting.Account`, or anything that refuses what it cannot pay for."""

    def charge(self, releases: Sequence[Mechanism]) -> None:
        """Pay for releases that are made together, or raise.

        Args:
            releases: The mechanisms that are about to be drawn from.
        """


def histogram(
    values: object,
    *,
    epsilon: Number,
    edges: Sequence[Number] | None = None,
    categories: Iterable[Hashable] | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    account: Account | None = None,
) -> Histogram:
    """How many values fall into each bin: epsilon-DP for one value a person.

    Args:
        values: A list, a numpy array, or a column of pandas or polars: one value a person. Who has no number, or no such category, is not counted.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
        edges: Where bins of numbers begin and end, from public knowledge; values beyond count in the outermost bins.
        categories: Or the categories, from public knowledge; other values are not counted.
        neighbours: What a person changes: a value that comes or goes, or one that is replaced, which doubles the noise.
        account: What pays for it; nothing is drawn unless it does.
    """
    if (edges is None) == (categories is None):
        raise BadInput(
            "A histogram has edges or categories, one of the two.",
            next_step='Give edges=[0, 10, 20], or categories=["ER", "ICU"].',
        )
    labels, counts = binned(values, edges) if edges is not None else by_category(values, list(categories or ()))
    moved = 1 if read_neighbours(neighbours) is Neighbours.ADD_REMOVE else 2
    mechanism = Laplace(sensitivity=moved, epsilon=read_epsilon(epsilon), size=len(labels))
    _pay(account, [mechanism])
    noisy = mechanism.release(counts, _bits)
    return Histogram(tuple(labels), tuple(noisy.tolist()), mechanism)


def sum(  # noqa: A001  discreet.sum is what one types
    values: object,
    *,
    lower: Number,
    upper: Number,
    epsilon: Number,
    whole: bool = False,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    account: Account | None = None,
) -> Statistic:
    """The sum of values: epsilon-DP for one value a person.

    Args:
        values: A list, a numpy array, or a column of pandas or polars: one value a person. Who has no number is left out, or is in the middle of the bounds where values are replaced.
        lower: The least that a value can be, from public knowledge; values below count as this.
        upper: The most that a value can be, likewise.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
        whole: Whether the values are whole numbers; others are rounded to them then. Never read off the values.
        neighbours: What a person changes: a value that comes or goes, or one that is replaced.
        account: What pays for it; nothing is drawn unless it does.
    """
    scale = Scale.between(lower, upper, whole=whole)
    relation = read_neighbours(neighbours)
    replaced = relation is Neighbours.REPLACE_ONE
    moved = scale.high - scale.low if replaced else max(abs(scale.low), abs(scale.high))
    mechanism = Laplace(sensitivity=moved, epsilon=read_epsilon(epsilon))
    steps = scale.read(values, relation)
    _pay(account, [mechanism])
    total = mechanism.release(total_of(steps), _bits)

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        width = mechanism.error(level)
        return (total - width) * scale.step, (total + width) * scale.step

    value = total * scale.step
    return Statistic(int(value) if whole else float(value), _loss(epsilon), around)


def mean(
    values: object,
    *,
    lower: Number,
    upper: Number,
    epsilon: Number,
    whole: bool = False,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    account: Account | None = None,
) -> Statistic:
    """The mean of values: epsilon-DP for one value a person. A noisy total about the middle of the bounds, by a noisy count.

    Where values are replaced, how many there are is public, and all of epsilon is for the total.

    Args:
        values: A list, a numpy array, or a column of pandas or polars: one value a person. Who has no number is left out, or is in the middle of the bounds where values are replaced.
        lower: The least that a value can be, from public knowledge; values below count as this.
        upper: The most that a value can be, likewise.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
        whole: Whether the values are whole numbers; others are rounded to them then. Never read off the values.
        neighbours: What a person changes: a value that comes or goes, or one that is replaced.
        account: What pays for it; nothing is drawn unless it does.
    """
    scale = Scale.between(lower, upper, whole=whole)
    relation = read_neighbours(neighbours)
    plan = Plan.of(scale, epsilon=read_epsilon(epsilon), neighbours=relation, squares=False)
    steps = scale.read(values, relation)
    _pay(account, plan.mechanisms)
    moments = plan.release(steps - scale.middle, _bits)

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        low, high = moments.first(level)
        return scale.step * (low + scale.middle) - scale.rounding, scale.step * (high + scale.middle) + scale.rounding

    value = scale.step * (moments.at(moments.total) + scale.middle)
    return Statistic.within(value, _loss(epsilon), around, bounds=scale.bounds)


def variance(
    values: object,
    *,
    lower: Number,
    upper: Number,
    epsilon: Number,
    whole: bool = False,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    account: Account | None = None,
) -> Statistic:
    """The variance of values (divided by their number): epsilon-DP for one value a person.

    Args:
        values: A list, a numpy array, or a column of pandas or polars: one value a person. Who has no number is left out, or is in the middle of the bounds where values are replaced.
        lower: The least that a value can be, from public knowledge; values below count as this.
        upper: The most that a value can be, likewise.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
        whole: Whether the values are whole numbers; others are rounded to them then. Never read off the values.
        neighbours: What a person changes: a value that comes or goes, or one that is replaced.
        account: What pays for it; nothing is drawn unless it does.
    """
    scale = Scale.between(lower, upper, whole=whole)
    relation = read_neighbours(neighbours)
    plan = Plan.of(scale, epsilon=read_epsilon(epsilon), neighbours=relation, squares=True)
    steps = scale.read(values, relation)
    _pay(account, plan.mechanisms)
    moments = plan.release(steps - scale.middle, _bits)
    low, high = scale.bounds
    unit, rounding = scale.step**2, 2 * (high - low) * scale.rounding

    def around(level: Fraction) -> tuple[Fraction, Fraction]:
        (least, most), (first_low, first_high) = moments.second(level), moments.first(level)
        smallest = Fraction(0) if first_low <= 0 <= first_high else min(first_low**2, first_high**2)
        return unit * (least - max(first_low**2, first_high**2)) - rounding, unit * (most - smallest) + rounding

    value = unit * (moments.at(moments.squares) - moments.at(moments.total) ** 2)
    return Statistic.within(value, _loss(epsilon), around, bounds=(Fraction(0), ((high - low) / 2) ** 2))


def _pay(account: Account | None, releases: Sequence[Mechanism]) -> None:
    if account is not None:
        account.charge(releases)


def _loss(epsilon: Number) -> Loss:
    return Loss(rounded_up(read_epsilon(epsilon)))

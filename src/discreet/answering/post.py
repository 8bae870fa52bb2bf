"""Arithmetic after the noise: values and the intervals around them, from noisy measures alone."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import NotAllowed
from discreet.exact import Number, exact
from discreet.mechanisms import Mechanism, Quantile
from discreet.sql.plan import QUANTILE_LEVEL, GroupSet, Kind, Measure, Plan, Post
from discreet.sql.scope import KeyValue

Interval = tuple[float, float]
_ANYWHERE: Interval = (-math.inf, math.inf)


def _rounded(value: float, digits: float = 0) -> float:
    scale = 10.0 ** int(digits)
    return math.copysign(math.floor(abs(value) * scale + 0.5), value) / scale


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "neg": operator.neg,
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq, "<>": operator.ne,
    "abs": abs, "sqrt": lambda x: math.sqrt(max(x, 0.0)), "floor": math.floor, "ceil": math.ceil, "round": _rounded,
    "least": lambda *values: min(values), "greatest": lambda *values: max(values),
}  # fmt: skip
_NOISY = {"measure", "average", "variance", "quantile"}
_LEAVES = {*_NOISY, "key", "grouping", "literal", "case"}
_LOGIC: dict[str, Callable[[list[Any]], Any]] = {
    "and": all,
    "or": any,
    "not": lambda values: not values[0],
    "coalesce": lambda values: next((value for value in values if value is not None), None),
    "nullif": lambda values: None if values[0] == values[1] else values[0],
}
_RISING = {"sqrt", "floor", "ceil", "round", "least", "greatest"}


class Cell:
    """One group of an answer: its key and its noisy integers."""

    __slots__ = ("_key", "_noisy", "_plan", "_set")

    def __init__(self, plan: Plan, one: GroupSet, key: Sequence[KeyValue], noisy: Sequence[Sequence[int]]) -> None:
        self._plan, self._set, self._noisy = plan, one, noisy
        self._key = dict(zip(one.keys, key, strict=True))

    def value(self, post: Post) -> Any:
        """What an output is; None where it cannot be computed, as in SQL."""
        try:
            value = self._value(post)
        except OverflowError:
            return None
        return None if isinstance(value, float) and not math.isfinite(value) else value

    def _value(self, post: Post) -> Any:
        if post.op in _LEAVES:
            return self._leaf(post)
        values = [self.value(arg) for arg in post.args]
        if post.op in _LOGIC:
            return _LOGIC[post.op](values)
        if None in values or (post.op == "/" and values[1] == 0):
            return None
        return _FUNCTIONS[post.op](*values)

    def _leaf(self, post: Post) -> Any:
        first, *others = (self._noisy[index][0] for index in (post.index, *post.others)) if post.op in _NOISY else (0,)
        match post.op:
            case "key":
                return self._key.get(post.index)
            case "grouping":
                return int(post.index not in self._set.keys)
            case "measure":
                return self._measured(post.index, 0)
            case "quantile":
                return self._candidate(post.index, 0)
            case "average":
                return self._average(first, others[0], post)
            case "variance":
                return self._spread(post, first, others[0], others[1])
            case "case":
                return self._case(post)
        return post.value

    def _case(self, post: Post) -> Any:
        for condition, result in zip(post.args[0::2], post.args[1::2], strict=False):
            if self.value(condition):
                return self.value(result)
        return self.value(post.args[-1]) if len(post.args) % 2 else None

    def _measured(self, index: int, away: int) -> int | float:
        measure = self._plan.measures[index]
        step = measure.step if measure.kind is Kind.TOTAL else 1
        value = self._noisy[index][0] + away
        return value if step == 1 else float(value * step)

    def _candidate(self, index: int, draw: int) -> float:
        mechanism = self._set.mechanisms[index][draw]
        assert isinstance(mechanism, Quantile)  # noqa: S101
        return float(
            mechanism.grid.back(mechanism.candidates[self._noisy[index][draw]]) * self._plan.measures[index].step
        )

    def _average(self, total: float, count: float, post: Post) -> float:
        """Centre + total / count, within what the bounds allow; a count below one counts as one."""
        measure = self._plan.measures[post.index]
        steps = measure.centre + total / max(count, 1)
        return float(min(max(steps, measure.low), measure.high) * measure.step)

    def _spread(self, post: Post, total: float, count: float, squares: float) -> float:
        """Variance or deviation from the three sums, within what the bounds allow."""
        people = max(count, 1)
        coarser = self._plan.measures[post.others[1]].coarser
        variance = squares * 2.0**coarser / people - (total / people) ** 2
        return self._allowed_spread(post, variance * _correction(post, people))

    def _allowed_spread(self, post: Post, variance: float) -> float:
        """At most a quarter of the squared range for all of them, half of it for a sample of two."""
        measure = self._plan.measures[post.index]
        most = (measure.high - measure.low) ** 2 / (2 if str(post.value).endswith("samp") else 4)
        variance = min(max(variance, 0.0), most) * float(measure.step) ** 2
        return math.sqrt(variance) if str(post.value).startswith("std") else variance

    # Intervals

    def interval(self, post: Post, level: Number) -> Interval | None:
        """Where the exact value of the bounded data lies, in `level` of all answers; None for keys and conditions.

        With n measures in one expression, each is given 1 - (1 - level) / n, so that all hold together.
        """
        involved = sorted(set(_measures(post)))
        if not involved:
            return None
        each = 1 - (1 - exact(level)) / len(involved)
        return self._interval(post, each)

    def _width(self, index: int, level: Fraction) -> int:
        return _error(self._set.mechanisms[index][0], level)

    def _interval(self, post: Post, level: Fraction) -> Interval | None:
        match post.op:
            case "literal":
                return (float(post.value), float(post.value)) if isinstance(post.value, int | float) else None
            case "measure":
                width = self._width(post.index, level)
                return float(self._measured(post.index, -width)), float(self._measured(post.index, width))
            case "quantile":
                return self._quantile_interval(post, level)
            case "average":
                return self._average_interval(post, level)
            case "variance":
                return self._variance_interval(post, level)
            case "neg":
                inner = self._interval(post.args[0], level)
                return None if inner is None else (-inner[1], -inner[0])
            case "case":
                results = [*post.args[1::2], *([post.args[-1]] if len(post.args) % 2 else [])]
                return _hull([self._interval(arg, level) for arg in results])
            case "coalesce" | "nullif":
                return _hull([self._interval(arg, level) for arg in post.args[: 1 if post.op == "nullif" else None]])
        sides = [self._interval(arg, level) for arg in post.args]
        known = [side for side in sides if side is not None]
        if len(known) != len(sides):
            return None
        combined = _combined(post.op, known)
        return _ANYWHERE if combined is not None and any(map(math.isnan, combined)) else combined

    def _quantile_interval(self, post: Post, level: Fraction) -> Interval:
        """The two further draws, for the level that they were drawn for or less; else all that the bounds allow."""
        measure = self._plan.measures[post.index]
        if level > QUANTILE_LEVEL:
            return float(measure.low * measure.step), float(measure.high * measure.step)
        low, middle, high = (self._candidate(post.index, draw) for draw in (1, 0, 2))
        mechanism = self._set.mechanisms[post.index][0]
        assert isinstance(mechanism, Quantile)  # noqa: S101
        half = float(mechanism.grid.step * measure.step) / 2  # values were rounded to the nearest candidate
        return min(low, middle) - half, max(high, middle) + half

    def _average_interval(self, post: Post, level: Fraction) -> Interval:
        measure = self._plan.measures[post.index]
        total, count = self._noisy[post.index][0], self._noisy[post.others[0]][0]
        width, fewest = self._width(post.index, level), count - self._width(post.others[0], level)
        if fewest < 1:
            return float(measure.low * measure.step), float(measure.high * measure.step)
        most = count + self._width(post.others[0], level)
        corners = [self._average(total + sign * width, people, post) for sign in (-1, 1) for people in (fewest, most)]
        return min(corners), max(corners)

    def _variance_interval(self, post: Post, level: Fraction) -> Interval:
        """Interval arithmetic on squares / count - (total / count)**2; all that the bounds allow for tiny groups."""
        (total, count, squares), (a, b, c) = (
            [self._noisy[index][0] for index in (post.index, *post.others)],
            [self._width(index, level) for index in (post.index, *post.others)],
        )
        fewest, most = count - b, count + b
        if fewest < 2:
            return self._allowed_spread(post, 0.0), self._allowed_spread(post, math.inf)
        coarser = self._plan.measures[post.others[1]].coarser
        rounding = count / 2  # half a unit for each square
        low, high = (max(squares + sign * (c + rounding), 0) * 2.0**coarser for sign in (-1, 1))
        largest = max(abs(total - a), abs(total + a))
        least = 0 if total - a <= 0 <= total + a else min(abs(total - a), abs(total + a))
        ends = low / most - (largest / fewest) ** 2, high / fewest - (least / most) ** 2
        factors = _correction(post, fewest), _correction(post, most)
        return self._allowed_spread(post, ends[0] * min(factors)), self._allowed_spread(post, ends[1] * max(factors))


@lru_cache(maxsize=4096)
def _error(mechanism: Mechanism, level: Fraction) -> int:
    """Exact, and so worth remembering: the cells of an answer, and the answers of a day, share a few mechanisms."""
    return int(mechanism.error(level))


def _correction(post: Post, people: float) -> float:
    return people / max(people - 1, 1) if str(post.value).endswith("samp") else 1.0


def _hull(sides: Sequence[Interval | None]) -> Interval | None:
    known = [side for side in sides if side is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def width_of(plan: Plan, level: Number) -> Fraction:
    """The widest ± of any output, where it does not depend on data: counts and sums."""
    widths = [
        _width(plan, one, output.post, level) for one in plan.sets for output in plan.outputs if _measures(output.post)
    ]
    return max(widths)


def expected_width(plan: Plan, post: Post, level: Number) -> float | None:
    """The same for one output; None where it depends on the data, or where nothing is noisy."""
    if post.op != "measure":
        return None
    return float(max(_width(plan, one, post, level) for one in plan.sets))


def _width(plan: Plan, one: GroupSet, post: Post, level: Number) -> Fraction:
    if post.op == "measure":
        measure: Measure = plan.measures[post.index]
        step = measure.step if measure.kind is Kind.TOTAL else Fraction(1)
        return exact(one.mechanisms[post.index][0].error(level)) * step
    raise NotAllowed(
        "How exact an average, a ratio or a quantile is depends on the data, so it cannot be asked for beforehand.",
        next_step="Ask for its sum and count within some error, or give an epsilon.",
    )


def _measures(post: Post) -> list[int]:
    own = [post.index, *post.others] if post.op in _NOISY else []
    return [*own, *(index for arg in post.args for index in _measures(arg))]


def _combined(op: str, sides: list[Interval]) -> Interval | None:
    if op == "abs":
        (low, high) = sides[0]
        return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    if op in _RISING:
        rule = _FUNCTIONS[op]
        ends = [
            rule(*(side[end] for side in sides)) if math.isfinite(sides[0][end]) else sides[0][end] for end in (0, 1)
        ]
        return float(ends[0]), float(ends[1])
    if len(sides) != 2:
        return None
    a, b = sides
    match op:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[1], a[1] - b[0]
        case "*":
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
        case "/":
            if b[0] <= 0 <= b[1]:
                return _ANYWHERE
            corners = [x / y for x in a for y in b]
            return min(corners), max(corners)
    return None

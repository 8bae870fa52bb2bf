"""Arithmetic after the noise: values and the intervals around them, from noisy measures alone."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.errors import NotAllowed
from discreet.exact import Number, exact
from discreet.sql.plan import KeyValue, Measure, Plan, Post

Interval = tuple[float, float]
_ANYWHERE: Interval = (-math.inf, math.inf)

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip


class Cell:
    """One group of an answer: its key and its noisy integers."""

    __slots__ = ("_key", "_noisy", "_plan")

    def __init__(self, plan: Plan, key: tuple[KeyValue, ...], noisy: tuple[int, ...]) -> None:
        self._plan, self._key, self._noisy = plan, key, noisy

    def value(self, post: Post) -> Any:
        """What an output is; None where it cannot be computed, as in SQL."""
        try:
            value = self._value(post)
        except OverflowError:
            return None
        return None if isinstance(value, float) and not math.isfinite(value) else value

    def _value(self, post: Post) -> Any:
        match post.op:
            case "key":
                return self._key[post.index]
            case "literal":
                return post.value
            case "measure":
                return self._measured(post.index)
            case "average":
                return self._average(self._noisy[post.index], self._noisy[post.other], self._plan.measures[post.index])
            case "neg":
                inner = self.value(post.args[0])
                return None if inner is None else -inner
            case "not":
                return not self.value(post.args[0])
            case "and":
                return all(self.value(arg) for arg in post.args)
            case "or":
                return any(self.value(arg) for arg in post.args)
        a, b = (self.value(arg) for arg in post.args)
        if a is None or b is None or (post.op == "/" and b == 0):
            return None
        return _ARITHMETIC[post.op](a, b)

    def _measured(self, index: int) -> int | float:
        step = self._plan.measures[index].step
        return self._noisy[index] if step == 1 else float(self._noisy[index] * step)

    def _average(self, total: float, count: float, measure: Measure) -> float:
        """Centre + total / count, within what the bounds allow; a count below one counts as one."""
        steps = measure.centre + total / max(count, 1)
        return float(min(max(steps, measure.low), measure.high) * measure.step)

    def interval(self, post: Post, level: Number) -> Interval | None:
        """Where the exact value of the bounded data lies, in `level` of all answers; None for keys and conditions.

        With n measures in one expression, each is given 1 - (1 - level) / n, so that all hold together.
        """
        involved = sorted(set(_measures(post)))
        if not involved:
            return None
        each = 1 - (1 - exact(level)) / len(involved)
        widths = {index: self._plan.measures[index].mechanism.error(each) for index in involved}
        return self._interval(post, widths)

    def _interval(self, post: Post, widths: dict[int, int]) -> Interval | None:
        match post.op:
            case "literal":
                return (float(post.value), float(post.value)) if isinstance(post.value, int | float) else None
            case "measure":
                step, width = self._plan.measures[post.index].step, widths[post.index]
                return float((self._noisy[post.index] - width) * step), float((self._noisy[post.index] + width) * step)
            case "average":
                return self._average_interval(post, widths)
            case "neg":
                inner = self._interval(post.args[0], widths)
                return None if inner is None else (-inner[1], -inner[0])
        sides = [self._interval(arg, widths) for arg in post.args]
        if len(sides) != 2 or sides[0] is None or sides[1] is None:
            return None
        combined = _combined(post.op, sides[0], sides[1])
        return _ANYWHERE if combined is not None and any(map(math.isnan, combined)) else combined

    def _average_interval(self, post: Post, widths: dict[int, int]) -> Interval:
        measure = self._plan.measures[post.index]
        total, count = self._noisy[post.index], self._noisy[post.other]
        fewest = count - widths[post.other]
        if fewest < 1:
            return float(measure.low * measure.step), float(measure.high * measure.step)
        corners = [
            self._average(total + sign * widths[post.index], people, measure)
            for sign in (-1, 1)
            for people in (fewest, count + widths[post.other])
        ]
        return min(corners), max(corners)


def width_of(plan: Plan, level: Number) -> Fraction:
    """The widest ± of any output, where it does not depend on data: counts and sums."""
    widths = [_width(plan, output.post, level) for output in plan.outputs if _measures(output.post)]
    return max(widths)


def _width(plan: Plan, post: Post, level: Number) -> Fraction:
    if post.op == "measure":
        measure = plan.measures[post.index]
        return measure.mechanism.error(level) * measure.step
    raise NotAllowed(
        "How exact an average or a ratio is depends on the data, so it cannot be asked for beforehand.",
        next_step="Ask for its sum and count within some error, or give an epsilon.",
    )


def _measures(post: Post) -> list[int]:
    own = {"measure": [post.index], "average": [post.index, post.other]}.get(post.op, [])
    return [*own, *(index for arg in post.args for index in _measures(arg))]


def _combined(op: str, a: Interval, b: Interval) -> Interval | None:
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

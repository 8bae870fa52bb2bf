"""What is computed from noisy columns: every operator with its values, its NULLs and its intervals. Nothing here can fail on any value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.algebra.value_properties import LONGEST_TEXT
from discreet.answering import choosing, logic, rules, sides
from discreet.answering.columns import Around, Column, Sides, as_text, numbers, objects_of, remembered


@dataclass(frozen=True, slots=True)
class Operator:
    """A rule of numbers, the rule of their intervals, and whether it is defined for all numbers."""

    values: Callable[..., rules.Ruled]
    ends: Callable[..., Sides]
    total: bool
    takes: tuple[int, int]


_NUMERIC: dict[str, Operator] = {
    "+": Operator(rules.integral(np.add), sides.plus, True, (2, 2)),
    "-": Operator(rules.integral(np.subtract), sides.minus, True, (2, 2)),
    "*": Operator(rules.integral(np.multiply), sides.times, True, (2, 2)),
    "/": Operator(rules.divided, sides.over, False, (2, 2)),
    "//": Operator(rules.whole_quotient, sides.quotient, False, (2, 2)),
    "%": Operator(rules.remaining, sides.remainder, False, (2, 2)),
    "neg": Operator(rules.integral(np.negative), sides.negated, True, (1, 1)),
    "abs": Operator(rules.integral(np.abs), sides.magnitude, True, (1, 1)),
    "floor": Operator(rules.to_whole(np.floor), sides.rising(np.floor), True, (1, 1)),
    "ceil": Operator(rules.to_whole(np.ceil), sides.rising(np.ceil), True, (1, 1)),
    "round": Operator(rules.rounded, sides.rounded, True, (1, 2)),
    "ln": Operator(rules.logarithm, sides.logarithm, False, (1, 1)),
    "exp": Operator(rules.exponential, sides.rising(np.exp), True, (1, 1)),
    "pow": Operator(rules.power, sides.power, False, (2, 2)),
}  # fmt: skip
_MANY = 1_000
_OTHERS: dict[str, tuple[Callable[..., Column], tuple[int, int]]] = {
    **{op: (logic.comparison(op), (2, 2)) for op in ("=", "<>", "<", "<=", ">", ">=")},
    "and": (logic.conjunction, (1, _MANY)), "or": (logic.disjunction, (1, _MANY)), "not": (logic.negation, (1, 1)),
    "is_null": (logic.is_null, (1, 1)), "not_null": (logic.not_null, (1, 1)),
    "between": (logic.between, (3, 3)), "in": (logic.among, (2, _MANY)),
    "case": (choosing.case, (2, _MANY)), "coalesce": (choosing.coalesce, (1, _MANY)),
    "nullif": (choosing.nullif, (2, 2)),
    "least": (choosing.least, (1, _MANY)), "greatest": (choosing.greatest, (1, _MANY)),
}  # fmt: skip


def applied(op: str, args: Sequence[Column]) -> Column:
    """The result of an operator over columns of one length."""
    with np.errstate(all="ignore"):
        if op in _NUMERIC:
            return _numeric(_NUMERIC[op], args)
        if op in _OTHERS:
            return _OTHERS[op][0](*args)
        return _SINGLE[op][0](*args)


def _numeric(operator: Operator, args: Sequence[Column]) -> Column:
    """NULL where an argument is none, or no number, or the result is undefined."""
    parts = [numbers(arg) for arg in args]
    values, defined = operator.values(*(part for part, _ in parts))
    valid = defined.copy()
    for _, there in parts:
        valid &= there
    if values.dtype.kind == "f":
        values = np.where(valid, values, 0.0) + 0.0
    events = logic.joint_events(args)
    return Column(values, valid, events, combined(args, operator.ends), _steady(args, operator.total or not events))


def combined(args: Sequence[Column], ends: Callable[..., Sides]) -> Around | None:
    """The interval of a result; None where an argument has none."""
    arounds = [arg.around for arg in args if arg.around is not None]
    if len(arounds) != len(args):
        return None

    def around(level: Fraction) -> Sides:
        with np.errstate(all="ignore"):
            given = [part(level) for part in arounds]
            return sides.anywhere(ends(*given), known=sides.known_in_all(given))

    return remembered(around)


def _steady(args: Sequence[Column], total: bool) -> bool:
    return total and all(arg.steady for arg in args)


def _root(column: Column) -> Column:
    """Noise below 0 counts as 0; an exact number below 0 has no root."""
    values, valid = numbers(column)
    defined = np.ones(len(column), np.bool_) if column.is_noisy else (rules.floats(values) >= 0)
    roots = np.sqrt(np.maximum(rules.floats(values), 0.0))
    around = combined([column], sides.rising(lambda end: np.sqrt(np.maximum(end, 0.0))))
    return Column(roots, valid & defined, column.events, around, column.steady)


def _whole(column: Column) -> Column:
    values, valid = rules.cast_int(column)
    return Column(values, valid, column.events, combined([column], sides.rising(np.rint)), column.steady)


def _real(column: Column) -> Column:
    values, valid = rules.cast_real(column)
    return Column(values, valid, column.events, combined([column], lambda ends: ends), column.steady, column.noises)


def _text(column: Column) -> Column:
    return Column(as_text(column), column.valid, column.events, None, column.steady)


def _concatenated(*args: Column) -> Column:
    """NULLs are left out; a text that is too long is NULL, so that none can be doubled without end."""
    size = len(args[0])
    texts: list[Any] = [as_text(arg) for arg in args]
    joined = objects_of(("".join(parts) for parts in zip(*texts, strict=True)), size)
    short = np.fromiter((len(text) <= LONGEST_TEXT for text in joined.tolist()), np.bool_, size)
    return Column(np.where(short, joined, ""), short, logic.joint_events(args))


_SINGLE: dict[str, tuple[Callable[..., Column], tuple[int, int]]] = {
    "sqrt": (_root, (1, 1)), "cast_int": (_whole, (1, 1)), "cast_real": (_real, (1, 1)), "cast_text": (_text, (1, 1)),
    "concat": (_concatenated, (1, _MANY)),
}  # fmt: skip
MOST_ARGUMENTS: dict[str, tuple[int, int]] = {
    **{op: operator.takes for op, operator in _NUMERIC.items()},
    **{op: takes for op, (_, takes) in {**_OTHERS, **_SINGLE}.items()},
}
"""Every operator that is known, with how many arguments it takes at least and at most."""

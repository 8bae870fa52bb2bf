"""What is computed from noisy columns: every operator with its values, its NULLs and its intervals. Nothing here can fail on any value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.algebra.value_properties import LONGEST_TEXT
from discreet.postprocessing import boolean_logic, case_expressions, interval_arithmetic, number_rules
from discreet.postprocessing.noisy_columns import Around, Column, Sides, as_text, numbers, objects_of, remembered


@dataclass(frozen=True, slots=True)
class Operator:
    """A rule of numbers, the rule of their intervals, and whether it is defined for all numbers."""

    values: Callable[..., number_rules.Ruled]
    ends: Callable[..., Sides]
    total: bool
    takes: tuple[int, int]


_NUMERIC: dict[str, Operator] = {
    "+": Operator(number_rules.integral(np.add), interval_arithmetic.plus, True, (2, 2)),
    "-": Operator(number_rules.integral(np.subtract), interval_arithmetic.minus, True, (2, 2)),
    "*": Operator(number_rules.integral(np.multiply), interval_arithmetic.times, True, (2, 2)),
    "/": Operator(number_rules.divided, interval_arithmetic.over, False, (2, 2)),
    "//": Operator(number_rules.whole_quotient, interval_arithmetic.quotient, False, (2, 2)),
    "%": Operator(number_rules.remaining, interval_arithmetic.remainder, False, (2, 2)),
    "neg": Operator(number_rules.integral(np.negative), interval_arithmetic.negated, True, (1, 1)),
    "abs": Operator(number_rules.integral(np.abs), interval_arithmetic.magnitude, True, (1, 1)),
    "floor": Operator(number_rules.to_whole(np.floor), interval_arithmetic.rising(np.floor), True, (1, 1)),
    "ceil": Operator(number_rules.to_whole(np.ceil), interval_arithmetic.rising(np.ceil), True, (1, 1)),
    "round": Operator(number_rules.rounded, interval_arithmetic.rounded, True, (1, 2)),
    "ln": Operator(number_rules.logarithm, interval_arithmetic.logarithm, False, (1, 1)),
    "exp": Operator(number_rules.exponential, interval_arithmetic.rising(np.exp), True, (1, 1)),
    "pow": Operator(number_rules.power, interval_arithmetic.power, False, (2, 2)),
}  # fmt: skip
_MANY = 1_000
_OTHERS: dict[str, tuple[Callable[..., Column], tuple[int, int]]] = {
    **{op: (boolean_logic.comparison(op), (2, 2)) for op in ("=", "<>", "<", "<=", ">", ">=")},
    "and": (boolean_logic.conjunction, (1, _MANY)), "or": (boolean_logic.disjunction, (1, _MANY)), "not": (boolean_logic.negation, (1, 1)),
    "is_null": (boolean_logic.is_null, (1, 1)), "not_null": (boolean_logic.not_null, (1, 1)),
    "between": (boolean_logic.between, (3, 3)), "in": (boolean_logic.among, (2, _MANY)),
    "case": (case_expressions.case, (2, _MANY)), "coalesce": (case_expressions.coalesce, (1, _MANY)),
    "nullif": (case_expressions.nullif, (2, 2)),
    "least": (case_expressions.least, (1, _MANY)), "greatest": (case_expressions.greatest, (1, _MANY)),
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
    events = boolean_logic.joint_events(args)
    return Column(values, valid, events, combined(args, operator.ends), _steady(args, operator.total or not events))


def combined(args: Sequence[Column], ends: Callable[..., Sides]) -> Around | None:
    """The interval of a result; None where an argument has none."""
    arounds = [arg.around for arg in args if arg.around is not None]
    if len(arounds) != len(args):
        return None

    def around(level: Fraction) -> Sides:
        with np.errstate(all="ignore"):
            given = [part(level) for part in arounds]
            return interval_arithmetic.anywhere(ends(*given), known=interval_arithmetic.known_in_all(given))

    return remembered(around)


def _steady(args: Sequence[Column], total: bool) -> bool:
    return total and all(arg.steady for arg in args)


def _root(column: Column) -> Column:
    """Noise below 0 counts as 0; an exact number below 0 has no root."""
    values, valid = numbers(column)
    defined = np.ones(len(column), np.bool_) if column.is_noisy else (number_rules.floats(values) >= 0)
    roots = np.sqrt(np.maximum(number_rules.floats(values), 0.0))
    around = combined([column], interval_arithmetic.rising(lambda end: np.sqrt(np.maximum(end, 0.0))))
    return Column(roots, valid & defined, column.events, around, column.steady)


def _whole(column: Column) -> Column:
    values, valid = number_rules.cast_int(column)
    return Column(values, valid, column.events, combined([column], interval_arithmetic.rising(np.rint)), column.steady)


def _real(column: Column) -> Column:
    values, valid = number_rules.cast_real(column)
    return Column(values, valid, column.events, combined([column], lambda ends: ends), column.steady, column.noises)


def _text(column: Column) -> Column:
    return Column(as_text(column), column.valid, column.events, None, column.steady)


def _concatenated(*args: Column) -> Column:
    """NULLs are left out; a text that is too long is NULL, so that none can be doubled without end."""
    size = len(args[0])
    texts: list[Any] = [as_text(arg) for arg in args]
    joined = objects_of(("".join(parts) for parts in zip(*texts, strict=True)), size)
    short = np.fromiter((len(text) <= LONGEST_TEXT for text in joined.tolist()), np.bool_, size)
    return Column(np.where(short, joined, ""), short, boolean_logic.joint_events(args))


_SINGLE: dict[str, tuple[Callable[..., Column], tuple[int, int]]] = {
    "sqrt": (_root, (1, 1)), "cast_int": (_whole, (1, 1)), "cast_real": (_real, (1, 1)), "cast_text": (_text, (1, 1)),
    "concat": (_concatenated, (1, _MANY)),
}  # fmt: skip
MOST_ARGUMENTS: dict[str, tuple[int, int]] = {
    **{op: operator.takes for op, operator in _NUMERIC.items()},
    **{op: takes for op, (_, takes) in {**_OTHERS, **_SINGLE}.items()},
}
"""Every operator that is known, with how many arguments it takes at least and at most."""

"""The operators over noisy columns: values, NULLs, intervals, arguments and size of each. None of them fails on any value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from discreet.algebra.value_properties import LONGEST_TEXT
from discreet.postprocessing import boolean_logic, case_expressions, interval_arithmetic, number_rules
from discreet.postprocessing.noisy_columns import Around, Column, Sides, as_text, numbers, objects_of, remembered

Size: TypeAlias = Callable[[Sequence[int]], int]
"""The most bytes of a result, from the most bytes of each argument."""
NUMBER_BYTES = 24
"""Bytes of a number and the two ends of its interval."""
_MANY = 1_000


def number_size(_: Sequence[int]) -> int:
    """Return the size of a result that is a number or a truth value."""
    return NUMBER_BYTES


def largest_size(sizes: Sequence[int]) -> int:
    """Return the size of a result that is one of the arguments."""
    return max(sizes, default=0)


def _joined_size(sizes: Sequence[int]) -> int:
    return min(sum(sizes), LONGEST_TEXT)


@dataclass(frozen=True, slots=True)
class Operator:
    """Everything that is known of an operator: `compute` returns its column with values, NULLs and intervals."""

    compute: Callable[..., Column]
    least_arguments: int
    most_arguments: int
    size: Size = number_size

    def takes(self, count: int) -> bool:
        """Return whether the operator can have this number of arguments."""
        return self.least_arguments <= count <= self.most_arguments


def apply_operator(op: str, args: Sequence[Column]) -> Column:
    """Return the result of an operator over columns of one length."""
    with np.errstate(all="ignore"):
        return OPERATORS[op].compute(*args)


def _numeric(
    values: Callable[..., number_rules.Ruled], ends: Callable[..., Sides], *, is_total: bool = True
) -> Callable[..., Column]:
    """Return an operator of numbers from the rule of its values and that of their intervals.

    A result is NULL if an argument is NULL or not a number, or if the result is undefined. `is_total` says that it is defined
    for all numbers.
    """

    def compute(*args: Column) -> Column:
        parts = [numbers(arg) for arg in args]
        found, defined = values(*(part for part, _ in parts))
        valid = defined.copy()
        for _, present in parts:
            valid &= present
        if found.dtype.kind == "f":
            found = np.where(valid, found, 0.0) + 0.0
        events = boolean_logic.joint_events(args)
        steady = (is_total or not events) and all(arg.steady for arg in args)
        return Column(found, valid, events, combined(args, ends), steady)

    return compute


def combined(args: Sequence[Column], ends: Callable[..., Sides]) -> Around | None:
    """Return the interval of a result; None if an argument has none."""
    arounds = [arg.around for arg in args if arg.around is not None]
    if len(arounds) != len(args):
        return None

    def around(level: Fraction) -> Sides:
        with np.errstate(all="ignore"):
            given = [part(level) for part in arounds]
            return interval_arithmetic.anywhere(ends(*given), known=interval_arithmetic.known_in_all(given))

    return remembered(around)


def _root(column: Column) -> Column:
    """SQRT: a noisy number below 0 counts as 0; an exact number below 0 has no root."""
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
    """Concatenate texts without NULLs. A result that is too long is NULL, so that texts cannot grow without limit."""
    size = len(args[0])
    texts: list[Any] = [as_text(arg) for arg in args]
    joined = objects_of(("".join(parts) for parts in zip(*texts, strict=True)), size)
    short = np.fromiter((len(text) <= LONGEST_TEXT for text in joined.tolist()), np.bool_, size)
    return Column(np.where(short, joined, ""), short, boolean_logic.joint_events(args))


OPERATORS: dict[str, Operator] = {
    "+": Operator(_numeric(number_rules.integral(np.add), interval_arithmetic.plus), 2, 2),
    "-": Operator(_numeric(number_rules.integral(np.subtract), interval_arithmetic.minus), 2, 2),
    "*": Operator(_numeric(number_rules.integral(np.multiply), interval_arithmetic.times), 2, 2),
    "/": Operator(_numeric(number_rules.divided, interval_arithmetic.over, is_total=False), 2, 2),
    "//": Operator(_numeric(number_rules.whole_quotient, interval_arithmetic.quotient, is_total=False), 2, 2),
    "%": Operator(_numeric(number_rules.remaining, interval_arithmetic.remainder, is_total=False), 2, 2),
    "neg": Operator(_numeric(number_rules.integral(np.negative), interval_arithmetic.negated), 1, 1),
    "abs": Operator(_numeric(number_rules.integral(np.abs), interval_arithmetic.magnitude), 1, 1),
    "floor": Operator(_numeric(number_rules.to_whole(np.floor), interval_arithmetic.rising(np.floor)), 1, 1),
    "ceil": Operator(_numeric(number_rules.to_whole(np.ceil), interval_arithmetic.rising(np.ceil)), 1, 1),
    "round": Operator(_numeric(number_rules.rounded, interval_arithmetic.rounded), 1, 2),
    "ln": Operator(_numeric(number_rules.logarithm, interval_arithmetic.logarithm, is_total=False), 1, 1),
    "exp": Operator(_numeric(number_rules.exponential, interval_arithmetic.rising(np.exp)), 1, 1),
    "pow": Operator(_numeric(number_rules.power, interval_arithmetic.power, is_total=False), 2, 2),
    "sqrt": Operator(_root, 1, 1),
    **{op: Operator(boolean_logic.comparison(op), 2, 2) for op in ("=", "<>", "<", "<=", ">", ">=")},
    "between": Operator(boolean_logic.between, 3, 3),
    "in": Operator(boolean_logic.among, 2, _MANY),
    "and": Operator(boolean_logic.conjunction, 1, _MANY),
    "or": Operator(boolean_logic.disjunction, 1, _MANY),
    "not": Operator(boolean_logic.negation, 1, 1),
    "is_null": Operator(boolean_logic.is_null, 1, 1),
    "not_null": Operator(boolean_logic.not_null, 1, 1),
    "case": Operator(case_expressions.case, 2, _MANY, largest_size),
    "coalesce": Operator(case_expressions.coalesce, 1, _MANY, largest_size),
    "nullif": Operator(case_expressions.nullif, 2, 2, largest_size),
    "least": Operator(case_expressions.least, 1, _MANY, largest_size),
    "greatest": Operator(case_expressions.greatest, 1, _MANY, largest_size),
    "cast_int": Operator(_whole, 1, 1),
    "cast_real": Operator(_real, 1, 1),
    "cast_text": Operator(_text, 1, 1, largest_size),
    "concat": Operator(_concatenated, 1, _MANY, _joined_size),
}
"""Every operator over noisy columns, by the name that `Apply` has. A new operator is one more record here."""

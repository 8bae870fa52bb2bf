"""Finite classes of hypotheses: public functions from a row of integers to yes or no."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, finite, read_count
from discreet.errors import BadInput
from discreet.noise.exact_selection import MOST_CANDIDATES

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Contributions = Callable[[int, Integers], tuple[Integers, int]]
GRID = 1 << 10
"""Steps per unit: numbers are rounded down to multiples of 1/GRID."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypotheses:
    """A finite class of functions from a row to yes or no.

    Args:
        names: Name of each function; public.
        columns: Number of numbers in a row.
        evaluate: Maps rows of integers (in steps of 1/`GRID`) to a boolean array, one row per row and one column per
            function.
        described: The class as JSON; None for a class of your own functions.
        contributions: For one of the functions, what each number of a row adds to a sum, and the sum's constant. The
            function says yes if the sum is at least 0. None if the functions do not have this form.
    """

    names: tuple[str, ...]
    columns: int
    evaluate: Callable[[Integers], Booleans]
    described: Mapping[str, Any] | None = None
    contributions: Contributions | None = None

    def __post_init__(self) -> None:
        check_size(len(self.names))

    def __len__(self) -> int:
        return len(self.names)


def check_size(hypotheses: int) -> None:
    """Refuse an empty class, and one that is too large to choose from.

    Args:
        hypotheses: Size of the class.
    """
    if not 1 <= hypotheses <= MOST_CANDIDATES:
        raise BadInput("A class has from 1 to 2**24 hypotheses.", next_step="Take fewer columns or a coarser grid.")


def conjunctions(columns: int) -> Hypotheses:
    """All ANDs of 0/1 columns, where each column is required, negated or absent: 3**columns hypotheses.

    Args:
        columns: At most 10.
    """
    count = read_count(columns, name="columns", most=10)
    forms = list(itertools.product((None, True, False), repeat=count))
    names = [
        " and ".join(
            ("" if required else "not ") + f"x{at}" for at, required in enumerate(form) if required is not None
        )
        for form in forms
    ]

    def evaluate(rows: Integers) -> Booleans:
        yes = rows == GRID
        answers = np.ones((len(rows), len(forms)), bool)
        for index, form in enumerate(forms):
            for at, required in enumerate(form):
                if required is not None:
                    answers[:, index] &= yes[:, at] == required
        return answers

    def contributions(index: int, rows: Integers) -> tuple[Integers, int]:
        fails = [(rows[:, at] == GRID) == (required is False) for at, required in enumerate(forms[index])]
        left_out = np.array([required is None for required in forms[index]])
        return -(np.stack(fails, axis=1) & ~left_out).astype(np.int64), 0

    described = {"class": "conjunctions", "columns": count}
    return Hypotheses(tuple(name or "always" for name in names), count, evaluate, described, contributions)


def thresholds(points: Sequence[Number]) -> Hypotheses:
    """The hypotheses x0 >= t for each of some points t.

    Args:
        points: From public knowledge.
    """
    return stumps(1, points, both=False)


def stumps(columns: int, points: Sequence[Number], *, both: bool = True) -> Hypotheses:
    """The hypotheses column >= t, and with `both` also column < t, for each column and each of some points t.

    Args:
        columns: Number of columns.
        points: From public knowledge.
        both: Whether the class contains both directions.
    """
    return _stumps(read_count(columns, name="columns", most=10_000), [_step(point) for point in points], both=both)


def _stumps(count: int, at: Sequence[int], *, both: bool) -> Hypotheses:
    signs = (True, False) if both else (True,)
    forms = [(column, step, sign) for column in range(count) for step in at for sign in signs]
    names = [f"x{column} {'>=' if sign else '<'} {step / GRID:g}" for column, step, sign in forms]
    columns_of, steps = np.array([form[0] for form in forms], np.int64), np.array([form[1] for form in forms], np.int64)
    is_above = np.array([form[2] for form in forms], bool)

    def contributions(index: int, rows: Integers) -> tuple[Integers, int]:
        column, step, sign = forms[index]
        parts = np.zeros_like(rows)
        parts[:, column] = -((rows[:, column] >= step) != sign).astype(np.int64)
        return parts, 0

    described = {"class": "stumps", "columns": count, "steps": list(at), "both": both}
    return Hypotheses(
        tuple(names),
        count,
        lambda rows: (rows[:, columns_of] >= steps) == is_above,
        described=described,
        contributions=contributions,
    )


def halfspaces(columns: int, *, weights: int, offsets: Sequence[Number]) -> Hypotheses:
    """All hypotheses w · x >= t, for integer weights from -`weights` to `weights`, not all 0, and some offsets t.

    Args:
        columns: Number of columns.
        weights: Largest weight.
        offsets: From public knowledge.
    """
    count, most = read_count(columns, name="columns", most=16), read_count(weights, name="weights", most=100)
    return _halfspaces(count, most, [_step(offset) for offset in offsets])


def _halfspaces(count: int, most: int, steps: Sequence[int]) -> Hypotheses:
    if (2 * most + 1) ** count * len(steps) > MOST_CANDIDATES:
        raise BadInput("The class has too many halfspaces.", next_step="Take fewer columns, weights or offsets.")
    all_weights = [w for w in itertools.product(range(-most, most + 1), repeat=count) if any(w)]
    matrix = np.array(all_weights, np.int64).T
    names = [f"{w} · x >= {step / GRID:g}" for w in all_weights for step in steps]

    def evaluate(rows: Integers) -> Booleans:
        sums = rows @ matrix  # integers: exact in any order of addition
        return (sums[:, :, None] >= np.array(steps)).reshape(len(rows), -1)

    def contributions(index: int, rows: Integers) -> tuple[Integers, int]:
        weights, step = divmod(index, len(steps))
        return rows * matrix[:, weights], -steps[step]

    described = {"class": "halfspaces", "columns": count, "weights": most, "steps": list(steps)}
    return Hypotheses(tuple(names), count, evaluate, described, contributions)


def own(columns: int, functions: dict[str, Callable[[tuple[float, ...]], bool]]) -> Hypotheses:
    """A class of your own functions. A function gets one row; every result other than True is a no.

    Args:
        columns: Number of numbers in a row.
        functions: By name. They must depend on the row alone.
    """
    count = read_count(columns, name="columns", most=10_000)

    def evaluate(rows: Integers) -> Booleans:
        answers = np.zeros((len(rows), len(functions)), bool)
        for at, row in enumerate(rows.tolist()):
            numbers = tuple(step / GRID for step in row)
            for index, function in enumerate(functions.values()):
                answers[at, index] = _answer(function, numbers)
        return answers

    return Hypotheses(tuple(functions), count, evaluate)


def _answer(function: Callable[[tuple[float, ...]], bool], row: tuple[float, ...]) -> bool:
    try:
        return function(row) is True
    except Exception:  # noqa: BLE001  a row must not decide whether the run fails
        return False


def _step(point: Number) -> int:
    number = finite(point)
    if number is None:
        raise BadInput("Points are finite numbers.", next_step="Give numbers from public knowledge.")
    return math.ceil(Fraction(number) * GRID)


# JSON


def hypotheses_from_json(described: Mapping[str, Any] | None) -> Hypotheses:
    """Read a class.

    Args:
        described: From `Hypotheses.described`.
    """
    match described:
        case {"class": "conjunctions", "columns": count}:
            return conjunctions(count)
        case {"class": "stumps", "columns": count, "steps": steps, "both": both}:
            return _stumps(read_count(count, name="columns", most=10_000), steps, both=both)
        case {"class": "halfspaces", "columns": count, "weights": most, "steps": steps}:
            return _halfspaces(
                read_count(count, name="columns", most=16), read_count(most, name="weights", most=100), steps
            )
    raise BadInput(
        "Unknown class of hypotheses.",
        next_step="Use conjunctions, stumps or halfspaces. Your own functions need a local curator.",
    )


def size_of(described: Mapping[str, Any]) -> int:
    """Return an upper bound on the size of a class without building it.

    Args:
        described: From `Hypotheses.described`.
    """
    match described:
        case {"class": "conjunctions", "columns": int(count)}:
            return 3 ** min(count, 100)
        case {"class": "stumps", "columns": int(count), "steps": list(steps)}:
            return 2 * count * len(steps)
        case {"class": "halfspaces", "columns": int(count), "weights": int(most), "steps": list(steps)}:
            return (2 * min(most, 1000) + 1) ** min(count, 100) * len(steps)
    return 0

"""Plain functions for people who want one private number: no curator, no ledger, no default epsilon.

Scalars, lists, numpy arrays and columns of pandas and polars go in, the same kind comes out. Integers come out as integers. Reals are released on a
power-of-two grid that follows from the sensitivity alone; with `granularity` everything is on the grid that the caller names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from numbers import Integral
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, read_bounds, read_sensitivity
from discreet.errors import BadData, BadInput
from discreet.mechanisms.additive.gaussian_mechanism import Gaussian
from discreet.mechanisms.additive.laplace_mechanism import Laplace
from discreet.mechanisms.choice.quantile import Quantile
from discreet.mechanisms.choice.selection import PermuteAndFlip
from discreet.mechanisms.response import RandomizedResponse
from discreet.mechanisms.values.frame_columns import array_of, column_like, is_column
from discreet.mechanisms.values.grid import Grid
from discreet.mechanisms.values.value_kinds import Data, grid_for
from discreet.mechanisms.values.value_reading import read_numbers
from discreet.noise import SYSTEM_BITS

Values = TypeVar("Values")
"""One number, a list, an array, or a column of pandas or polars."""
Candidate = TypeVar("Candidate")
_bits = SYSTEM_BITS


def laplace(values: Values, *, sensitivity: Number, epsilon: Number, granularity: Number | None = None) -> Values:
    """`values` with Laplace noise: epsilon-DP when one person moves them by at most `sensitivity` in all (L1).

    Args:
        values: One number, a list, a numpy array, or a column of pandas or polars; the same kind comes out.
        sensitivity: How far one person can move all of them together: 1 for a count, the largest magnitude for a sum.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
        granularity: The power of two that values are released as multiples of, as floats. If left out, integers stay integers, and for reals it follows from the sensitivity.
    """
    number: Any = values
    if type(number) is int and granularity is None:  # the commonest query, without the cost of arrays
        counting, _ = _laplace_on(sensitivity, epsilon, None, 1, False)
        counted: Any = counting.release(number, _bits)
        return counted
    if type(number) is float and math.isfinite(number):
        measuring, steps = _laplace_on(sensitivity, epsilon, granularity, 1, True)
        assert steps is not None  # noqa: S101  reals have a grid
        measured: Any = steps.back(measuring.release(steps.onto(number), _bits))
        return measured
    data = Data.read(values)
    mechanism, grid = _laplace_on(sensitivity, epsilon, granularity, data.size, data.real)
    result: Values = data.back(mechanism.release(data.onto(grid), _bits), grid)
    return result


def _laplace_on(
    sensitivity: Number, epsilon: Number, granularity: Number | None, size: int, real: bool
) -> tuple[Laplace, Grid | None]:
    try:
        return _laplace_made(sensitivity, epsilon, granularity, size, real)
    except TypeError:  # what cannot be hashed is no number, and is refused by name
        return _laplace_made.__wrapped__(sensitivity, epsilon, granularity, size, real)


@lru_cache(maxsize=256, typed=True)  # typed: 1 is a sensitivity, True is none
def _laplace_made(
    sensitivity: Number, epsilon: Number, granularity: Number | None, size: int, real: bool
) -> tuple[Laplace, Grid | None]:
    """The mechanism and the grid, from public facts alone."""
    wide = read_sensitivity(sensitivity)
    grid = grid_for(granularity, wide, size=size, real=real)
    steps = wide if grid is None else grid.l1_sensitivity(wide, size=size)
    return Laplace(sensitivity=steps, epsilon=epsilon, size=size), grid


def gaussian(
    values: Values,
    *,
    sensitivity: Number,
    rho: Number | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    granularity: Number | None = None,
) -> Values:
    """`values` with Gaussian noise: rho-zCDP, or (epsilon, delta)-DP, when one person moves them by `sensitivity` (L2).

    Args:
        values: One number, a list, a numpy array, or a column of pandas or polars; the same kind comes out.
        sensitivity: How far one person can move them: the length of the difference (L2).
        rho: The zCDP that may be spent; or epsilon and delta instead.
        epsilon: How much may be learned about a person, outside of a chance of delta.
        delta: That chance: far below one over the number of people, such as 1e-6.
        granularity: The power of two that values are released as multiples of, as floats. If left out, integers stay integers, and for reals it follows from the sensitivity.
    """
    wide = read_sensitivity(sensitivity)
    data = Data.read(values)
    grid = data.grid(granularity, wide)
    steps = wide if grid is None else grid.l2_sensitivity(wide, size=data.size)
    if rho is not None and epsilon is None and delta is None:
        mechanism = Gaussian.for_rho(sensitivity=steps, rho=rho, size=data.size)
    elif rho is None and epsilon is not None and delta is not None:
        mechanism = Gaussian.for_loss(sensitivity=steps, epsilon=epsilon, delta=delta, size=data.size)
    else:
        raise BadInput(
            "The Gaussian mechanism takes either rho, or epsilon and delta.",
            next_step="Give rho=0.5, or epsilon=1 and delta=1e-6.",
        )
    result: Values = data.back(mechanism.release(data.onto(grid), _bits), grid)
    return result


def choose(candidates: Sequence[Candidate], scores: object, *, sensitivity: Number, epsilon: Number) -> Candidate:
    """One candidate, likely one with a high score: epsilon-DP when one person moves each score by `sensitivity`.

    By permute-and-flip, which is never worse than the exponential mechanism. Real scores are put on a grid first.

    Args:
        candidates: What to choose among; public.
        scores: One number for each candidate, higher is better; exact, and never shown.
        sensitivity: How far one person can move each score: 1 where scores are counts.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
    """
    wide = read_sensitivity(sensitivity)
    data = Data.read(scores)
    if not isinstance(candidates, Sequence | np.ndarray) or not data.size or data.size != len(candidates):
        raise BadData("There must be one score for each candidate.", next_step="Give as many scores as candidates.")
    real = data.real or data.kind != "array"  # of a list one score must not decide for all
    grid = grid_for(None, wide, size=data.size, real=real)
    steps = wide if grid is None else grid.l1_sensitivity(wide, size=1)
    mechanism = PermuteAndFlip(sensitivity=steps, epsilon=epsilon, size=data.size)
    limits = np.iinfo(np.int64)
    return candidates[mechanism.release(np.clip(data.onto(grid), limits.min, limits.max).astype(np.int64), _bits)]


def randomized_response(bits: Values, *, epsilon: Number, categories: int = 2) -> Values:
    """Each person's bit (or category 0, 1, ...) as they would report it themselves: epsilon-DP, nobody to trust.

    Args:
        bits: True or False, 0 or 1, or categories: one, a list, an array or a column; the same kind comes out, of a list ints.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
        categories: How many categories there are; 2 for bits.
    """
    if is_column(bits):
        reported: Values = column_like(
            bits, randomized_response(array_of(bits), epsilon=epsilon, categories=categories)
        )
        return reported
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    if isinstance(bits, list | tuple):
        return cast("Values", mechanism.release(_categories_of(bits), _bits).tolist())
    truth = np.asarray(bits)
    if truth.dtype.kind not in "biu" or isinstance(bits, np.ma.MaskedArray):
        raise _not_categories()
    within_int64 = np.minimum(truth, np.uint64(2**62)) if truth.dtype == np.uint64 else truth
    reports = mechanism.release(within_int64.astype(np.int64), _bits)
    largest = 1 if truth.dtype.kind == "b" else np.iinfo(truth.dtype).max
    if mechanism.categories - 1 <= largest:
        reports = reports.astype(truth.dtype)
    result: Any = reports if isinstance(bits, np.ndarray) else reports.tolist()
    return result


def _categories_of(items: Sequence[object]) -> NDArray[np.int64]:
    """One by one, so that no item decides what type the others' reports have."""
    if not all(isinstance(item, Integral | np.bool_) for item in items):
        raise _not_categories()
    return np.array([min(max(int(cast("int", item)), -1), 2**62) for item in items], np.int64)


def _not_categories() -> BadData:
    return BadData("The answers must be bits, or categories 0, 1, 2, ....", next_step="Code each answer as an int.")


def quantile(values: object, q: Number, *, lower: Number, upper: Number, epsilon: Number, whole: bool = False) -> float:
    """A value near the q-th quantile: epsilon-DP for one value per person; `lower` and `upper` from public knowledge.

    Args:
        values: A list, a numpy array, or a column of pandas or polars: one value a person. Who has no number is left out.
        q: Which quantile, from 0 to 1; 0.5 is the median.
        lower: The least that a value can be, from public knowledge; values below count as this.
        upper: The most that a value can be, likewise.
        epsilon: How much may be learned about a person; smaller is more private. There is no default.
        whole: Whether the values are whole numbers; one comes out then. Never read off the values.
    """
    mechanism = Quantile(q=q, lower=lower, upper=upper, epsilon=epsilon, whole=whole)
    numbers = read_numbers(values, *read_bounds(lower, upper)).given
    chosen = mechanism.release(numbers.astype(np.float64), _bits)
    return int(chosen) if whole else chosen

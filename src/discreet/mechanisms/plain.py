"""Plain functions for people who want one private number: no curator, no ledger, no default epsilon.

Scalars, lists and numpy arrays go in, the same kind comes out. Integers come out as integers. Reals are released on a
power-of-two grid that follows from the sensitivity alone, or that the caller names with `granularity`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadData, BadInput
from discreet.exact import Number, exact, read_sensitivity
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.grid import Grid
from discreet.mechanisms.kinds import Data, grid_for
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.response import RandomizedResponse
from discreet.mechanisms.selection import PermuteAndFlip
from discreet.noise import RandomBits

Values = TypeVar("Values", int, float, list[int], list[float], NDArray[Any])
Answers = TypeVar("Answers", bool, int, list[bool], list[int], NDArray[Any])
Candidate = TypeVar("Candidate")

_bits = RandomBits()


def laplace(values: Values, *, sensitivity: Number, epsilon: Number, granularity: Number | None = None) -> Values:
    """`values` with Laplace noise: epsilon-DP when one person moves them by at most `sensitivity` in all (L1)."""
    if type(values) is int:  # the commonest question, without the cost of arrays
        counting, _ = _laplace_on(sensitivity, epsilon, granularity, 1, False)
        return counting.release(values, _bits)
    if type(values) is float and math.isfinite(values):
        measuring, steps = _laplace_on(sensitivity, epsilon, granularity, 1, True)
        assert steps is not None  # noqa: S101  reals have a grid
        return steps.back(measuring.release(steps.onto(values), _bits))
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
    """`values` with Gaussian noise: rho-zCDP, or (epsilon, delta)-DP, when one person moves them by `sensitivity` (L2)."""
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
    """
    wide = read_sensitivity(sensitivity)
    data = Data.read(scores)
    if not isinstance(candidates, Sequence | np.ndarray) or not data.size or data.size != len(candidates):
        raise BadData("There must be one score for each candidate.", next_step="Give as many scores as candidates.")
    grid = data.grid(None, wide)
    steps = wide if grid is None else grid.l1_sensitivity(wide, size=1)
    mechanism = PermuteAndFlip(sensitivity=steps, epsilon=epsilon, size=data.size)
    limits = np.iinfo(np.int64)
    return candidates[mechanism.release(np.clip(data.onto(grid), limits.min, limits.max).astype(np.int64), _bits)]


def randomized_response(bits: Answers, *, epsilon: Number, categories: int = 2) -> Answers:
    """Each person's bit (or category 0, 1, ...) as they would report it themselves: epsilon-DP, nobody to trust."""
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    if isinstance(bits, list | tuple) and not all(isinstance(bit, Integral | np.bool_) for bit in bits):
        raise _not_categories()
    truth = np.asarray(bits, np.int64 if isinstance(bits, list | tuple) and not bits else None)
    if truth.dtype.kind not in "biu" or isinstance(bits, np.ma.MaskedArray):
        raise _not_categories()
    within_int64 = np.minimum(truth, np.uint64(2**62)) if truth.dtype == np.uint64 else truth
    reports = mechanism.release(within_int64.astype(np.int64), _bits)
    largest = 1 if truth.dtype.kind == "b" else np.iinfo(truth.dtype).max
    if mechanism.categories - 1 <= largest:
        reports = reports.astype(truth.dtype)
    result: Answers = reports if isinstance(bits, np.ndarray) else reports.tolist()
    return result


def _not_categories() -> BadData:
    return BadData("The answers must be bits, or categories 0, 1, 2, ....", next_step="Code each answer as an int.")


def quantile(values: object, q: Number, *, lower: Number, upper: Number, epsilon: Number) -> float:
    """A value near the q-th quantile: epsilon-DP for one value per person; `lower` and `upper` from public knowledge."""
    data = Data.read(values)
    mechanism = Quantile(q=q, lower=lower, upper=upper, epsilon=epsilon, whole=not data.real)
    numbers = data.numbers
    if numbers.dtype == object:  # exact numbers, perhaps too large for a float until they are clamped
        low, high = exact(lower), exact(upper)
        numbers = np.array([float(min(max(number, low), high)) for number in numbers], np.float64)
    chosen = mechanism.release(numbers, _bits)
    return chosen if data.real else int(chosen)

"""Integer noise added to integer values, without overflow and without saturating the noise alone."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadData
from discreet.noise import Samples

Integers = TypeVar("Integers", int, NDArray[Any])

_INT64 = np.iinfo(np.int64)
_CHUNK = 1 << 14  # stays in the cache


def check_integers(values: int | NDArray[Any], *, size: int) -> None:
    """Only the type and the shape are looked at: both are public."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        whole = all(type(value) is int for value in values.flat)
    else:
        whole = type(values) is int or (isinstance(values, np.ndarray) and values.dtype.kind == "i")
    if not whole:
        raise BadData("This mechanism releases integers.", next_step="Give an int or an int64 array.")
    if np.size(values) != size:
        raise BadData(
            "The number of values is not the size the mechanism was made for.",
            next_step="Make the mechanism with size= the number of values it will release at once.",
        )


def as_int64(values: object, *, size: int | None = None) -> NDArray[np.int64]:
    """A flat or shaped array of integers that fit 64 bits, for what is compared or counted rather than added to."""
    if type(values) is not np.ndarray or values.dtype.kind != "i":
        raise BadData("This mechanism takes an array of integers.", next_step="Give a numpy array of int64.")
    if size is not None and values.size != size:
        raise BadData("There must be one value for each candidate.", next_step="Give as many values as candidates.")
    return values.astype(np.int64, copy=False)


def add(values: Integers, noise: Samples) -> Integers:
    """Values + noise: a Python int exactly; an int64 array clamped to the range of int64, which is public.

    Clamping the sum is post-processing. Clamping the noise alone would give neighbours different supports.
    """
    if isinstance(values, int):
        return values + int(noise[0])
    if values.dtype == object:
        return values + noise.reshape(values.shape)
    flat = values.astype(np.int64, copy=False).reshape(-1)
    if noise.dtype == object:
        return np.clip(flat + noise, _INT64.min, _INT64.max).astype(np.int64).reshape(values.shape)
    total = np.empty(flat.size, np.int64)
    for start in range(0, flat.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        _add_saturating(flat[part], noise[part], total[part])
    return total.reshape(values.shape)


def _add_saturating(values: NDArray[Any], noise: NDArray[Any], out: NDArray[np.int64]) -> None:
    """The same work whether a sum overflows or not: a sum overflowed if its sign differs from both terms' signs."""
    np.add(values, noise, out=out)
    overflowed = ((values ^ out) & (noise ^ out)) < 0
    np.copyto(out, (values >> 63) ^ _INT64.max, where=overflowed)

"""Scalars, lists, arrays and columns in; the same kind out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number
from discreet.errors import BadData
from discreet.mechanisms.values.frame_columns import array_of, column_like, is_column
from discreet.mechanisms.values.grid import Grid, check_finite


@dataclass(frozen=True, slots=True)
class Data:
    """What came in, as one flat array: int64 or float64 for arrays, exact Python numbers for scalars and lists."""

    kind: Literal["scalar", "list", "array"]
    real: bool
    shape: tuple[int, ...]
    numbers: NDArray[Any]
    column: Any = None
    """The column of pandas or polars that an array came from."""

    @classmethod
    def read(cls, values: object) -> Data:
        """Look at the type and refuse NaN and infinity, before anything is drawn."""
        if is_column(values):
            return replace(cls._read_array(array_of(values)), column=values)
        if type(values) in (np.ndarray, np.memmap):
            return cls._read_array(np.asarray(values))
        if isinstance(values, list | tuple):
            return cls._read_python("list", values)
        return cls._read_python("scalar", (values,))

    @classmethod
    def _read_array(cls, values: NDArray[Any]) -> Data:
        if values.dtype.kind == "f" and values.dtype.itemsize <= 8:
            check_finite(values)
            return cls("array", True, values.shape, values.astype(np.float64, copy=False).reshape(-1))
        if values.dtype == np.uint64:
            values = np.minimum(values, np.uint64(np.iinfo(np.int64).max))
        elif values.dtype.kind not in "iu":
            raise _not_numbers()
        return cls("array", False, values.shape, values.astype(np.int64, copy=False).reshape(-1))

    @classmethod
    def _read_python(cls, kind: Literal["scalar", "list"], values: list[Any] | tuple[Any, ...]) -> Data:
        numbers = np.empty(len(values), object)
        numbers[:] = [_exact_number(value) for value in values]
        real = not all(type(number) is int for number in numbers)
        return cls(kind, real, numbers.shape, numbers)

    @property
    def size(self) -> int:
        return self.numbers.size

    def grid(self, granularity: Number | None, sensitivity: Fraction) -> Grid | None:
        """What they are released on."""
        return grid_for(granularity, sensitivity, size=self.size, real=self.real)

    def onto(self, grid: Grid | None) -> NDArray[Any]:
        """The integers to protect."""
        if grid is None:
            return self.numbers
        if self.kind == "array":
            return grid.array_onto(self.numbers)
        steps = np.empty(self.size, object)
        steps[:] = [grid.onto(value) for value in self.numbers]
        return steps

    def back(self, released: NDArray[Any], grid: Grid | None) -> Any:
        """The released integers as the kind that came in."""
        if self.kind == "array":
            values = (released if grid is None else grid.array_back(released)).reshape(self.shape)
            return values if self.column is None else column_like(self.column, values)
        numbers = [int(value) if grid is None else grid.back(int(value)) for value in released]
        return numbers if self.kind == "list" else numbers[0]


def grid_for(granularity: Number | None, sensitivity: Fraction, *, size: int, real: bool) -> Grid | None:
    """The grid that was asked for, whatever the values are; else integers need none, and reals get one from public facts alone."""
    if granularity is not None:
        return Grid.given(granularity)
    return Grid.fine_enough(sensitivity, roundings=size) if real else None


def _exact_number(value: object) -> int | Fraction:
    """Python's and numpy's ints, floats and fractions as they are, bit for bit: nothing is rounded before the grid."""
    if isinstance(value, bool | np.bool_ | np.longdouble):
        raise _not_numbers()
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Real):
        check_finite(np.array([float(value)]))
        return Fraction(float(value))
    raise _not_numbers()


def _not_numbers() -> BadData:
    return BadData(
        "The values must be ints or floats: one, a flat list of them, a numpy array, or a column of pandas or polars.",
        next_step="Convert the values first; booleans become 0 and 1 with int().",
    )

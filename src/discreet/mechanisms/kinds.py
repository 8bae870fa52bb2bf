"""Scalars, lists and arrays in; the same kind out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadData, BadGranularity
from discreet.exact import Number
from discreet.mechanisms.grid import Grid, check_finite


@dataclass(frozen=True, slots=True)
class Data:
    """What came in, as one flat array: int64 or float64 for arrays, exact Python numbers for scalars and lists."""

    kind: Literal["scalar", "list", "array"]
    real: bool
    shape: tuple[int, ...]
    numbers: NDArray[Any]

    @classmethod
    def read(cls, values: object) -> Data:
        """Look at the type and refuse NaN and infinity, before anything is drawn."""
        if isinstance(values, np.ndarray):
            return cls._read_array(values)
        if isinstance(values, list | tuple):
            return cls._read_python("list", values)
        return cls._read_python("scalar", (values,))

    @classmethod
    def _read_array(cls, values: NDArray[Any]) -> Data:
        if values.dtype.kind == "f":
            check_finite(values)
            return cls("array", True, values.shape, values.astype(np.float64, copy=False).reshape(-1))
        if values.dtype.kind == "u":
            values = np.minimum(values, np.iinfo(np.int64).max)
        elif values.dtype.kind != "i":
            raise _not_numbers()
        return cls("array", False, values.shape, values.astype(np.int64, copy=False).reshape(-1))

    @classmethod
    def _read_python(cls, kind: Literal["scalar", "list"], values: list[Any] | tuple[Any, ...]) -> Data:
        if any(isinstance(value, bool | np.bool_) or not isinstance(value, Real) for value in values):
            raise _not_numbers()
        real = not all(isinstance(value, Integral) for value in values)
        numbers = np.empty(len(values), object)
        numbers[:] = [float(value) if real else int(value) for value in values]
        if real:
            check_finite(numbers.astype(np.float64))
        return cls(kind, real, numbers.shape, numbers)

    @property
    def size(self) -> int:
        return self.numbers.size

    def grid(self, granularity: Number | None, sensitivity: Fraction) -> Grid | None:
        """Integers need none; reals get one from public facts alone."""
        if self.real and granularity is None:
            return Grid.fine_enough(sensitivity, roundings=self.size)
        if self.real:
            return Grid.given(granularity)
        if granularity is not None:
            raise BadGranularity(
                "Integers are released as integers, without a granularity.",
                next_step="Leave granularity out, or give the values as floats.",
            )
        return None

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
            return (released if grid is None else grid.array_back(released)).reshape(self.shape)
        values = [int(value) if grid is None else grid.back(int(value)) for value in released]
        return values if self.kind == "list" else values[0]


def _not_numbers() -> BadData:
    return BadData(
        "The values must be ints or floats: one, a flat list of them, or a numpy array.",
        next_step="Convert the values first; booleans become 0 and 1 with int().",
    )

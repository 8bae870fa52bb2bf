"""Released groups: keys and noisy integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
from numpy.typing import NDArray

from discreet.catalog import Type

ARROW: dict[Type, pa.DataType] = {
    Type.INTEGER: pa.int64(), Type.REAL: pa.float64(), Type.TEXT: pa.large_string(), Type.DATE: pa.date32(), Type.BOOLEAN: pa.bool_(),
    Type.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """The released groups of one grouping set: keys, and for each measure an array of noisy integers, groups by draws.

    A quantile has three draws: the candidates chosen for itself and for both ends of its interval. Other measures have one. Integers beyond
    64 bits are Python integers.
    """

    keys: tuple[pa.Array, ...]
    measures: tuple[NDArray[Any], ...]

    @property
    def groups(self) -> int:
        return len(self.keys[0]) if self.keys else len(self.measures[0])


Noisies: TypeAlias = Sequence[Sequence[Noisy]]
"""By query and by grouping set."""

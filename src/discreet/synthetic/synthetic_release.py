"""A release of synthetic data: what was drawn, and the model and the rows that anybody can make of it. Nothing private is in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.exact import Number, read_count
from discreet.errors import BadInput
from discreet.measurement.run_release import RunRelease
from discreet.measurement.transcript import measurements_in
from discreet.noise import SYSTEM_BITS, RandomBits
from discreet.synthetic.methods.method import Model
from discreet.synthetic.models.labels import values_of
from discreet.synthetic.models.synthetic_model import TreeModel
from discreet.synthetic.quality.error_bounds import Bound, Bounds
from discreet.synthetic.synthesis_run import PURPOSE, method_named, tables_of


class SyntheticRelease(RunRelease, kind=PURPOSE):
    """Rows of nobody; the model is fitted when it is first needed."""

    def __repr__(self) -> str:
        columns = len(self.domain.columns)
        return f"SyntheticRelease(name={self.name!r}, method={self.method!r}, columns={columns}, measurements={len(self.transcript.own)})"

    @property
    def method(self) -> str:
        """By what it was made."""
        return str(self.purpose["method"])

    @property
    def summary(self) -> dict[str, Any]:
        """What it was made of, in JSON."""
        return {**super().summary, "method": self.method}

    @cached_property
    def model(self) -> Model:
        """What follows from the measurements: the same for whoever has them."""
        return method_named(self.method).model(self.domain, measurements_in(self.transcript.steps))

    @property
    def total(self) -> float:
        """About how many rows there are: an estimate, never the exact number."""
        return self.model.total

    def table(self, *columns: str) -> NDArray[np.float64]:
        """Expected counts for every combination of values of some columns: an axis each, in the order of the domain.

        Args:
            *columns: Their names.
        """
        return self.model.table(self.domain.check(self.domain.ordered(columns)))

    def bounds(self, level: Number, *tables: Iterable[str]) -> list[Bound]:
        """How far the model can be from the exact counts, table by table, measured or not: with the level's chance none is further off.

        Args:
            level: Such as 0.95.
            *tables: By the names of their columns; all that the release was made for, if none is named.
        """
        named = [self.domain.check(self.domain.ordered(columns)) for columns in tables]
        return self._bounds.at(level, named or list(tables_of(self.purpose)))

    @cached_property
    def _bounds(self) -> Bounds:
        if not isinstance(self.model, TreeModel):
            raise BadInput("This method says nothing about its error.", next_step="Use another, such as aim.")
        measurements = measurements_in(self.transcript.steps)
        return Bounds(self.model, measurements, method_named(self.method), tables_of(self.purpose))

    def sample(self, count: int, *, bits: RandomBits = SYSTEM_BITS) -> pa.Table:
        """So many synthetic rows, as an Arrow table. Nobody is a person in them. Of a bin, any value in it.

        Args:
            count: How many.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        codes = self.model.rows(read_count(count, name="count", least=0), bits)
        columns = [values_of(column, codes[:, at], bits) for at, column in enumerate(self.domain.columns)]
        return pa.table(columns, names=list(self.domain.names))

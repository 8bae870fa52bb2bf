"""A release of synthetic data: the noisy measurements, the model fitted to them, and rows sampled from the model."""

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
    """Synthetic data. The model is fitted when it is first needed."""

    def __repr__(self) -> str:
        columns = len(self.domain.columns)
        measurements = len(self.transcript.own)
        return f"SyntheticRelease(name={self.name!r}, method={self.method!r}, {columns=}, {measurements=})"

    @property
    def method(self) -> str:
        """Name of the synthesis method."""
        return str(self.purpose["method"])

    @property
    def summary(self) -> dict[str, Any]:
        """Description of the release, in JSON form."""
        return {**super().summary, "method": self.method}

    @cached_property
    def model(self) -> Model:
        """The model, a function of the measurements alone."""
        return method_named(self.method).model(self.domain, measurements_in(self.transcript.steps))

    @property
    def total(self) -> float:
        """Estimated number of rows, never the exact one."""
        return self.model.total

    def table(self, *columns: str) -> NDArray[np.float64]:
        """Expected counts of every combination of values: an array with one axis per column, in the order of the
        domain.

        Args:
            *columns: Column names, in any order.
        """
        return self.model.table(self.domain.check(self.domain.ordered(columns)))

    def bounds(self, level: Number, *tables: Iterable[str]) -> list[Bound]:
        """Bounds on the error of the model's tables, measured or not. All hold together with probability `level`.

        Args:
            level: Confidence, such as 0.95.
            *tables: Tables, each by its column names. Default: the tables of the release's workload.
        """
        named = [self.domain.check(self.domain.ordered(columns)) for columns in tables]
        return self._bounds.at(level, named or list(tables_of(self.purpose)))

    @cached_property
    def _bounds(self) -> Bounds:
        if not isinstance(self.model, TreeModel):
            raise BadInput("This method gives no error bounds.", next_step="Use another method, such as aim.")
        measurements = measurements_in(self.transcript.steps)
        return Bounds(self.model, measurements, method_named(self.method), tables_of(self.purpose))

    def sample(self, count: int, *, bits: RandomBits = SYSTEM_BITS) -> pa.Table:
        """Sample synthetic rows as an Arrow table. They describe no real person. A bin becomes a random value in it.

        Args:
            count: Number of rows.
            bits: Source of randomness. Default: the operating system.
        """
        codes = self.model.rows(read_count(count, name="count", least=0), bits)
        columns = [values_of(column, codes[:, at], bits) for at, column in enumerate(self.domain.columns)]
        return pa.table(columns, names=list(self.domain.names))

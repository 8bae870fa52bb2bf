"""A release of synthetic data: what was drawn, and the model and the rows that anybody can make of it. Nothing private is in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.answering.domain import Domain, rebuilt
from discreet.answering.transcript import Transcript, looks_in
from discreet.errors import BadInput
from discreet.exact import Number, read_count
from discreet.ledger.releases import rebuild
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive import AdaptiveBudget
from discreet.noise import SYSTEM_BITS, RandomBits
from discreet.synthetic.asking import method_named
from discreet.synthetic.bounds import Bound, Bounds
from discreet.synthetic.files import read_release, write_release
from discreet.synthetic.labels import values_of
from discreet.synthetic.methods import Model
from discreet.synthetic.model import TreeModel
from discreet.workloads.tabulating import TabulatedRelease


class SyntheticRelease:
    """Made from stored bytes; the model is fitted when it is first needed."""

    def __init__(self, stored: bytes, *, name: str | None = None, receipt: str = "", replayed: bool = False) -> None:
        self.stored, self.transcript = stored, Transcript.decoded(stored)
        self.name, self.receipt, self.replayed = name, receipt, replayed
        self._bounds: Bounds | None = None

    def __repr__(self) -> str:
        columns = len(self.domain.columns)
        return f"SyntheticRelease(name={self.name!r}, method={self.method!r}, columns={columns}, looks={len(self.transcript.steps)})"

    @cached_property
    def domain(self) -> Domain:
        """Columns with their labels, and how many rows of a person count."""
        return rebuilt(self.transcript.facts["domain"])

    @property
    def method(self) -> str:
        """By what it was made."""
        return str(self.transcript.facts["purpose"]["method"])

    @property
    def budget(self) -> AdaptiveBudget:
        """What was paid for it."""
        budget = rebuild(self.transcript.facts["budget"])
        assert isinstance(budget, AdaptiveBudget)  # noqa: S101  as it was stored
        return budget

    @cached_property
    def model(self) -> Model:
        """What follows from the looks: the same for whoever has them."""
        return method_named(self.method).model(self.domain, looks_in(self.transcript.steps))

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
        wanted = {tuple(columns): int(weight) for columns, weight in self.transcript.facts["purpose"]["tables"]}
        named = [self.domain.check(self.domain.ordered(columns)) for columns in tables] or list(wanted)
        if not isinstance(self.model, TreeModel):
            raise BadInput("This method says nothing about its error.", next_step="Use another, such as aim.")
        if self._bounds is None:
            looks = looks_in(self.transcript.steps)
            self._bounds = Bounds(self.model, looks, method_named(self.method), wanted)
        return self._bounds.at(level, named)

    def save(self, path: str | Path) -> None:
        """Write all of it to a file, from which `load` makes it again; nothing in it is private.

        Args:
            path: Of the file.
        """
        write_release(Path(path), self.stored, name=self.name, receipt=self.receipt)

    @classmethod
    def load(cls, path: str | Path) -> SyntheticRelease:
        """A release as it was saved; a file that is damaged, foreign or newer is refused.

        Args:
            path: Of the file.
        """
        stored, name, receipt = read_release(Path(path).read_bytes())
        return cls(stored, name=name, receipt=receipt)

    def sample(self, count: int, *, bits: RandomBits = SYSTEM_BITS) -> pa.Table:
        """So many synthetic rows, as an Arrow table. Nobody is a person in them. Of a bin, any value in it.

        Args:
            count: How many.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        codes = self.model.rows(read_count(count, name="count", least=0), bits)
        columns = [values_of(column, codes[:, at], bits) for at, column in enumerate(self.domain.columns)]
        return pa.table(columns, names=list(self.domain.names))


def release_facts(release: SyntheticRelease | TabulatedRelease) -> dict[str, Any]:
    """What a release was made of, in JSON.

    Args:
        release: Of rows or of tables.
    """
    budget, purpose = release.budget, release.transcript.facts["purpose"]
    return {
        "name": release.name,
        "kind": purpose["kind"],
        "method": purpose.get("method"),
        "columns": {column.name: column.size for column in release.domain.columns},
        "rows_per_person": release.domain.rows_per_person,
        "looks": len(release.transcript.steps),
        "rho": budget.rho,
        "epsilon": None if isinstance(budget, Adaptive) else budget.pure_epsilon,
        "receipt": release.receipt or None,
    }

"""The door that an analyst has: attacks on Discreet go through the real curator and see only what it answers."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from discreet.accounting import open_filter
from discreet.api.local import Curator
from discreet.api.opening import curators_with_new_books, open_curator
from discreet.attacks.lab.trial_steps import Step
from discreet.catalog import Catalog, parse_catalog
from discreet.core.exact import Number
from discreet.core.loss import Loss
from discreet.errors import DiscreetError

_MEMORY = ":memory:"


class Analyst:
    """Asks queries, hears answers and refusals, and keeps a transcript of both."""

    def __init__(self, curator: Curator, budget: Loss) -> None:
        self._curator = curator
        self.budget = budget
        self.steps: list[Step] = []

    def ask(
        self, sql: str, *, epsilon: Number, delta: Number | None = None, mechanism: str | None = None
    ) -> list[dict[str, Any]]:
        """The noisy rows; a refusal is raised as for everybody, after it was noted."""
        self.steps.append(Step("asked", f"{_cut(sql)}   at ε {float(epsilon):.6g}"))
        try:
            answer = self._curator.ask(sql, epsilon=epsilon, delta=delta, mechanism=mechanism)
        except DiscreetError as refusal:
            self.steps.append(Step("refused", f"{refusal.code}: {refusal.problem}"))
            raise
        rows = answer.rows
        self.steps.append(Step("answered", _shown(rows) + ("   (asked before: free)" if answer.replayed else "")))
        return rows

    def number(self, sql: str, *, epsilon: Number, mechanism: str | None = None) -> float:
        """The answer to a query that has one number for an answer."""
        (row,) = self.ask(sql, epsilon=epsilon, mechanism=mechanism)
        (value,) = row.values()
        return float(value)


class Protected:
    """One world behind the real curator. Each analyst finds books in which nothing is written yet.

    Opening a curator takes 40 ms and a query 6 ms, so a world should serve many trials: other targets, or other
    noise.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, Any]], catalog: str | Catalog, *, budget: Loss) -> None:
        import pyarrow as pa  # noqa: PLC0415  heavy; only worlds need it

        self._frames = {name: pa.table(dict(columns)) for name, columns in tables.items()}
        self._catalog, self._budget = catalog, budget
        self._in_memory: Generator[Curator, None, None] | None = None
        self._files = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of everything that was opened."""
        self._files.close()
        if self._in_memory is not None:
            self._in_memory.close()
            self._in_memory = None

    def analyst(self, *, durable: bool = False) -> Analyst:
        """Somebody with the whole budget to spend. The books are in memory, or in a file that is gone afterwards."""
        if durable:
            self._files.close()
            folder = self._files.enter_context(tempfile.TemporaryDirectory())
            declared = self._declared(str(Path(folder) / "ledger.sqlite"))
            kept = self._files.enter_context(open_curator(frames=self._frames, catalog=declared, create_ledger=True))
            return Analyst(kept, self._budget)
        if self._in_memory is None:
            self._in_memory = curators_with_new_books(self._declared(_MEMORY), frames=self._frames)
        return Analyst(next(self._in_memory), self._budget)

    def _declared(self, ledger: str) -> Catalog:
        if isinstance(self._catalog, Catalog):
            return self._with_nothing_of_the_owners(self._catalog, ledger)
        cap = f"epsilon = {self._budget.epsilon!r}\ndelta = {self._budget.delta!r}"
        text = f'[source]\npath = "."\n[ledger]\npath = "{ledger}"\n[budget]\n{cap}\n{self._catalog}'
        return parse_catalog(text)

    def _with_nothing_of_the_owners(self, catalog: Catalog, ledger: str) -> Catalog:
        """What an owner's catalog says of tables, and none of the places that it names."""
        return replace(
            catalog,
            source=".",
            snapshot=_MEMORY,
            ledger=ledger,
            anchor=None,
            reports=_MEMORY,
            cap=open_filter(self._budget.epsilon, self._budget.delta),
            analysts={},
        )


def _shown(rows: list[dict[str, Any]], most: int = 6) -> str:
    lines = [", ".join(f"{name} = {_value(value)}" for name, value in row.items()) for row in rows[:most]]
    return "; ".join(lines) + (f"; … {len(rows) - most:,} more" if len(rows) > most else "")


def _cut(sql: str, most: int = 320) -> str:
    """A long query by its beginning and its end."""
    return sql if len(sql) <= most else f"{sql[: most - 40]} … {sql[-40:]}"


def _value(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)

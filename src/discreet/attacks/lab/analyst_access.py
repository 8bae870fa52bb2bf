"""An analyst's access: attacks on Discreet use the real curator and see only its answers."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from discreet.accounting import open_filter
from discreet.api.local import Curator
from discreet.api.opening import curators_with_new_ledgers, open_curator
from discreet.attacks.lab.trial_steps import Step
from discreet.catalog import Catalog, parse_catalog
from discreet.core.exact import Number
from discreet.core.loss import Loss
from discreet.errors import DiscreetError

_MEMORY = ":memory:"


class Analyst:
    """Ask queries, and record the answers and refusals."""

    def __init__(self, curator: Curator, budget: Loss) -> None:
        self._curator = curator
        self.budget = budget
        self.steps: list[Step] = []

    def ask(
        self, sql: str, *, epsilon: Number, delta: Number | None = None, mechanism: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the noisy rows of a query. A refusal is recorded and raised."""
        self.steps.append(Step("asked", f"{_shorten(sql)}   at ε {float(epsilon):.6g}"))
        try:
            answer = self._curator.ask(sql, epsilon=epsilon, delta=delta, mechanism=mechanism)
        except DiscreetError as refusal:
            self.steps.append(Step("refused", f"{refusal.code}: {refusal.problem}"))
            raise
        rows = answer.rows
        self.steps.append(Step("answered", _shown(rows) + ("   (asked before: free)" if answer.replayed else "")))
        return rows

    def number(self, sql: str, *, epsilon: Number, mechanism: str | None = None) -> float:
        """Return the answer to a query with a single number."""
        (row,) = self.ask(sql, epsilon=epsilon, mechanism=mechanism)
        (value,) = row.values()
        return float(value)


class ProtectedWorld:
    """Generated data behind the real curator. Each analyst starts with an empty ledger.

    Opening a curator takes 40 ms and a query 6 ms, so a world should serve many trials, with other targets or noise.
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
        """Close all curators and delete their files."""
        self._files.close()
        if self._in_memory is not None:
            self._in_memory.close()
            self._in_memory = None

    def analyst(self, *, durable: bool = False) -> Analyst:
        """Return an analyst with the whole budget. The ledger is in memory or, if `durable`, in a temporary file."""
        if durable:
            self._files.close()
            folder = self._files.enter_context(tempfile.TemporaryDirectory())
            declared = self._declared(str(Path(folder) / "ledger.sqlite"))
            kept = self._files.enter_context(open_curator(frames=self._frames, catalog=declared, create_ledger=True))
            return Analyst(kept, self._budget)
        if self._in_memory is None:
            self._in_memory = curators_with_new_ledgers(self._declared(_MEMORY), frames=self._frames)
        return Analyst(next(self._in_memory), self._budget)

    def _declared(self, ledger: str) -> Catalog:
        if isinstance(self._catalog, Catalog):
            return self._without_owner_settings(self._catalog, ledger)
        cap = f"epsilon = {self._budget.epsilon!r}\ndelta = {self._budget.delta!r}"
        text = f'[source]\npath = "."\n[ledger]\npath = "{ledger}"\n[budget]\n{cap}\n{self._catalog}'
        return parse_catalog(text)

    def _without_owner_settings(self, catalog: Catalog, ledger: str) -> Catalog:
        """Return a data owner's catalog with its tables, but without its files, accounts and cap."""
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


def _shorten(sql: str, most: int = 320) -> str:
    """Shorten a long query to its beginning and its end."""
    return sql if len(sql) <= most else f"{sql[: most - 40]} … {sql[-40:]}"


def _value(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else str(value)

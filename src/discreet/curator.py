"""The curator: catalog, ledger and engine behind one friendly face."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from discreet.accounting import Composed
from discreet.answering.answer import Answer, stored_form
from discreet.answering.release import release
from discreet.catalog import Catalog, load_catalog
from discreet.engines import DuckEngine
from discreet.exact import Number, exact
from discreet.ledger import Ledger, Request
from discreet.loss import Loss
from discreet.noise import RandomBits
from discreet.sql import Plan, plan_query

_DATA_VERSION = 1


class Curator:
    """Stands between a database and an analyst who may be hostile."""

    def __init__(self, catalog: Catalog, ledger: Ledger, engine: DuckEngine) -> None:
        self.catalog, self.ledger, self._engine, self._bits = catalog, ledger, engine, RandomBits()
        ledger.open_account(catalog.cap)
        for analyst, cap in catalog.analysts.items():
            ledger.open_account(cap, analyst=analyst)

    def close(self) -> None:
        """Let go of the engine and the books."""
        self._engine.close()
        self.ledger.close()

    def plan(self, sql: str, *, epsilon: Number, delta: Number | None = None) -> Plan:
        """What a question would read, measure and cost. Spends nothing and looks at no protected row."""
        plan = plan_query(sql, self.catalog, self._engine, epsilon=epsilon, delta=delta)
        self._engine.bind(plan)
        return plan

    def ask(
        self,
        sql: str,
        *,
        epsilon: Number,
        delta: Number | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Plan, charge on disk, read, add noise, store, answer: in this order, each once."""
        plan = self.plan(sql, epsilon=epsilon, delta=delta)
        request = Request(
            id=request_id or os.urandom(16).hex(),
            question=plan.digest(data_version=_DATA_VERSION),
            releases=plan.releases,
            analyst=analyst,
            label=sql,
        )
        paid = self.ledger.reserve(request)
        stored = paid.answer
        if stored is None:
            stored = self.ledger.finish(paid, stored_form(release(plan, self._engine.run(plan), self._bits)))
        cost = Composed.of(plan.releases)
        return Answer(plan, stored, Loss(cost.pure_epsilon, float(exact(cost.delta))), paid.replayed, paid.receipt)


def open_curator(
    config: str | Path = "discreet.toml", *, engine: Callable[[Catalog], DuckEngine] = DuckEngine
) -> Curator:
    """The curator that a catalog describes."""
    catalog = load_catalog(config)
    return Curator(catalog, Ledger.open(catalog.ledger, anchor=catalog.anchor), engine(catalog))

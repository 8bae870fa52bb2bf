"""The curator: catalog, ledger and engine behind one friendly face."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from discreet.accounting import Composed
from discreet.answering.answer import Answer, stored_form
from discreet.answering.post import width_of
from discreet.answering.release import release
from discreet.catalog import Catalog, load_catalog
from discreet.engines import DuckEngine
from discreet.errors import BadInput, ScaleOutOfRange
from discreet.exact import Number, exact, read_sensitivity
from discreet.ledger import Ledger, Request
from discreet.loss import Loss
from discreet.mechanisms.base import least
from discreet.noise import RandomBits
from discreet.sql import Plan, plan_query

_DATA_VERSION = 1


class Curator:
    """Stands between a database and an analyst who may be hostile."""

    def __init__(self, catalog: Catalog, ledger: Ledger, engine: DuckEngine) -> None:
        self.catalog, self.ledger, self._engine, self._bits = catalog, ledger, engine, RandomBits()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the engine and the books."""
        self._engine.close()
        self.ledger.close()

    def plan(self, sql: str, *, epsilon: Number, delta: Number | None = None) -> Plan:
        """What a question would read, measure and cost. Spends nothing and looks at no protected row."""
        plan = plan_query(sql, self.catalog, self._engine, epsilon=epsilon, delta=delta)
        self._engine.bind(plan)
        return plan

    def epsilon_within(self, sql: str, *, within: Number, confidence: Number, delta: Number | None = None) -> float:
        """The least epsilon at which every number of the answer is within ± `within` in `confidence` of all answers."""
        wanted = read_sensitivity(within)

        def close_enough(epsilon: float) -> bool:
            try:
                return width_of(self.plan(sql, epsilon=epsilon, delta=delta), confidence) <= wanted
            except ScaleOutOfRange:
                return False  # too wide to be drawn

        return least(close_enough, precision=1e-4)

    def ask(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Plan, charge on disk, read, add noise, store, answer: in this order, each once.

        Say how much it may cost (`epsilon`), or how exact it must be (`within` and `confidence`).
        """
        if (epsilon is None) == (within is None) or (within is None) != (confidence is None):
            raise BadInput(
                "A question takes either epsilon, or within and confidence.",
                next_step="Give epsilon=0.5, or within=50 and confidence=0.95.",
            )
        if within is not None and confidence is not None:
            epsilon = self.epsilon_within(sql, within=within, confidence=confidence, delta=delta)
        plan = self.plan(sql, epsilon=epsilon or 0, delta=delta)
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


def open_curator(config: str | Path = "discreet.toml") -> Curator:
    """The curator that a catalog describes: its accounts opened, its snapshot made."""
    catalog = load_catalog(config)
    ledger = Ledger.open(catalog.ledger, anchor=catalog.anchor)
    try:
        ledger.open_account(catalog.cap)
        for analyst, cap in catalog.analysts.items():
            ledger.open_account(cap, analyst=analyst)
        first = ledger.entry(1)
        # The salt must not depend on data and must stay the same for a data version: the first entry's hash is both.
        salt = f"{first.hash if first else ''}:{_DATA_VERSION}"
        return Curator(catalog, ledger, DuckEngine(catalog, salt=salt))
    except BaseException:
        ledger.close()
        raise

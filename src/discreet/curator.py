"""The curator: catalog, ledger and engine behind one friendly face."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, Self

from discreet.accounting import Composed
from discreet.answering.answer import Answer, stored_form
from discreet.answering.estimate import bins_question, ends_of
from discreet.answering.post import expected_width, width_of
from discreet.answering.release import release
from discreet.catalog import Catalog, load_catalog
from discreet.engines import DuckEngine, with_public_columns
from discreet.errors import AccountFrozen, BadInput, Cancelled, EngineFailure, ScaleOutOfRange
from discreet.exact import Number, exact, read_sensitivity
from discreet.ledger import Ledger, Request
from discreet.loss import Loss
from discreet.mechanisms.base import least
from discreet.noise import RandomBits
from discreet.sql import Parameters, Plan, Table, plan_query


class Estimate(NamedTuple):
    """Bounds that were found privately, if any, and the answer that they were read from."""

    bounds: tuple[Fraction, Fraction] | None
    answer: Answer


def _no_step(_: str) -> None:
    """Nobody looks on."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question on its way: who wants to hear of its steps (planned, paid), and how it can be taken back."""

    on_step: Callable[[str], None] = _no_step
    taken_back: threading.Event = field(default_factory=threading.Event)


class Curator:
    """Stands between a database and an analyst who may be hostile."""

    def __init__(self, catalog: Catalog, ledger: Ledger, engine: DuckEngine, *, version: int = 1) -> None:
        self.catalog, self.ledger, self.version = catalog, ledger, version
        self._engine, self._bits = engine, RandomBits()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the engine and the books."""
        self._engine.close()
        self.ledger.close()

    def start_new_books(self) -> None:
        """As if nothing had ever been asked: for experiments on generated data, and only where books are in memory."""
        if self.catalog.ledger != ":memory:":
            raise BadInput(
                "Books that are kept cannot be begun anew: what was spent is spent.",
                next_step='Experiment on generated data, with ledger.path = ":memory:".',
            )
        fresh = _open_books(self.catalog)
        self.ledger.close()
        self.ledger = fresh

    def table(self, name: str) -> Table:
        """A question built step by step instead of written: `table("visits").where("cost > 5").group_by("ward").count()`."""
        return Table(name)

    def plan(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
    ) -> Plan:
        """What a question would read, measure and cost. Spends nothing and looks at no protected row."""
        plan = plan_query(
            str(sql),
            self.catalog,
            self._engine,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            parameters=parameters,
        )
        self._engine.bind(plan)
        return plan

    def epsilon_within(self, sql: str | Table, *, within: Number, confidence: Number, **details: Any) -> float:
        """The least epsilon at which every number of the answer is within ± `within` in `confidence` of all answers."""
        wanted = read_sensitivity(within)

        def close_enough(epsilon: float) -> bool:
            try:
                return width_of(self.plan(sql, epsilon=epsilon, **details), confidence) <= wanted
            except ScaleOutOfRange:
                return False  # too wide to be drawn

        return least(close_enough, precision=1e-4)

    def ask(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
    ) -> Answer:
        """Plan, charge on disk, read, add noise, store, answer: in this order, each once.

        Say how much it may cost (`epsilon`, here or in OPTIONS), or how exact it must be (`within` and `confidence`).
        """
        if (epsilon is not None and within is not None) or (within is None) != (confidence is None):
            raise BadInput(
                "A question takes either epsilon, or within and confidence.",
                next_step="Give epsilon=0.5, or within=50 and confidence=0.95.",
            )
        details = {"delta": delta, "mechanism": mechanism, "parameters": parameters}
        if within is not None and confidence is not None:
            epsilon = self.epsilon_within(sql, within=within, confidence=confidence, **details)
        plan = self.plan(sql, epsilon=epsilon, **details)  # type: ignore[arg-type]  # the types are this method's own
        request = Request(
            id=request_id or os.urandom(16).hex(),
            question=plan.digest(data_version=self.version),
            releases=plan.releases,
            analyst=analyst,
            label=str(sql),
        )
        steps = asking or Asking()
        steps.on_step("planned")
        paid = self.ledger.reserve(request)
        steps.on_step("paid")
        stored = paid.answer
        if stored is None:
            stored = self.ledger.finish(paid, self._answered(plan, analyst, steps))
        return Answer(plan, stored, self.loss(plan), paid.replayed, paid.receipt, request.key)

    def expected_widths(self, plan: Plan, confidence: Number) -> dict[str, float | None]:
        """The ± of each column before it is asked; None where it depends on the data, or there is none."""
        return {output.name: expected_width(plan, output.post, confidence) for output in plan.outputs}

    def estimate_bounds(self, table: str, column: str, *, epsilon: Number, analyst: str | None = None) -> Estimate:
        """Bounds for a numeric column that has none, found privately and paid for; None where all is noise."""
        answer = self.ask(bins_question(table, column), epsilon=epsilon, analyst=analyst)
        return Estimate(ends_of(answer), answer)

    def take_back(self, asking: Asking) -> None:
        """Stop reading for a question that somebody else is asking; its price stays paid."""
        self._engine.take_back(asking.taken_back)

    def _answered(self, plan: Plan, analyst: str | None, asking: Asking) -> bytes:
        """Read and add noise. That the engine failed is a bit about the data: it stops the analyst until the owner looks."""
        try:
            exact_rows = self._engine.run(plan, taken_back=asking.taken_back)
        except Cancelled:
            raise  # the analyst's own doing says nothing about the data
        except EngineFailure:
            if analyst is not None:
                with suppress(AccountFrozen):
                    self.ledger.freeze(analyst)
            raise
        return stored_form(release(plan, exact_rows, self._bits))

    def loss(self, plan: Plan) -> Loss:
        """What a question costs: its epsilons added up; or, where there are none, at the delta for conversion."""
        cost = Composed.of(plan.releases)
        aside = float(exact(cost.delta))
        if math.isfinite(cost.pure_epsilon):
            return Loss(cost.pure_epsilon, aside)
        conversion = self.catalog.cap.cap.delta / 2 or 1e-6
        return Loss(cost.epsilon_at(conversion + aside), conversion + aside)


def open_curator(
    config: str | Path = "discreet.toml",
    *,
    frames: Mapping[str, Any] | None = None,
    catalog: str | Path | Catalog | None = None,
) -> Curator:
    """The curator that a catalog describes: its accounts opened, its snapshot at hand.

    With `frames`, tables are pandas, polars or Arrow frames instead of the catalog's source.
    """
    given = catalog if isinstance(catalog, Catalog) else load_catalog(catalog or config)
    found = with_public_columns(given, frames)
    ledger = _open_books(found)
    try:
        version = ledger.data_version()
        return Curator(
            found,
            ledger,
            DuckEngine(found, salt=_salt(ledger, version), version=version, frames=frames),
            version=version,
        )
    except BaseException:
        ledger.close()
        raise


def refresh(config: str | Path = "discreet.toml") -> int:
    """Begin a new data version, for the owner: the source is read anew, and answers of before are not replayed."""
    catalog = with_public_columns(load_catalog(config))
    with closing(Ledger.open(catalog.ledger, anchor=catalog.anchor)) as ledger:
        ledger.open_account(catalog.cap)
        version = ledger.refresh()
        DuckEngine(catalog, salt=_salt(ledger, version), version=version).close()
    return version


def _open_books(catalog: Catalog) -> Ledger:
    """The ledger, with an account for the dataset and one for each analyst who has a cap."""
    ledger = Ledger.open(catalog.ledger, anchor=catalog.anchor)
    try:
        ledger.open_account(catalog.cap)
        for analyst, cap in catalog.analysts.items():
            ledger.open_account(cap, analyst=analyst)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _salt(ledger: Ledger, version: int) -> str:
    """The same for one data version and independent of the data: the hash of the first entry is both."""
    first = ledger.entry(1)
    return f"{first.hash if first else ''}:{version}"

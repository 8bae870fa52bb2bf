"""The context of an operation: engine, catalog, ledger and the call that it serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.catalog import Catalog
from discreet.concurrency.fair_semaphore import FairSemaphore
from discreet.engines import Engine
from discreet.ledger import Ledger
from discreet.pipeline.call import Call
from discreet.pipeline.parsed_queries import ParsedQueries
from discreet.pipeline.pipeline import Pipeline
from discreet.sessions.session_pool import SessionPool

_PLANNING_SLOTS = 8
"""Queries that are planned at the same time, one per account: planning takes milliseconds, unless public tables are large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A curator's parts, and one call of it."""

    catalog: Catalog
    ledger: Ledger
    engine: Engine
    pipeline: Pipeline
    version: int
    """Of the data."""
    dataset: str
    readings: ParsedQueries
    sessions: SessionPool
    planning_slots: FairSemaphore = field(default_factory=lambda: FairSemaphore(_PLANNING_SLOTS, each=1, long=0))
    call: Call = field(default_factory=Call)

    @property
    def analyst(self) -> str | None:
        """Whose account is charged beside the dataset's; None for the data owner."""
        return self.call.analyst

    def of(self, **changes: Any) -> Context:
        """The same for another call, which differs in some fields of `Call`."""
        return replace(self, call=replace(self.call, **changes))

    @contextmanager
    def planning(self) -> Iterator[None]:
        """Hold a slot to plan in, and keep all lookups in it within the time limit of one query."""
        cancelled = self.call.cancelled
        waits_as = self.call.waits_as or self.analyst
        with self.planning_slots.slot(waits_as, cancelled=cancelled), self.engine.one_limit(cancelled):
            yield

"""Runs: jobs that take many measurements of protected rows under one charge, and resume from their stored steps after a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from discreet.algebra.digest import Json, digest, query_tree
from discreet.algebra.query import Query
from discreet.core.loss import Neighbours
from discreet.ledger.charges.release_json import mechanism_to_json
from discreet.measurement.domain import Bin, Column, Domain, domain_to_json
from discreet.measurement.feature_vectors import SumMeasurer
from discreet.measurement.measurer import CountQuery, Counts, Measurer
from discreet.measurement.replay import PublicSums, Run
from discreet.measurement.sparse_vector import count_query_to_json
from discreet.measurement.summing import Summing
from discreet.measurement.transcript import Earlier, Step, Transcript, about, reusing
from discreet.mechanisms import Mechanism
from discreet.mechanisms.adaptive_budget import AdaptiveBudget, Meter
from discreet.pipeline.pipeline import READ_SLOTS, Resources
from discreet.planning.effort import USUAL_MEASUREMENTS, seconds_of_tables
from discreet.sql.coded_rows import CodedColumn, CodedSource

_SHORTEST_LIMIT, _LIMIT_FACTOR = 60.0, 4
"""A run stops after 60 seconds, or after 4 times its expected duration if that is longer, because others wait for its read slot."""

_OF = " of "
"""Separates what a run makes from its source, in its label."""


def time_for(seconds: float) -> float:
    """Return the time limit of a job that is expected to take `seconds`."""
    return max(_SHORTEST_LIMIT, _LIMIT_FACTOR * seconds)


def domain_of(rows: CodedSource, neighbours: Neighbours) -> Domain:
    """Return what is public about rows that are counted in tables."""
    return Domain(tuple(map(_column, rows.columns)), rows.query.limits.rows, neighbours)


def _column(coded: CodedColumn) -> Column:
    if not coded.ends:
        return Column(coded.name, coded.values, coded.is_ordered)
    bins = tuple(Bin(lower, upper, coded.is_whole) for lower, upper in zip(coded.ends, coded.ends[1:], strict=False))
    return Column(coded.name, (*bins, *((None,) if coded.has_null else ())), coded.is_ordered)


def source_in(label: str) -> str:
    """Return the source in the label of a run."""
    return label.partition(_OF)[2]


def digest_of_rows(rows: CodedSource, domain: Domain, version: int) -> str:
    """Return a digest of relation, contribution bounds, codes and data version: tables with equal digests are of the same rows.

    A row without a code in some column is in none of the tables, so other columns are other rows.
    """
    return digest({"version": version, "domain": domain_to_json(domain), "tables": query_tree(rows.query)})


@dataclass(frozen=True, slots=True)
class Reuse:
    """Earlier measurements that a run starts with. They depend on the analyst, so the analyst is part of the identity of the run."""

    analyst: str | None
    releases: tuple[Earlier, ...]


_RULES_OF_REUSE = 1
"""Version of the rules by which a run reuses measurements. A change that leads to other steps must raise it."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """Exact sums over one column of rows, as the data owner has declared them. The caller chooses nothing of it."""

    asked: Mapping[str, object]
    rows: CodedSource


@dataclass(frozen=True, slots=True)
class TableRun:
    """A job of the pipeline: `measure` takes measurements of `rows` until the budget is spent or it has enough.

    `purpose` says in JSON what they are for. It is part of the identity of the run and is stored with the transcript.
    """

    rows: CodedSource
    domain: Domain
    budget: AdaptiveBudget
    purpose: Mapping[str, Any]
    measure: Callable[[SumMeasurer], None]
    version: int
    label: str
    name: str | None = None
    invariant: Invariant | None = None
    """Sums that the data owner has declared public. They are the only exact values of a run, and free."""
    reuse: Reuse | None = None
    """Earlier measurements that it starts with. They are free."""
    measurements: int = USUAL_MEASUREMENTS
    """About how many tables are counted."""
    computing: float = 0.0
    """About how many seconds are computed between measurements."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        return (self.budget,)

    @property
    def edges_of(self) -> str | None:
        return None

    @property
    def queries(self) -> tuple[Query, ...]:
        return (self.rows.query,) if self.invariant is None else (self.rows.query, self.invariant.rows.query)

    @property
    def digest(self) -> str:
        """Without the name: the same run under two names is charged once.

        A run that reuses measurements has analyst and name in its purpose, but not the reused tables: these are its first step, so
        that a repeated call resumes with the tables it started with.
        """
        purpose: Json = dict(self.purpose)
        budget: Json = mechanism_to_json(self.budget)
        domain: Json = domain_to_json(self.domain)
        facts: dict[str, Json] = {
            "version": self.version,
            "domain": domain,
            "tables": query_tree(self.rows.query),
            "purpose": purpose,
            "budget": budget,
        }
        if self.invariant is not None:
            facts["invariant"] = query_tree(self.invariant.rows.query)
        return digest(facts)

    @property
    def seconds(self) -> float:
        return seconds_of_tables(self.rows.query, measurements=self.measurements, computing=self.computing)

    def compute(self, resources: Resources) -> bytes:
        """Return the transcript: steps stored before a crash, and new ones."""
        until = time.monotonic() + time_for(self.seconds)
        run = self._with_reused(
            Run(
                Meter(self.budget, resources.bits),
                resources.journal,
                invariant=self._public_sums(resources),
                until=until,
            )
        )
        with resources.engine.tables(self.rows.query, cancelled=resources.stopped, sharing=READ_SLOTS) as tables:
            self.measure(Summing(self.domain, tables, run))
        facts = {
            "purpose": self.purpose,
            "domain": domain_to_json(self.domain),
            "budget": mechanism_to_json(self.budget),
            "rows": digest_of_rows(self.rows, self.domain, self.version),
        }
        return Transcript(facts, tuple(run.steps)).encoded()

    def _with_reused(self, run: Run) -> Run:
        if self.reuse is not None:
            run.begin_with(reusing(self.reuse.releases))
        return run

    def _public_sums(self, resources: Resources) -> PublicSums | None:
        if (declared := self.invariant) is None:
            return None

        def counts() -> Counts:
            with resources.engine.tables(
                declared.rows.query, cancelled=resources.stopped, sharing=READ_SLOTS
            ) as tables:
                return tables.table((0,))

        return PublicSums(declared.asked, counts)

    def open(self, resources: Resources) -> OpenRun:
        """Open the run for several calls. Its tables stay open until it is closed."""
        run = self._with_reused(Run(Meter(self.budget, resources.bits), resources.journal))
        with ExitStack() as held:
            tables = held.enter_context(
                resources.engine.tables(self.rows.query, cancelled=threading.Event(), sharing=READ_SLOTS)
            )
            return OpenRun(Summing(self.domain, tables, run), run, held.pop_all())


@dataclass(frozen=True, slots=True, repr=False)
class OpenRun:
    """An open run, used by several calls. Its steps are in the ledger; its tables stay open until it is closed."""

    measurer: Measurer
    _run: Run
    _held: ExitStack

    def __repr__(self) -> str:
        return "OpenRun(hidden)"

    def resume_steps(self) -> list[Step]:
        """Return all further stored steps, and charge them to the budget meter."""
        return self._run.resume_steps()

    @property
    def reused(self) -> tuple[str, ...]:
        """Names of the earlier releases whose tables it started with."""
        return tuple(earlier.name for step in self._run.steps[:1] for earlier in step.reused())

    @property
    def last(self) -> Step:
        """The last stored step."""
        return self._run.steps[-1]

    def store_answers(self, queries: Sequence[CountQuery], estimates: Counts) -> None:
        """Store answers that were computed without reading the data."""
        asked = about("told", paid=None, questions=[count_query_to_json(query) for query in queries])
        self._run.take_step(asked, mechanism=None, draw=lambda: estimates)

    def close(self) -> None:
        """Close the tables."""
        self._held.close()


@dataclass(frozen=True, slots=True)
class Basis:
    """What every run starts with: protected rows, what is public about them, and the budget."""

    rows: CodedSource
    domain: Domain
    budget: AdaptiveBudget
    version: int
    source: str
    """The source as the caller gave it."""
    name: str | None

    @property
    def same_rows(self) -> str:
        """Digest of the rows; equal for all tables of the same rows."""
        return digest_of_rows(self.rows, self.domain, self.version)

    def with_first(self, column: str) -> Basis:
        """Return the same basis with one column before the others."""
        rows = self.rows.with_first(column)
        return replace(self, rows=rows, domain=domain_of(rows, self.domain.neighbours))

    def run(
        self,
        what: str,
        *,
        purpose: Mapping[str, object],
        measure: Callable[[SumMeasurer], None],
        invariant: Invariant | None = None,
        reuse: Reuse | None = None,
        measurements: int = USUAL_MEASUREMENTS,
        computing: float = 0.0,
    ) -> TableRun:
        """Return a run of these rows. `what` it makes of its source is its text in the ledger."""
        if reuse is not None:
            whose = {"rules": _RULES_OF_REUSE, "analyst": reuse.analyst, "name": self.name}
            purpose = {**purpose, "reuse": whose}
        return TableRun(
            rows=self.rows,
            domain=self.domain,
            budget=self.budget,
            purpose=purpose,
            measure=measure,
            version=self.version,
            label=f"{what}{_OF}{self.source}"[:20_000],
            name=self.name,
            invariant=invariant,
            reuse=reuse,
            measurements=measurements,
            computing=computing,
        )

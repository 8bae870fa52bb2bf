"""Runs: releases that look at tables of people's rows along the way, under one charge, and go on from their steps after a crash."""

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
from discreet.measurement.replay import FreeLook, Run
from discreet.measurement.sparse_vector import count_query_to_json
from discreet.measurement.summing import Summing
from discreet.measurement.transcript import Earlier, Step, Transcript, about, reusing
from discreet.mechanisms import Mechanism
from discreet.mechanisms.adaptive_budget import AdaptiveBudget, Meter
from discreet.pipeline.pipeline import READ_SLOTS, Resources
from discreet.planning.effort import USUAL_MEASUREMENTS, seconds_of_tables
from discreet.sql.coded_rows import CodedColumn, CodedSource

_LEAST_TIME, _TIMES_EXPECTED = 60.0, 4
"""A run that is not made at one go after so many seconds, or so many times what it is expected to take, stops: others wait for its place."""

_OF = " of "
"""Between what a run makes and its source."""


def time_for(seconds: float) -> float:
    """For how many seconds something is made at one go that is expected to take so many."""
    return max(_LEAST_TIME, _TIMES_EXPECTED * seconds)


def domain_of(rows: CodedSource, neighbours: Neighbours) -> Domain:
    """What is public about rows that are counted in tables."""
    return Domain(tuple(map(_column, rows.columns)), rows.query.limits.rows, neighbours)


def _column(coded: CodedColumn) -> Column:
    if not coded.ends:
        return Column(coded.name, coded.values, coded.is_ordered)
    bins = tuple(Bin(lower, upper, coded.is_whole) for lower, upper in zip(coded.ends, coded.ends[1:], strict=False))
    return Column(coded.name, (*bins, *((None,) if coded.has_null else ())), coded.is_ordered)


def source_in(label: str) -> str:
    """The source of a run, in the words of the books.

    Args:
        label: Of a run.
    """
    return label.partition(_OF)[2]


def digest_of_rows(rows: CodedSource, domain: Domain, version: int) -> str:
    """What makes two tables be of the same rows: relation, bounding, codes and data version. A row that has no code in any column counts in none of
    its tables, so other columns are other rows.
    """
    return digest({"version": version, "domain": domain_to_json(domain), "tables": query_tree(rows.query)})


@dataclass(frozen=True, slots=True)
class Reuse:
    """What of earlier releases a run begins with, for whoever asks: others may see other releases, so theirs is another run."""

    analyst: str | None
    releases: tuple[Earlier, ...]


_RULES_OF_REUSE = 1
"""Raised with every change of what a run that reuses asks for after which outcomes."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """Exact sums over the one column of rows that the owner has named. Nothing of it is chosen by whoever asks."""

    asked: Mapping[str, object]
    rows: CodedSource


@dataclass(frozen=True, slots=True)
class TableRun:
    """What the pipeline releases: `measure` looks, through a measurer of `rows`, until the budget is spent or it has enough.

    `purpose` says in JSON what the looks are for: it is part of what makes two runs the same, and is stored with the transcript.
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
    """What the owner has declared to be published as it is: the one look that nothing is paid for."""
    reuse: Reuse | None = None
    """Tables that were paid for before, which it begins with."""
    measurements: int = USUAL_MEASUREMENTS
    """How many tables are counted, about."""
    computing: float = 0.0
    """Seconds that pass between looks, about."""

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
        """Without the name: the same run under two names is one, and paid for once. One that reuses has who asks and the name in its purpose, and not
        the tables: they are the first step, so that whoever asks again goes on with those that it was begun with.
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
        """The transcript: steps of before, and those that were still to be drawn."""
        until = time.monotonic() + time_for(self.seconds)
        run = self._begun(
            Run(
                Meter(self.budget, resources.bits), resources.journal, invariant=self._free_look(resources), until=until
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

    def _begun(self, run: Run) -> Run:
        if self.reuse is not None:
            run.begin_with(reusing(self.reuse.releases))
        return run

    def _free_look(self, resources: Resources) -> FreeLook | None:
        if (declared := self.invariant) is None:
            return None

        def counts() -> Counts:
            with resources.engine.tables(
                declared.rows.query, cancelled=resources.stopped, sharing=READ_SLOTS
            ) as tables:
                return tables.table((0,))

        return FreeLook(declared.asked, counts)

    def begun(self, resources: Resources) -> Underway:
        """The same rows and steps, for a run that goes on from call to call; its rows are held until it is closed."""
        run = self._begun(Run(Meter(self.budget, resources.bits), resources.journal))
        with ExitStack() as held:
            tables = held.enter_context(
                resources.engine.tables(self.rows.query, cancelled=threading.Event(), sharing=READ_SLOTS)
            )
            return Underway(Summing(self.domain, tables, run), run, held.pop_all())


@dataclass(frozen=True, slots=True, repr=False)
class Underway:
    """A run that goes on from call to call. What it has drawn is in the books; its rows are held until it is closed."""

    measurer: Measurer
    _run: Run
    _held: ExitStack

    def __repr__(self) -> str:
        return "Underway(hidden)"

    def taken_up(self) -> list[Step]:
        """Further steps, as they were stored before, and paid for."""
        return self._run.taken_up()

    @property
    def reused(self) -> tuple[str, ...]:
        """Names of earlier releases that it began with."""
        return tuple(earlier.name for step in self._run.steps[:1] for earlier in step.reused())

    @property
    def last(self) -> Step:
        """The step that was stored last."""
        return self._run.steps[-1]

    def told(self, queries: Sequence[CountQuery], estimates: Counts) -> None:
        """Store answers that nothing was looked at for."""
        asked = about("told", paid=None, questions=[count_query_to_json(query) for query in queries])
        self._run.look(asked, paid=None, drawn=lambda: estimates)

    def close(self) -> None:
        """Let go of the rows."""
        self._held.close()


@dataclass(frozen=True, slots=True)
class Basis:
    """What every run begins with: whose rows, what is public about them, and what may be spent."""

    rows: CodedSource
    domain: Domain
    budget: AdaptiveBudget
    version: int
    source: str
    """As it was asked for."""
    name: str | None

    @property
    def same_rows(self) -> str:
        """What its tables have in common with all others of the same rows."""
        return digest_of_rows(self.rows, self.domain, self.version)

    def with_first(self, column: str) -> Basis:
        """The same with one column before the others.

        Args:
            column: Its name.
        """
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
        """The run with a purpose.

        Args:
            what: It makes of its source, for the books.
            purpose: What it is for, in JSON.
            measure: What it looks at.
            invariant: What the owner has declared to be published as it is.
            reuse: Tables that were paid for before.
            measurements: How many tables are counted, about.
            computing: Seconds that pass between looks, about.
        """
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

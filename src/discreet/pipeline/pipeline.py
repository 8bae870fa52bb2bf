"""The pipeline: reserve → read → add noise → wait → store. Every release goes through it.

A job brings its own reading and its own noise. Only this module charges, and only it holds both the engine and the randomness.
The order matters: the charge is on disk before anything is read, and the answer before it is returned. Between noise and storing, the
pipeline waits for the end of the latency bucket: until then nothing shows whether the reading has ended, and how. A charged job is read,
padded and stored even if the caller has gone: otherwise it could be read a second time for one charge.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from discreet.algebra.digest import FORMAT
from discreet.algebra.query import Query
from discreet.concurrency.fair_semaphore import FairSemaphore
from discreet.engines import Engine
from discreet.errors import (
    AccountFrozen,
    BudgetExceeded,
    Cancelled,
    EngineFailure,
    LedgerDamaged,
    OutOfTime,
    RunChanged,
    StoreUnavailable,
    UnknownAccount,
)
from discreet.ledger import Ledger, Request, Reservation
from discreet.mechanisms import AboveThreshold, Mechanism
from discreet.noise import RandomBits
from discreet.pipeline.call import Call
from discreet.pipeline.journal import Journal, LedgerJournal, NoJournal
from discreet.pipeline.release import above, release
from discreet.pipeline.time_padding import ReturnSchedule
from discreet.planning.effort import seconds_of
from discreet.postprocessing.noisy_groups import Noisies
from discreet.postprocessing.plan import Plan
from discreet.results.answer import stored_form

_LOG = logging.getLogger("discreet")
READ_SLOTS = 8
"""How many jobs are read at the same time, each on its own cursor. They share the memory of the engine."""
_READ_SLOTS_PER_ANALYST, _READ_SLOTS_FOR_LONG_JOBS = 2, 6
_LONG_JOB = 1.0
"""Seconds: a job that is expected to take longer is long."""
_LEDGER_ERRORS = (AccountFrozen, LedgerDamaged, OutOfTime, RunChanged, StoreUnavailable, UnknownAccount)
"""Errors that reveal nothing about the data except how long it was read. They are raised unchanged at the end of the latency bucket, and
freeze nobody's account.
"""


class Job(Protocol):
    """Work that reads protected rows and returns bytes that may be shown."""

    @property
    def queries(self) -> Sequence[Query]:
        """The queries whose relations are read."""

    @property
    def seconds(self) -> float:
        """How long reading and noise are expected to take. It depends on public values only."""

    def compute(self, resources: Resources) -> bytes:
        """Read, add noise, and return the stored form of the outcome. Exact numbers stay inside."""


class ChargedJob(Job, Protocol):
    """A job with a cost and an identity. Its cost is zero if it releases nothing private."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """The mechanisms that are charged; the same objects are sampled."""

    @property
    def digest(self) -> str:
        """Identifies the job: two jobs with the same digest are the same and are charged once."""

    @property
    def label(self) -> str:
        """Its text in the ledger."""

    @property
    def name(self) -> str | None:
        """The name by which the release can be loaded later, if it has one."""

    @property
    def edges_of(self) -> str | None:
        """The table of edges, if the guarantee is about single edges. None if it is about people."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a job is computed with: the engine, randomness, an event that stops it, and the journal of its steps."""

    engine: Engine
    bits: RandomBits
    stopped: threading.Event
    journal: Journal


@dataclass(frozen=True, slots=True)
class SqlRelease:
    """A planned SQL query."""

    plan: Plan
    digest: str
    label: str
    seconds: float = field(init=False)
    _drawn: list[tuple[bytes, Noisies]] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", seconds_of(self.plan))

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        return self.plan.releases

    @property
    def queries(self) -> Sequence[Query]:
        return self.plan.queries

    @property
    def name(self) -> str | None:
        return None

    @property
    def edges_of(self) -> str | None:
        return None

    def compute(self, resources: Resources) -> bytes:
        with resources.engine.one_limit(sharing=READ_SLOTS):
            exact = [resources.engine.run(query, cancelled=resources.stopped) for query in self.plan.queries]
            drawn = release(self.plan, exact, resources.bits)
        self._drawn.append((stored_form(drawn), drawn))
        return self._drawn[-1][0]

    def drawn(self, stored: bytes) -> Noisies | None:
        """Return the numbers behind these bytes if they were drawn here, so that they need not be parsed."""
        return next((drawn for form, drawn in self._drawn if form is stored), None)


@dataclass(frozen=True, slots=True)
class ThresholdCheck:
    """Whether the one number of a query, with fresh noise, reaches a noisy threshold that was drawn before."""

    query: Query
    mechanism: AboveThreshold
    threshold: int = field(repr=False)
    seconds: float

    @property
    def queries(self) -> Sequence[Query]:
        return (self.query,)

    def compute(self, resources: Resources) -> bytes:
        with resources.engine.one_limit(sharing=READ_SLOTS):
            (rows,) = resources.engine.run(self.query, cancelled=resources.stopped)
        return json.dumps(above(rows, self.mechanism, self.threshold, resources.bits)).encode()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The stored outcome of a job, and its charge. `reservation` is None for a job that is public and free."""

    stored: bytes
    reservation: Reservation | None


@dataclass(frozen=True, slots=True)
class ChargedOutcome(Outcome):
    """The stored outcome of a job that has a cost."""

    reservation: Reservation


class Pipeline:
    """Uses ledger, engine and randomness in the only allowed order."""

    def __init__(self, ledger: Ledger, engine: Engine) -> None:
        self.ledger, self._engine, self._bits = ledger, engine, RandomBits()
        self._read_slots = FairSemaphore(READ_SLOTS, each=_READ_SLOTS_PER_ANALYST, long=_READ_SLOTS_FOR_LONG_JOBS)

    def run(self, job: ChargedJob, call: Call) -> Outcome:
        """Charge for a job, read, add noise and store; or return its stored outcome. A free job is not stored."""
        if job.releases:
            return self.run_charged(job, call)
        return Outcome(self._read_or_freeze(job, call, _schedule(job, call), NoJournal()), None)

    def run_charged(self, job: ChargedJob, call: Call) -> ChargedOutcome:
        """Do the same for a job that has a cost."""
        schedule = _schedule(job, call)
        reservation = self.ledger.reserve(_request(job, call.analyst, call.request_id))
        call.on_step("asked before" if reservation.is_free else "paid")
        stored = reservation.answer
        if stored is None:
            journal = LedgerJournal(self.ledger, reservation, call.on_measurement)
            stored = self.ledger.finish(reservation, self._read_or_freeze(job, call, schedule, journal))
        return ChargedOutcome(stored, reservation)

    def start(self, job: ChargedJob, first: Job, call: Call) -> LedgerJournal:
        """Charge for a job that goes on over several calls, and compute its first part; or resume it after its last stored step."""
        schedule = _schedule(first, call)
        reservation = self.ledger.reserve(_request(job, call.analyst, call.request_id))
        call.on_step("paid" if reservation.charged else "asked before")
        journal = LedgerJournal(self.ledger, reservation, call.on_measurement)
        self._read_or_freeze(first, call, schedule, journal)
        journal.write_entries()
        return journal

    def continue_run(self, part: Job, journal: LedgerJournal, call: Call) -> None:
        """Compute a further part of a started job. It is covered by the charge at the start and has its own latency bucket."""
        own = replace(call, analyst=journal.reservation.request.analyst)
        self._read_or_freeze(part, own, _schedule(part, own), journal)
        journal.write_entries()

    def measure_again(self, job: Job, call: Call) -> bytes | None:
        """Compute a further measurement that was charged in full at the start; None if it failed.

        The caller stores either outcome, and freezes the account after a failure.
        """
        return self._read(job, call, _schedule(job, call), NoJournal())

    def is_free(self, job: ChargedJob, call: Call) -> bool:
        """Return whether a job would cost nothing: it is public, or it was charged and answered before."""
        return not job.releases or self.ledger.would_be_free(_request(job, call.analyst))

    def would_charge(self, jobs: Sequence[ChargedJob], call: Call) -> dict[str, bool]:
        """Return the accounts that several jobs would be charged to, and whether the cap of each allows all of them now."""
        charged = [job for job in jobs if job.releases]
        if not charged:
            return {}
        together = tuple(release for job in charged for release in job.releases)
        return self.ledger.would_charge(replace(_request(charged[0], call.analyst), releases=together))

    def check_name(self, job: ChargedJob, call: Call) -> None:
        """Refuse a job whose name is taken, before anything is charged."""
        self.ledger.check_name(_request(job, call.analyst))

    def check_caps(self, jobs: Sequence[ChargedJob], call: Call) -> None:
        """Refuse several jobs, to be charged one after another, that the caps do not allow together."""
        charged = [job for job in jobs if not self.is_free(job, call)]
        if not all(self.would_charge(charged, call).values()):
            raise BudgetExceeded(
                "All of this together would bring an account above its cap. Nothing was charged.",
                next_step="Use a smaller epsilon or rho, or ask the owner to raise the cap.",
            )

    def recall(self, job: ChargedJob, call: Call) -> Outcome | None:
        """Return the stored outcome of a job that the analyst was charged for. Nothing is charged, read or written."""
        found = self.ledger.stored_reservation(_request(job, call.analyst)) if job.releases else None
        return None if found is None or found.answer is None else Outcome(found.answer, found)

    def cancel(self, call: Call) -> None:
        """Stop planning a call that another thread makes. A job that is charged is read all the same."""
        self._engine.cancel(call.cancelled)

    def stop(self, call: Call) -> None:
        """Stop reading at once, because the curator closes. The charge stays, and nothing is stored."""
        self._read_slots.cancel(call.stopped)
        self._engine.cancel(call.stopped)

    def _read_or_freeze(self, job: Job, call: Call, schedule: ReturnSchedule, journal: Journal) -> bytes:
        """Read, add noise and wait.

        A failure after the charge may depend on the data. The caller therefore gets one fixed message; and because the failure itself is one
        bit about the data, the analyst's account is frozen until the owner has looked at it.
        """
        noisy = self._read(job, call, schedule, journal)
        if noisy is not None:
            return noisy
        if call.analyst is not None:
            with suppress(AccountFrozen):
                self.ledger.freeze(call.analyst, by="a reading that failed")
        raise EngineFailure(
            "The engine could not answer. The query was charged.", next_step="Report this to the owner of the data."
        )

    def _read(self, job: Job, call: Call, schedule: ReturnSchedule, journal: Journal) -> bytes | None:
        """Return the outcome, or raise an error of the ledger, at the end of the latency bucket; None if the job failed.

        Public relations are acquired before the read slot and released when the answer is returned; the slot is released at a time that was
        known when it was acquired. So neither shows when the reading really ended.
        """
        with self._public_relations(job, call):
            with self._read_slots.slot(call.analyst, cancelled=call.stopped, is_long=job.seconds > _LONG_JOB):
                acquired = schedule.now()
                call.on_slot()
                outcome = _outcome(job, Resources(self._engine, self._bits, call.stopped, journal))
                slot_free = schedule.slot_release_time(acquired)
                call.stopped.wait(max(0.0, slot_free - schedule.now()))
            if call.stopped.wait(max(0.0, schedule.return_time(slot_free) - schedule.now())):
                raise cancellation_error()
        if isinstance(outcome, _LEDGER_ERRORS):
            raise outcome
        if isinstance(outcome, Exception):
            _LOG.error("a release failed past its charge: %s", type(outcome).__name__)  # the error's text quotes cells
            return None
        return outcome

    @contextmanager
    def _public_relations(self, job: Job, call: Call) -> Iterator[None]:
        with ExitStack() as acquired:
            with self._engine.one_limit(call.stopped, sharing=READ_SLOTS):
                acquired.enter_context(self._engine.holding(job.queries))
            yield


def _outcome(job: Job, resources: Resources) -> bytes | Exception:
    """Return the outcome of a job, or the exception that it raised: both wait for the end of the latency bucket."""
    try:
        return job.compute(resources)
    except Exception as failure:  # noqa: BLE001  engines may raise anything
        return failure


def _schedule(job: Job, call: Call) -> ReturnSchedule:
    """Choose the latency bucket before anything is charged. The call may refuse the job, or may have been cancelled."""
    call.on_step("planned")
    schedule = call.schedule_return(job.seconds)
    if call.cancelled.is_set():
        raise cancellation_error()
    return schedule


def cancellation_error() -> Cancelled:
    """Return the error of a cancelled query. It is the same before and after the charge."""
    return Cancelled(
        "The query was cancelled.", next_step="Send it again: if it was charged, the repetition costs nothing more."
    )


def _request(job: ChargedJob, analyst: str | None, request_id: str | None = None) -> Request:
    return Request(
        id=request_id or os.urandom(16).hex(),
        query=job.digest,
        releases=job.releases,
        analyst=analyst,
        label=job.label,
        name=job.name,
        edges=job.edges_of,
        format=FORMAT,
    )

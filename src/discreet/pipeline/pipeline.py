"""The one way to an answer, for any release: reserve → read → release → wait → store.

What is released brings its own reading and its own noise; this is the one place that charges, and the one place that holds both the engine
and the randomness. The charge is on disk before anything is read, the answer before it leaves. Between noise and store it waits for the end
of its class of time: until then nothing tells, to anybody, whether its reading has ended and how. What was charged is read, waits and is
stored, whether or not anybody still wants it: so nobody has it read a second time for one price.
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
from discreet.pipeline.journal import NoSteps, Steps, StepsInBooks
from discreet.pipeline.release import above, release
from discreet.pipeline.time_padding import Departure
from discreet.planning.effort import seconds_of
from discreet.postprocessing.noisy_groups import Noisies
from discreet.postprocessing.plan import Plan
from discreet.results.answer import stored_form

_LOG = logging.getLogger("discreet")
PLACES, PLACES_EACH, PLACES_LONG = 8, 2, 6
"""Queries that are read at the same time, on a cursor each; they share the memory of the engine. So many are the most for one analyst, and
for what takes long.
"""
LONG = 1.0
"""Seconds: a query that is expected to take longer is long."""


_OF_THE_BOOKS = (AccountFrozen, LedgerDamaged, OutOfTime, RunChanged, StoreUnavailable, UnknownAccount)
"""Refusals that say nothing of anybody's row, but for how long it took: told as they are, at the end of the class like everything else, and nobody is stopped for them."""


class Readable(Protocol):
    """Something that is read: what of, for how long, and how noise turns it into bytes that may leave."""

    @property
    def queries(self) -> Sequence[Query]:
        """What is read."""

    @property
    def seconds(self) -> float:
        """How long reading and noise are expected to take: public, whatever the data is."""

    def made(self, desk: Desk) -> bytes:
        """Read, add noise: the stored form of what may leave. Exact integers stay in here."""


class Releasable(Readable, Protocol):
    """Something that can be released: also what it costs, and what names it."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """What is charged is what is sampled."""

    @property
    def digest(self) -> str:
        """What makes two of them the same."""

    @property
    def label(self) -> str:
        """How the books call it."""

    @property
    def name(self) -> str | None:
        """What it is looked up by later; most have none."""

    @property
    def edges_of(self) -> str | None:
        """The table of edges that its price is about, one by one; None where it is about people."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What a release is made with: the data, randomness, whoever may end it, and where it stores what it draws on the way."""

    engine: Engine
    bits: RandomBits
    stopped: threading.Event
    steps: Steps


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

    def made(self, desk: Desk) -> bytes:
        with desk.engine.one_limit(sharing=PLACES):
            exact = [desk.engine.run(query, cancelled=desk.stopped) for query in self.plan.queries]
            drawn = release(self.plan, exact, desk.bits)
        self._drawn.append((stored_form(drawn), drawn))
        return self._drawn[-1][0]

    def drawn(self, stored: bytes) -> Noisies | None:
        """What these very bytes are the stored form of, if it was drawn here: then it need not be read from them."""
        return next((drawn for form, drawn in self._drawn if form is stored), None)


@dataclass(frozen=True, slots=True)
class CellAbove:
    """Whether the one number of a query, with fresh noise, reaches a noisy threshold that was drawn before."""

    query: Query
    mechanism: AboveThreshold
    threshold: int = field(repr=False)
    seconds: float

    @property
    def queries(self) -> Sequence[Query]:
        return (self.query,)

    def made(self, desk: Desk) -> bytes:
        with desk.engine.one_limit(sharing=PLACES):
            (rows,) = desk.engine.run(self.query, cancelled=desk.stopped)
        return json.dumps(above(rows, self.mechanism, self.threshold, desk.bits)).encode()


@dataclass(frozen=True, slots=True)
class Paid:
    """What was stored, and what the books say of it."""

    stored: bytes
    reservation: Reservation | None
    """None for what is public and free."""


@dataclass(frozen=True, slots=True)
class Charged(Paid):
    """The same of what has a price."""

    reservation: Reservation


class Pipeline:
    """Ledger, engine and randomness, in the only order there is."""

    def __init__(self, ledger: Ledger, engine: Engine) -> None:
        self.ledger, self._engine, self._bits = ledger, engine, RandomBits()
        self._read_slots = FairSemaphore(PLACES, each=PLACES_EACH, long=PLACES_LONG)

    def answer(self, wanted: Releasable, call: Call) -> Paid:
        """Charge for a release, read, add noise and store; or find it stored."""
        if wanted.releases:
            return self.charged(wanted, call)
        return Paid(self._fresh(wanted, call, _set_out(wanted, call), NoSteps()), None)

    def charged(self, wanted: Releasable, call: Call) -> Charged:
        """The same of something that has a price."""
        departure = _set_out(wanted, call)
        reservation = self.ledger.reserve(_request(wanted, call.analyst, call.request_id))
        call.on_step("asked before" if reservation.is_free else "paid")
        stored = reservation.answer
        if stored is None:
            steps = StepsInBooks(self.ledger, reservation, call.on_look)
            stored = self.ledger.finish(reservation, self._fresh(wanted, call, departure, steps))
        return Charged(stored, reservation)

    def begin(self, wanted: Releasable, beginning: Readable, call: Call) -> StepsInBooks:
        """Charge for what goes on from call to call, and begin it, or take it up where its steps end. Nothing finishes it here."""
        departure = _set_out(beginning, call)
        reservation = self.ledger.reserve(_request(wanted, call.analyst, call.request_id))
        call.on_step("paid" if reservation.charged else "asked before")
        steps = StepsInBooks(self.ledger, reservation, call.on_look)
        self._fresh(beginning, call, departure, steps)
        steps.leave()
        return steps

    def go_on(self, part: Readable, steps: StepsInBooks, call: Call) -> None:
        """A further part of what was begun: paid for then, in a class of its own, with the steps that it was begun with."""
        own = replace(call, analyst=steps.reservation.request.analyst)
        self._fresh(part, own, _set_out(part, own), steps)
        steps.leave()

    def look(self, wanted: Readable, call: Call) -> bytes | None:
        """A further look of something that was paid for in full at its start: what may leave, at the end of its class; None where it failed.

        Whoever calls stores either, and stops the analyst for the latter.
        """
        return self._read(wanted, call, _set_out(wanted, call), NoSteps())

    def is_paid(self, wanted: Releasable, call: Call) -> bool:
        """Whether a release would cost nothing: public, or answered and paid for before."""
        return not wanted.releases or self.ledger.is_paid(_request(wanted, call.analyst))

    def would_charge(self, wanted: Sequence[Releasable], call: Call) -> dict[str, bool]:
        """The accounts that releases, to be paid for one after another, would be charged to, each with whether its cap allows all of them now."""
        priced = [each for each in wanted if each.releases]
        if not priced:
            return {}
        together = tuple(release for each in priced for release in each.releases)
        return self.ledger.would_charge(replace(_request(priced[0], call.analyst), releases=together))

    def check_name(self, wanted: Releasable, call: Call) -> None:
        """Refuse a release whose name is taken, before anything is paid for."""
        self.ledger.check_name(_request(wanted, call.analyst))

    def check_caps(self, wanted: Sequence[Releasable], call: Call) -> None:
        """Refuse several releases, to be paid for one after another, that the caps do not allow together."""
        unpaid = [each for each in wanted if not self.is_paid(each, call)]
        if not all(self.would_charge(unpaid, call).values()):
            raise BudgetExceeded(
                "All of this together would bring an account above its cap. Nothing was charged.",
                next_step="Ask for smaller prices, or ask the owner to raise the cap.",
            )

    def recalled(self, wanted: Releasable, call: Call) -> Paid | None:
        """What is stored for an analyst who has paid for it; nothing is charged, read or written."""
        found = self.ledger.recalled(_request(wanted, call.analyst)) if wanted.releases else None
        return None if found is None or found.answer is None else Paid(found.answer, found)

    def cancel(self, call: Call) -> None:
        """Plan no further for a query that somebody else is asking. What is charged is read all the same."""
        self._engine.cancel(call.cancelled)

    def stop(self, call: Call) -> None:
        """Stop reading for a query at once, because the curator goes away; its price stays paid, and nothing is stored."""
        self._read_slots.cancel(call.stopped)
        self._engine.cancel(call.stopped)

    def _fresh(
        self,
        wanted: Readable,
        call: Call,
        departure: Departure,
        steps: Steps,
    ) -> bytes:
        """Read, add noise, and wait. Whatever fails past the charge may hang on somebody's row, so it is one sentence and a bit about the
        data: it stops the analyst until the owner looks.
        """
        noisy = self._read(wanted, call, departure, steps)
        if noisy is not None:
            return noisy
        if call.analyst is not None:
            with suppress(AccountFrozen):
                self.ledger.freeze(call.analyst, by="a reading that failed")
        raise EngineFailure("The engine could not answer. The price was paid.", next_step="Tell the owner of the data.")

    def _read(
        self,
        wanted: Readable,
        call: Call,
        departure: Departure,
        steps: Steps,
    ) -> bytes | None:
        """What may leave, or a refusal of the books, when its class ends; None where it failed.

        Public relations are taken before there is a place and held until the answer leaves; a place is kept until a time that was known when
        it was taken. Neither tells when the reading has really ended.
        """
        with self._held(wanted, call):
            with self._read_slots.slot(call.analyst, cancelled=call.stopped, is_long=wanted.seconds > LONG):
                begun = departure.now()
                call.on_place()
                desk = Desk(self._engine, self._bits, call.stopped, steps)
                outcome = self._made(wanted, desk)
                ends = departure.place_ends(begun)
                call.stopped.wait(max(0.0, ends - departure.now()))
            if call.stopped.wait(max(0.0, departure.after(ends) - departure.now())):
                raise cancellation_error()
        if isinstance(outcome, _OF_THE_BOOKS):
            raise outcome
        if isinstance(outcome, Exception):
            _LOG.error("a release failed past its charge: %s", type(outcome).__name__)  # its text quotes cells
            return None
        return outcome

    @contextmanager
    def _held(self, wanted: Readable, call: Call) -> Iterator[None]:
        with ExitStack() as held:
            with self._engine.one_limit(call.stopped, sharing=PLACES):
                held.enter_context(self._engine.holding(wanted.queries))
            yield

    def _made(self, wanted: Readable, desk: Desk) -> bytes | Exception:
        """What may leave, or what went wrong."""
        try:
            return wanted.made(desk)
        except Exception as failure:  # noqa: BLE001  not only what engines are known to raise
            return failure


def _set_out(wanted: Readable, call: Call) -> Departure:
    """Before anything is charged: tell that it is planned, and hear when its answer leaves, unless it is refused or cancelled."""
    call.on_step("planned")
    departure = call.leaving(wanted.seconds)
    if call.cancelled.is_set():
        raise cancellation_error()
    return departure


def cancellation_error() -> Cancelled:
    """The refusal of a query that was cancelled, the same whenever that was."""
    return Cancelled(
        "The question was taken back.", next_step="Ask again: if its price was paid, it costs nothing more."
    )


def _request(wanted: Releasable, analyst: str | None, request_id: str | None = None) -> Request:
    return Request(
        id=request_id or os.urandom(16).hex(),
        query=wanted.digest,
        releases=wanted.releases,
        analyst=analyst,
        label=wanted.label,
        name=wanted.name,
        edges=wanted.edges_of,
        format=FORMAT,
    )

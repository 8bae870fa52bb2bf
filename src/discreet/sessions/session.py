"""A session as whoever opened it has it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from discreet.algebra.query import Query
from discreet.errors import RunChanged, SessionEnded, TooMany, UnknownSession
from discreet.measurement.domain import MOST_COUNTED, Domain
from discreet.measurement.measurer import CountQuery
from discreet.measurement.runs import TableRun
from discreet.measurement.transcript import Transcript
from discreet.pipeline.call import Call
from discreet.pipeline.journal import LedgerJournal
from discreet.pipeline.pipeline import Pipeline, Resources
from discreet.planning.effort import seconds_of_counts
from discreet.sessions.count_queries import Reading, SessionQuery
from discreet.sessions.modes import Mode
from discreet.sessions.progress import MOST_AT_ONCE, Course
from discreet.sessions.session_base import SessionBase, SessionState
from discreet.sessions.session_terms import SessionAnswer
from discreet.sessions.sql_conditions import Conditions

_STEPS_OF_AN_ALARM = 3
_TIMES_OVERTAKEN = 8
"""How often a call begins anew, because another process went on with the session meanwhile."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What is done at one go, in a class of time of its own. What leaves of it is in steps, and not in bytes."""

    queries: tuple[Query, ...]
    seconds: float
    make: Callable[[Resources], None]

    def compute(self, resources: Resources) -> bytes:
        """Do it.

        Args:
            resources: With the rows and the books.
        """
        self.make(resources)
        return b""


@dataclass(frozen=True, slots=True)
class Opening:
    """What is paid for and begun."""

    run: TableRun
    mode: Mode
    queries: int
    analyst: str | None

    @property
    def id(self) -> str:
        """What the session is called over HTTP: the same whenever it is opened again."""
        return self.run.digest[:32]

    def course(self, resources: Resources) -> Course:
        """Begin, or take up where the steps end.

        Args:
            resources: With the rows and the books.
        """
        underway = self.run.begun(resources)
        try:
            return Course(underway, self.mode, self.run.budget, self.queries)
        except BaseException:
            underway.close()
            raise


class Session(SessionBase):
    """Many queries under one price. The same query has the same answer, whenever it is asked.

    Args:
        opening: What it is.
        pipeline: The way to answers.
        conditions: How queries in SQL are read.
        call: Who opens it.
    """

    def __init__(
        self,
        opening: Opening,
        pipeline: Pipeline,
        conditions: Conditions,
        call: Call,
    ) -> None:
        self._opening, self._pipeline, self._lock = opening, pipeline, threading.Lock()
        self._reading, self._conditions = Reading(opening.run.domain), conditions
        self._course: Course | None = None
        self._used = time.monotonic()
        self._steps = self._begin(call)
        reservation = self._steps.reservation
        self.receipt, self.replayed = reservation.receipt, not reservation.charged
        self._end_if_used_up()

    def __repr__(self) -> str:
        state = f"left={self.left}" if self.is_open else "closed"
        return f"Session(id={self.id!r}, queries={self._opening.queries}, {state})"

    @property
    def id(self) -> str:
        """The same whenever it is opened again; also of one that is closed."""
        return self._opening.id

    @property
    def unused(self) -> float:
        """Seconds since somebody last asked in it."""
        return time.monotonic() - self._used

    @property
    def analyst(self) -> str | None:
        """Whose it is; None is the owner at hand."""
        return self._opening.analyst

    @property
    def domain(self) -> Domain:
        """Columns with their labels, and how many rows of a person count."""
        return self._opening.run.domain

    @property
    def state(self) -> SessionState:
        """How far the session has got."""
        course = self._open
        return SessionState(
            id=self.id,
            receipt=self.receipt,
            left=course.left,
            alarms_left=course.alarms_left,
            within=course.terms.within,
            reused=course.reused,
        )

    @property
    def is_open(self) -> bool:
        """Whether it holds rows: until it is closed, or its curator is."""
        return self._course is not None

    def answer_many(
        self, queries: Iterable[SessionQuery], *, call: Call | None = None, most_cells: int = MOST_COUNTED
    ) -> list[SessionAnswer]:
        """The same for many queries: they are stored together, which is as fast as storing one.

        Args:
            queries: In order.
            call: How they can be cancelled.
            most_cells: Of the table over a query's columns, which is held in memory.
        """
        told = call or Call(analyst=self.analyst)
        counts = self._read(list(queries), most_cells, told)
        self._used = time.monotonic()
        with self._lock:
            self._pipeline.ledger.check_open(self.analyst)
            for _ in range(_TIMES_OVERTAKEN):
                if self._has_asked(counts, told):
                    answers = self._open.answers
                    return [answers[count] for count in counts]
        raise TooMany("Another process asks in this session, too.", next_step="Wait a little, and ask again.")

    def _read(self, queries: list[SessionQuery], most_cells: int, call: Call) -> list[CountQuery]:
        texts = [query for query in queries if isinstance(query, str)]
        conditions = self._conditions.queries(texts, most_cells=most_cells, cancelled=call.cancelled)
        return [
            conditions[query] if isinstance(query, str) else self._reading.conjunction(query, most_cells=most_cells)
            for query in queries
        ]

    def close(self) -> None:
        """Let go of the rows. Whoever opens the same session again goes on with it, for nothing."""
        with self._lock:
            self._end()

    @property
    def _open(self) -> Course:
        if self._course is None:
            raise UnknownSession("This session is closed.", next_step="Open it again: it is paid for.")
        return self._course

    def _begin(self, call: Call) -> LedgerJournal:
        run = self._opening.run

        def begun(resources: Resources) -> None:
            self._course = self._opening.course(resources)

        part = _Part(run.queries, run.seconds, begun)
        try:
            return self._pipeline.start(run, part, call)
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        if self._course is not None:
            self._course.close()
            self._course = None

    def _has_asked(self, queries: list[CountQuery], call: Call) -> bool:
        """Ask; or find that another process went on with this session, and take it up from its steps in the books."""
        try:
            self._ask(queries, call)
        except RunChanged:
            self._steps = self._begin(replace(call, request_id=None))
            return False
        return True

    def _ask(self, queries: list[CountQuery], call: Call) -> None:
        course = self._open
        new = [query for query in dict.fromkeys(queries) if query not in course.answers]
        if not new:
            return
        if len(new) > course.left:
            raise SessionEnded(
                f"This session has {course.left:,} questions left, and these are {len(new):,} new ones.",
                next_step="Ask fewer, or again what was asked; or open another session under another name, which is paid for.",
            )

        begun = threading.Event()

        def asked(_: Resources) -> None:
            begun.set()
            course.ask(new)

        part = _Part(self._opening.run.queries, self._seconds(course, new), asked)
        try:
            self._pipeline.continue_run(part, self._steps, call)
        except BaseException:
            if begun.is_set():
                self._end()  # what did not leave is in the books, and not here
            raise
        self._end_if_used_up()

    def _seconds(self, course: Course, queries: list[CountQuery]) -> float:
        """How long queries are expected to take, by their number and their columns."""
        tables = {query.columns for query in queries}
        domain = self.domain
        return seconds_of_counts(
            self._opening.run.rows.query,
            tables=len(tables),
            counts=len(queries),
            cells=sum(domain.cells(columns) for columns in tables) + sum(domain.cells(q.columns) for q in queries),
            steps=1 + len(queries) // MOST_AT_ONCE + _STEPS_OF_AN_ALARM * min(course.alarms_left, len(queries)),
        )

    def _end_if_used_up(self) -> None:
        """After the last query the books know that no step will come."""
        reservation = self._steps.reservation
        if not self._open.left and reservation.answer is None:
            run = self._opening.run
            self._pipeline.ledger.finish(reservation, Transcript({"purpose": run.purpose}, ()).encoded())

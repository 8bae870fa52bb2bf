"""An open session in this process."""

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
from discreet.sessions.count_queries import QueryReader, SessionQuery
from discreet.sessions.modes import Mode
from discreet.sessions.session_base import SessionBase, SessionState
from discreet.sessions.session_progress import MOST_AT_ONCE, Progress
from discreet.sessions.session_terms import SessionAnswer
from discreet.sessions.sql_conditions import Conditions

_STEPS_OF_AN_ALARM = 3
_ATTEMPTS = 8
"""How often a call is repeated because another process continued the session meanwhile."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Work on an open run that is padded to a latency bucket of its own. Its results are stored steps, and no bytes."""

    queries: tuple[Query, ...]
    seconds: float
    work: Callable[[Resources], None]

    def compute(self, resources: Resources) -> bytes:
        """Do the work."""
        self.work(resources)
        return b""


@dataclass(frozen=True, slots=True)
class Opening:
    """A session before it is opened: the run that is charged, and how it starts."""

    run: TableRun
    mode: Mode
    queries: int
    analyst: str | None

    @property
    def id(self) -> str:
        """The id of the session over HTTP, the same whenever it is opened."""
        return self.run.digest[:32]

    def start(self, resources: Resources) -> Progress:
        """Start the session, or continue it where its stored steps end."""
        underway = self.run.open(resources)
        try:
            return Progress(underway, self.mode, self.run.budget, self.queries)
        except BaseException:
            underway.close()
            raise


class Session(SessionBase):
    """Many queries under one charge. The same query always has the same answer.

    Args:
        opening: The run that is charged, and how it starts.
        pipeline: The pipeline that charges and reads.
        conditions: Reader of queries in SQL.
        call: The call that opens the session.
    """

    def __init__(self, opening: Opening, pipeline: Pipeline, conditions: Conditions, call: Call) -> None:
        self._opening, self._pipeline, self._lock = opening, pipeline, threading.Lock()
        self._reader, self._conditions = QueryReader(opening.run.domain), conditions
        self._progress: Progress | None = None
        self._used = time.monotonic()
        self._steps = self._begin(call)
        reservation = self._steps.reservation
        self.receipt, self.replayed = reservation.receipt, not reservation.charged
        self._finish_if_used_up()

    def __repr__(self) -> str:
        state = f"left={self.left}" if self.is_open else "closed"
        return f"Session(id={self.id!r}, queries={self._opening.queries}, {state})"

    @property
    def id(self) -> str:
        """The id of the session, also after it is closed."""
        return self._opening.id

    @property
    def unused(self) -> float:
        """Seconds since the last query."""
        return time.monotonic() - self._used

    @property
    def analyst(self) -> str | None:
        """The analyst who opened the session; None is the data owner."""
        return self._opening.analyst

    @property
    def domain(self) -> Domain:
        """Columns with their labels, and how many rows of a person count."""
        return self._opening.run.domain

    @property
    def state(self) -> SessionState:
        """How far the session has got."""
        progress = self._open_progress
        return SessionState(
            id=self.id,
            receipt=self.receipt,
            left=progress.left,
            alarms_left=progress.alarms_left,
            within=progress.terms.within,
            reused=progress.reused,
        )

    @property
    def is_open(self) -> bool:
        """Whether the session holds rows: until it or its curator is closed."""
        return self._progress is not None

    def answer_many(
        self, queries: Iterable[SessionQuery], *, call: Call | None = None, most_cells: int = MOST_COUNTED
    ) -> list[SessionAnswer]:
        """Answer many queries. All answers are stored together, which takes as long as storing one.

        Args:
            queries: In the order of the answers.
            call: How the queries can be cancelled.
            most_cells: Largest table over the columns of one query; it is held in memory.
        """
        own = call or Call(analyst=self.analyst)
        counts = self._read(list(queries), most_cells, own)
        self._used = time.monotonic()
        with self._lock:
            self._pipeline.ledger.check_open(self.analyst)
            for _ in range(_ATTEMPTS):
                if self._is_answered(counts, own):
                    answers = self._open_progress.answers
                    return [answers[count] for count in counts]
        raise TooMany("Another process uses this session, too.", next_step="Wait a little, and ask again.")

    def close(self) -> None:
        """Free the rows. The same request opens the session again, without a charge."""
        with self._lock:
            self._free()

    def _read(self, queries: list[SessionQuery], most_cells: int, call: Call) -> list[CountQuery]:
        texts = [query for query in queries if isinstance(query, str)]
        conditions = self._conditions.queries(texts, most_cells=most_cells, cancelled=call.cancelled)
        return [
            conditions[query] if isinstance(query, str) else self._reader.conjunction(query, most_cells=most_cells)
            for query in queries
        ]

    @property
    def _open_progress(self) -> Progress:
        if self._progress is None:
            raise UnknownSession("This session is closed.", next_step="Open it again: it is paid for.")
        return self._progress

    def _begin(self, call: Call) -> LedgerJournal:
        run = self._opening.run

        def start(resources: Resources) -> None:
            self._progress = self._opening.start(resources)

        try:
            return self._pipeline.start(run, _Part(run.queries, run.seconds, start), call)
        except BaseException:
            self._free()
            raise

    def _free(self) -> None:
        if self._progress is not None:
            self._progress.close()
            self._progress = None

    def _is_answered(self, queries: list[CountQuery], call: Call) -> bool:
        """Answer; or, if another process continued this session, read its steps from the ledger and return False."""
        try:
            self._answer(queries, call)
        except RunChanged:
            # The call's request id belongs to the queries, and not to the session that is opened again here.
            self._steps = self._begin(replace(call, request_id=None))
            return False
        return True

    def _answer(self, queries: list[CountQuery], call: Call) -> None:
        progress = self._open_progress
        new = [query for query in dict.fromkeys(queries) if query not in progress.answers]
        if not new:
            return
        if len(new) > progress.left:
            raise SessionEnded(
                f"This session has {progress.left:,} queries left, and these are {len(new):,} new ones.",
                next_step="Ask fewer, or repeat earlier ones; or open a session of another name, which is charged.",
            )

        is_started = threading.Event()

        def ask(_: Resources) -> None:
            is_started.set()
            progress.ask(new)

        part = _Part(self._opening.run.queries, self._seconds(progress, new), ask)
        try:
            self._pipeline.continue_run(part, self._steps, call)
        except BaseException:
            if is_started.is_set():
                # Steps may be stored of which this process knows nothing: a session that is opened again reads them.
                self._free()
            raise
        self._finish_if_used_up()

    def _seconds(self, progress: Progress, queries: list[CountQuery]) -> float:
        """The expected time to answer queries. It depends on their number and columns only, and not on data."""
        tables = {query.columns for query in queries}
        domain = self.domain
        return seconds_of_counts(
            self._opening.run.rows.query,
            tables=len(tables),
            counts=len(queries),
            cells=sum(domain.cells(columns) for columns in tables) + sum(domain.cells(q.columns) for q in queries),
            steps=1 + len(queries) // MOST_AT_ONCE + _STEPS_OF_AN_ALARM * min(progress.alarms_left, len(queries)),
        )

    def _finish_if_used_up(self) -> None:
        """After the last query, record in the ledger that no step follows."""
        reservation = self._steps.reservation
        if not self._open_progress.left and reservation.answer is None:
            run = self._opening.run
            self._pipeline.ledger.finish(reservation, Transcript({"purpose": run.purpose}, ()).encoded())

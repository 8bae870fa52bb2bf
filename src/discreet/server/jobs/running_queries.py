"""Run queries in separate threads: rate limits, planning, reading, cancellation, and padding of the response time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from discreet.api.local import Curator, LocalApi
from discreet.api.requests.ask import AskRequest
from discreet.api.requests.base import Request
from discreet.concurrency.fair_semaphore import FairSemaphore
from discreet.errors import BadInput, QueryRefused, RequestConflict, TooMany
from discreet.pipeline.call import Call
from discreet.pipeline.pipeline import cancellation_error
from discreet.planning.answer_size import AnswerLimit
from discreet.results.answer import Answer
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.roles import Holder
from discreet.server.jobs.current_curator import CurrentCurator
from discreet.server.jobs.time_budget import TimeBudget


class Stored(Protocol):
    """A stored answer or release."""

    @property
    def stored(self) -> bytes:
        """The stored bytes."""

    @property
    def replayed(self) -> bool:
        """Whether it was returned from the store, without a charge."""


T = TypeVar("T")
Job: TypeAlias = Callable[[LocalApi], T]
"""A function of the interface that is bound to one call."""
Answered = TypeVar("Answered", bound=Stored)
_SLOTS = 4
"""Answers that are written at the same time, one for each analyst; one slot is reserved for short answers."""
_LONG = 2**18
"""Stored bytes from which an answer counts as long."""
_THREADS = 512
"""Most threads wait for the end of a latency bucket; the curator has slots for the few that plan or read."""


def outcome_job(request: Request[Any, Any]) -> Job[Any]:
    """Return the job that executes a request: charge it and return its outcome."""
    return lambda api: api.outcome(request)


def plan_job(request: Request[Any, Any]) -> Job[Any]:
    """Return the job that plans a request, without a charge."""
    return lambda api: api.plan(request)


@dataclass(slots=True, eq=False)
class _RunningQuery:
    job: Job[Any]
    holder: Holder
    call: Call
    result: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """The result for the caller; a cancelled query gets its error here at once."""
    is_abandoned: bool = False
    curator: Curator | None = None
    """The curator that runs the query, once it has started."""

    def ask(self, curator: Curator) -> Any:
        """Run the query on a curator."""
        self.curator = curator
        return self.job(curator.with_call(self.call))

    def done(self, work: asyncio.Future[Any]) -> None:
        """Pass on the outcome of the finished work."""
        failure = None if work.cancelled() else work.exception()
        if self.result.done():
            return  # cancelled: the caller already has an error
        if failure is not None:
            self.result.set_exception(failure)
        elif not work.cancelled():
            self.result.set_result(work.result())

    def cancel(self) -> None:
        """Refuse at once; work in progress ends by itself."""
        self.is_abandoned = True
        self.call.cancelled.set()  # a query that has not started checks this when it does
        if self.curator is not None:
            self.curator.cancel(self.call)
        if not self.result.done():
            self.result.set_exception(cancellation_error())

    def stop(self) -> None:
        """Stop, without waiting for the end of the latency bucket: the server shuts down."""
        self.call.cancelled.set()
        self.call.stopped.set()
        if self.curator is not None:
            self.curator.stop(self.call)


class RunningQueries:
    """The running queries of all analysts."""

    def __init__(self, current: CurrentCurator, *, rate_limit: RateLimit, time_budget: TimeBudget) -> None:
        self._current, self._rate_limit, self._time = current, rate_limit, time_budget
        self._slots = FairSemaphore(_SLOTS, each=1, long=_SLOTS - 1)
        self._threads, self._at_work = ThreadPoolExecutor(_THREADS, thread_name_prefix="query"), 0
        self._underway: dict[tuple[str, str], _RunningQuery] = {}
        self._abandoned: set[asyncio.Future[None]] = set()

    def __len__(self) -> int:
        return len(self._underway)

    async def ask(self, job: Job[Answered], *, holder: Holder, call: Call, then: Callable[[Answered], T]) -> T:
        """Run a query under the Idempotency-Key `call.request_id`, and return its answer at the end of its latency bucket.

        `then` converts the answer, in the same thread. A cancelled query is refused at once.

        Cancelling only ends the wait. A charged query continues, or its timing would reveal data: it is read, padded and stored, and counts
        against the analyst's concurrent queries until then.
        """
        with ExitStack() as limits:
            limits.enter_context(self._rate_limit.admit(holder.name))
            visit = limits.enter_context(self._time.visit(holder.name))
            own = replace(
                call, analyst=holder.charged_analyst, schedule_return=visit.schedule_return, on_slot=visit.begin
            )
            mine, name = _RunningQuery(job, holder, own), str(call.request_id)
            work = self._work(partial(self._execute, mine, then))
            work.add_done_callback(mine.done)
            self._underway[holder.id, name] = mine
            try:
                return await mine.result
            except asyncio.CancelledError:
                mine.stop()
                raise
            finally:
                if self._underway.get((holder.id, name)) is mine:
                    del self._underway[holder.id, name]
                if mine.is_abandoned:
                    self._keep_limits_until_done(mine, work, limits.pop_all())

    def _keep_limits_until_done(self, mine: _RunningQuery, work: asyncio.Future[Any], limits: ExitStack) -> None:
        """Hold the analyst's limits until the work of a cancelled query has ended."""

        async def hold() -> None:
            with limits:
                try:
                    await asyncio.wait({work})
                except asyncio.CancelledError:
                    mine.stop()
                    raise

        task = asyncio.ensure_future(hold())
        self._abandoned.add(task)
        task.add_done_callback(self._abandoned.discard)

    async def explain(self, job: Job[Any], *, holder: Holder, then: Callable[[Any], T]) -> T:
        """Plan a query, with the same limits and padding."""

        def plan(curator: Curator) -> T:
            return then(job(curator.as_analyst(holder.charged_analyst)))

        with self._rate_limit.admit(holder.name), self._time.visit(holder.name):
            return await self._work(plan)

    async def recall(
        self,
        request: AskRequest,
        *,
        holder: Holder,
        charged_analyst: str | None,
        limit: AnswerLimit | None,
        then: Callable[[Answer], T],
    ) -> T:
        """Return the stored answer to a query that `charged_analyst` was charged for, or refuse one beyond the limit."""
        call = Call(analyst=charged_analyst, waits_as=holder.name, limit=limit)

        def find(curator: Curator) -> Answer:
            answer: Answer = curator.with_call(call).recall(request)
            return answer

        return await self.look_up(find, holder=holder, then=then)

    async def look_up(
        self,
        find: Callable[[Curator], Answered],
        *,
        holder: Holder,
        then: Callable[[Answered], T],
        is_long: bool = False,
    ) -> T:
        """Return a stored result, converted by `then`; `is_long` if the conversion takes long although the result is short."""

        def find_and_convert(curator: Curator) -> T:
            return self._written(find(curator), holder, then, is_long=is_long)

        with self._rate_limit.admit(holder.name), self._time.visit(holder.name):
            return await self._work(find_and_convert)

    def cancel(self, holder: Holder, name: str) -> None:
        """Cancel the holder's query with this Idempotency-Key, if it is running."""
        mine = self._underway.get((holder.id, name))
        if mine is not None:
            mine.cancel()

    def _execute(self, mine: _RunningQuery, then: Callable[[Any], T], curator: Curator) -> T:
        try:
            answer = mine.ask(curator)
        except RequestConflict as conflict:
            answer = self._execute_on_earlier_version(mine, conflict)
        if mine.call.cancelled.is_set():
            raise cancellation_error()
        return self._written(answer, mine.holder, then)

    def _execute_on_earlier_version(self, mine: _RunningQuery, conflict: RequestConflict) -> Any:
        """Return the answer to a query that was charged under this key on an earlier catalog or data version.

        Nothing is charged here: the key was used, so the query is either the one that it was used for, or refused.
        """
        with self._current.acquire_earlier() as curators:
            for curator in curators:
                with suppress(RequestConflict, QueryRefused, BadInput):
                    return mine.ask(curator)
        raise conflict

    def _written(self, answer: Answered, holder: Holder, then: Callable[[Answered], T], *, is_long: bool = False) -> T:
        """Convert an answer within a slot: a long one takes seconds and memory."""
        is_long = is_long or len(answer.stored) > _LONG
        with self._slots.slot(holder.name, cancelled=threading.Event(), is_long=is_long):
            return then(answer)

    def _work(self, job: Callable[[Curator], T]) -> asyncio.Future[T]:
        if self._at_work >= _THREADS:
            raise TooMany("The server runs too many queries.", next_step="Try again in a moment.")
        self._at_work += 1
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._with_curator, job)
        work.add_done_callback(self._worked)
        return work

    def _with_curator(self, job: Callable[[Curator], T]) -> T:
        """Run a job on the current curator, which stays open until the job ends."""
        with self._current.acquire() as curator:
            return job(curator)

    def _worked(self, _: asyncio.Future[Any]) -> None:
        self._at_work -= 1

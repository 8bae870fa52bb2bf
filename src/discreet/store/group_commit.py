"""Group commit: jobs that wait at the same time are written by one of them, and reach the disk in one commit."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from discreet.errors import DiscreetError
from discreet.store.database import Store, Transaction, unavailable

T = TypeVar("T")
_MOST = 256
"""Jobs in one commit: so many are written within a blink, and the first of them waits for the last."""
_PAUSE = 0.003
"""Seconds that a commit waits for others, where the last one was for several: a commit takes as long as ten jobs. Who is alone waits for nobody."""


class Page(Protocol):
    """What the jobs of one transaction write on, one after the other."""

    @property
    def marks(self) -> int:
        """A number that is another one after something was written."""


P = TypeVar("P", bound=Page)


class _Waiting(Generic[P, T]):
    """A job, and what became of it. Who waits is called once, by a lock of their own: to write for all, or because the job is settled."""

    __slots__ = ("called", "error", "has_turn", "job", "result", "settled")

    def __init__(self, job: Callable[[P], T]) -> None:
        self.job, self.settled, self.has_turn = job, False, False
        self.result: T | None = None
        self.error: Exception | None = None
        self.called = threading.Lock()
        self.called.acquire()

    def settle(self, failure: Exception | None) -> None:
        """The commit is over; where the job was refused, that stays the reason."""
        self.error = self.error or failure
        self.settled = True
        if not self.has_turn:
            self.called.release()


class _HalfWay(Exception):
    """A job was refused after it had written something."""


class GroupCommit(Generic[P]):
    """Runs jobs in transactions, as many in one as are waiting for it.

    A job that is refused before it wrote anything leaves nothing behind. Where one is refused later, which is rare, the
    transaction is cancelled, and all others are run once more without it. `run` returns when the commit that holds its
    job is on disk. A commit that fails has granted nothing, and fails every job in it.

    `begin` makes the page at the start of each transaction, `end` is called before its commit, and `committed` after it;
    if one of them fails, so does every job.
    """

    def __init__(
        self,
        store: Store,
        *,
        begin: Callable[[Transaction], P],
        end: Callable[[P], None],
        committed: Callable[[P], None],
    ) -> None:
        self._store, self._begin, self._end, self._committed = store, begin, end, committed
        self._begin_process()

    def _begin_process(self) -> None:
        """A new process has none of the threads that waited in its parent."""
        self._process, self._lock, self._is_busy = os.getpid(), threading.Lock(), False
        self._waiting: deque[_Waiting[P, Any]] = deque()
        self._together = 0
        """How many were written in the last commit."""

    def run(self, job: Callable[[P], T]) -> T:
        """Run a job and wait for the disk; whoever has the turn runs the jobs of all who wait. It may be run more than once."""
        if self._process != os.getpid():
            self._begin_process()
        mine = _Waiting(job)
        try:
            with self._lock:
                self._waiting.append(mine)
                mine.has_turn = not self._is_busy
                self._is_busy = True
            if not mine.has_turn:
                mine.called.acquire()
            if mine.has_turn:
                self._write_for_all()
        finally:
            self._leave(mine)
        if mine.error is not None:
            raise mine.error
        return mine.result  # type: ignore[return-value]  # a job that was not refused has its result

    def _write_for_all(self) -> None:
        """Whoever has the turn is the first of those who wait."""
        if self._together > 1:
            time.sleep(_PAUSE)
        with self._lock:
            self._together = min(_MOST, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(self._together)]
        self._write(batch)

    def _leave(self, mine: _Waiting[P, Any]) -> None:
        """Give the turn to the next; also where this thread was interrupted while it waited."""
        with self._lock:
            if not mine.settled and mine in self._waiting:
                self._waiting.remove(mine)
            if not mine.has_turn:
                return
            self._is_busy = bool(self._waiting)
            following = self._waiting[0] if self._waiting else None
            if following is not None:
                following.has_turn = True
                following.called.release()

    def _write(self, batch: list[_Waiting[P, Any]]) -> None:
        failure: Exception | None = unavailable()  # what all others hear if this thread is stopped half-way
        try:
            while not self._is_written([waiting for waiting in batch if waiting.error is None]):
                pass  # one fewer each time
            failure = None
        except DiscreetError as error:
            failure = error
        finally:
            for waiting in batch:
                waiting.settle(failure)

    def _is_written(self, jobs: list[_Waiting[P, Any]]) -> bool:
        try:
            with self._store.transaction() as t:
                page = self._begin(t)
                for waiting in jobs:
                    self._attempt(page, waiting)
                self._end(page)
        except _HalfWay:
            return False
        self._committed(page)
        return True

    def _attempt(self, page: P, waiting: _Waiting[P, Any]) -> None:
        before = page.marks
        try:
            waiting.result = waiting.job(page)
        except self._store.errors():
            raise  # the database failed: nobody's job can be trusted to be in it
        except Exception as refusal:  # noqa: BLE001  whatever it is, it is raised where the job came from
            waiting.error = refusal
            if page.marks != before:
                raise _HalfWay from None

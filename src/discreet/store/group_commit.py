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
_MAX_JOBS = 256
"""Jobs in one commit. The first of them waits for the last, so the number is limited."""
_PAUSE = 0.003
"""Seconds to wait for further jobs if the last commit had several: a commit costs as much as ten jobs.

A single job does not wait.
"""


class JobState(Protocol):
    """The shared state of one transaction, which its jobs change one after the other."""

    @property
    def change_count(self) -> int:
        """A number that differs after every write."""


P = TypeVar("P", bound=JobState)


class _Waiting(Generic[P, T]):
    """A job and its result.

    Its thread waits on `called`, released once: when it must write for all, or when the job is done.
    """

    __slots__ = ("called", "error", "has_turn", "job", "result", "settled")

    def __init__(self, job: Callable[[P], T]) -> None:
        self.job, self.settled, self.has_turn = job, False, False
        self.result: T | None = None
        self.error: Exception | None = None
        self.called = threading.Lock()
        self.called.acquire()

    def settle(self, failure: Exception | None) -> None:
        """Finish the job after the commit. The error of a refused job takes precedence over a failed commit."""
        self.error = self.error or failure
        self.settled = True
        if not self.has_turn:
            self.called.release()


class _PartialWrite(Exception):
    """A job was refused after it had written something."""


class GroupCommit(Generic[P]):
    """Run waiting jobs together in one transaction.

    A job that is refused before it wrote anything has no effect. If a job is refused later, which is rare, the
    transaction is rolled back, and the other jobs are run again without it. `run` returns when the commit of its job is
    on disk. A failed commit grants nothing, and fails every job in it.

    `begin` creates the shared state of each transaction, `end` is called before its commit, and `committed` after it;
    if one of them fails, every job fails.
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
        """Start empty: after a fork the waiting threads exist in the parent only."""
        self._process, self._lock, self._is_busy = os.getpid(), threading.Lock(), False
        self._waiting: deque[_Waiting[P, Any]] = deque()
        self._last_count = 0
        """Number of jobs in the last commit."""

    def run(self, job: Callable[[P], T]) -> T:
        """Run a job and wait for the disk.

        One thread runs the jobs of all waiting threads. A job may be run more than once.
        """
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
            self._pass_turn(mine)
        if mine.error is not None:
            raise mine.error
        return mine.result  # type: ignore[return-value]  # a job that was not refused has its result

    def _write_for_all(self) -> None:
        """Run the waiting jobs, the own one first."""
        if self._last_count > 1:
            time.sleep(_PAUSE)
        with self._lock:
            self._last_count = min(_MAX_JOBS, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(self._last_count)]
        self._write(batch)

    def _pass_turn(self, mine: _Waiting[P, Any]) -> None:
        """Pass the turn to the next thread, even if this one was interrupted while it waited."""
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
        failure: Exception | None = unavailable()  # the error of all jobs if this thread is interrupted
        try:
            while not self._is_written([waiting for waiting in batch if waiting.error is None]):
                pass  # one job fewer each time
            failure = None
        except DiscreetError as error:
            failure = error
        finally:
            for waiting in batch:
                waiting.settle(failure)

    def _is_written(self, jobs: list[_Waiting[P, Any]]) -> bool:
        try:
            with self._store.transaction() as t:
                state = self._begin(t)
                for waiting in jobs:
                    self._attempt(state, waiting)
                self._end(state)
        except _PartialWrite:
            return False
        self._committed(state)
        return True

    def _attempt(self, state: P, waiting: _Waiting[P, Any]) -> None:
        before = state.change_count
        try:
            waiting.result = waiting.job(state)
        except self._store.errors():
            raise  # the database failed: no job is certain to be in it
        except Exception as refusal:  # noqa: BLE001  raised in the thread of the job
            waiting.error = refusal
            if state.change_count != before:
                raise _PartialWrite from None

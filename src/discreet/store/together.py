"""Group commit: jobs that wait at the same time are written by one of them, and reach the disk in one commit."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from discreet.errors import DiscreetError
from discreet.store.base import Store, Transaction, unavailable

T = TypeVar("T")
_MOST = 256
"""Jobs in one commit: so many are written within a blink, and the first of them waits for the last."""


class _Waiting(Generic[T]):
    """A job, and what became of it."""

    __slots__ = ("error", "job", "result", "settled")

    def __init__(self, job: Callable[[Transaction], T]) -> None:
        self.job, self.settled = job, False
        self.result: T | None = None
        self.error: Exception | None = None

    def settle(self, failure: Exception | None) -> None:
        """The commit is over; where the job was refused, that stays the reason."""
        self.error = self.error or failure
        self.settled = True


class GroupCommit:
    """Runs jobs in transactions, as many in one as are waiting for it.

    Each job has a savepoint: one that is refused takes back what it wrote itself and nothing else. `run` returns when
    the commit that holds its job is on disk. A commit that fails has granted nothing, and fails every job in it.

    `begin` is called at the start of each transaction, `end` before its commit, and `committed` after it; if one of
    them fails, so does every job.
    """

    def __init__(
        self,
        store: Store,
        *,
        begin: Callable[[Transaction], None],
        end: Callable[[Transaction], None],
        committed: Callable[[], None],
    ) -> None:
        self._store, self._begin, self._end, self._committed = store, begin, end, committed
        self._begin_process()

    def _begin_process(self) -> None:
        """A new process has none of the threads that waited in its parent."""
        self._process, self._turn = os.getpid(), threading.Lock()
        self._waiting: deque[_Waiting[Any]] = deque()

    def run(self, job: Callable[[Transaction], T]) -> T:
        """Run a job and wait for the disk; whoever has the turn runs the jobs of all who wait."""
        if self._process != os.getpid():
            self._begin_process()
        mine = _Waiting(job)
        self._waiting.append(mine)
        with self._turn:
            while not mine.settled:
                self._write([self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))])
        if mine.error is not None:
            raise mine.error
        return mine.result  # type: ignore[return-value]  # a job that was not refused has its result

    def _write(self, batch: list[_Waiting[Any]]) -> None:
        failure: Exception | None = unavailable()  # what all others hear if this thread is stopped half-way
        try:
            with self._store.transaction() as t:
                self._begin(t)
                for waiting in batch:
                    self._attempt(t, waiting)
                self._end(t)
            self._committed()
            failure = None
        except DiscreetError as error:
            failure = error
        finally:
            for waiting in batch:
                waiting.settle(failure)

    def _attempt(self, t: Transaction, waiting: _Waiting[Any]) -> None:
        t.run("SAVEPOINT job")
        try:
            waiting.result = waiting.job(t)
        except self._store.errors():
            raise  # the database failed: nobody's job can be trusted to be in it
        except Exception as refusal:  # noqa: BLE001  whatever it is, it is raised where the job came from
            waiting.error = refusal
            t.run("ROLLBACK TO SAVEPOINT job")
        t.run("RELEASE SAVEPOINT job")

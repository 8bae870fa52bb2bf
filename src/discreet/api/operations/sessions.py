"""What a curator does about sessions: says what one would cost and promise, opens it, and finds it while it is open."""

from __future__ import annotations

from functools import partial
from typing import Unpack

from discreet.api.faces.sessions import SessionPlan, SessionsFace
from discreet.api.operations.releases import load_release
from discreet.api.run_parts import CuratorPart, call_of
from discreet.errors import UnknownSession
from discreet.measurement.run_options import check_options
from discreet.pipeline.call import Call
from discreet.sessions.session import Opening, Session
from discreet.sessions.session_pool import Room
from discreet.sessions.session_run import ALARMS, SessionOptions, Wish, opening_of
from discreet.sessions.sql_conditions import Conditions
from discreet.sql import Table


class OpensSessions(CuratorPart, SessionsFace):
    """A part of the curator."""

    _sessions: Room

    def session(
        self,
        source: str | Table,
        *,
        queries: int,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Call | None = None,
        **wanted: Unpack[SessionOptions],
    ) -> Session:
        """Many queries about counts of rows, chosen one by another's answer, for one price that is paid now.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be cancelled.
        """
        told = asking or Call()
        opening = self._opening(source, queries, wanted, analyst, told)
        self.ledger.check_open(analyst)
        rows, domain, today = opening.run.rows, opening.run.domain, self.ledger.data_day()
        planning = partial(self._planning, analyst)
        conditions = Conditions(rows, domain, self.declared, self._engine, today=today, planning=planning)

        def opened() -> Session:
            return Session(opening, self._pipeline, conditions, call_of(analyst, request_id, asking))

        return self._sessions.opened(opening.id, opened, analyst=analyst)

    def plan_session(
        self, source: str | Table, *, queries: int, analyst: str | None = None, **wanted: Unpack[SessionOptions]
    ) -> SessionPlan:
        """What `session` would cost and promise, or its refusal. Spends nothing and looks at no protected row.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        opening = self._opening(source, queries, wanted, analyst, Call())
        run, planned = opening.run, self._planned(opening.run, analyst)
        promised = opening.mode.promised(run.domain, run.budget, queries)
        return SessionPlan(
            cells=run.domain.cells(run.domain.names),
            queries=queries,
            alarms=None if promised is None else promised.alarms,
            within=None if promised is None else promised.within,
            **{
                **planned,
                "asked_before": not planned["charged"],
            },  # it is free from when it is paid for, finished or not
        )

    def open_session(self, session_id: str, *, analyst: str | None = None) -> Session:
        """A session that is open here, for who opened it.

        Args:
            session_id: Of the session.
            analyst: Who asks; nobody is the owner at hand.
        """
        session = self._sessions.find(session_id)
        if session is None or session.analyst != analyst:
            raise UnknownSession(
                "There is no such session open.", next_step="Open it again as it was: it is paid for, and goes on."
            )
        return session

    def limit_sessions(self, *, each: int, most: int) -> None:
        """Say how many sessions may be open from now on.

        Args:
            each: How many of one analyst stay open: for another, the first of them is let go.
            most: How many stay open in all: for another, one is let go that nobody has used for long, or it is refused.
        """
        self._sessions.limit(each=each, most=most)

    def close_sessions(self) -> None:
        """Let go of the rows of all sessions: their engine closes."""
        self._sessions.close()

    def _opening(
        self, source: str | Table, queries: int, wanted: SessionOptions, analyst: str | None, asking: Call
    ) -> Opening:
        """What would be opened, or a refusal by name: everything that can be known before it is paid for."""
        check_options(wanted, SessionOptions)
        given = wanted.get("release")
        wish = Wish(
            queries=queries,
            mode=wanted.get("mode", "practical"),
            workload=wanted.get("workload"),
            alarms=wanted.get("alarms", ALARMS),
            release=load_release(given, self.context.of(analyst=analyst)) if isinstance(given, str) else given,
            name=wanted.get("name", ""),
        )
        with self._planning(analyst, asking.cancelled):
            basis = self._basis(source, wanted)
            reuse = self._reuse(basis, analyst) if wanted.get("reuse") else None
            return opening_of(wish, basis, analyst=analyst, reuse=reuse)

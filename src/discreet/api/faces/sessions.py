"""What an analyst sees of a curator, near or far, about sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Unpack

from discreet.api.plans import RunPlan
from discreet.core.documenting import Told
from discreet.sessions.session_base import SessionFace
from discreet.sessions.session_run import SessionOptions
from discreet.sql.builder import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan(RunPlan):
    """What a session would cost and promise; nothing was spent or read."""

    cells: int
    """Of all columns together."""
    queries: int
    alarms: int | None
    within: float | None
    """In rows: with a chance of 95 %, no guarded answer is further off. None, as `alarms`, where that is known once the number of rows is measured."""


class SessionsFace(Told, Protocol):
    """What an analyst can do, wherever the data is."""

    def session(
        self, source: str | Table, *, queries: int, request_id: str | None = None, **wanted: Unpack[SessionOptions]
    ) -> SessionFace:
        """Many queries about counts of rows, chosen one by another's answer, for one price that is paid now.

        Args:
            source: A table's name, or a SELECT of rows.
            queries: How many different ones there may be.
            request_id: A name for this call: repeated under it, it is paid for once.
            **wanted: A price, and what the session shall be.
        """

    def plan_session(self, source: str | Table, *, queries: int, **wanted: Unpack[SessionOptions]) -> SessionPlan:
        """What `session` would cost and promise, or its refusal. Spends nothing and looks at no protected row.

        Args:
            source: A table's name, or a SELECT of rows.
            queries: How many different ones there may be.
            **wanted: A price, and what the session shall be.
        """

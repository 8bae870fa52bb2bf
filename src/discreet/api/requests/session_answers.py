"""The answers of an open session over HTTP; in Python they are `session.answer` and `session.answer_many`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Never

from discreet.api.requests.base import Request, param, request

if TYPE_CHECKING:
    from discreet.sessions.count_queries import SessionQuery
    from discreet.sessions.session_base import SessionAnswers

MOST_AT_ONCE = 5_000
"""Largest number of queries in one request."""


@request
class SessionAnswersRequest(Request["SessionAnswers", Never]):
    """Answer queries in a session that you opened. Free: the session is paid for."""

    http_path: ClassVar[str] = "/v1/sessions/{session_id}/answers"
    http_example: ClassVar[Mapping[str, Any]] = {"queries": [{"ward": "ICU", "age": {"from": 30, "to": 49}}]}

    session_id: str = param("Id of the session, as it was returned when the session was opened.")
    queries: Sequence[SessionQuery] = param(
        'For each query a condition by column: a value, a list of values, or {"from": 30, "to": 49}. '
        'Or a condition in SQL: "age >= 30".',
        min_length=1,
        max_length=MOST_AT_ONCE,
    )

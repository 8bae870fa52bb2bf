"""Results over HTTP: answers, watches, graph answers and sessions that the server holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from discreet.api.http_client import HttpClient, idempotency_key, read_json
from discreet.api.request_json import request_to_json
from discreet.api.requests.session import SessionRequest
from discreet.api.requests.session_answers import SessionAnswersRequest
from discreet.api.requests.watch import WatchRequest
from discreet.core.exact import Number, read_level
from discreet.core.json_codec import from_json
from discreet.core.number_format import CONFIDENCE
from discreet.errors import UnknownSession
from discreet.results.answer_base import AnswerBase, Ends, Interval
from discreet.results.answer_json import read_array, read_ends, read_half_widths, read_intervals, read_type
from discreet.results.models import WatchStatus
from discreet.results.watch_base import WatchBase
from discreet.sessions.count_queries import SessionQuery
from discreet.sessions.session_base import SessionAnswers, SessionBase, SessionState
from discreet.sessions.session_terms import SessionAnswer

_AT_ONCE = 1_000
"""Queries of one request."""


@dataclass(frozen=True, slots=True, repr=False)
class RemoteAnswer(AnswerBase):
    """An answer from a server. Intervals at another level are requested from the server, which is free."""

    _at: Callable[[float], Mapping[str, Any]] = field(repr=False, compare=False)
    _by_level: dict[float, Mapping[str, Any]]

    def _at_level(self, level: Number) -> Mapping[str, Any]:
        key = float(read_level(level))
        if key not in self._by_level:
            self._by_level[key] = self._at(key)
        return self._by_level[key]

    @property
    def columns(self) -> list[str]:
        """Their names, in order."""
        columns: list[str] = self._at_level(CONFIDENCE)["columns"]
        return columns

    @property
    def types(self) -> list[pa.DataType]:
        """Their types, in order."""
        return [read_type(kind) for kind in self._at_level(CONFIDENCE)["types"]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """In order, one dict a row; dates as text."""
        rows: list[dict[str, Any]] = self._at_level(CONFIDENCE)["rows"]
        return rows

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that apply to the answer."""
        return tuple(self._at_level(CONFIDENCE)["notes"])

    def intervals(self, level: Number) -> list[dict[str, Interval | None]]:
        """(low, high) for every noisy cell, None for keys; an end that nothing bounds is infinite."""
        return read_intervals(self._at_level(level))

    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        """The larger side of every interval; of dates in days."""
        return read_half_widths(self._at_level(level))

    def arrays(self, level: Number) -> Iterator[tuple[str, pa.Array, Ends | None]]:
        """Each column with its values and, where it is noisy, the ends of its intervals."""
        fields, intervals = self._at_level(CONFIDENCE), self.intervals(level)
        for name, kind in zip(fields["columns"], fields["types"], strict=True):
            yield name, read_array([row[name] for row in self.rows], kind), read_ends([row[name] for row in intervals])


class RemoteWatch(WatchBase):
    """A watch that a server holds. The server finds it by the same request.

    Args:
        server: The connection.
        request: Request that starts the watch.
    """

    def __init__(self, server: HttpClient, request: WatchRequest) -> None:
        self._server, self._request = server, request
        self.receipt = from_json(WatchStatus, server.json(request)).receipt

    def __repr__(self) -> str:
        return f"RemoteWatch(receipt={self.receipt[:12]!r})"

    @property
    def answers(self) -> dict[int, bool]:
        """Whether the count was above the threshold, by data version."""
        return {evaluation.version: evaluation.above for evaluation in self._state("recall").evaluations}

    @property
    def ended(self) -> str | None:
        """Why the watch ended: above, failed or lost. None while it runs."""
        return self._state("recall").ended

    def evaluate(self) -> bool:
        """Whether the noisy count of the current data version is above the threshold. Repeated calls return the same."""
        status = self._state("evaluate")
        return next(evaluation.above for evaluation in status.evaluations if evaluation.version == status.data_version)

    def _state(self, action: str) -> WatchStatus:
        path, body = f"{self._request.http_path}/{action}", request_to_json(self._request)
        return from_json(WatchStatus, read_json(self._server.send("POST", path, json=body)))


class RemoteSession(SessionBase):
    """A session behind a server. If the server has closed it, it is opened again by the same request.

    Args:
        server: The connection.
        request: The request that opens it.
    """

    def __init__(self, server: HttpClient, request: SessionRequest) -> None:
        self._server, self._request = server, request
        self._key = idempotency_key(request)
        self._state = self._open()

    def __repr__(self) -> str:
        return f"RemoteSession(id={self.id!r}, left={self.left})"

    @property
    def state(self) -> SessionState:
        """How far the session had got when the server last answered."""
        return self._state

    def answer_many(self, queries: Iterable[SessionQuery]) -> list[SessionAnswer]:
        """Answer many queries, a thousand in each request.

        Args:
            queries: In the order of the answers.
        """
        listed, answers = list(queries), list[SessionAnswer]()
        for start in range(0, len(listed), _AT_ONCE):
            answers += self._answer(listed[start : start + _AT_ONCE])
        return answers

    def close(self) -> None:
        """Do nothing: the server closes sessions that are not used."""

    def _answer(self, queries: Sequence[SessionQuery]) -> list[SessionAnswer]:
        request = SessionAnswersRequest(self.id, queries)
        try:
            answered = session_answers(self._server, request)
        except UnknownSession:
            self._state = self._open()
            answered = session_answers(self._server, request)
        self._state = answered.state
        return list(answered.answers)

    def _open(self) -> SessionState:
        return from_json(SessionState, self._server.json(self._request, key=self._key))


def session_answers(server: HttpClient, request: SessionAnswersRequest) -> SessionAnswers:
    """Answer queries in a session that the server has open.

    Args:
        server: The connection.
        request: The session and the queries.
    """
    answered = server.json(request)
    answers = [SessionAnswer(**answer) for answer in answered["answers"]]
    return SessionAnswers(answers, from_json(SessionState, answered))

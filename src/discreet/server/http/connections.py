"""Limits for connections: how many are open, per address and in total, and how long a client may take to send or read.

uvicorn closes a connection that is idle after a response. It has no timeout for a client that never sends a whole request or never reads its
response, and no limit per address, for the size of headers or for pipelined requests. This module adds them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

from fastapi import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from discreet.server.http.server_limits import Limits, address_group

LONGEST_HEAD = 16_384
"""Maximum size of a request's first line and headers, in bytes."""
_MAX_PIPELINED = 4
"""Pipelined requests of one connection. A client that sends more is disconnected after these are answered."""
_MOST_DISCARDED = 65_536
"""Bytes that are read and discarded from a client before its connection is aborted."""


class OpenConnections:
    """The set of open connections. Above a limit, the one that has waited longest is closed; unauthenticated ones first."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self._most = limits, limits.most_connections
        self._open: set[Connection] = set()
        self._from: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, newcomer: Connection) -> None:
        """Add a connection, and close one if a limit is exceeded."""
        self._open.add(newcomer)
        self._from[newcomer.address] += 1
        if self._from[newcomer.address] > self.limits.connections_per_address and not self._is_proxy(newcomer):
            self._close_one([other for other in self._open if other.address == newcomer.address], newcomer)
        elif len(self._open) > self._most:
            self._close_one(list(self._open), newcomer)

    def remove(self, connection: Connection) -> None:
        """Remove a connection, if it is still in the set."""
        if connection in self._open:
            self._open.remove(connection)
            self._from[connection.address] -= 1
            if not self._from[connection.address]:
                del self._from[connection.address]

    def protocol(self) -> type[Connection]:
        """Return the protocol class for uvicorn: connections that belong to this set."""

        class TrackedConnection(Connection):
            others = self

        return TrackedConnection

    def _is_proxy(self, connection: Connection) -> bool:
        return connection.client is not None and self.limits.is_proxy(connection.client[0])

    def _close_one(self, others: list[Connection], newcomer: Connection) -> None:
        waiting = [other for other in others if other.waiting_since is not None and other is not newcomer]
        victim = min(waiting, key=lambda other: (other.is_authenticated, other.waiting_since), default=newcomer)
        self.remove(victim)
        victim.transport.abort()


def connection_of(request: Request) -> Connection | None:
    """Return the connection of a request; None if the application is called without a server, as in tests."""
    connection: Connection | None = getattr(request.state, "connection", None)
    return connection


class Connection(HttpToolsProtocol):
    """One connection, with a timeout for its request and one for its reading of the response."""

    others: ClassVar[OpenConnections]
    address = ""
    waiting_since: float | None = None
    """Time since which the server waits for a whole request; None while one is processed."""
    is_authenticated = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timeouts: dict[str, asyncio.TimerHandle] = {}
        self._head = 0
        """Bytes of the incomplete headers."""
        self._is_head = True
        self._discarded: int | None = None
        """Bytes read since input is discarded; None while input is processed."""
        self._gone: asyncio.Future[None] = self.loop.create_future()
        self._answered: RequestResponseCycle | None = None
        self.app_state = {**self.app_state, "connection": self}  # every request has a copy

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the timeout for the first request."""
        super().connection_made(transport)
        self.address = address_group(self.client[0]) if self.client else ""
        self.waiting_since = self.loop.time()
        self._start_timeout("request")
        self.others.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeouts, and tell the request in progress, which may not be the last of the pipeline."""
        for clock in self._timeouts.values():
            clock.cancel()
        self.others.remove(self)
        self._gone.set_result(None)
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process input. The timeout of the headers runs from their first byte to their last, so a slow trickle cannot extend it."""
        if self._discarded is not None:
            self._discarded += len(data)
            if self._discarded > _MOST_DISCARDED:
                self.transport.abort()
            return
        self._head += len(data)
        super().data_received(data)
        if self._head > LONGEST_HEAD:
            self.transport.abort()
        if not self.flow.write_paused:
            self._stop_timeout("reader")
        if self.cycle is not None and not self.cycle.response_complete:
            self._has_request()
            self._stop_timeout("request")
        elif "request" not in self._timeouts:
            self._start_timeout("request")

    def on_message_begin(self) -> None:
        """Treat input as headers until they are complete."""
        self._is_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. Trailers after a body are dropped: a proxy checks headers only, so a trailer could forge one."""
        if self._is_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start a request. An error raised here is answered with 400 and closes the connection."""
        self._head, self._is_head = 0, False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > LONGEST_HEAD:
            raise ValueError
        if len(self.pipeline) >= _MAX_PIPELINED:
            self._discard_input()
        if self._discarded is None:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on part of a body; `LimitedRequest` limits its size."""
        self._head = 0
        if self._discarded is None:
            super().on_body(body)

    def on_response_complete(self) -> None:
        """Start the timeout for reading the response; uvicorn's own timeout waits for the next request."""
        self.waiting_since = self.loop.time()
        if self.transport.get_write_buffer_size() > 0:
            self._start_timeout("reader")
        if self._discarded is not None and not self.pipeline:
            self.transport.close()
        super().on_response_complete()
        if not self.cycle.response_complete:  # a pipelined request was already here
            self._has_request()

    async def delay_refusal(self, seconds: float) -> None:
        """Wait before a refusal that closes the connection. Input is discarded, the connection may be closed to admit others, and a disconnect ends the wait."""
        self.waiting_since = self.loop.time()
        self._discard_input()
        await asyncio.wait({self._gone}, timeout=seconds)

    def _discard_input(self) -> None:
        """Discard input from now on. It is still read, since only reading detects a disconnect."""
        self._discarded = self._discarded or 0
        self.flow.resume_reading()

    @property
    def is_disconnected(self) -> bool:
        """Whether the client has disconnected."""
        return self._gone.done()

    def pause_writing(self) -> None:
        """Start the timeout: the client reads more slowly than the server writes."""
        super().pause_writing()
        self._start_timeout("reader")

    def resume_writing(self) -> None:
        """Stop the timeout: the client has read enough."""
        super().resume_writing()
        self._stop_timeout("reader")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    @property
    def is_whole(self) -> bool:
        """Whether the current request was received completely."""
        return bool(self.pipeline) or not self.cycle.more_body

    def _has_request(self) -> None:
        if self.is_whole:
            self.waiting_since = None

    def _start_timeout(self, what: str) -> None:
        if what not in self._timeouts:
            self._timeouts[what] = self.loop.call_later(self.others.limits.patience, self._on_timeout, what)

    def _stop_timeout(self, what: str) -> None:
        clock = self._timeouts.pop(what, None)
        if clock is not None:
            clock.cancel()

    def _on_timeout(self, what: str) -> None:
        del self._timeouts[what]
        if what == "request" or self.transport.get_write_buffer_size() > 0:
            self.transport.abort()

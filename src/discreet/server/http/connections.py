"""Connections: how many there may be, from one address and in all, and how long each may keep us waiting.

uvicorn closes a connection that is idle after an answer. It has no clock for one that never sends a whole request, nor for one that never reads
what was sent to it, and no limit for one address, for headers or for requests that wait for the one before them; these are here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

from fastapi import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from discreet.server.http.server_limits import Limits, place_of

LONGEST_HEAD = 16_384
"""Bytes of a request's first line and headers."""
_MOST_WAITING = 4
"""Requests that were sent before the one before them was answered; who sends more is hung up on after these."""
_MOST_UNHEARD = 65_536
"""Bytes of somebody who is about to be hung up on."""


class Crowd:
    """All connections that are open. Where there are too many, the one that has kept us waiting longest makes room; those of strangers first."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self._most = limits, limits.most_connections
        self._open: set[Connection] = set()
        self._from: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, newcomer: Connection) -> None:
        """Let a connection in, or turn one away."""
        self._open.add(newcomer)
        self._from[newcomer.place] += 1
        if self._from[newcomer.place] > self.limits.connections_per_address and not self._is_proxy(newcomer):
            self._turn_away([other for other in self._open if other.place == newcomer.place], newcomer)
        elif len(self._open) > self._most:
            self._turn_away(list(self._open), newcomer)

    def leave(self, connection: Connection) -> None:
        """Forget a connection; nothing happens if it was forgotten before."""
        if connection in self._open:
            self._open.remove(connection)
            self._from[connection.place] -= 1
            if not self._from[connection.place]:
                del self._from[connection.place]

    def protocol(self) -> type[Connection]:
        """What uvicorn makes for every connection."""

        class OfThisCrowd(Connection):
            crowd = self

        return OfThisCrowd

    def _is_proxy(self, connection: Connection) -> bool:
        return connection.client is not None and self.limits.is_proxy(connection.client[0])

    def _turn_away(self, others: list[Connection], newcomer: Connection) -> None:
        waiting = [other for other in others if other.waiting_since is not None and other is not newcomer]
        leaving = min(waiting, key=lambda other: (other.has_shown_key, other.waiting_since), default=newcomer)
        self.leave(leaving)
        leaving.transport.abort()


def connection_of(request: Request) -> Connection | None:
    """The connection of a request; None where an application is called without a server."""
    connection: Connection | None = getattr(request.state, "connection", None)
    return connection


class Connection(HttpToolsProtocol):
    """One connection, with a clock for each thing that it can keep us waiting for."""

    crowd: ClassVar[Crowd]
    place = ""
    waiting_since: float | None = None
    """Since when there is no whole request, or one that is refused later; None while one is answered."""
    has_shown_key = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._clocks: dict[str, asyncio.TimerHandle] = {}
        self._head = 0
        """Bytes of headers that are not whole yet."""
        self._is_head = True
        self._unheard: int | None = None
        """Bytes that came from somebody to whom we listen no more."""
        self._gone: asyncio.Future[None] = self.loop.create_future()
        self._answered: RequestResponseCycle | None = None
        self.app_state = {**self.app_state, "connection": self}  # every request has a copy

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin: a first request must come in time."""
        super().connection_made(transport)
        self.place = place_of(self.client[0]) if self.client else ""
        self.waiting_since = self.loop.time()
        self._expect("request")
        self.crowd.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End: also of a request that is answered while others wait behind it."""
        for clock in self._clocks.values():
            clock.cancel()
        self.crowd.leave(self)
        self._gone.set_result(None)
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on. The clock of the headers runs from their first byte until they are whole, however they trickle."""
        if self._unheard is not None:
            self._unheard += len(data)
            if self._unheard > _MOST_UNHEARD:
                self.transport.abort()
            return
        self._head += len(data)
        super().data_received(data)
        if self._head > LONGEST_HEAD:
            self.transport.abort()
        if not self.flow.write_paused:
            self._met("reader")
        if self.cycle is not None and not self.cycle.response_complete:
            self._has_request()
            self._met("request")
        elif "request" not in self._clocks:
            self._expect("request")

    def on_message_begin(self) -> None:
        """What comes is a head, until it is whole."""
        self._is_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. The same after a body (a trailer) is dropped: a proxy looks at heads, and no word of anybody's slips in behind it."""
        if self._is_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A request begins. What is raised here is answered with 400, and ends the connection."""
        self._head, self._is_head = 0, False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > LONGEST_HEAD:
            raise ValueError
        if len(self.pipeline) >= _MOST_WAITING:
            self._listen_no_more()
        if self._unheard is None:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Part of a body, which is limited elsewhere."""
        self._head = 0
        if self._unheard is None:
            super().on_body(body)

    def on_response_complete(self) -> None:
        """An answer was handed over: it must be read, and uvicorn's own clock waits for the next request."""
        self.waiting_since = self.loop.time()
        if self.transport.get_write_buffer_size() > 0:
            self._expect("reader")
        if self._unheard is not None and not self.pipeline:
            self.transport.close()
        super().on_response_complete()
        if not self.cycle.response_complete:  # the next request was here already
            self._has_request()

    async def let_wait(self, seconds: float) -> None:
        """Before a refusal that ends the connection: nothing more is heard, others come first, and who goes away is not waited for."""
        self.waiting_since = self.loop.time()
        self._listen_no_more()
        await asyncio.wait({self._gone}, timeout=seconds)

    def _listen_no_more(self) -> None:
        """What comes from now on is not looked at; but it is read, as nothing else shows that somebody is gone."""
        self._unheard = self._unheard or 0
        self.flow.resume_reading()

    @property
    def is_gone(self) -> bool:
        """Whether nobody is there any more."""
        return self._gone.done()

    def pause_writing(self) -> None:
        """The client does not read as fast as we write."""
        super().pause_writing()
        self._expect("reader")

    def resume_writing(self) -> None:
        """It has read enough to go on."""
        super().resume_writing()
        self._met("reader")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    @property
    def is_whole(self) -> bool:
        """Whether all of the request that is answered is here: others came after it, or no more of it is to come."""
        return bool(self.pipeline) or not self.cycle.more_body

    def _has_request(self) -> None:
        if self.is_whole:
            self.waiting_since = None

    def _expect(self, what: str) -> None:
        if what not in self._clocks:
            self._clocks[what] = self.loop.call_later(self.crowd.limits.patience, self._too_late, what)

    def _met(self, what: str) -> None:
        clock = self._clocks.pop(what, None)
        if clock is not None:
            clock.cancel()

    def _too_late(self, what: str) -> None:
        del self._clocks[what]
        if what == "request" or self.transport.get_write_buffer_size() > 0:
            self.transport.abort()

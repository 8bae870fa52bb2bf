"""The shuffler's server: devices send their messages to it, and it sends shuffled batches to the collector."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from discreet.errors import StoreUnavailable
from discreet.local.device.client import format_loss, shown
from discreet.local.shuffling.amplification import cached_epsilon_after_shuffling
from discreet.local.shuffling.shuffler import Batch, ShufflerStore
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.service import address_of, admit_health_request, health_rate_limit
from discreet.server.http.error_responses import add_refusals
from discreet.server.http.request_body import LimitedRequest, read_json
from discreet.server.http.server_limits import Limits
from discreet.server.http.telemetry import Telemetry
from discreet.server.http.thread_pools import in_thread
from discreet.server.routes.collections import acknowledged, messages_in

log = logging.getLogger(__name__)
_AGAIN = 1.0
"""Seconds between two delivery attempts; doubled after each refusal of a task's batch."""
_LATEST = 60.0
_LONGEST_CODE = 40
_LONGEST_ANSWER = 10_000
"""Maximum bytes of a collector's response."""
_DONE = {"replayed", "task-closed", "unknown-task", "bad-task"}
"""Error codes after which a batch is not sent again: it was counted already, or its task is closed."""


@dataclass(frozen=True, slots=True)
class _Service:
    """Limits for clients. Requests are not logged: their times could identify devices."""

    limits: Limits
    telemetry: Telemetry
    unauthenticated: RateLimit
    share: CapacityLimiter


def create_shuffler(books: ShufflerStore, courier: Courier, limits: Limits) -> FastAPI:
    """Create the application: routes for devices, and the courier."""
    rate_limit = RateLimit(rate=limits.public_rate, at_once=limits.public_at_once)
    service = _Service(limits, Telemetry(), rate_limit, CapacityLimiter(3))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        courier.start()
        yield
        courier.stop()

    app = FastAPI(title="Discreet shuffler", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.service = service
    if limits.proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(limits.proxies))
    add_refusals(app)

    @app.get("/v1/tasks/{name}")
    def read_task(name: str, request: Request) -> dict[str, Any]:
        """Return a task for devices."""
        with service.unauthenticated.admit(address_of(request)):
            task = books.task(name)
        return {"id": task.id, "name": task.name, "spec": task.spec}

    @app.post("/v1/tasks/{name}/reports", status_code=202)
    async def receive(name: str, request: Request) -> dict[str, Any]:
        """Receive messages from devices: one as bytes, or several as base64. Acknowledged messages are on disk."""
        task, address = books.task(name), address_of(request)
        with service.unauthenticated.admit(address):
            body = await LimitedRequest(request.scope, request.receive).body()
            messages, is_single = messages_in(body, request.headers.get("content-type", ""))
            done = await in_thread(service.share, books.receive, task, messages, address=address)
        return acknowledged(done, is_single=is_single)

    health_requests = health_rate_limit()

    @app.get("/healthz")
    async def health(request: Request) -> dict[str, str]:
        """Report whether the database can be read and the courier runs."""
        with admit_health_request(health_requests, request):
            await in_thread(service.share, books.next_batches)
            courier.check()
        return {"status": "ok"}

    return app


class Courier:
    """Mix complete crowds every `wait` seconds, and deliver each batch to the collector until it is accepted."""

    def __init__(self, books: ShufflerStore, *, collector: str, key: str, wait: float, delta: float) -> None:
        self._books, self._wait, self._delta = books, wait, delta
        headers = {"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"}
        self._http = httpx.Client(base_url=collector, headers=headers, timeout=30)
        self._delays: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Start the thread; it continues with batches of an earlier process."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the delivery in progress, and stop."""
        self._stopped.set()
        self._thread.join()
        self._http.close()

    def check(self) -> None:
        """Refuse if the thread has died."""
        if not self._thread.is_alive():
            raise StoreUnavailable("The shuffler has stopped delivering.", next_step="Restart it; no report is lost.")

    def _work(self) -> None:
        mixed = time.monotonic()
        while not self._stopped.is_set():
            try:
                if time.monotonic() >= mixed + self._wait:
                    mixed = time.monotonic()
                    self._mix()
                while not self._stopped.is_set() and self._deliver():
                    pass
            except StoreUnavailable:  # on a full disk, go on: acknowledged reports are not lost
                log.warning("the shuffler's file cannot be read or written")
            except Exception as error:  # noqa: BLE001  go on while reports are acknowledged
                log.warning("mixing or delivery failed: %s; retrying", type(error).__name__)
            self._stopped.wait(min(_AGAIN, self._wait))

    def _mix(self) -> None:
        for task, reports, addresses in self._books.mix():
            # A bound for fewer reports also holds for more; rounding down to a power of two keeps the cache small.
            epsilon = cached_epsilon_after_shuffling(task, 1 << addresses.bit_length() - 1, self._delta)
            text = "%s: %d reports of %d addresses mixed, at most ε %s each at δ %g"
            log.info(text, shown(task.name), reports, addresses, format_loss(epsilon), self._delta)

    def _deliver(self) -> bool:
        """Send the oldest batch of each task that is due. Return whether one was delivered."""
        due = [batch for batch in self._books.next_batches() if time.monotonic() >= self._due.get(batch.task, 0)]
        return sum(map(self._is_delivered, due)) > 0

    def _is_delivered(self, batch: Batch) -> bool:
        code = self._send(batch)
        if code is not None and code not in _DONE:
            delay = self._delays[batch.task] = min(_LATEST, 2 * self._delays.get(batch.task, _AGAIN / 2))
            self._due[batch.task] = time.monotonic() + delay
            log.warning("the collector refused a batch: %s; it is kept and sent again", code)
            return False
        if code not in (None, "replayed"):
            log.warning("a batch is dropped: %s", code)
        self._delays.pop(batch.task, None)
        self._books.mark_delivered(batch)
        return True

    def _send(self, batch: Batch) -> str | None:
        """Send a batch. Return None on success, or an error code."""
        path = f"/v1/tasks/{batch.task}/batches"
        try:
            with self._http.stream("POST", path, params={"crowd": batch.crowd}, content=batch.message) as response:
                if response.status_code == 202:
                    return None
                return shown(str(read_json(_read_limited(response))["error"]["code"]))[:_LONGEST_CODE]
        except httpx.HTTPError:
            return "no-answer"
        except (ValueError, LookupError, TypeError):
            return "no-collector"


def _read_limited(response: httpx.Response) -> bytes:
    """Return the beginning of a collector's response."""
    body = b""
    for piece in response.iter_raw(_LONGEST_ANSWER):
        body += piece
        if len(body) >= _LONGEST_ANSWER:
            break
    return body[:_LONGEST_ANSWER]

"""The shuffler as a server: devices send to it what they would send to a collector, and it sends on what it has mixed."""

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
"""Seconds between two attempts to deliver; doubled for a task whose batch is refused again and again."""
_LATEST = 60.0
_LONGEST_CODE = 40
_LONGEST_ANSWER = 10_000
"""Bytes that are read of what a collector says."""
_DONE = {"replayed", "task-closed", "unknown-task", "bad-task"}
"""Refusals after which a batch need not be sent again: it was counted before, or nobody collects it any more."""


@dataclass(frozen=True, slots=True)
class _Service:
    """What holds strangers back. Nothing is written down of a request: its time would be another number for it."""

    limits: Limits
    telemetry: Telemetry
    unauthenticated: RateLimit
    share: CapacityLimiter


def create_shuffler(books: ShufflerStore, courier: Courier, limits: Limits) -> FastAPI:
    """The application: routes for devices, and a courier."""
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
        """What a device needs."""
        with service.unauthenticated.admit(address_of(request)):
            task = books.task(name)
        return {"id": task.id, "name": task.name, "spec": task.spec}

    @app.post("/v1/tasks/{name}/reports", status_code=202)
    async def receive(name: str, request: Request) -> dict[str, Any]:
        """Messages from devices: one as bytes, or several as base64. On disk when acknowledged."""
        task, address = books.task(name), address_of(request)
        with service.unauthenticated.admit(address):
            body = await LimitedRequest(request.scope, request.receive).body()
            messages, is_single = messages_in(body, request.headers.get("content-type", ""))
            done = await in_thread(service.share, books.receive, task, messages, address=address)
        return acknowledged(done, is_single=is_single)

    health_requests = health_rate_limit()

    @app.get("/healthz")
    async def health(request: Request) -> dict[str, str]:
        """Whether the file can be read, and somebody brings away what was mixed."""
        with admit_health_request(health_requests, request):
            await in_thread(service.share, books.next_batches)
            courier.check()
        return {"status": "ok"}

    return app


class Courier:
    """Looks every `wait` seconds whether a crowd may leave, and brings batches to the collector, each until it is there."""

    def __init__(self, books: ShufflerStore, *, collector: str, key: str, wait: float, delta: float) -> None:
        self._books, self._wait, self._delta = books, wait, delta
        headers = {"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"}
        self._http = httpx.Client(base_url=collector, headers=headers, timeout=30)
        self._delays: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin, with what an earlier process left behind."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what is under way."""
        self._stopped.set()
        self._thread.join()
        self._http.close()

    def check(self) -> None:
        """Nothing, or a refusal where nobody brings anything away."""
        if not self._thread.is_alive():
            raise StoreUnavailable("Nothing is mixed any more.", next_step="Restart the shuffler; nothing is lost.")

    def _work(self) -> None:
        mixed = time.monotonic()
        while not self._stopped.is_set():
            try:
                if time.monotonic() >= mixed + self._wait:
                    mixed = time.monotonic()
                    self._mix()
                while not self._stopped.is_set() and self._deliver():
                    pass
            except StoreUnavailable:  # a full disk is no reason to stop: nothing that was acknowledged is lost
                log.warning("the shuffler's file cannot be read or written")
            except Exception as error:  # noqa: BLE001  nor is anything else, while reports are acknowledged
                log.warning("mixing or delivering failed: %s; it is tried again", type(error).__name__)
            self._stopped.wait(min(_AGAIN, self._wait))

    def _mix(self) -> None:
        for task, reports, addresses in self._books.mix():
            # What holds for fewer holds for more, and a power of two was worked out before.
            epsilon = cached_epsilon_after_shuffling(task, 1 << addresses.bit_length() - 1, self._delta)
            text = "%s: %d reports of %d addresses mixed, at most ε %s each at δ %g"
            log.info(text, shown(task.name), reports, addresses, format_loss(epsilon), self._delta)

    def _deliver(self) -> bool:
        """Send the oldest batch of each task whose turn it is; whether one of them is at the collector now."""
        due = [batch for batch in self._books.next_batches() if time.monotonic() >= self._due.get(batch.task, 0)]
        return sum(map(self._is_delivered, due)) > 0

    def _is_delivered(self, batch: Batch) -> bool:
        code = self._send(batch)
        if code is not None and code not in _DONE:
            delay = self._delays[batch.task] = min(_LATEST, 2 * self._delays.get(batch.task, _AGAIN / 2))
            self._due[batch.task] = time.monotonic() + delay
            log.warning("the collector does not take a batch: %s; it is kept and sent again", code)
            return False
        if code not in (None, "replayed"):
            log.warning("a batch is dropped: %s", code)
        self._delays.pop(batch.task, None)
        self._books.mark_delivered(batch)
        return True

    def _send(self, batch: Batch) -> str | None:
        """None once it is there, or the name of what is wrong."""
        path = f"/v1/tasks/{batch.task}/batches"
        try:
            with self._http.stream("POST", path, params={"crowd": batch.crowd}, content=batch.message) as response:
                if response.status_code == 202:
                    return None
                return shown(str(read_json(_beginning(response))["error"]["code"]))[:_LONGEST_CODE]
        except httpx.HTTPError:
            return "no-answer"
        except (ValueError, LookupError, TypeError):
            return "no-collector"


def _beginning(response: httpx.Response) -> bytes:
    """What a collector says, as far as anybody would read it."""
    said = b""
    for piece in response.iter_raw(_LONGEST_ANSWER):
        said += piece
        if len(said) >= _LONGEST_ANSWER:
            break
    return said[:_LONGEST_ANSWER]

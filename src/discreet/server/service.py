"""What the routes share: the curator, the keys, the limits; and who is asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Request

from discreet.curator import Asking, Curator
from discreet.errors import Forbidden, UnknownDataset
from discreet.local.books import CollectorBooks
from discreet.server.guard import Guard
from discreet.server.keys import Key, KeyBook
from discreet.server.telemetry import Telemetry

T = TypeVar("T")
_AT_WORK = 4


@dataclass(frozen=True, slots=True)
class Service:
    """One curator behind a door."""

    curator: Curator
    keys: KeyBook
    guard: Guard
    quantum: float
    collections: CollectorBooks
    config: Path | None = None
    asked: dict[tuple[str, str], Asking] = field(default_factory=dict)
    """Questions on their way, by the key that asks and the Idempotency-Key."""
    telemetry: Telemetry = field(default_factory=Telemetry)
    limiter: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_AT_WORK))

    async def work(self, job: Callable[..., T], *given: Any, **named: Any) -> T:
        """Do something that waits for disk or engine, beside a few others: more threads would wait for each other."""
        return await run_sync(partial(job, *given, **named), limiter=self.limiter)

    def check_dataset(self, given: str | None) -> None:
        """An unknown dataset and a forbidden one look the same."""
        if given not in (None, self.curator.dataset):
            raise UnknownDataset(
                "There is no such dataset for you.", next_step="Leave `dataset` out, or see /v1/catalog."
            )


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


def holder_of(request: Request) -> Key:
    """Who asks: by a key in the header, or by the page's cookie."""
    holder = _holder(request, service_of(request).keys)
    request.state.holder = holder.id
    return holder


def _holder(request: Request, keys: KeyBook) -> Key:
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return keys.holder(key)
    # A cookie alone could be sent by a form of another site; this header cannot.
    by_page = request.method == "GET" or request.headers.get("x-discreet-page") == "1"
    return keys.holder(request.cookies.get("discreet_key", "") if by_page else "")


def owner_of(request: Request) -> Key:
    """The same, for the owner only."""
    holder = holder_of(request)
    if holder.role != "owner":
        raise Forbidden("Only the owner may do this.", next_step="Use a key with the role owner.")
    return holder

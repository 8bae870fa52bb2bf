"""Check once per second whether the ledger can be written. Health requests read the last result and do not wait."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from discreet.errors import StoreUnavailable

_EVERY = 1.0
_STALE = 5.0
"""Seconds after which the last successful check is too old: the ledger does not respond."""


class Health:
    """The result of the last check. The checks start with the first health request."""

    def __init__(self, probe: Callable[[], object]) -> None:
        self._probe, self._pool = probe, CapacityLimiter(1)
        self._healthy_at, self._checked = -math.inf, asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Refuse if the ledger cannot be written."""
        if self._watching is None or self._watching.done():
            self._checked = asyncio.Event()
            self._watching = asyncio.create_task(self._watch())
        with suppress(TimeoutError):
            async with asyncio.timeout(_STALE):
                await self._checked.wait()
        if time.monotonic() > self._healthy_at + _STALE:
            raise StoreUnavailable(
                "The ledger cannot be written.", next_step="Check that its disk has free space and is writable."
            )

    async def stop(self) -> None:
        """Stop the checks; wait up to a second for one in progress."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching}, timeout=_EVERY)

    async def _watch(self) -> None:
        while True:
            try:
                await run_sync(self._probe, limiter=self._pool)
                self._healthy_at = time.monotonic()
            except Exception:  # noqa: BLE001  any error means unhealthy
                self._healthy_at = -math.inf
            self._checked.set()
            await asyncio.sleep(_EVERY)

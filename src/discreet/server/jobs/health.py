"""Whether the books can be written, looked at once a second: who asks for it waits for nobody."""

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
"""Seconds after which the last good look counts no more: the books do not answer."""


class Health:
    """What the last look showed. Looking begins with the first who asks."""

    def __init__(self, look: Callable[[], object]) -> None:
        self._look, self._share = look, CapacityLimiter(1)
        self._good_at, self._looked = -math.inf, asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Nothing, or a refusal by name."""
        if self._watching is None or self._watching.done():
            self._looked = asyncio.Event()
            self._watching = asyncio.create_task(self._watch())
        with suppress(TimeoutError):
            async with asyncio.timeout(_STALE):
                await self._looked.wait()
        if time.monotonic() > self._good_at + _STALE:
            raise StoreUnavailable(
                "The books cannot be written.", next_step="See that their disk has room and can be written."
            )

    async def stop(self) -> None:
        """Look no more; a look that is under way ends first, if it does so soon."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching}, timeout=_EVERY)

    async def _watch(self) -> None:
        while True:
            try:
                await run_sync(self._look, limiter=self._share)
                self._good_at = time.monotonic()
            except Exception:  # noqa: BLE001  whatever it is, it is not well
                self._good_at = -math.inf
            self._looked.set()
            await asyncio.sleep(_EVERY)

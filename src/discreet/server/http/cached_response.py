"""What is shown to everybody: made a few times a second at most, however many ask, and sent from memory."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

_PAUSE = 0.2
"""Seconds from one making to the next, at least."""
_LASTS = 1.0
"""Seconds after which it is made anew, though nothing is known to have changed."""


class Shown:
    """Bytes for everybody. `mark` is another one when they are to be made anew: asked often, so it looks at memory only.

    Nobody is shown what was made before they asked, unless the mark is the same; all who wait wait for one making.
    """

    def __init__(self, make: Callable[[], bytes], *, mark: Callable[[], object]) -> None:
        self._make, self._mark, self._share = make, mark, CapacityLimiter(1)
        self._content, self._marked, self._begun = b"", object(), -math.inf
        self._making: asyncio.Future[None] | None = None

    async def content(self) -> bytes:
        """The bytes."""
        asked = time.monotonic()
        while self._begun < asked and not self._is_current():
            if self._making is None or self._making.done():
                self._making = asyncio.ensure_future(self._renewed())
            await asyncio.shield(self._making)
        return self._content

    def _is_current(self) -> bool:
        return self._marked == self._mark() and time.monotonic() < self._begun + _LASTS

    async def _renewed(self) -> None:
        await asyncio.sleep(max(0.0, self._begun + _PAUSE - time.monotonic()))
        await run_sync(self._renew, limiter=self._share)

    def _renew(self) -> None:
        begun, marked = time.monotonic(), self._mark()
        self._content = self._make()
        self._begun, self._marked = begun, marked

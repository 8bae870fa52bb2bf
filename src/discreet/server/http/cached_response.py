"""A public response that is rendered at most a few times a second and sent from memory."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

_PAUSE = 0.2
"""Minimum seconds between two renderings."""
_MAX_AGE = 1.0
"""Seconds after which the response is rendered again, even if `version` has not changed."""


class CachedResponse:
    """The bytes of a public response.

    `version` changes when the bytes must be rendered again. It is called for each request, so it must read memory only.
    A request gets bytes that were rendered after it arrived, unless the version is unchanged. Requests that wait share one rendering.
    """

    def __init__(self, render: Callable[[], bytes], *, version: Callable[[], object]) -> None:
        self._render, self._version, self._pool = render, version, CapacityLimiter(1)
        self._content, self._rendered_version, self._rendered_at = b"", object(), -math.inf
        self._rendering: asyncio.Future[None] | None = None

    async def content(self) -> bytes:
        """Return the current bytes."""
        arrived = time.monotonic()
        while self._rendered_at < arrived and not self._is_current():
            if self._rendering is None or self._rendering.done():
                self._rendering = asyncio.ensure_future(self._render_later())
            await asyncio.shield(self._rendering)
        return self._content

    def _is_current(self) -> bool:
        return self._rendered_version == self._version() and time.monotonic() < self._rendered_at + _MAX_AGE

    async def _render_later(self) -> None:
        await asyncio.sleep(max(0.0, self._rendered_at + _PAUSE - time.monotonic()))
        await run_sync(self._update, limiter=self._pool)

    def _update(self) -> None:
        # Time and version are read first: a change during the rendering makes the result stale.
        started, version = time.monotonic(), self._version()
        self._content = self._render()
        self._rendered_at, self._rendered_version = started, version

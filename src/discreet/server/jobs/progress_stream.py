"""Stream the progress of a query: a line of JSON for each step, and one per second while the data is read."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from discreet.errors import DiscreetError
from discreet.server.http.error_responses import error_json

_LOG = logging.getLogger("discreet.server")
_BEAT = 1.0
T = TypeVar("T")


async def stream_progress(
    ask: Callable[[Callable[[str], None]], Awaitable[T]],
    *,
    on_disconnect: Callable[[], None],
    written: Callable[[T], AsyncIterator[bytes]],
    on_refusal: Callable[[str], None],
) -> AsyncIterator[bytes]:
    """Yield the steps of `ask`, then its answer as `written`, or an error, whose code is passed to `on_refusal`.

    `on_disconnect` is called when the client disconnects. The lines between steps are sent at fixed intervals, so they do not depend on the data.
    """
    steps: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def on_step(step: str) -> None:
        loop.call_soon_threadsafe(steps.put_nowait, step)

    task = asyncio.ensure_future(ask(on_step))
    try:
        while not task.done() or not steps.empty():
            waiting = asyncio.ensure_future(steps.get())
            await asyncio.wait({task, waiting}, timeout=_BEAT, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                yield _line(state=waiting.result())
            else:
                waiting.cancel()
                if not task.done():
                    yield _line(state="reading")
        async for piece in written(await task):
            yield piece
        yield b"\n"
    except DiscreetError as refusal:
        on_refusal(refusal.code)
        yield _line(error=error_json(refusal))
    except Exception as failure:  # noqa: BLE001  the text of the error may quote the request or a row
        _LOG.error("a query failed: %s", type(failure).__name__)
        on_refusal("failure")
        yield _line(
            error={
                "code": "failure",
                "message": "The server failed.",
                "next_step": "Send it again with the same Idempotency-Key: it is charged once.",
            }
        )
    finally:
        if not task.done():
            on_disconnect()


def _line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"

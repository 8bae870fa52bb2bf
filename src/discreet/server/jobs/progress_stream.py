"""A query that is told as it happens: a line of JSON for each step, and one a second while it is read."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from discreet.errors import DiscreetError
from discreet.server.http.error_responses import refusal_facts

_LOG = logging.getLogger("discreet.server")
_BEAT = 1.0
T = TypeVar("T")


async def told_as_it_happens(
    ask: Callable[[Callable[[str], None]], Awaitable[T]],
    *,
    hang_up: Callable[[], None],
    written: Callable[[T], AsyncIterator[bytes]],
    on_refusal: Callable[[str], None],
) -> AsyncIterator[bytes]:
    """Steps of `ask`, then the answer as `written`, or the refusal, whose code is passed to `on_refusal`.

    `hang_up` is called when nobody listens any more. What is told between is told by the clock.
    """
    steps: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def hear(step: str) -> None:
        loop.call_soon_threadsafe(steps.put_nowait, step)

    task = asyncio.ensure_future(ask(hear))
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
        yield _line(error=refusal_facts(refusal))
    except Exception as failure:  # noqa: BLE001  its text may quote what was sent, or a row
        _LOG.error("a question failed: %s", type(failure).__name__)
        on_refusal("failure")
        yield _line(
            error={"code": "failure", "message": "The server failed.", "next_step": "Ask again with the same id."}
        )
    finally:
        if not task.done():
            hang_up()


def _line(**facts: object) -> bytes:
    return json.dumps(facts).encode() + b"\n"

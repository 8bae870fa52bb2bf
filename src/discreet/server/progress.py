"""A question that is told as it happens: a line of JSON for each step, and one a second while it is read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

from discreet.answering.answer import Answer
from discreet.curator import Asking
from discreet.errors import DiscreetError
from discreet.server.bytes_of import answer_body

_BEAT = 1.0


async def told_as_it_happens(
    ask: Callable[[Asking], Awaitable[Answer]],
    *,
    hang_up: Callable[[], None],
    level: float,
    on_refusal: Callable[[str], None],
) -> AsyncIterator[bytes]:
    """Steps, then the answer or the refusal, whose code is passed to `on_refusal`; `hang_up` is called when nobody listens any more.

    What is told between is told by the clock.
    """
    steps: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def hear(step: str) -> None:
        loop.call_soon_threadsafe(steps.put_nowait, step)

    task = asyncio.ensure_future(ask(Asking(hear)))
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
        refusal = task.exception()
        if refusal is not None:
            on_refusal(refusal.code if isinstance(refusal, DiscreetError) else "failure")
        yield _last(task, level)
    finally:
        if not task.done():
            hang_up()


def _last(task: asyncio.Future[Answer], level: float) -> bytes:
    error = task.exception()
    if error is None:
        return answer_body(task.result(), level) + b"\n"
    if isinstance(error, DiscreetError):
        return _line(error={"code": error.code, "message": error.problem, "next_step": error.next_step})
    return _line(error={"code": "failure", "message": "The server failed.", "next_step": "Ask again with the same id."})


def _line(**facts: object) -> bytes:
    return json.dumps(facts).encode() + b"\n"

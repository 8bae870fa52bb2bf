"""An answer as bytes: the same for the same answer, made piece by piece in threads, and no larger than is allowed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pyarrow as pa
from fastapi import Response
from fastapi.responses import StreamingResponse

from discreet.answering.answer import Answer
from discreet.answering.sizes import too_large
from discreet.answering.wire import answer_text
from discreet.server.service import Service
from discreet.server.shares import in_thread, piece_by_piece

PARQUET = "application/vnd.apache.parquet"
_PIECE = 2**16
"""Bytes that leave together."""


async def json_response(service: Service, answer: Answer, level: float) -> Response:
    """The same bytes for the same answer, whoever asks and however often, with intervals at one level."""
    pieces = await json_pieces(service, answer, level)
    return await _response(pieces, "application/json", answer)


async def json_pieces(service: Service, answer: Answer, level: float) -> AsyncIterator[bytes]:
    """An answer as JSON, or a refusal where it is too large for that; its price is paid, and Parquet has room for it."""
    if await in_thread(service.shares.answers, _cells, answer) > service.limits.cells:
        raise too_large(service.limits.cells, paid=True)
    return piece_by_piece(service.shares.answers, _gathered(text.encode() for text in answer_text(answer, level)))


async def parquet_response(service: Service, answer: Answer) -> Response:
    """The values with their ± as a Parquet file."""
    file = await in_thread(service.shares.answers, _parquet, answer)
    pieces = piece_by_piece(
        service.shares.answers, (bytes(file[at : at + _PIECE]) for at in range(0, len(file), _PIECE))
    )
    return await _response(pieces, PARQUET, answer)


async def _response(pieces: AsyncIterator[bytes], kind: str, answer: Answer) -> Response:
    """What fits into one piece says how long it is."""
    headers = {"Discreet-Replayed": "true"} if answer.replayed else {}
    first, second = await anext(pieces), await anext(pieces, None)
    if second is None:
        return Response(first, media_type=kind, headers=headers)

    async def again() -> AsyncIterator[bytes]:
        yield first
        yield second
        async for piece in pieces:
            yield piece

    return StreamingResponse(again(), media_type=kind, headers=headers)


def _cells(answer: Answer) -> int:
    return len(answer) * len(answer.columns)


def _gathered(texts: Iterator[bytes]) -> Iterator[bytes]:
    waiting = bytearray()
    for text in texts:
        waiting += text
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _parquet(answer: Answer) -> memoryview:
    import pyarrow.parquet as pq  # noqa: PLC0415

    sink = pa.BufferOutputStream()
    pq.write_table(answer.to_arrow(), sink)
    return memoryview(sink.getvalue())

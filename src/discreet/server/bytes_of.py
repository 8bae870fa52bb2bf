"""An answer as bytes: the same for the same answer, made piece by piece in threads, and no larger than is allowed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TypeAlias

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
_Begun: TypeAlias = tuple[bytes, bytes | None, Iterator[bytes]]
"""The first piece, the second if there is one, and the others, which are not made yet."""


async def json_response(service: Service, answer: Answer, level: float) -> Response:
    """The same bytes for the same answer, whoever asks and however often, with intervals at one level."""
    texts = await in_thread(service.shares.answers, _begun, service, answer, level)
    return _response(service, texts, "application/json", answer)


async def json_pieces(service: Service, answer: Answer, level: float) -> AsyncIterator[bytes]:
    """The same, piece by piece."""
    first, second, rest = await in_thread(service.shares.answers, _begun, service, answer, level)
    return _all(service, first, second, rest)


def _begun(service: Service, answer: Answer, level: float) -> _Begun:
    """An answer as JSON, or a refusal where it is too large for that; its price is paid, and Parquet has room for it."""
    if len(answer) * len(answer.columns) > service.limits.cells:
        raise too_large(service.limits.cells, paid=True)
    return _first_two(_gathered(text.encode() for text in answer_text(answer, level)))


def _first_two(pieces: Iterator[bytes]) -> _Begun:
    return next(pieces), next(pieces, None), pieces


async def parquet_response(service: Service, answer: Answer) -> Response:
    """The values with their ± as a Parquet file."""
    return _response(service, await in_thread(service.shares.answers, _parquet, answer), PARQUET, answer)


def _response(service: Service, begun: _Begun, kind: str, answer: Answer) -> Response:
    """What fits into one piece says how long it is."""
    headers = {"Discreet-Replayed": "true"} if answer.replayed else {}
    first, second, rest = begun
    if second is None:
        return Response(first, media_type=kind, headers=headers)
    return StreamingResponse(_all(service, first, second, rest), media_type=kind, headers=headers)


async def _all(service: Service, first: bytes, second: bytes | None, rest: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The two pieces that are made, then all others, each in a thread when the one before has left."""
    yield first
    if second is not None:
        yield second
        async for piece in piece_by_piece(service.shares.answers, rest):
            yield piece


def _gathered(texts: Iterator[bytes]) -> Iterator[bytes]:
    waiting = bytearray()
    for text in texts:
        waiting += text
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _parquet(answer: Answer) -> _Begun:
    import pyarrow.parquet as pq  # noqa: PLC0415

    sink = pa.BufferOutputStream()
    pq.write_table(answer.to_arrow(), sink)
    file = memoryview(sink.getvalue())
    return _first_two(bytes(file[at : at + _PIECE]) for at in range(0, len(file), _PIECE))

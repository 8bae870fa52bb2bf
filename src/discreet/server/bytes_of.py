"""An answer as bytes: the same for the same answer, made piece by piece in threads, and no larger than is allowed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa
from fastapi import Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from discreet.answering.answer import Answer
from discreet.answering.sizes import too_large
from discreet.answering.wire import answer_text, facts_of
from discreet.server.service import Service
from discreet.server.shares import in_thread, piece_by_piece

JSON = "application/json"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
RECORDS = "application/vnd.discreet.records+json"
"""A list of objects, one a row, without a word about price or method."""
_PIECE = 2**16
"""Bytes that leave together."""
_SMALL = 500
"""Cells that are written where the answer was made, in a moment; more of them wait for a thread of their share."""
_Begun: TypeAlias = tuple[bytes, bytes | None, Iterator[bytes]]
"""The first piece, the second if there is one, and the others, which are not made yet."""


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer is written."""

    kind: str
    begin: Callable[[Answer], _Begun]

    def prepare(self, answer: Answer) -> Prepared:
        """Count an answer, in the thread that made it; write it too, if it is small."""
        cells = len(answer) * len(answer.columns)
        return Prepared(answer, self, cells, self.begin(answer) if cells <= _SMALL else None)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An answer that may leave."""

    answer: Answer
    form: Form
    cells: int
    begun: _Begun | None

    async def response(self, service: Service, *, analyst: str) -> Response:
        """What fits into one piece says how long it is; all else counts as the analyst's until it has left."""
        headers = {"Discreet-Replayed": "true"} if self.answer.replayed else {}
        with ExitStack() as stack:
            stack.enter_context(service.writing.held(analyst, self.cells))
            first, second, rest = await self._begun(service)
            if second is None:
                return Response(first, media_type=self.form.kind, headers=headers)
            pieces = _all(service, first, second, rest)
            return _Counted(pieces, counted=stack.pop_all(), media_type=self.form.kind, headers=headers)

    async def pieces(self, service: Service, *, analyst: str) -> AsyncIterator[bytes]:
        """The same, piece by piece."""
        with service.writing.held(analyst, self.cells):
            async for piece in _all(service, *await self._begun(service)):
                yield piece

    async def _begun(self, service: Service) -> _Begun:
        if self.begun is not None:
            return self.begun
        return await in_thread(service.shares.answers, self.form.begin, self.answer)


def form_of(accept: str, *, level: float, most: int) -> Form:
    """A file for programs, where a request accepts one of `TABLES`; else JSON, which has at most so many cells."""
    kind = next((kind for kind in TABLES if kind in accept), None)
    return as_json(level, most=most) if kind is None else Form(kind, partial(_table, write=TABLES[kind]))


def as_json(level: float, *, most: int) -> Form:
    """The same bytes for the same answer, whoever asks and however often, with intervals at one level."""
    return Form(JSON, partial(_json, level=level, most=most))


def _json(answer: Answer, *, level: float, most: int) -> _Begun:
    """A refusal where it is too large; its price is paid, and Parquet has room for it."""
    if len(answer) * len(answer.columns) > most:
        raise too_large(most, paid=True)
    return _first_two(_gathered(text.encode() for text in answer_text(answer, level)))


def _table(answer: Answer, *, write: Callable[[pa.Table, pa.BufferOutputStream], None]) -> _Begun:
    sink = pa.BufferOutputStream()
    write(answer.to_arrow(), sink)
    file = memoryview(sink.getvalue())
    return _first_two(bytes(file[at : at + _PIECE]) for at in range(0, max(len(file), 1), _PIECE))


def _first_two(pieces: Iterator[bytes]) -> _Begun:
    return next(pieces), next(pieces, None), pieces


def _gathered(texts: Iterator[bytes]) -> Iterator[bytes]:
    waiting = bytearray()
    for text in texts:
        waiting += text
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


class _Counted(StreamingResponse):
    """An answer that is counted until its last piece has left, or nobody reads it any more."""

    def __init__(self, pieces: AsyncIterator[bytes], *, counted: ExitStack, **details: Any) -> None:
        super().__init__(pieces, **details)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._counted:
            await super().__call__(scope, receive, send)


async def _all(service: Service, first: bytes, second: bytes | None, rest: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The two pieces that are made, then all others, each in a thread when the one before has left."""
    yield first
    if second is not None:
        yield second
        async for piece in piece_by_piece(service.shares.answers, rest):
            yield piece


def _parquet(table: pa.Table, sink: pa.BufferOutputStream) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    pq.write_table(table, sink)


def _csv(table: pa.Table, sink: pa.BufferOutputStream) -> None:
    from pyarrow import csv  # noqa: PLC0415

    csv.write_csv(table, sink, csv.WriteOptions(quoting_style="needed"))


def _records(table: pa.Table, sink: pa.BufferOutputStream) -> None:
    """One object a row, on a line of its own; dates as text, and an end that nothing bounds as null."""
    lines = (json.dumps(facts_of(row), ensure_ascii=False, default=str) for row in table.to_pylist())
    sink.write(("[" + ",\n".join(lines) + "]\n").encode())


TABLES = {PARQUET: _parquet, CSV: _csv, RECORDS: _records}
"""What writes each kind of file."""

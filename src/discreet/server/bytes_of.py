"""An answer as bytes: the same for the same answer, made in the thread that made the answer, and no larger than is allowed."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import pyarrow as pa
from fastapi import Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from discreet.answering.answer import Answer
from discreet.answering.facts import facts_of
from discreet.answering.sizes import too_large
from discreet.answering.wire import answer_text
from discreet.server.service import Service
from discreet.server.shares import piece_by_piece
from discreet.server.writing import no_room

JSON = "application/json"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
RECORDS = "application/vnd.discreet.records+json"
"""A list of objects, one a row, without a word about price or method."""
_PIECE = 2**16
"""Bytes that leave together; an answer that is longer waits in a file."""
_SLOWEST, _GRACE = 2**17, 60.0
"""Bytes a second that a client reads of a long answer, on the whole, and seconds that it has besides."""


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer is written."""

    kind: str
    write: Callable[[Answer, IO[bytes]], None]

    def prepare(self, answer: Answer) -> Prepared:
        """Write an answer, in the thread that made it: what waits to be read is bytes, in a file that has no name where they are many."""
        file = tempfile.SpooledTemporaryFile(_PIECE)  # noqa: SIM115  closed when it has left
        try:
            self.write(answer, file)
        except OSError:
            file.close()
            raise no_room() from None
        except BaseException:
            file.close()
            raise
        size = file.tell()
        file.seek(0)
        return Prepared(self.kind, answer.replayed, file, size)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An answer that may leave, as bytes."""

    kind: str
    replayed: bool
    file: IO[bytes]
    size: int

    async def response(self, service: Service, *, analyst: str) -> Response:
        """What fits into one piece says how long it is; all else counts as the analyst's until it has left."""
        headers = {"Discreet-Replayed": "true"} if self.replayed else {}
        with ExitStack() as stack:
            stack.callback(self.file.close)
            if self.size <= _PIECE:
                return Response(self.file.read(), media_type=self.kind, headers=headers)
            stack.enter_context(service.writing.held(analyst, self.size))
            return _Counted(self._read(service), counted=stack.pop_all(), media_type=self.kind, headers=headers)

    async def pieces(self, service: Service, *, analyst: str) -> AsyncIterator[bytes]:
        """The same, piece by piece."""
        with ExitStack() as stack:
            stack.callback(self.file.close)
            if self.size > _PIECE:
                stack.enter_context(service.writing.held(analyst, self.size))
            async for piece in self._read(service):
                yield piece

    async def _read(self, service: Service) -> AsyncIterator[bytes]:
        """Each piece when the one before has left. Who reads too slowly is hung up on: what waits for them is somebody's disk."""
        clock = asyncio.get_running_loop().time
        until = clock() + _GRACE + self.size / _SLOWEST
        async for piece in piece_by_piece(service.shares.answers, iter(partial(self.file.read, _PIECE), b"")):
            yield piece
            if clock() > until:
                raise TimeoutError


def form_of(accept: str, *, level: float, most: int) -> Form:
    """A file for programs, where a request accepts one of `TABLES`; else JSON, which has at most so many cells."""
    kind = next((kind for kind in TABLES if kind in accept), None)
    return as_json(level, most=most) if kind is None else Form(kind, partial(_table, write=TABLES[kind]))


def as_json(level: float, *, most: int) -> Form:
    """The same bytes for the same answer, whoever asks and however often, with intervals at one level."""
    return Form(JSON, partial(_json, level=level, most=most))


def _json(answer: Answer, file: IO[bytes], *, level: float, most: int) -> None:
    """A refusal where it is too large; its price is paid, and Parquet has room for it."""
    if len(answer) * len(answer.columns) > most:
        raise too_large(most, paid=True)
    for text in answer_text(answer, level):
        file.write(text.encode())


def _table(answer: Answer, file: IO[bytes], *, write: Callable[[pa.Table, IO[bytes]], None]) -> None:
    write(answer.to_arrow(), file)


class _Counted(StreamingResponse):
    """An answer that is counted until its last piece has left, or nobody reads it any more."""

    def __init__(self, pieces: AsyncIterator[bytes], *, counted: ExitStack, **details: Any) -> None:
        super().__init__(pieces, **details)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._counted:
            await super().__call__(scope, receive, send)


def _parquet(table: pa.Table, sink: IO[bytes]) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    pq.write_table(table, sink)


def _csv(table: pa.Table, sink: IO[bytes]) -> None:
    from pyarrow import csv  # noqa: PLC0415

    csv.write_csv(table, sink, csv.WriteOptions(quoting_style="needed"))


def _records(table: pa.Table, sink: IO[bytes]) -> None:
    """One object a row, on a line of its own; dates as text, and an end that nothing bounds as null."""
    lines = (json.dumps(facts_of(row), ensure_ascii=False, default=str) for row in table.to_pylist())
    sink.write(("[" + ",\n".join(lines) + "]\n").encode())


TABLES = {PARQUET: _parquet, CSV: _csv, RECORDS: _records}
"""What writes each kind of file."""

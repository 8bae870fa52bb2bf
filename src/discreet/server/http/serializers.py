"""An answer as bytes: the same for the same answer, made in the thread that made the answer, and no larger than is allowed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Generic

import pyarrow as pa
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from discreet.api.requests.ask import AskRequest
from discreet.core.json_codec import to_json
from discreet.core.number_format import CONFIDENCE
from discreet.planning.answer_size import AnswerLimit, too_many_cells
from discreet.results.answer import Answer
from discreet.results.answer_json import answer_text
from discreet.server.auth.roles import Holder
from discreet.server.auth.service import Service, address_of, service_of
from discreet.server.http.streaming import PIECE, WaitingAnswer, no_room
from discreet.server.http.thread_pools import piece_by_piece
from discreet.server.jobs.running_queries import Answered

JSON = "application/json"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
RECORDS = "application/vnd.discreet.records+json"
"""A list of objects, one a row, without a word about price or method."""
_ROWS = 2**15
"""Rows of a file that are written together."""
_SLOWEST, _GRACE = 2**17, 60.0
"""Bytes a second that a client reads of a long answer, on the whole, and seconds that it has besides."""


@dataclass(frozen=True, slots=True)
class Form(Generic[Answered]):
    """How an answer is written."""

    kind: str
    write: Callable[[Answered, WaitingAnswer], None]
    limit: AnswerLimit | None = None

    def prepare(self, answer: Answered, *, service: Service, analyst: str) -> Prepared:
        """Write an answer, in the thread that made it: what waits to be read is bytes, in a file that has no name where they are many."""
        file = WaitingAnswer(service.writing, analyst)
        with _closed_if_refused(file):
            self.write(answer, file)
        file.rewind()
        return Prepared(self.kind, answer.replayed, file)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An answer that may leave, as bytes."""

    kind: str
    replayed: bool
    file: WaitingAnswer

    def response(self, service: Service) -> Response:
        """What fits into one piece says how long it is; all else counts as the analyst's until it has left."""
        headers = {"Discreet-Replayed": "true"} if self.replayed else {}
        with ExitStack() as stack:
            stack.callback(self.file.close)
            if self.file.is_in_memory:
                return Response(self.file.read(), media_type=self.kind, headers=headers)
            return _Counted(self._read(service), counted=stack.pop_all(), media_type=self.kind, headers=headers)

    async def pieces(self, service: Service) -> AsyncIterator[bytes]:
        """The same, piece by piece."""
        with self.file:
            async for piece in self._read(service):
                yield piece

    async def _read(self, service: Service) -> AsyncIterator[bytes]:
        """Each piece when the one before has left. Who reads too slowly is hung up on: what waits for them is somebody's disk."""
        clock = asyncio.get_running_loop().time
        until = clock() + _GRACE + self.file.size / _SLOWEST
        async for piece in piece_by_piece(service.shares.answers, iter(partial(self.file.read, PIECE), b"")):
            yield piece
            if clock() > until:
                raise TimeoutError


def form_of(accept: str, service: Service, *, level: float) -> Form[Answer]:
    """A file for programs, where a request accepts one of `TABLES`; else JSON with intervals at one level, which has at most so many cells.

    The same bytes for the same answer, whoever asks and however often.
    """
    kind, size = next((kind for kind in TABLES if kind in accept), None), service.writing.each
    if kind is None:
        cells = service.limits.cells
        return Form(JSON, partial(_json, level=level, most=cells), AnswerLimit(size, cells, names=3))
    return Form(kind, partial(_table, write=TABLES[kind]), AnswerLimit(size, names=int(kind == RECORDS)))


def document(request: Request, facts: Mapping[str, Any]) -> Response:
    """Facts as JSON, written in the thread that gathered them."""
    return sent(request, JSON, (text.encode() for text in _document_text(facts)))


def sent(request: Request, kind: str, pieces: Iterable[bytes]) -> Response:
    """Bytes of a kind: what is long waits in a file, and is counted until it has left.

    They count as those of who was let in, or of the address where nobody is asked who they are.
    """
    service, holder = service_of(request), getattr(request.state, "admitted", None)
    file = WaitingAnswer(service.writing, holder.name if holder else f"address {address_of(request)}")
    with _closed_if_refused(file):
        for piece in pieces:
            file.write(piece)
    file.rewind()
    return Prepared(kind, replayed=False, file=file).response(service)


def _document_text(facts: Mapping[str, Any]) -> Iterator[str]:
    """JSON piece by piece: a list, the only thing that grows, item by item."""
    before = "{"
    for name, value in facts.items():
        yield f"{before}{json.dumps(name)}:"
        if isinstance(value, list):
            yield "["
            yield from (f"{',' if at else ''}{written_as(item)}" for at, item in enumerate(value))
            yield "]"
        else:
            yield written_as(value)
        before = ","
    yield "}" if facts else "{}"


def written_as(value: Any) -> str:
    """JSON without a space too many, and without what is no number."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@contextmanager
def _closed_if_refused(file: WaitingAnswer) -> Iterator[None]:
    try:
        yield
    except OSError:
        file.close()
        raise no_room() from None
    except BaseException:
        file.close()
        raise


async def recalled(
    wanted: AskRequest, service: Service, *, holder: Holder, paid_by: str | None, form: Form[Answer]
) -> Response:
    """What is stored for a query that `paid_by` has paid for, in a form that the holder accepts."""
    service.writing.check_room(holder.name)
    prepare = partial(form.prepare, service=service, analyst=holder.name)
    prepared = await service.queries.recall(wanted, holder=holder, paid_by=paid_by, limit=form.limit, then=prepare)
    return prepared.response(service)


def _json(answer: Answer, file: WaitingAnswer, *, level: float, most: int) -> None:
    """A refusal where it is too large; its price is paid, and Parquet has room for it."""
    if len(answer) * len(answer.columns) > most:
        raise too_many_cells(most, charged=True)
    for text in answer_text(answer, level):
        file.write(text.encode())


def _table(answer: Answer, file: WaitingAnswer, *, write: Callable[[Iterator[pa.Table], WaitingAnswer], None]) -> None:
    write((part.to_arrow() for part in answer.parts(_ROWS, level=CONFIDENCE)), file)


class _Counted(StreamingResponse):
    """An answer that is counted until its last piece has left, or nobody reads it any more."""

    def __init__(self, pieces: AsyncIterator[bytes], *, counted: ExitStack, **details: Any) -> None:
        super().__init__(pieces, **details)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._counted:
            await super().__call__(scope, receive, send)


def _parquet(tables: Iterator[pa.Table], sink: WaitingAnswer) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    first = next(tables)
    with pq.ParquetWriter(sink, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _csv(tables: Iterator[pa.Table], sink: WaitingAnswer) -> None:
    from pyarrow import csv  # noqa: PLC0415

    first = next(tables)
    with csv.CSVWriter(sink, first.schema, write_options=csv.WriteOptions(quoting_style="needed")) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _records(tables: Iterator[pa.Table], sink: WaitingAnswer) -> None:
    """One object a row, on a line of its own; dates as text, and an end that nothing bounds as null."""
    before = "["
    for row in chain.from_iterable(table.to_pylist() for table in tables):
        sink.write((before + json.dumps(to_json(row), ensure_ascii=False, default=str)).encode())
        before = ",\n"
    sink.write(b"[]\n" if before == "[" else b"]\n")


TABLES = {PARQUET: _parquet, CSV: _csv, RECORDS: _records}
"""What writes each kind of file."""

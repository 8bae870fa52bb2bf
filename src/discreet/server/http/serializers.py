"""Write answers as bytes, within limits on their size. The same answer always has the same bytes."""

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
from discreet.server.http.streaming import PIECE, SpooledAnswer, too_many_long_answers
from discreet.server.http.thread_pools import iterate_in_thread
from discreet.server.jobs.running_queries import Answered

JSON = "application/json"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
RECORDS = "application/vnd.discreet.records+json"
"""A list of objects, one for each row, without cost or method."""
_ROWS = 2**15
"""Rows that are written to a file at once."""
_SLOWEST, _GRACE = 2**17, 60.0
"""Minimum average bytes per second at which a client must read a long answer, and seconds of grace."""


@dataclass(frozen=True, slots=True)
class Form(Generic[Answered]):
    """Media type of an answer, and the function that writes it."""

    kind: str
    write: Callable[[Answered, SpooledAnswer], None]
    limit: AnswerLimit | None = None

    def prepare(self, answer: Answered, *, service: Service, analyst: str) -> Prepared:
        """Write an answer. Call it in the thread that computed the answer; long answers go to an unnamed temporary file."""
        file = SpooledAnswer(service.long_answers, analyst)
        with _close_on_error(file):
            self.write(answer, file)
        file.rewind()
        return Prepared(self.kind, answer.replayed, file)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An answer as bytes, ready to be sent."""

    kind: str
    replayed: bool
    file: SpooledAnswer

    def response(self, service: Service) -> Response:
        """Return the response. A short one has a Content-Length; a long one counts against the analyst's quota until it is sent."""
        headers = {"Discreet-Replayed": "true"} if self.replayed else {}
        with ExitStack() as stack:
            stack.callback(self.file.close)
            if self.file.is_in_memory:
                return Response(self.file.read(), media_type=self.kind, headers=headers)
            return _Counted(self._read(service), counted=stack.pop_all(), media_type=self.kind, headers=headers)

    async def pieces(self, service: Service) -> AsyncIterator[bytes]:
        """Return the bytes, piece by piece."""
        with self.file:
            async for piece in self._read(service):
                yield piece

    async def _read(self, service: Service) -> AsyncIterator[bytes]:
        """Read each piece after the one before was sent. A client that reads too slowly is disconnected, as its answer occupies disk."""
        clock = asyncio.get_running_loop().time
        until = clock() + _GRACE + self.file.size / _SLOWEST
        async for piece in iterate_in_thread(service.pools.answers, iter(partial(self.file.read, PIECE), b"")):
            yield piece
            if clock() > until:
                raise TimeoutError


def form_of(accept: str, service: Service, *, level: float) -> Form[Answer]:
    """Return the format that a request accepts: one of `TABLES`, or JSON with intervals at `level`.

    JSON has a limited number of cells. The bytes depend on the answer only.
    """
    kind, size = next((kind for kind in TABLES if kind in accept), None), service.long_answers.each
    if kind is None:
        cells = service.limits.cells
        return Form(JSON, partial(_json, level=level, most=cells), AnswerLimit(size, cells, names=3))
    return Form(kind, partial(_table, write=TABLES[kind]), AnswerLimit(size, names=int(kind == RECORDS)))


def json_response(request: Request, body: Mapping[str, Any]) -> Response:
    """Return a JSON response. Call it in the thread that gathered the body."""
    return bytes_response(request, JSON, (text.encode() for text in _json_pieces(body)))


def bytes_response(request: Request, kind: str, pieces: Iterable[bytes]) -> Response:
    """Return a response of a media type. A long one waits in a file, and counts against a quota until it is sent.

    The quota is the authenticated holder's, or the address's on a public route.
    """
    service, holder = service_of(request), getattr(request.state, "admitted", None)
    file = SpooledAnswer(service.long_answers, holder.name if holder else f"address {address_of(request)}")
    with _close_on_error(file):
        for piece in pieces:
            file.write(piece)
    file.rewind()
    return Prepared(kind, replayed=False, file=file).response(service)


def _json_pieces(body: Mapping[str, Any]) -> Iterator[str]:
    """Render JSON piece by piece. Lists, the only values without a size limit, are rendered item by item."""
    before = "{"
    for name, value in body.items():
        yield f"{before}{json.dumps(name)}:"
        if isinstance(value, list):
            yield "["
            yield from (f"{',' if at else ''}{render_json(item)}" for at, item in enumerate(value))
            yield "]"
        else:
            yield render_json(value)
        before = ","
    yield "}" if body else "{}"


def render_json(value: Any) -> str:
    """Return compact JSON. Infinite and undefined numbers raise ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@contextmanager
def _close_on_error(file: SpooledAnswer) -> Iterator[None]:
    try:
        yield
    except OSError:
        file.close()
        raise too_many_long_answers() from None
    except BaseException:
        file.close()
        raise


async def recall_response(
    query: AskRequest, service: Service, *, holder: Holder, charged_analyst: str | None, form: Form[Answer]
) -> Response:
    """Return the stored answer to a query that `charged_analyst` was charged for."""
    service.long_answers.check(holder.name)
    prepare = partial(form.prepare, service=service, analyst=holder.name)
    prepared = await service.queries.recall(
        query, holder=holder, charged_analyst=charged_analyst, limit=form.limit, then=prepare
    )
    return prepared.response(service)


def _json(answer: Answer, file: SpooledAnswer, *, level: float, most: int) -> None:
    """Write JSON, or refuse an answer with too many cells. It was charged and stored; Parquet has no such limit."""
    if len(answer) * len(answer.columns) > most:
        raise too_many_cells(most, charged=True)
    for text in answer_text(answer, level):
        file.write(text.encode())


def _table(answer: Answer, file: SpooledAnswer, *, write: Callable[[Iterator[pa.Table], SpooledAnswer], None]) -> None:
    write((part.to_arrow() for part in answer.parts(_ROWS, level=CONFIDENCE)), file)


class _Counted(StreamingResponse):
    """A response whose file is closed when the last piece was sent or the client disconnects."""

    def __init__(self, pieces: AsyncIterator[bytes], *, counted: ExitStack, **details: Any) -> None:
        super().__init__(pieces, **details)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        with self._counted:
            await super().__call__(scope, receive, send)


def _parquet(tables: Iterator[pa.Table], sink: SpooledAnswer) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    first = next(tables)
    with pq.ParquetWriter(sink, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _csv(tables: Iterator[pa.Table], sink: SpooledAnswer) -> None:
    from pyarrow import csv  # noqa: PLC0415

    first = next(tables)
    with csv.CSVWriter(sink, first.schema, write_options=csv.WriteOptions(quoting_style="needed")) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _records(tables: Iterator[pa.Table], sink: SpooledAnswer) -> None:
    """Write one object per row and line; dates as text, an unbounded end of an interval as null."""
    before = "["
    for row in chain.from_iterable(table.to_pylist() for table in tables):
        sink.write((before + json.dumps(to_json(row), ensure_ascii=False, default=str)).encode())
        before = ",\n"
    sink.write(b"[]\n" if before == "[" else b"]\n")


TABLES = {PARQUET: _parquet, CSV: _csv, RECORDS: _records}
"""The function that writes each file format."""

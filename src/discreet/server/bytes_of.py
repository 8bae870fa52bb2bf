"""An answer as bytes: the same for the same answer."""

from __future__ import annotations

import json

import pyarrow as pa

from discreet.answering.shown import Shown
from discreet.answering.wire import answer_facts

PARQUET = "application/vnd.apache.parquet"


def answer_body(answer: Shown, level: float) -> bytes:
    """The same bytes for the same answer, whoever asks and however often, with intervals at one level."""
    return json.dumps(answer_facts(answer, level), separators=(",", ":"), ensure_ascii=False).encode()


def answer_parquet(answer: Shown) -> bytes:
    """The values with their ± as a Parquet file."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    sink = pa.BufferOutputStream()
    pq.write_table(answer.to_arrow(), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written

"""An answer as bytes: the same for the same answer."""

from __future__ import annotations

import json
import math

from discreet.answering.answer import Answer

CONFIDENCE = 0.95
PARQUET = "application/vnd.apache.parquet"


def answer_body(answer: Answer) -> bytes:
    """The same bytes for the same answer, whoever asks and however often."""
    facts = {
        "columns": answer.columns,
        "rows": answer.rows,
        "half_widths": [{n: _finite(w) for n, w in row.items()} for row in answer.half_widths(CONFIDENCE)],
        "intervals": [
            {n: None if i is None else [_finite(i[0]), _finite(i[1])] for n, i in row.items()}
            for row in answer.intervals(CONFIDENCE)
        ],
        "confidence": CONFIDENCE,
        "loss": {"epsilon": answer.loss.epsilon, "delta": answer.loss.delta},
        "receipt": answer.question,
        "notes": list(answer.plan.notes),
    }
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False).encode()


def answer_parquet(answer: Answer) -> bytes:
    """The values with their ± as a Parquet file."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    sink = pa.BufferOutputStream()
    pq.write_table(answer.to_arrow(), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _finite(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None

"""The JSON form of query parameters and answers, for the server, the command line and the remote client."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any

import pyarrow as pa

from discreet.core.exact import Number
from discreet.core.json_codec import to_json
from discreet.errors import BadInput
from discreet.postprocessing.noisy_columns import text_of
from discreet.results.answer import Answer
from discreet.results.answer_base import AnswerBase, Ends, Interval
from discreet.sql.reader.query_text import Parameters

_DECIMAL = pa.decimal256(60, 0)
_TYPES = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "boolean": pa.bool_(),
    "decimal": _DECIMAL,
}
_NAMES = {kind: name for name, kind in _TYPES.items()}


# Queries


def parameters_to_json(parameters: Parameters) -> Any:
    """Return the JSON form of parameters. Dates and timestamps, which JSON lacks, become {"date": …} and {"timestamp": …}."""
    if isinstance(parameters, Mapping):
        return {name: _plain(value) for name, value in parameters.items()}
    return [_plain(value) for value in parameters]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()} if isinstance(value, date) else value


def parameters_from_json(stored: Any) -> Parameters:
    """Read parameters from their JSON form. Invalid values are refused when the query is read."""
    if isinstance(stored, Mapping):
        return {name: _parameter(value) for name, value in stored.items()}
    return tuple(_parameter(value) for value in stored)


def _parameter(value: Any) -> Any:
    if not isinstance(value, Mapping) or set(value) not in ({"date"}, {"timestamp"}):
        return value
    ((name, written),) = value.items()
    try:
        return (date if name == "date" else datetime).fromisoformat(written)
    except (TypeError, ValueError):
        raise BadInput(
            f"A parameter is not a {name}.",
            next_step='Write {"date": "2024-12-31"} or {"timestamp": "2024-12-31T18:30:00"}.',
        ) from None


# Answers


def answer_to_json(answer: AnswerBase, level: Number) -> dict[str, Any]:
    """Return an answer with its intervals at one level. An end without a bound is null, and so is its ±."""
    rows = {name: to_json(read(answer, level)) for name, read in _BY_ROW.items()}
    return {**_before_rows(answer), **rows, **_after_rows(answer, level)}


def answer_text(answer: Answer, level: Number) -> Iterator[str]:
    """Return the same as text, in pieces of some rows each, so that only the columns of a large answer are in memory."""
    yield _json(_before_rows(answer))[:-1]
    for name, read in _BY_ROW.items():
        yield f',"{name}":['
        for number, part in enumerate(answer.parts(_ROWS, level=level)):
            yield ("," if number else "") + _finite(read(part, level))[1:-1]
        yield "]"
    yield "," + _json(_after_rows(answer, level))[1:]


_ROWS = 1000
_json = partial(json.dumps, separators=(",", ":"), ensure_ascii=False)
_BY_ROW: dict[str, Callable[[AnswerBase, Number], Any]] = {
    "rows": lambda answer, _: answer.rows,
    "half_widths": lambda answer, level: answer.half_widths(level),
    "intervals": lambda answer, level: answer.intervals(level),
}


def _finite(rows: Any) -> str:
    """Return rows as JSON. Only rows with a number that is not finite, which are rare, are converted one by one."""
    try:
        return _json(rows, allow_nan=False)
    except ValueError:
        return _json(to_json(rows))


def _before_rows(answer: AnswerBase) -> dict[str, Any]:
    return {"columns": answer.columns, "types": [_NAMES[kind] for kind in answer.types]}


def _after_rows(answer: AnswerBase, level: Number) -> dict[str, Any]:
    return {
        "confidence": float(level),
        "loss": to_json(answer.loss),
        "receipt": answer.receipt,
        "notes": list(answer.notes),
    }


def read_intervals(answer: Mapping[str, Any]) -> list[dict[str, Interval | None]]:
    """Read the intervals of an answer. A null end is infinite."""
    return [{name: _interval(ends) for name, ends in row.items()} for row in answer["intervals"]]


def _interval(ends: Sequence[Any] | None) -> Interval | None:
    if ends is None:
        return None
    low, high = ends
    return (-math.inf if low is None else low, math.inf if high is None else high)


def read_half_widths(answer: Mapping[str, Any]) -> list[dict[str, float | None]]:
    """Read the half-widths of an answer. They are infinite if the interval has an infinite end."""
    rows = zip(answer["rows"], answer["half_widths"], answer["intervals"], strict=True)
    return [{name: _half_width(row[name], widths[name], ends[name]) for name in row} for row, widths, ends in rows]


def _half_width(value: Any, width: float | None, ends: Sequence[Any] | None) -> float | None:
    is_endless = width is None and value is not None and ends is not None
    return math.inf if is_endless else width


def read_type(kind: str) -> pa.DataType:
    """Return the Arrow type of a column, by its name in JSON."""
    return _TYPES[kind]


def read_array(values: Sequence[Any], kind: str) -> pa.Array:
    """Return a column of an answer as an Arrow array."""
    if kind in ("text", "decimal", "date", "timestamp"):
        texts = pa.array([value if value is None else text_of(value) for value in values], pa.string())
        return texts if kind == "text" else texts.cast(_TYPES[kind])
    return pa.array(values, _TYPES[kind])


def read_ends(intervals: Sequence[Interval | None]) -> Ends | None:
    """Return the intervals of a column as two Arrow arrays; None if no cell has one."""
    if all(interval is None for interval in intervals):
        return None
    low, high = ([None if interval is None else interval[side] for interval in intervals] for side in (0, 1))
    if any(isinstance(end, str) for end in low):
        return read_array(low, "date"), read_array(high, "date")
    return pa.array(low, pa.float64()), pa.array(high, pa.float64())

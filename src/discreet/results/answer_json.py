"""Queries and answers as JSON, and back: what the server and the command line print is what a client reads."""

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
from discreet.results.answer_base import Ends, Interval, Shown
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
    """Parameters as JSON; a date or a timestamp, which JSON has not, under its name."""
    if isinstance(parameters, Mapping):
        return {name: _plain(value) for name, value in parameters.items()}
    return [_plain(value) for value in parameters]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()} if isinstance(value, date) else value


def parameters_from_json(facts: Any) -> Parameters:
    """The parameters again; what is none is refused where texts are read."""
    if isinstance(facts, Mapping):
        return {name: _parameter(value) for name, value in facts.items()}
    return tuple(_parameter(value) for value in facts)


def _parameter(value: Any) -> Any:
    if not isinstance(value, Mapping) or set(value) not in ({"date"}, {"timestamp"}):
        return value
    ((name, written),) = value.items()
    try:
        return (date if name == "date" else datetime).fromisoformat(written)
    except (TypeError, ValueError):
        raise BadInput(
            f"A parameter is no {name}.",
            next_step='Write {"date": "2024-12-31"} or {"timestamp": "2024-12-31T18:30:00"}.',
        ) from None


# Answers


def answer_to_json(answer: Shown, level: Number) -> dict[str, Any]:
    """An answer with its intervals at one level. An end that nothing bounds is null, and so is a ± without one."""
    rows = {name: to_json(read(answer, level)) for name, read in _BY_ROW.items()}
    return {**_before_rows(answer), **rows, **_after_rows(answer, level)}


def answer_text(answer: Answer, level: Number) -> Iterator[str]:
    """The same as JSON, in pieces of some rows each: nothing is held of a large answer but its columns."""
    yield _json(_before_rows(answer))[:-1]
    for name, read in _BY_ROW.items():
        yield f',"{name}":['
        for number, part in enumerate(answer.parts(_ROWS, level=level)):
            yield ("," if number else "") + _finite(read(part, level))[1:-1]
        yield "]"
    yield "," + _json(_after_rows(answer, level))[1:]


_ROWS = 1000
_json = partial(json.dumps, separators=(",", ":"), ensure_ascii=False)
_BY_ROW: dict[str, Callable[[Shown, Number], Any]] = {
    "rows": lambda answer, _: answer.rows,
    "half_widths": lambda answer, level: answer.half_widths(level),
    "intervals": lambda answer, level: answer.intervals(level),
}


def _finite(rows: Any) -> str:
    """Rows as JSON. Those with a number that is not finite are few, and looked through only then."""
    try:
        return _json(rows, allow_nan=False)
    except ValueError:
        return _json(to_json(rows))


def _before_rows(answer: Shown) -> dict[str, Any]:
    return {"columns": answer.columns, "types": [_NAMES[kind] for kind in answer.types]}


def _after_rows(answer: Shown, level: Number) -> dict[str, Any]:
    return {
        "confidence": float(level),
        "loss": to_json(answer.loss),
        "receipt": answer.receipt,
        "notes": list(answer.notes),
    }


def read_intervals(facts: Mapping[str, Any]) -> list[dict[str, Interval | None]]:
    """The intervals again, infinite where they have no end."""
    return [{name: _interval(ends) for name, ends in row.items()} for row in facts["intervals"]]


def _interval(ends: Sequence[Any] | None) -> Interval | None:
    if ends is None:
        return None
    low, high = ends
    return (-math.inf if low is None else low, math.inf if high is None else high)


def read_half_widths(facts: Mapping[str, Any]) -> list[dict[str, float | None]]:
    """The ± again, infinite where a number has an interval without an end."""
    rows = zip(facts["rows"], facts["half_widths"], facts["intervals"], strict=True)
    return [{name: _half_width(row[name], widths[name], ends[name]) for name in row} for row, widths, ends in rows]


def _half_width(value: Any, width: float | None, ends: Sequence[Any] | None) -> float | None:
    is_endless = width is None and value is not None and ends is not None
    return math.inf if is_endless else width


def read_type(kind: str) -> pa.DataType:
    """The Arrow type of a column that was named."""
    return _TYPES[kind]


def read_array(values: Sequence[Any], kind: str) -> pa.Array:
    """A column of an answer as the Arrow array it was."""
    if kind in ("text", "decimal", "date", "timestamp"):
        texts = pa.array([value if value is None else text_of(value) for value in values], pa.string())
        return texts if kind == "text" else texts.cast(_TYPES[kind])
    return pa.array(values, _TYPES[kind])


def read_ends(intervals: Sequence[Interval | None]) -> Ends | None:
    """The intervals of a column as two Arrow arrays; None where no cell has one."""
    if all(interval is None for interval in intervals):
        return None
    low, high = ([None if interval is None else interval[side] for interval in intervals] for side in (0, 1))
    if any(isinstance(end, str) for end in low):
        return read_array(low, "date"), read_array(high, "date")
    return pa.array(low, pa.float64()), pa.array(high, pa.float64())

"""The stored form of an answer in the ledger: one Arrow stream for each grouping set.

Format 2: each stream has one record batch with the keys (`k0`, `k1`, …) and the noisy integers of each measure and draw (`m0.0`, …). The metadata of
its schema has the numbers of the query and of the set. Integers beyond 64 bits are text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import BadData, WrongFormat
from discreet.postprocessing.noisy_columns import narrowed, objects_of
from discreet.postprocessing.noisy_groups import Noisy

FORMAT = 2
_SMALL = 4096
"""Bytes of a batch below which compression costs more time than it saves."""
_ARROW_START = b"\xff\xff\xff\xff"


def stored_form(noisy: Sequence[Sequence[Noisy]]) -> bytes:
    """Return the stored form of noisy groups."""
    sink = pa.BufferOutputStream()
    for number, sets in enumerate(noisy):
        for index, grouping in enumerate(sets):
            names, arrays = _named(grouping)
            about = {"format": str(FORMAT), "question": str(number), "set": str(index), "groups": str(grouping.groups)}
            batch = pa.record_batch(arrays, names=names).replace_schema_metadata(about)
            is_large = batch.nbytes > _SMALL and pa.Codec.is_available("zstd")
            options = pa.ipc.IpcWriteOptions(compression="zstd" if is_large else None)
            with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
                writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _named(grouping: Noisy) -> tuple[list[str], list[pa.Array]]:
    names = [f"k{at}" for at in range(len(grouping.keys))]
    arrays = list(grouping.keys)
    for at, draws in enumerate(grouping.measures):
        for draw in range(draws.shape[1]):
            names.append(f"m{at}.{draw}")
            arrays.append(_integers(draws[:, draw]))
    return names, arrays


def _integers(values: NDArray[Any]) -> pa.Array:
    narrow = narrowed(values)
    if narrow.dtype != object:
        return pa.array(np.ascontiguousarray(narrow), pa.int64())
    return pa.array([str(value) for value in narrow.tolist()], pa.string())


def read_stored(stored: bytes) -> list[list[Noisy]]:
    """Read noisy groups from their stored form, by query and by set."""
    if not stored.startswith(_ARROW_START):
        raise _unreadable()
    reader, end = pa.BufferReader(stored), len(stored)
    parts: list[tuple[int, Noisy]] = []
    while reader.tell() < end:
        with pa.ipc.open_stream(reader) as stream:
            about = {key.decode(): value.decode() for key, value in (stream.schema.metadata or {}).items()}
            if about.get("format") != str(FORMAT):
                raise WrongFormat(
                    "The answer was stored by another version of Discreet.", next_step="Use that version."
                )
            table = stream.read_all().combine_chunks()
        parts.append((int(about["question"]), _noisy(table)))
    return [[noisy for _, noisy in sets] for _, sets in groupby(parts, key=lambda part: part[0])]


def _noisy(table: pa.Table) -> Noisy:
    columns = {name: _whole(table.column(name)) for name in table.column_names}
    keys = [columns[name] for name in table.column_names if name.startswith("k")]
    measures: dict[str, list[NDArray[Any]]] = {}
    for name in table.column_names:
        if name.startswith("m"):
            measures.setdefault(name.partition(".")[0], []).append(_read_integers(columns[name]))
    return Noisy(tuple(keys), tuple(np.stack(draws, axis=1) for draws in measures.values()))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([pa.array([], column.type), *column.chunks])


def _read_integers(array: pa.Array) -> NDArray[Any]:
    if pa.types.is_int64(array.type):
        return array.to_numpy(zero_copy_only=False)
    return objects_of((int(text) for text in array.to_pylist()), len(array))


def _unreadable() -> BadData:
    return BadData("The stored answer cannot be read.", next_step="Ask the owner to verify the ledger.")

"""Reports as bits, from the left: as words if they fit, otherwise as rows of bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocols.draws import Flags
from discreet.local.protocols.protocol import Reports

_CELLS = 1 << 18
"""Number of bits processed at once, one byte each: few enough to stay in the CPU cache."""


def people_at_once(bits: int) -> int:
    """Return how many reports of `bits` bits to process together."""
    return max(1, min(_CELLS // bits, 1 << 15))


def packed_reports(flags: Flags) -> Reports:
    """Pack each row of flags into a report: a word if 63 bits are enough, otherwise bytes, padded with zeros."""
    rows = np.packbits(flags, axis=1)
    return rows if flags.shape[1] > 63 else _words(rows, flags.shape[1])


def unpacked_reports(reports: Reports, bits: int) -> NDArray[np.uint8]:
    """Return the bits of each report, one byte per bit."""
    rows = reports if bits > 63 else _rows(reports, bits)
    return np.unpackbits(rows.astype(np.uint8, copy=False), axis=1, count=bits)


def ones_each(reports: Reports, bits: int) -> NDArray[np.int64]:
    """Count for each bit how many reports have it set."""
    ones = np.zeros(bits, np.int64)
    step = people_at_once(bits)
    for start in range(0, len(reports), step):
        ones += unpacked_reports(reports[start : start + step], bits).sum(axis=0, dtype=np.uint16)
    return ones


def no_stray_bits(reports: Reports, bits: int) -> Flags:
    """Return which reports have no bit set beyond their length."""
    if bits <= 63:
        return np.asarray(reports < np.uint64(1 << bits))
    stray = np.uint8((1 << -bits % 8) - 1)
    return np.asarray((reports[:, -1] & stray) == 0)


def no_reports(bits: int, count: int) -> Reports:
    """Return an uninitialised array for `count` reports."""
    return np.empty((count, -(-bits // 8)), np.uint8) if bits > 63 else np.empty(count, np.uint64)


def _words(rows: NDArray[np.uint8], bits: int) -> NDArray[np.uint64]:
    whole = np.zeros((len(rows), 8), np.uint8)
    whole[:, : rows.shape[1]] = rows
    return whole.view(">u8").reshape(-1).astype(np.uint64) >> np.uint64(64 - bits)


def _rows(words: Reports, bits: int) -> NDArray[np.uint8]:
    whole = (words.astype(np.uint64) << np.uint64(64 - bits)).astype(">u8")
    return whole.view(np.uint8).reshape(-1, 8)[:, : -(-bits // 8)]

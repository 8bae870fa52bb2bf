"""Read and write messages at the collector: many reports in one message, and an error for each kind of bad message."""

from __future__ import annotations

import os
import zlib
from typing import NamedTuple

import numpy as np

from discreet.errors import (
    CorruptReport,
    OutOfDomain,
    ReportTooLong,
    TooManyReports,
    TruncatedReport,
    WrongTask,
    WrongVersion,
)
from discreet.local.device.client import HEADER, VERSION, build_message
from discreet.local.protocols.protocol import Reports
from discreet.local.tasks.task import Task

NO_SENDER = bytes(16)
"""The sender in messages of a shuffler or another shard, which do not come from a single device."""

LONGEST_MESSAGE = 1 << 20
"""Bytes. A longer message is refused before it is read."""

_CHECKSUM = 4
_AT_ONCE = 1 << 14
"""Reports that are unpacked together: a bit temporarily takes 64 bytes."""


class Message(NamedTuple):
    """A valid message. Whether it is a replay is checked elsewhere."""

    id: bytes
    sender: bytes
    reports: Reports


def read_message(task: Task, message: bytes) -> Message:
    """Read the reports in a message, or refuse it. The stated length is checked before anything is unpacked."""
    _check_head(task, message)
    sender, count = message[33:49], int.from_bytes(message[49:53], "big")
    if sender != NO_SENDER and count > int(task.spec["caps"]["per_epoch"]):
        raise TooManyReports(
            "The message has more reports than a device may send.",
            next_step="Use the client that comes with Discreet.",
        )
    if count == 0 or len(message) != HEADER + -(-count * task.randomizer.bits // 8) + _CHECKSUM:
        raise _truncated()
    if zlib.crc32(message[:-_CHECKSUM]).to_bytes(4, "big") != message[-_CHECKSUM:]:
        raise CorruptReport("The checksum of the message is wrong.", next_step="Send the message again.")
    reports = read_payload(task, payload_of(message), count)
    if not bool(task.protocol.legal(reports).all()):
        raise _illegal()
    return Message(message[17:33], sender, reports)


def _check_head(task: Task, message: bytes) -> None:
    if len(message) > LONGEST_MESSAGE:
        raise ReportTooLong(
            f"A message has at most {LONGEST_MESSAGE:,} bytes.", next_step="Send the reports in several messages."
        )
    if not message:
        raise _truncated()
    if message[0] != VERSION:
        raise WrongVersion("The message has another format version.", next_step="Update the device.")
    if len(message) < HEADER + _CHECKSUM:
        raise _truncated()
    if message[1:17] != task.digest:
        raise WrongTask("The message belongs to another task.", next_step="Fetch the task again and report anew.")


def payload_of(message: bytes) -> bytes:
    """Return the packed reports of a message, without sender and message number."""
    return message[HEADER:-_CHECKSUM]


def read_payload(task: Task, payload: bytes, count: int) -> Reports:
    """Unpack reports, in parts, so that memory stays proportional to the result."""
    bits = task.randomizer.bits
    pack = np.frombuffer(payload, np.uint8)
    if np.unpackbits(pack[count * bits // 8 :])[count * bits % 8 :].any():
        raise _illegal()
    parts = []
    for first in range(0, count, _AT_ONCE):  # a whole number of bytes each
        last = min(count, first + _AT_ONCE)
        rows = np.unpackbits(pack[first * bits // 8 : -(-last * bits // 8)], count=(last - first) * bits)
        parts.append(_reports_of(rows.reshape(last - first, bits), wide=task.protocol.wide))
    return np.concatenate(parts)


def _reports_of(rows: np.ndarray, *, wide: bool) -> Reports:
    if wide:
        return np.packbits(rows, axis=1)
    count, bits = rows.shape
    padded = np.zeros((count, 64), np.uint8)
    padded[:, 64 - bits :] = rows
    return np.packbits(padded, axis=1).view(">u8").reshape(-1).astype(np.uint64)


def write_batch(task: Task, reports: Reports) -> bytes:
    """Return one message with many reports and a new random number, as a shuffler or a simulator sends it."""
    bits = task.randomizer.bits
    rows = np.unpackbits(reports.astype(np.uint8), axis=1, count=bits) if reports.ndim == 2 else _bits_of(reports, bits)
    payload = np.packbits(rows.reshape(-1)).tobytes()
    return build_message(task.digest, NO_SENDER, payload, count=len(reports), message_id=os.urandom(16))


def most_in_a_batch(task: Task, longest: int) -> int:
    """Return how many reports fit into a message of `longest` bytes."""
    return max(1, (longest - HEADER - _CHECKSUM) * 8 // task.randomizer.bits)


def _bits_of(words: Reports, bits: int) -> np.ndarray:
    columns = words.astype(">u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(columns, axis=1)[:, 64 - bits :]


def _truncated() -> TruncatedReport:
    return TruncatedReport("The message has the wrong length.", next_step="Send the message again.")


def _illegal() -> OutOfDomain:
    return OutOfDomain(
        "The message has a report that is impossible for this task.",
        next_step="Use the client that comes with Discreet.",
    )

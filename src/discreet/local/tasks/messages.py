"""Messages at the collector's end: many reports in one message, and one way to say what is wrong with one."""

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
"""Stands in messages of a shuffler or another shard, which come from no single device."""

LONGEST_MESSAGE = 1 << 20
"""Bytes; a longer one is refused before anything in it is looked at."""

_CHECKSUM = 4
_AT_ONCE = 1 << 14
"""Reports that are unpacked together: a bit takes 64 bytes on the way."""


class Message(NamedTuple):
    """A message that is sound in itself; whether it is new is for the collector to say."""

    id: bytes
    sender: bytes
    reports: Reports


def read_message(task: Task, message: bytes) -> Message:
    """The reports in a message, or a refusal by name. What it says of its length is checked before it is unpacked."""
    _check_head(task, message)
    sender, count = message[33:49], int.from_bytes(message[49:53], "big")
    if sender != NO_SENDER and count > int(task.spec["caps"]["per_epoch"]):
        raise TooManyReports(
            "No device may send so many reports.", next_step="Use the client that comes with Discreet."
        )
    if count == 0 or len(message) != HEADER + -(-count * task.randomizer.bits // 8) + _CHECKSUM:
        raise _truncated()
    if zlib.crc32(message[:-_CHECKSUM]).to_bytes(4, "big") != message[-_CHECKSUM:]:
        raise CorruptReport("The checksum does not fit.", next_step="Send the message again.")
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
        raise WrongVersion("The message is of another version.", next_step="Update the device.")
    if len(message) < HEADER + _CHECKSUM:
        raise _truncated()
    if message[1:17] != task.digest:
        raise WrongTask("The message belongs to another task.", next_step="Fetch the task again and report anew.")


def payload_of(message: bytes) -> bytes:
    """The packed reports alone: neither who sent them nor under which number."""
    return message[HEADER:-_CHECKSUM]


def read_payload(task: Task, payload: bytes, count: int) -> Reports:
    """Reports from their packed bits, so many at once that memory stays in proportion to what comes out."""
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
    """One message for many reports, as a shuffler or a simulator sends it, under a new random number."""
    bits = task.randomizer.bits
    rows = np.unpackbits(reports.astype(np.uint8), axis=1, count=bits) if reports.ndim == 2 else _bits_of(reports, bits)
    payload = np.packbits(rows.reshape(-1)).tobytes()
    return build_message(task.digest, NO_SENDER, payload, count=len(reports), message_id=os.urandom(16))


def most_in_a_batch(task: Task, longest: int) -> int:
    """How many reports fit into a message of so many bytes."""
    return max(1, (longest - HEADER - _CHECKSUM) * 8 // task.randomizer.bits)


def _bits_of(words: Reports, bits: int) -> np.ndarray:
    columns = words.astype(">u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(columns, axis=1)[:, 64 - bits :]


def _truncated() -> TruncatedReport:
    return TruncatedReport("The message is cut short, or too long.", next_step="Send the message again.")


def _illegal() -> OutOfDomain:
    return OutOfDomain("No device reports this for this task.", next_step="Use the client that comes with Discreet.")

"""Messages at the collector's end: many reports in one message, and one way to say what is wrong with one."""

from __future__ import annotations

import os
import zlib
from typing import NamedTuple

import numpy as np

from discreet.errors import CorruptReport, OutOfDomain, TruncatedReport, WrongTask, WrongVersion
from discreet.local.client import HEADER, VERSION, message_of
from discreet.local.protocols.base import Reports
from discreet.local.task import Task

NO_SENDER = bytes(16)
"""Stands in messages of a shuffler or another shard, which come from no single device."""

_CHECKSUM = 4


class Message(NamedTuple):
    """A message that is sound in itself; whether it is new is for the collector to say."""

    id: bytes
    sender: bytes
    reports: Reports


def read_message(task: Task, message: bytes) -> Message:
    """The reports in a message, or a refusal by name."""
    if not message:
        raise _truncated()
    if message[0] != VERSION:
        raise WrongVersion("The message is of another version.", next_step="Update the device.")
    if len(message) < HEADER + _CHECKSUM:
        raise _truncated()
    if message[1:17] != task.digest:
        raise WrongTask("The message belongs to another task.", next_step="Fetch the task again and report anew.")
    count = int.from_bytes(message[49:53], "big")
    if count == 0 or len(message) != HEADER + -(-count * task.randomizer.bits // 8) + _CHECKSUM:
        raise _truncated()
    if zlib.crc32(message[:-_CHECKSUM]).to_bytes(4, "big") != message[-_CHECKSUM:]:
        raise CorruptReport("The checksum does not fit.", next_step="Send the message again.")
    reports = _unpacked(task, message[HEADER:-_CHECKSUM], count)
    if not bool(task.protocol.legal(reports).all()):
        raise _illegal()
    return Message(message[17:33], message[33:49], reports)


def write_batch(task: Task, reports: Reports) -> bytes:
    """One message for many reports, as a shuffler or a simulator sends it."""
    bits = task.randomizer.bits
    rows = np.unpackbits(reports.astype(np.uint8), axis=1, count=bits) if reports.ndim == 2 else _bits_of(reports, bits)
    payload = np.packbits(rows.reshape(-1)).tobytes()
    return message_of(task.digest, NO_SENDER, payload, count=len(reports), message_id=os.urandom(16))


def _bits_of(words: Reports, bits: int) -> np.ndarray:
    columns = words.astype(">u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(columns, axis=1)[:, 64 - bits :]


def _unpacked(task: Task, payload: bytes, count: int) -> Reports:
    bits = task.randomizer.bits
    flat = np.unpackbits(np.frombuffer(payload, np.uint8))
    if flat[count * bits :].any():
        raise _illegal()
    rows = flat[: count * bits].reshape(count, bits)
    if task.protocol.wide:
        return np.packbits(rows, axis=1)
    padded = np.zeros((count, 64), np.uint8)
    padded[:, 64 - bits :] = rows
    return np.packbits(padded, axis=1).view(">u8").reshape(-1).astype(np.uint64)


def _truncated() -> TruncatedReport:
    return TruncatedReport("The message is cut short, or too long.", next_step="Send the message again.")


def _illegal() -> OutOfDomain:
    return OutOfDomain("No device reports this for this task.", next_step="Use the client that comes with Discreet.")

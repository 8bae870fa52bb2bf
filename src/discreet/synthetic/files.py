"""Files that come of a release: its rows as CSV or Parquet; and itself, as a line that says what it is, a line of public facts in JSON, then the
transcript as it is stored. Nothing is ever run that was read.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from discreet.errors import BadRelease

KIND = "discreet-release"
FORMAT = 1
MEDIA_TYPE = "application/vnd.discreet.release"
KINDS = ("csv", "parquet")
"""Of files of rows."""


def write_rows(rows: pa.Table, to: Path | BinaryIO, *, kind: str) -> None:
    """Write rows of nobody.

    Args:
        rows: Synthetic or made up.
        to: A file.
        kind: One of `KINDS`.
    """
    if kind == "csv":
        from pyarrow import csv  # noqa: PLC0415  each takes as long as a short command

        csv.write_csv(rows, to)
    else:
        from pyarrow import parquet  # noqa: PLC0415

        parquet.write_table(rows, to)


def write_release(path: Path, stored: bytes, *, name: str | None, receipt: str) -> None:
    """Write a release.

    Args:
        path: Of the file.
        stored: Its transcript.
        name: Under which it was made.
        receipt: Of its charge.
    """
    path.write_bytes(release_as_bytes(stored, name=name, receipt=receipt))


def release_as_bytes(stored: bytes, *, name: str | None, receipt: str) -> bytes:
    """What is in the file of a release.

    Args:
        stored: Its transcript.
        name: Under which it was made.
        receipt: Of its charge.
    """
    facts = json.dumps({"name": name, "receipt": receipt}, sort_keys=True).encode() + b"\n"
    digest = hashlib.sha256(facts + stored).hexdigest()
    return f"{KIND} {FORMAT} {digest}\n".encode() + facts + stored


def read_release(content: bytes) -> tuple[bytes, str | None, str]:
    """The transcript, the name and the receipt of a saved release; anything else is refused.

    Args:
        content: Of the file.
    """
    first, _, rest = content.partition(b"\n")
    kind, *details = first.split(b" ")
    if kind != KIND.encode() or len(details) != 2 or not details[0].isdigit():
        raise BadRelease("This file is no release of synthetic data.", next_step="Give a file that `save` wrote.")
    if int(details[0]) > FORMAT:
        raise BadRelease("This release was saved by a newer version of Discreet.", next_step="Install that version.")
    if hashlib.sha256(rest).hexdigest().encode() != details[1]:
        raise BadRelease("This release is damaged: its checksum does not fit.", next_step="Take another copy of it.")
    facts, _, stored = rest.partition(b"\n")
    known = json.loads(facts)
    return stored, known["name"], known["receipt"]

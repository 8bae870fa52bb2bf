"""Synthetic rows as files: CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

KINDS = ("csv", "parquet")


def write_rows(rows: pa.Table, to: Path | BinaryIO, *, kind: str) -> None:
    """Write rows to a file of one of `KINDS`."""
    if kind == "csv":
        from pyarrow import csv  # noqa: PLC0415  importing it takes as long as a short command

        csv.write_csv(rows, to)
    else:
        from pyarrow import parquet  # noqa: PLC0415

        parquet.write_table(rows, to)

"""Plain DuckDB on a file, as our snapshot is one: its compressed columns read faster than tables in memory."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.peers.plain import QUESTIONS
from benchmarks.peers.serve import Action, serve


def prepare(folder: Path, question: str) -> dict[str, Action]:
    table = "flat" if question == "Q1" else "visits"
    connection = duckdb.connect(str(folder / f"plain {question}.duckdb"))
    connection.execute(f"CREATE TABLE {table} AS FROM '{folder / table}.parquet'")
    connection.execute("CHECKPOINT")
    return {"ask": lambda _: connection.execute(QUESTIONS[question]).fetchall()}


if __name__ == "__main__":
    serve(prepare)

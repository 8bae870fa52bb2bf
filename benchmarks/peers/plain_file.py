"""Plain DuckDB on a file, as our snapshot is one: its compressed columns read faster than tables in memory."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.peers.plain import QUERIES
from benchmarks.peers.serve import Action, serve


def prepare(folder: Path, query: str) -> dict[str, Action]:
    table = "flat" if query == "Q1" else "visits"
    connection = duckdb.connect(str(folder / f"plain {query}.duckdb"))
    connection.execute(f"CREATE TABLE {table} AS FROM '{folder / table}.parquet'")
    connection.execute("CHECKPOINT")
    return {"ask": lambda _: connection.execute(QUERIES[query]).fetchall()}


if __name__ == "__main__":
    serve(prepare)

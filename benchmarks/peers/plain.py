"""Plain DuckDB, nothing private: the yardstick."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.peers.serve import Action, serve

COUNT_AND_SUM = "SELECT region, COUNT(*), SUM(cost) FROM visits GROUP BY region"
QUERIES = {
    "Q1": "SELECT region, COUNT(*) FROM flat GROUP BY region",
    "Q2": COUNT_AND_SUM,
    "Q2p": COUNT_AND_SUM,
    "Q4": "SELECT region, COUNT(DISTINCT uid) FROM visits GROUP BY region",
}


def prepare(folder: Path, query: str) -> dict[str, Action]:
    table = "flat" if query == "Q1" else "visits"
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE {table} AS FROM '{folder / table}.parquet'")
    return {"ask": lambda _: connection.execute(QUERIES[query]).fetchall()}


if __name__ == "__main__":
    serve(prepare)

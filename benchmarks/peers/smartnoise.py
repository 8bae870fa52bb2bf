"""SmartNoise SQL, on SQLite in memory: faster than on pandas, which it copies into SQLite for each question.

It bounds the rows of a person (max_ids), not the groups: Q2p is not offered.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import snsql

from benchmarks.peers.serve import DELTA, Action, serve

QUERIES = {
    "Q1": "SELECT region, COUNT(*) AS n FROM main.flat GROUP BY region",
    "Q2": "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM main.visits GROUP BY region",
    "Q4": "SELECT region, COUNT(DISTINCT uid) AS n FROM main.visits GROUP BY region",
}
REGION = {"type": "string", "cardinality": 50}
TABLES = {  # the regions are public, so none is to be censored
    "flat": {"row_privacy": True, "censor_dims": False, "uid": {"type": "int"}, "region": REGION},
    "visits": {
        "max_ids": 10,
        "censor_dims": False,
        "uid": {"type": "int", "private_id": True},
        "region": REGION,
        "cost": {"type": "float", "lower": 0.0, "upper": 100.0},
    },
}


def loaded(folder: Path, table: str) -> sqlite3.Connection:
    columns = ("uid", "region", "cost") if table == "visits" else ("uid", "region")
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    source = duckdb.connect().execute(f"SELECT {', '.join(columns)} FROM '{folder / table}.parquet'")
    while rows := source.fetchmany(100_000):
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    return connection


def prepare(folder: Path, query: str) -> dict[str, Action] | None:
    if query not in QUERIES:
        return None
    table = "flat" if query == "Q1" else "visits"
    connection = loaded(folder, table)

    def ask(epsilon: float) -> list:
        privacy = snsql.Privacy(epsilon=epsilon, delta=DELTA)
        metadata = {"": {"main": {table: TABLES[table]}}}
        reader = snsql.from_connection(connection, engine="sqlite", privacy=privacy, metadata=metadata)
        return reader.execute(QUERIES[query])[1:]  # the first row is the header

    return {"ask": ask}


if __name__ == "__main__":
    serve(prepare)

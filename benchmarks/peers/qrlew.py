"""Qrlew (pyqrlew): rewrites a question; it knows no DuckDB, so its PostgreSQL text is run on DuckDB.

Two things to know of 0.9.27: COUNT(DISTINCT uid) is rewritten to a count of rows, so Q4 asks for a count of distinct
pairs; and the groups of a user are bounded by the norm of what he adds to all of them, so Q2p is not offered.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyqrlew
import sqlalchemy

from benchmarks.peers.serve import DELTA, REGIONS, Action, serve

QUERIES = {
    "Q1": "SELECT region, COUNT(*) AS n FROM flat GROUP BY region",
    "Q2": "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY region",
    "Q4": "SELECT region, COUNT(uid) AS n FROM (SELECT uid, region FROM visits GROUP BY uid, region) AS v GROUP BY region",
}
NAMELESS = {
    "@type": "sarus_data_spec/sarus_data_spec.Dataset",
    "uuid": "0",
    "name": "benchmark",
    "spec": {"transformed": {"transform": "0", "arguments": [], "named_arguments": {}}},
}


def declared(table: str) -> pyqrlew.Dataset:
    """The schema, from an empty SQLite table. Its size is left out: Qrlew would bound everybody to zero rows."""
    cost = ", cost REAL" if table == "visits" else ""
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(f"CREATE TABLE {table} (uid INTEGER, region TEXT{cost})"))
    empty = pyqrlew.Dataset.from_database("benchmark", engine)
    dataset = pyqrlew.Dataset.from_str(json.dumps(NAMELESS), empty.schema, "")
    dataset = dataset.with_possible_values(None, table, "region", REGIONS)
    if table == "visits":
        return dataset.with_range(None, table, "cost", 0.0, 100.0)
    return dataset.with_constraint(None, table, "uid", dataset.CONSTRAINT_UNIQUE)


def prepare(folder: Path, query: str) -> dict[str, Action] | None:
    if query not in QUERIES:
        return None
    table, rows_a_person = ("flat", 1.0) if query == "Q1" else ("visits", 10.0)
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE {table} AS FROM '{folder / table}.parquet'")
    dataset, dialect = declared(table), pyqrlew.Dialect.PostgreSql

    def ask(epsilon: float) -> list:
        private = dataset.relation(QUERIES[query], dialect).rewrite_with_differential_privacy(
            dataset,
            [(table, [], "uid")],
            {"epsilon": epsilon, "delta": DELTA},
            max_multiplicity=rows_a_person,
            max_multiplicity_share=1.0,
        )
        return connection.execute(private.relation().to_query(dialect)).fetchall()

    return {"ask": ask}


if __name__ == "__main__":
    serve(prepare)

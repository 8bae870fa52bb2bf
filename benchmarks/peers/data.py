"""The data, as Parquet: visits with n / 20 users, a few of them with very many; and a flat table, one row a person.

python -m benchmarks.peers.data FOLDER ROWS [TABLE ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

REGION = "printf('r%02d', CAST(floor(random() * 50) AS INTEGER)) AS region"


def statements(rows: int) -> dict[str, str]:
    # The square of a uniform number: the first user has about rows / sqrt(users) visits, the last about 10.
    user = f"CAST(floor(pow(random(), 2) * {rows // 20}) AS INTEGER) AS uid"
    return {
        "visits": f"SELECT {user}, {REGION}, round(100 * random(), 2) AS cost FROM range({rows})",
        "flat": f"SELECT CAST(i AS INTEGER) AS uid, {REGION} FROM range({rows}) AS t(i)",
    }


def main() -> None:
    folder, rows, *tables = sys.argv[1:]
    for name in tables:
        connection = duckdb.connect(config={"threads": 1})  # one thread and a seed: the same data each time
        connection.execute("SELECT setseed(0.5)")
        target = Path(folder) / f"{name}.parquet"
        connection.execute(f"COPY ({statements(int(rows))[name]}) TO '{target}'")


if __name__ == "__main__":
    main()

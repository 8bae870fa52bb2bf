"""The ledger: what one more charge costs beyond the wait for the disk, as the books grow."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.report import table, where, write_section
from discreet.accounting import open_filter
from discreet.ledger import Ledger, Request
from discreet.mechanisms import Laplace
from discreet.store.sqlite import SQLiteStore

SIZES = (100, 1_000, 10_000, 100_000)
SAMPLES = 200


class FillingStore(SQLiteStore):
    """Fills a table quickly; never used for what is measured."""

    def _connect(self):  # noqa: ANN202
        connection = super()._connect()
        connection.execute("PRAGMA synchronous = OFF")
        return connection


def request(number: int) -> Request:
    return Request(
        id=f"r{number}", question=f"q{number}", releases=(Laplace(sensitivity=1, epsilon=1e-4),), analyst="alice"
    )


def milliseconds(work) -> float:  # noqa: ANN001
    runs = []
    for i in range(SAMPLES):
        start = time.perf_counter()
        work(i)
        runs.append(time.perf_counter() - start)
    return statistics.median(runs) * 1000


def main() -> None:
    rows, filled = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        filling = Ledger(FillingStore(path))
        filling.open_account(open_filter(10**6))
        filling.open_account(open_filter(10**6), analyst="alice")
        for size in SIZES:
            while filled < size:
                filling.reserve(request(filled))
                filled += 1
            filling.close()
            store = SQLiteStore(path)
            ledger = Ledger(store)
            store.migrate("floor", ["CREATE TABLE floor (n INTEGER)"])

            def commit(i: int, store: SQLiteStore = store) -> None:
                with store.transaction() as t:
                    t.run("INSERT INTO floor VALUES (?)", i)

            floor = milliseconds(commit)
            offset = filled + 10**6
            charge = milliseconds(lambda i, offset=offset, ledger=ledger: ledger.reserve(request(offset + i)))
            store.close()
            rows.append(
                [f"{size:,}", f"{floor:.3f}", f"{charge:.3f}", f"{charge - floor:.3f}", f"{charge / floor:.1f}×"]
            )
    header = ["entries", "ms, one durable commit", "ms, one durable charge", "ms beyond the commit", "ratio"]
    write_section(
        "ledger",
        f"{where()} SQLite in write-ahead mode, synchronous=FULL, medians of {SAMPLES}; two accounts are charged each time. The "
        "bar: at most 1 ms beyond the commit, flat in the number of entries. (This disk is virtual: the commit itself is an "
        "order of magnitude, not a promise.)\n\n" + table(header, rows),
    )


if __name__ == "__main__":
    main()

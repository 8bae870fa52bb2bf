"""The ledger as its history grows, and many who charge at once.

    git worktree add ../before COMMIT
    python -m benchmarks.ledger [--before ../before] [--largest]

With --before the throughput of that release is measured too, in turns with this one; with --largest the books grow to a
million questions.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import discreet
from benchmarks.charging import PRICE
from benchmarks.grown import grow
from benchmarks.report import table, where, write_section
from discreet.catalog import parse_catalog
from discreet.core.loss import Neighbours
from discreet.ledger import Ledger, Request, verify
from discreet.ledger.chain.checkpoint import EVERY
from discreet.results.ledger_views import balances, card, history

SIZES = (1_000, 10_000, 100_000)
LARGEST = 1_000_000
THREADS = (1, 8, 64)
SAMPLES, TURNS, SECONDS = 100, 3, 5.0
SINCE = EVERY // 2 - 1
"""Questions since the checkpoint, with two entries each: as many as there can be."""
CATALOG = """
[source]
path = "."
[budget]
epsilon = 1e6
[tables.visits]
privacy_unit = "person"
columns.person = { type = "integer" }
"""


def milliseconds(work: Callable[[int], object], *, samples: int = SAMPLES) -> float:
    """The median."""
    runs = []
    for i in range(samples):
        start = time.perf_counter()
        work(i)
        runs.append(time.perf_counter() - start)
    return statistics.median(runs) * 1000


def opened(path: Path) -> Ledger:
    """As a server opens its books: what was written since the checkpoint is verified."""
    ledger = Ledger.open(path, neighbours=Neighbours.ADD_REMOVE)
    assert verify(ledger, from_checkpoint=True).sound
    return ledger


def grown_row(path: Path, size: int) -> list[str]:
    """What everything takes in books of so many questions."""
    start = time.perf_counter()
    with closing(Ledger.open(path)) as ledger:
        assert verify(ledger).sound  # and there is a checkpoint now
    whole = time.perf_counter() - start
    grow(path, queries=SINCE)
    opening = milliseconds(lambda _: opened(path).close(), samples=5)
    with closing(opened(path)) as ledger:
        catalog = parse_catalog(CATALOG)
        times = [
            milliseconds(lambda _: balances(ledger, None)),
            milliseconds(lambda _: card(ledger, catalog, dataset="visits", version=1)),
            milliseconds(lambda _: history(ledger, "alice")),
            milliseconds(lambda _: history(ledger, "alice", before=size)),
        ]
        charge, commit = charge_and_commit(ledger, size)
    shown = [*(f"{each:.1f}" for each in times), f"{charge:.2f}", f"{commit:.2f}", f"{whole:.1f}"]
    return [f"{size:,}", f"{opening:.0f}", *shown]


def charge_and_commit(ledger: Ledger, size: int) -> tuple[float, float]:
    """A charge, and one row with a commit on the same connection, in turns; medians in milliseconds."""
    store = ledger._store  # noqa: SLF001
    store.create_tables("floor", "CREATE TABLE floor (n INTEGER)", version=1)

    def charge(i: int) -> None:
        ledger.reserve(Request(id=f"r{size}-{i}", query=f"q{size}-{i}", releases=PRICE, analyst="alice"))

    def commit(i: int) -> None:
        with store.transaction() as t:
            t.run("INSERT INTO floor VALUES (?)", i)

    turns = [
        (milliseconds(lambda _, i=i: charge(i), samples=1), milliseconds(commit, samples=1)) for i in range(SAMPLES)
    ]
    charges, commits = zip(*turns, strict=True)
    return statistics.median(charges), statistics.median(commits)


def throughput(source: Path, threads: int) -> float:
    """Questions a second of the release whose source that is."""
    environment = {**os.environ, "PYTHONPATH": f"{source}:{Path.cwd()}"}
    command = [sys.executable, "-m", "benchmarks.charging", str(threads), str(SECONDS)]
    return float(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)


def throughput_rows(before: Path | None) -> list[list[str]]:
    """Medians of a few turns of each release."""
    ours = Path(discreet.__file__).parents[1]
    releases = [ours] if before is None else [before / "src", ours]
    rows = []
    for threads in THREADS:
        rates: list[list[float]] = [[] for _ in releases]
        for _ in range(TURNS):
            for release, measured in zip(releases, rates, strict=True):
                measured.append(throughput(release, threads))
        medians = [statistics.median(measured) for measured in rates]
        rows.append([str(threads), *(f"{median:,.0f}" for median in medians), f"{medians[-1] / medians[0]:.1f}×"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path)
    parser.add_argument("--largest", action="store_true")
    options = parser.parse_args()
    rows, written = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        for size in (*SIZES, LARGEST) if options.largest else SIZES:
            grow(path, queries=size - written)
            written = size
            rows.append(grown_row(path, size))
    header = [
        "questions",
        "ms, open",
        "budget",
        "card",
        "history, first page",
        "a page from long ago",
        "charge",
        "a bare commit",
        "s, verify the whole",
    ]
    speed = throughput_rows(options.before)
    earlier = ["before"] if options.before else []
    write_section(
        "ledger",
        f"{where()} SQLite in write-ahead mode, synchronous=FULL, medians; two accounts are charged each time, and every question has two "
        "entries. *Open* is what `serve` does: the chain and the tables since the signed checkpoint, which is as long ago as it can be. The bars: open within 1 s, budget and card "
        "within 20 ms, a charge within 1 ms of the commit, whatever the number of queries. (This disk is virtual: the commit itself is an order "
        "of magnitude, not a promise.)\n\n"
        + table(header, rows)
        + "\n\nQueries per second (a charge and an answer, each on disk before it is acknowledged) of threads that wait for their answers; with "
        "group commit, those who wait are written by one of them in one commit"
        + (", against the release before, in turns" if options.before else "")
        + ":\n\n"
        + table(["threads", *earlier, "now", "ratio"], speed),
    )


if __name__ == "__main__":
    main()

"""This release against an earlier one (a checkout of it), and against plain DuckDB, in one run.

    git worktree add ../before COMMIT
    python -m benchmarks.releases --before ../before

Each release runs in a process of its own; questions alternate, so that both meet the same moments of the machine.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import discreet
from benchmarks.curator import Runner
from benchmarks.report import table, where, write_section

QUERIES = ("Q1", "Q2", "Q2p", "Q4")
KEYS = 10**6
CATALOG = """
[source]
path = "."
[ledger]
path = "ledger.sqlite"
[engine]
memory = "8GB"
[budget]
epsilon = 1e6
delta = 1e-2
[tables.visits]
privacy_unit = "uid"
max_rows = 4
columns.uid = { type = "integer" }
columns.place = { type = "integer" }
columns.cost = { type = "real", lower = 0, upper = 100 }
[tables.places]
public = true
columns.place = { type = "integer" }
columns.kind = { type = "text" }
"""
ASKED = {
    "a public lookup join": (
        "SELECT p.kind, COUNT(*), SUM(v.cost) FROM visits v JOIN places p ON v.place = p.place GROUP BY p.kind",
        "SELECT p.kind, COUNT(*), SUM(v.cost) FROM visits v JOIN places p ON v.place = p.place GROUP BY p.kind",
        2,
    ),
    f"{KEYS:,} private keys": (
        "SELECT place, COUNT(*) FROM visits GROUP BY place",
        "SELECT place, COUNT(*), COUNT(DISTINCT uid) FROM visits GROUP BY place",
        3,
    ),
}


def releases(before: Path, rows: int, repeats: int) -> list[list[str]]:
    """Milliseconds of a question before and now, and the median of their ratios."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.executable, "-m", "benchmarks.peers.data", name, str(rows), "flat", "visits"], check=True)
        for query in QUERIES:
            folders = [Path(name) / side for side in ("before", "now")]
            for folder in folders:
                folder.mkdir(exist_ok=True)
                for file in Path(name).glob("*.parquet"):
                    (folder / file.name).exists() or (folder / file.name).symlink_to(file)
            with Runner(sys.executable, "ours", folders[0], query, home=before) as old, Runner(sys.executable, "ours", folders[1], query) as new:  # fmt: skip
                pairs = [
                    [side.do("ask", 1 + number / 1000)["seconds"] for side in (old, new)]
                    for number in range(repeats + 1)
                ]
                plans = [new.do("plan", 2 + number / 1000)["seconds"] for number in range(repeats)]
            ratio = statistics.median(now / then for then, now in pairs[1:])
            medians = [f"{1000 * statistics.median(column):.1f}" for column in zip(*pairs[1:], strict=True)]
            found.append([query, f"{rows:,}", *medians, f"{ratio:.2f}×", f"{1000 * statistics.median(plans):.1f}"])
    return found


def against_plain(repeats: int) -> list[list[str]]:
    """Questions whose yardstick is the same question to DuckDB on the same snapshot file."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        plain = duckdb.connect(str(home / "plain.duckdb"))
        plain.execute(f"CREATE TABLE visits AS SELECT i % {KEYS // 2} AS uid, CAST(hash(i) % {KEYS} AS BIGINT) AS place, CAST(hash(i + 7) % 10000 AS DOUBLE) / 100 AS cost FROM range({2 * KEYS}) t(i)")  # fmt: skip
        plain.execute(f"CREATE TABLE places AS SELECT i AS place, 'kind ' || (i % 50) AS kind FROM range({KEYS}) t(i)")
        for source in ("visits", "places"):
            plain.execute(f"COPY {source} TO '{home / source}.parquet'")
        (home / "discreet.toml").write_text(CATALOG)
        with discreet.open(home / "discreet.toml", create_ledger=True) as curator:
            for label, (ours, theirs, bar) in ASKED.items():
                seconds = []
                for number in range(repeats + 1):
                    start = time.perf_counter()
                    plain.sql(theirs).to_arrow_table()
                    middle = time.perf_counter()
                    answer = curator.ask(ours, epsilon=4 + number / 1000)
                    seconds.append((middle - start, time.perf_counter() - middle))
                    del answer
                ratio = statistics.median(b / a for a, b in seconds[1:])
                medians = [f"{1000 * statistics.median(column):,.0f}" for column in zip(*seconds[1:], strict=True)]
                found.append([label, *medians, f"{ratio:.2f}× (≤ {bar}: {'yes' if ratio <= bar else 'NO'})"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the earlier release")
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--dry-run", action="store_true", help="print the section, write nothing")
    options = parser.parse_args()
    first = table(["question", "rows", "ms before", "ms now", "now / before", "ms of it planning, again"], releases(options.before, options.rows, options.repeats))  # fmt: skip
    second = table(["question", "ms, plain DuckDB", "ms, Discreet", "of plain"], against_plain(options.repeats))
    body = (
        f"{where()} The current query engine against the one before it, whole queries, alternating; and against plain DuckDB on a file with the same "
        f"rows: a join of 2,000,000 visits with a public table of 1,000,000 places, and a GROUP BY with 1,000,000 private keys.\n\n{first}\n\n{second}"
    )
    if options.dry_run:
        print(body)
    else:
        write_section("releases", body)


if __name__ == "__main__":
    main()

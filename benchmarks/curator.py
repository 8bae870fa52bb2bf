"""The curator: Discreet, Qrlew, SmartNoise and OpenDP on the same questions, each against plain DuckDB in one run.

    python -m benchmarks.curator            # 1e6 and 1e7 rows
    python -m benchmarks.curator --largest  # and the flat count on 1e8, Discreet alone

Every system runs in a process of its own, one for each question, so that memory is its own. Plain DuckDB runs in another
and is asked immediately before each repetition; a ratio is the median of the ratios of the repetitions.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.report import table, where, write_section

QUERIES = {
    "Q1": "count by region, one row a person",
    "Q2": "count and sum by region, 10 rows a person",
    "Q2p": "count and sum by region, bounded for each query: 3 regions a person, 10 rows in each",
    "Q4": "people by region: COUNT(DISTINCT uid), 10 rows a person",
}
SYSTEMS = {  # the runner's module, which also names its virtual environment
    "ours": "**Discreet**",
    "plain_file": "plain DuckDB on a file",
    "qrlew": "Qrlew 0.9.27 on DuckDB",
    "smartnoise": "SmartNoise 1.0.10 on SQLite",
    "opendp_polars": "OpenDP 0.16.0 on Polars",
}
BAR_MS = 30  # beyond 1.5 times the plain query
BAR_RATIOS = {("Q2p", 10**6): 20, ("Q2p", 10**7): 35, ("Q4", 10**6): 1, ("Q4", 10**7): 1}  # of the plain query
OWN_PYTHON = {"ours", "plain_file"}
PATIENCE = 60  # seconds: no further repetition after them
LIMIT = 900  # seconds: a step that takes longer is ended
LARGEST = 10**8

HEADER = [
    "rows",
    "system",
    "ms, median",
    "ms, plain DuckDB",
    "of plain",
    "ms beyond 1.5× plain",
    "ms of it planning",
    "s to open",
    "MB peak (plain)",
    "counted",
    "runs",
]
NOTES = (
    "Generated visits (50 regions, n/20 users, skewed), in memory before the clock starts (`s to open`: for Discreet the "
    "snapshot, bounded and clamped; for the others loading). Each time is a whole question: parsing, planning, charging, "
    "reading, noise. `counted` is the sum of the private counts over the true one: what the bounds left, so that "
    "nobody is fast by throwing rows away unseen. Each system bounds in its own way: Discreet, SmartNoise and OpenDP "
    "keep 10 rows of a person, Qrlew scales down people beyond a norm of 10. In Q2p OpenDP keeps only the two first "
    "regions by name (its random choice fails), and Qrlew and SmartNoise offer no such bound. Qrlew rewrites "
    "COUNT(DISTINCT uid) to a count of rows, so Q4 asks it for the distinct pairs. SmartNoise on pandas was slower "
    f"than on SQLite. A system stops after {PATIENCE} s of repetitions. The bars, for Discreet: at most {BAR_MS} ms "
    "beyond 1.5 times the plain query; for Q2p at most 20 and 35 times it; for Q4 no slower than it."
)


class Runner:
    """One system with one question loaded, in its own process."""

    def __init__(self, python: str, module: str, folder: Path, query: str, *, home: Path | None = None) -> None:
        """`home` is another checkout to run instead of this one."""
        sources = "" if home is None else f"{home.absolute() / 'src'}:"
        home = (home or Path(__file__).parent.parent).absolute()
        self._process = subprocess.Popen(
            [python, "-m", f"benchmarks.peers.{module}", str(folder), query],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,  # where an engine short of memory spills
            env={
                **os.environ,
                "PYTHONPATH": f"{sources}{home}:{os.environ.get('PYTHONPATH', '')}",
                "PYTHONWARNINGS": "ignore",
            },
        )
        self.opened = self._reply()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def do(self, action: str, epsilon: float) -> dict:
        self._process.stdin.write(f"{action} {epsilon}\n")
        self._process.stdin.flush()
        return self._reply()

    def _reply(self) -> dict:
        start, timer = time.monotonic(), threading.Timer(LIMIT, self._process.kill)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        if line:
            return json.loads(line)
        late = time.monotonic() - start >= LIMIT
        return {"failed": f"over {LIMIT} s" if late else f"died (code {self._process.wait()})"}


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one system needed for one question, in seconds and bytes."""

    opening: float
    plain: float
    asking: float
    ratio: float
    beyond: float
    plain_peak: int
    peak: int
    counted: float
    runs: int
    planning: float | None


def measure(plain: Runner, system: Runner, *, repeats: int) -> Result | str:
    """Pairs of plain and private runs; a failure is told in a word."""
    if "failed" in system.opened:
        return system.opened["failed"]
    pairs, plans, start = [], [], time.monotonic()
    while len(pairs) <= repeats and (not pairs or time.monotonic() - start < PATIENCE):
        epsilon = 1 + len(pairs) / 1000  # a question asked again would be replayed
        pair = plain.do("ask", epsilon), system.do("ask", epsilon)
        if failed := pair[1].get("failed"):
            return failed
        pairs.append(pair)
        if "plan" in system.opened["actions"]:
            plans.append(system.do("plan", epsilon + 0.0005)["seconds"])
    pairs = pairs[1:] or pairs  # the first warms up
    truth, private = pairs[-1]
    seconds = [(p["seconds"], s["seconds"]) for p, s in pairs]
    return Result(
        opening=system.opened["seconds"],
        plain=statistics.median(p for p, _ in seconds),
        asking=statistics.median(s for _, s in seconds),
        ratio=statistics.median(s / p for p, s in seconds),
        beyond=statistics.median(s - 1.5 * p for p, s in seconds),
        plain_peak=truth["peak"],
        peak=private["peak"],
        counted=sum(row[1] for row in private["rows"]) / sum(row[1] for row in truth["rows"]),
        runs=len(pairs),
        planning=statistics.median(plans) if plans else None,
    )


def python_of(module: str, peers: Path) -> str:
    python = Path(sys.executable) if module in OWN_PYTHON else (peers / module / "bin" / "python").absolute()
    if not python.exists():
        sys.exit(f"There is no virtual environment for {module}. Run: make bench")
    return str(python)


def cells(query: str, module: str, rows: int, result: Result | str) -> list[str]:
    size, name = f"{rows:,}", SYSTEMS[module]
    if isinstance(result, str):
        return [size, name, result, *["–"] * (len(HEADER) - 3)]
    beyond = 1000 * result.beyond
    most = BAR_RATIOS.get((query, rows))
    by_ratio = f" (≤ {most}: {'yes' if result.ratio <= most else 'NO'})" if most and module == "ours" else ""
    by_time = f" (≤ {BAR_MS}: {'yes' if beyond <= BAR_MS else 'NO'})" if not most and module == "ours" else ""
    return [
        size,
        name,
        f"{1000 * result.asking:,.1f}",
        f"{1000 * result.plain:,.1f}",
        f"{result.ratio:,.1f}×{by_ratio}",
        f"{beyond:,.1f}{by_time}",
        f"{1000 * result.planning:.1f}" if result.planning else "–",
        f"{result.opening:,.2f}",
        f"{result.peak / 1e6:,.0f} ({result.plain_peak / 1e6:,.0f})",
        f"{100 * result.counted:.1f} %",
        str(result.runs),
    ]


def compare(
    rows: int, *, queries: list[str], systems: list[str], options: argparse.Namespace
) -> Iterator[tuple[str, str, Result | str]]:
    """Every question to every system, on data of one size."""
    tables = ["flat"] if queries == ["Q1"] else ["flat", "visits"]
    with tempfile.TemporaryDirectory() as name:
        # In a process of its own too: on Linux a child's peak memory starts at its parent's.
        subprocess.run([sys.executable, "-m", "benchmarks.peers.data", name, str(rows), *tables], check=True)
        for query in queries:
            with Runner(sys.executable, "plain", Path(name), query) as plain:
                for module in systems:
                    with Runner(python_of(module, options.peers), module, Path(name), query) as system:
                        yield query, module, measure(plain, system, repeats=options.repeats)


def main() -> None:
    options = arguments()
    found: dict[str, list[list[str]]] = {query: [] for query in QUERIES}
    ours_failed = False
    jobs = [(rows, list(QUERIES), options.systems) for rows in options.rows]
    if options.largest:
        jobs.append((LARGEST, ["Q1"], ["ours"]))
    for rows, queries, systems in jobs:
        for query, module, result in compare(rows, queries=queries, systems=systems, options=options):
            row = cells(query, module, rows, result)
            print(query, *row, sep=" | ", file=sys.stderr)
            found[query].append(row)
            ours_failed |= module == "ours" and isinstance(result, str)
    body = f"{where()} {NOTES}\n\n" + "\n\n".join(
        f"**{query}: {QUERIES[query]}**\n\n{table(HEADER, rows)}" for query, rows in found.items()
    )
    if ours_failed or options.dry_run:
        print(body)
        sys.exit("A query to Discreet failed; the page of results is unchanged." if ours_failed else 0)
    write_section("curator", body)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--largest", action="store_true", help="also the flat count on 1e8 rows, Discreet alone")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers"), help="the folder of virtual environments")
    parser.add_argument("--dry-run", action="store_true", help="print the section, write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()

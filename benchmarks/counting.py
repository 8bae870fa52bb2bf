"""Exact tables of many rows: how long the engine takes to code them and to count every table of at most 20,000 cells, and how much memory.

    python -m benchmarks.counting --data FOLDER           # 1e7 rows
    python -m benchmarks.counting --data FOLDER --large   # and 1e8, which need 3 GB of disk

FOLDER has adult.csv and adult-domain.json. Rows are made of its 14 columns, each drawn by itself: hardly two rows are alike, which is the hardest case.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.making import adult
from benchmarks.report import table, where, write_section
from discreet.catalog import load_catalog
from discreet.engines import DuckEngine
from discreet.sql.coded_rows import plan_rows

MOST_CELLS = 20_000
AT_ONCE = 10**6
BARS = {10**7: (30, 1000), 10**8: (300, 4000)}  # seconds on two cores, megabytes
MEMORY = {10**7: "600MB", 10**8: "3GB"}
"""Of the engine: what does not fit into it is spilled."""


def generate(data: Path, home: Path, rows: int) -> None:
    """People's rows as Parquet, and a catalog in which every row is a person."""
    sizes, real = adult(data)
    names, generator = [f"k{at}" for at in range(len(sizes))], np.random.default_rng(0)
    schema = pa.schema([(name, pa.uint8()) for name in names])
    with pq.ParquetWriter(home / "people.parquet", schema) as writer:
        for begin in range(0, rows, AT_ONCE):
            drawn = [generator.choice(column.astype(np.uint8), min(AT_ONCE, rows - begin)) for column in real.T]
            writer.write_table(pa.table(dict(zip(names, drawn, strict=True))))
    columns = [
        f'columns.{name} = {{ type = "integer", lower = 0, upper = {size - 1} }}'
        for name, size in zip(names, sizes.values(), strict=True)
    ]
    settings = ['path = "people.parquet"', "[engine]", f'memory = "{MEMORY[rows]}"', "seconds = 36000"]
    budget = ["[ledger]", 'path = "ledger.sqlite"', "[budget]", "epsilon = 1", "delta = 1e-9"]
    lines = ["[source]", *settings, *budget, "[tables.people]", 'privacy_unit = "row"', *columns]
    (home / "discreet.toml").write_text("\n".join(lines))


def opened(home: Path) -> DuckEngine:
    return DuckEngine(load_catalog(home / "discreet.toml"), salt="salt")


def count(home: Path, rows: int) -> dict[str, float]:
    """Every table of few enough cells, narrow ones first, as whoever asks for them would."""
    engine = opened(home)
    catalog = load_catalog(home / "discreet.toml")
    bins = {name: column.steps[1] + 1 for name, column in catalog.tables["people"].columns.items()}
    clocks = time.process_time(), time.monotonic()
    planned = plan_rows("people", catalog, engine, bins=bins)
    counted = 0
    with engine.tables(planned.query, cancelled=threading.Event()) as tables:
        coded = time.process_time() - clocks[0]
        for ways in range(len(tables.sizes) + 1):
            for columns in combinations(range(len(tables.sizes)), ways):
                if math.prod(tables.sizes[at] for at in columns) <= MOST_CELLS:
                    assert int(tables.table(columns).sum()) == rows
                    counted += 1
    seconds = {"cpu": time.process_time() - clocks[0], "clock": time.monotonic() - clocks[1], "coded": coded}
    engine.close()
    return {"tables": counted, **seconds}


def step(arguments: argparse.Namespace, name: str, home: Path, rows: int) -> dict[str, float]:
    """One of the above in a process of its own, for the memory that it takes at most."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.counting",
        "--data",
        str(arguments.data),
        "--step",
        name,
        str(home),
        str(rows),
    ]
    outcome = json.loads(subprocess.check_output(command, env={**os.environ, "OMP_NUM_THREADS": "1"}))
    print(rows, name, outcome, file=sys.stderr, flush=True)
    return outcome


def one_step(data: Path, name: str, home: Path, rows: int) -> dict[str, float]:
    begun = time.process_time()
    outcome: dict[str, float] = {}
    if name == "generate":
        generate(data, home, rows)
    elif name == "open":
        opened(home).close()
    else:
        outcome = count(home, rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": time.process_time() - begun, "megabytes": peak, **outcome}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--large", action="store_true", help="1e8 rows as well")
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        name, home, rows = arguments.step
        print(json.dumps(one_step(arguments.data, name, Path(home), int(rows))))
        return
    lines = []
    for rows in [10**7, 10**8] if arguments.large else [10**7]:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            step(arguments, "generate", home, rows)
            opening, counting = step(arguments, "open", home, rows), step(arguments, "count", home, rows)
        lines.append(line(rows, opening, counting))
    write_section("counting", body(lines))


def body(lines: list[list[str]]) -> str:
    header = [
        "rows",
        "CPU s to open",
        "tables",
        "CPU s to code and count",
        "of it coding",
        "CPU s / 2",
        "s on the clock",
        "MB at most",
    ]
    about = (
        f"{where()} Rows of 14 columns with the marginals of Adult, each column drawn by itself, and every table of at most {MOST_CELLS:,} cells over any number of columns, through the engine: the "
        "snapshot is opened (made, the first time), rows are coded once, tables counted. The bars are for two cores. Other work ran on this machine: what counts is CPU time divided by two, beside which stands "
        "what the clock said."
    )
    return about + "\n\n" + table(header, lines)


def line(rows: int, opening: dict[str, float], counting: dict[str, float]) -> list[str]:
    seconds, megabytes = BARS[rows]
    half, peak = counting["cpu"] / 2, counting["megabytes"]
    return [
        f"{rows:,}",
        f"{opening['cpu']:,.0f}",
        f"{counting['tables']:,.0f}",
        f"{counting['cpu']:,.1f}",
        f"{counting['coded']:,.1f}",
        f"{half:,.1f} (≤ {seconds}: {'yes' if half <= seconds else 'NO'})",
        f"{counting['clock']:,.0f}",
        f"{peak:,.0f} (≤ {megabytes:,}: {'yes' if peak <= megabytes else 'NO'})",
    ]


if __name__ == "__main__":
    main()

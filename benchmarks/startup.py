"""How much processor time a command takes from start to end, beside Python that imports DuckDB; the best of several runs."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.report import table, where

_ROWS, _PATIENTS = 200_000, 50_000
_DISCREET = [sys.executable, "-m", "discreet"]
_QUERY = ["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--epsilon"]


def main() -> None:
    """Print a table of processor times in milliseconds. The runs of all commands alternate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _set_up(folder)
        measured = [_measure(folder, epsilon=0.01 + run / 10_000) for run in range(runs)]
    rows = [[command, f"{min(times[command] for times in measured) * 1000:.0f}"] for command in measured[0]]
    print(table(["Command", "Processor time, ms"], rows))
    print(f"\n{where()}")


def _set_up(folder: Path) -> None:
    lines = (f"{row * 7919 % _PATIENTS},{('north', 'south', 'east')[row % 3]},{row % 1000}\n" for row in range(_ROWS))
    (folder / "visits.csv").write_text("patient,ward,cost\n" + "".join(lines))
    options = ["--yes", "--epsilon", "5", "--person", "visits=patient"]
    _processor_time([*_DISCREET, "init", "visits.csv", *options], folder)
    _processor_time([*_DISCREET, "ask", *_QUERY, "0.1"], folder)  # makes the snapshot


def _measure(folder: Path, *, epsilon: float) -> dict[str, float]:
    """Each command once; `ask` pays, because its epsilon was not asked for before."""
    commands = {
        'python -c "import duckdb"': [sys.executable, "-c", "import duckdb"],
        "discreet --help": [*_DISCREET, "--help"],
        "discreet budget": [*_DISCREET, "budget"],
        "discreet explain": [*_DISCREET, "explain", *_QUERY, str(epsilon)],
        "discreet ask": [*_DISCREET, "ask", *_QUERY, str(epsilon)],
    }
    return {name: _processor_time(command, folder) for name, command in commands.items()}


def _processor_time(command: list[str], folder: Path) -> float:
    """Seconds, of the user and of the system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

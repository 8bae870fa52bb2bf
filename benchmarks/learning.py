"""Learning: Adult at three prices beside diffprivlib and DP-EBM, and the speed and memory of passes in the engine.

    python -m benchmarks.learning --data FOLDER [--peers .venv-peers] [--seeds 10] [--rows 1000000]

The folder has adult.csv and adult-domain.json of the project mbi. Splits are 80/20 by seed, the same for all; noise of ours is exact and from the system.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.peers.splits import EPSILONS, LINES, Figures
from benchmarks.report import table, where, write_section
from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.learning import LogisticRegression, Number

ROOT = Path(__file__).parent.parent
SYSTEMS = {
    "ours_learning": "**Discreet**",
    "diffprivlib": "diffprivlib 0.6.6, pure",
    "dp_ebm": "DP-EBM 0.7.8",
}
BARS = {
    "logistic with bins, accuracy": (0.832, 0.856, 0.859),
    "logistic with bins, AUC": (0.880, 0.908, 0.912),
    "naive Bayes, AUC": (0.885, 0.900, 0.900),
    "tree, accuracy": (0.824, 0.842, 0.846),
    "linear, R²": (0.128, 0.184, 0.189),
}
"""What ours should reach at each price."""


CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 100
delta = 1e-6
[tables.people]
privacy_unit = "person"
columns.person = {{ type = "integer" }}
columns.y = {{ type = "boolean" }}
{columns}
"""


def passes(rows: int) -> tuple[float, float, float]:
    """Of a logistic fit of ten passes over twelve columns in the engine: seconds, those of all cores together, and MB that the process grew by."""
    rng = np.random.default_rng(1)
    columns = {f"c{at}": rng.integers(0, 16, rows) for at in range(12)}
    declared = "\n".join(f"columns.{name} = {{ type = 'integer', lower = 0, upper = 15 }}" for name in columns)
    frame = pa.table({"person": np.arange(rows), "y": rng.random(rows) < columns["c0"] / 16, **columns})
    with open_curator(catalog=parse_catalog(CATALOG.format(columns=declared)), frames={"people": frame}) as curator:
        model = LogisticRegression(target="y", features=[Number(name, bins=16) for name in columns])
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        curator.learn(model, "people", epsilon=1)
        seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
        work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, work, (after.ru_maxrss - before.ru_maxrss) / 1024


def apart(rows: int) -> tuple[float, float, float]:
    """The same in a process of its own, so that memory is its own."""
    said = subprocess.check_output([sys.executable, "-m", "benchmarks.learning", "--only-passes", str(rows)])
    seconds, work, grown = json.loads(said)
    return seconds, work, grown


def figures_of(system: str, options: argparse.Namespace) -> Figures:
    """What a system's models are worth, from a process and an environment of its own; nothing where it is not installed."""
    python = options.peers.absolute() / system / "bin" / "python"
    if system == "ours_learning":
        python = Path(sys.executable)
    if not python.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "figures.json"
        command = [str(python), "-W", "ignore", "-m", f"benchmarks.peers.{system}", str(options.data.absolute())]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
        subprocess.run([*command, str(options.seeds), str(target)], check=True, cwd=folder, env=environment)
        figures: Figures = json.loads(target.read_text())
    return figures


def lines_of(system: str, figures: Figures, plain: list[float]) -> list[list[str]]:
    """The lines of a system; inertia is over that without noise, and a bar that is missed is named."""
    lines = []
    for name, raw in figures.items():
        is_inertia = name.endswith("inertia")
        values = [value / least for value, least in zip(raw, plain, strict=True)] if is_inertia else raw
        bars = BARS.get(name, ()) if system == "ours_learning" else ()
        cells = [f"{value:.3f}" if value > -10 else "below −10" for value in values]
        for at, bar in enumerate(bars):
            cells[at] += "" if values[at] >= bar else f" (NOT ≥ {bar})"
        lines.append([SYSTEMS[system], f"{name} over plain" if is_inertia else name, *cells])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers"), help="the folder of virtual environments")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--only-passes", type=int)
    options = parser.parse_args()
    if options.only_passes:
        print(json.dumps(passes(options.only_passes)))
        return
    figures = {system: figures_of(system, options) for system in SYSTEMS}
    seconds = figures["ours_learning"].pop("seconds of a logistic fit")
    plain = figures["ours_learning"].pop("k-means without noise, inertia")
    lines = [line for system in SYSTEMS for line in lines_of(system, figures[system], plain)]
    small, large = apart(options.rows // 10), apart(options.rows)
    body = f"""{where()} {options.seeds} splits of 80/20, the same for all (lines: {LINES} draws of noise on each); δ = 1e-6 for logistic, linear and DP-EBM, the rest is pure. Every system gets the same bounds, classes and values. C is diffprivlib's regularization, 1 its default. A logistic fit of ours takes {np.mean(seconds):.1f} s of processor time on arrays.

{table(["system", "Adult", *(f"ε = {epsilon}" for epsilon in EPSILONS)], lines)}

In DuckDB, ten passes over 12 columns of 16 bins with all else that a fit takes: {options.rows // 10:,} rows in {small[0]:.1f} s ({small[1]:.1f} s of
all cores together), {options.rows:,} in {large[0]:.1f} s ({large[1]:.1f} s). Meanwhile the process grows by {small[2]:.0f} and {large[2]:.0f} MB, the engine's own memory included."""
    write_section("learning", body)


if __name__ == "__main__":
    main()

"""Synthetic data of Adult: Discreet beside dpmm, OpenDP and SmartNoise, and its fit beside mbi's, in one run.

    python -m benchmarks.synthetic_peers --data FOLDER --peers .venv-peers

FOLDER has adult.csv and adult-domain.json as the Apache-2.0 project mbi distributes them. Every system runs in a process and an environment of its own, one
thread, and has 20 minutes of CPU. CPU seconds are of the whole process: imports, compilation, fit, rows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.making import DELTA, EPSILON, RHO, adult
from benchmarks.report import table, where, write_section
from benchmarks.synthetic import mean_error

LIMIT = 20 * 60
"""CPU seconds of a system."""
ROOT = Path(__file__).parent.parent
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "NPROC")
MAKERS = [  # the runner, its method, what the table calls it
    ("ours_synthetic", "aim", "**Discreet**, `aim`"),
    ("ours_synthetic", "mst", "**Discreet**, `mst`"),
    ("dpmm", "MST", "dpmm 0.1.9, MST"),
    ("dpmm", "AIM", "dpmm 0.1.9, AIM"),
    ("opendp_mbi", "MST", "OpenDP 0.16.0, MST"),
    ("opendp_mbi", "AIM", "OpenDP 0.16.0, AIM"),
    ("smartnoise_synth", "MST", "SmartNoise-synth 1.0.8, MST"),
    ("smartnoise_synth", "AIM", "SmartNoise-synth 1.0.8, AIM"),
]
FITS = [
    (
        "ours_synthetic",
        "refit",
        "**Discreet**, as it ships (it prefers independent columns where noise explains the rest)",
    ),
    ("mbi", "1000", "mbi 2.0.0, mirror descent, 1,000 iterations (its default)"),
    ("mbi", "10000", "mbi 2.0.0, mirror descent, 10,000 iterations"),
]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a process needed, and why it failed."""

    cpu: float
    megabytes: float
    failed: str = ""


class Runs:
    """Processes of systems, their files in one folder."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options, self._folder = options, folder

    def target(self, runner: str, method: str, kind: str) -> Path:
        return self._folder / f"{runner}-{method}.{kind}"

    def outcome(self, runner: str, method: str, *, source: Path, kind: str) -> Outcome:
        """What a system needed, as it is known from a run that was broken off, or from running it now."""
        known = self.target(runner, method, "json")
        if not known.exists():
            known.write_text(json.dumps(asdict(self._run(runner, method, source=source, kind=kind))))
        return Outcome(**json.loads(known.read_text()))

    def _run(self, runner: str, method: str, *, source: Path, kind: str) -> Outcome:
        """One system from its start to its end, or to the end of its time."""
        python = self._options.peers.absolute() / runner / "bin" / "python"
        if runner == "ours_synthetic":
            python = Path(sys.executable)
        if not python.exists():
            return Outcome(cpu=0, megabytes=0, failed="not installed")
        command = [str(python), "-W", "ignore", "-m", f"benchmarks.peers.{runner}", str(source), method]
        log = self.target(runner, method, "log")
        with log.open("w") as errors:
            process = subprocess.Popen(
                [*command, str(self.target(runner, method, kind))],
                cwd=self._folder,
                stdout=errors,
                stderr=errors,
                env={**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
            )
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
            begun, timer = time.monotonic(), threading.Timer(self._options.patience, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        is_late = (
            process.returncode == -signal.SIGXCPU or cpu >= LIMIT or time.monotonic() - begun >= self._options.patience
        )
        failed = f"not finished in {cpu:,.0f} CPU s" if is_late else reason(process.returncode, log)
        outcome = Outcome(cpu=cpu, megabytes=usage.ru_maxrss / 1024, failed=failed)
        print(runner, method, outcome, file=sys.stderr, flush=True)
        return outcome


def reason(code: int, log: Path) -> str:
    """Why a process did not end well, in a few words."""
    if code <= 0:
        return f"dies of signal {-code}" if code else ""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if re.search("[a-z]{3}", line)]
    return f"fails: {(lines or ['without a word'])[-1][:120]}".replace("|", "/")


def made(runs: Runs, options: argparse.Namespace) -> list[list[str]]:
    """A line for each system that makes rows."""
    sizes, real = adult(options.data)
    shape = [size + 1 for size in sizes.values()]  # one more: values that were lost

    def line(runner: str, method: str, name: str) -> list[str]:
        outcome = runs.outcome(runner, method, source=options.data.absolute(), kind="npy")
        cost = [f"{outcome.cpu:,.1f}", f"{outcome.megabytes:,.0f}"] if outcome.cpu else ["–", "–"]
        if outcome.failed:
            return [name, outcome.failed, "–", *cost]
        rows = np.load(runs.target(runner, method, "npy"))
        return [name, *(f"{mean_error(rows, real, shape, ways):.4f}" for ways in (3, 2)), *cost]

    chosen = [maker for maker in MAKERS if maker[0] in options.systems]
    with ThreadPoolExecutor(options.at_once) as pool:
        return list(pool.map(lambda maker: line(*maker), chosen))


def fitted(runs: Runs) -> list[list[str]]:
    """A line for each engine that fits a model to what `aim` measured; ours, which is the first, against mbi's, the second."""
    source = runs.target("ours_synthetic", "aim", "measured.npz")
    lines, losses, cpus = [], [], []
    for runner, method, name in FITS:
        outcome = runs.outcome(runner, method, source=source, kind="npz")
        loss = math.nan if outcome.failed else loss_of(runs.target(runner, method, "npz"), source)
        losses.append(loss)
        cpus.append(outcome.cpu)
        lines.append([name, outcome.failed or f"{loss:,.1f}", f"{outcome.cpu:,.1f}", f"{outcome.megabytes:,.0f}"])
    ratio, faster = losses[0] / losses[1], cpus[1] / cpus[0]
    lines[0][1] += f", {ratio:.3f} of mbi's (≤ 1.01: {'yes' if ratio <= 1.01 else 'NO'})"
    lines[0][2] += f", {faster:.1f}× less (≥ 5: {'yes' if faster >= 5 else 'NO'})"
    return lines


def measured_cells(runs: Runs) -> int:
    measured = np.load(runs.target("ours_synthetic", "aim", "measured.npz"))
    return sum(measured[key].size for key in measured if key.startswith("counts-"))


def loss_of(made: Path, measured: Path) -> float:
    tables, noisy = np.load(made), np.load(measured)
    return (
        sum(float(((tables[key] - noisy[f"counts-{key}"]) ** 2 / noisy[f"variance-{key}"]).sum()) for key in tables) / 2
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers"), help="the folder of virtual environments")
    parser.add_argument("--at-once", type=int, default=1, help="how many systems run at the same time")
    parser.add_argument(
        "--patience", type=float, default=3600, help="seconds on the clock after which a system is ended"
    )
    parser.add_argument("--systems", nargs="+", default=sorted({maker[0] for maker in MAKERS}))
    parser.add_argument(
        "--folder",
        type=Path,
        help="where rows and outcomes are kept, and taken from when a run goes on; else they are deleted",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        runs = Runs(options, (options.folder or Path(name)).absolute())
        makers = made(runs, options)
        fits, cells = fitted(runs), measured_cells(runs)
    write_section("synthetic-peers", body(makers, fits, cells, options))


def body(makers: list[list[str]], fits: list[list[str]], cells: int, options: argparse.Namespace) -> str:
    about = (
        f"{where()} Adult as it is (48,842 people, 14 columns), ε = {EPSILON:g}, δ = {DELTA:g} (OpenDP takes ρ = {RHO}); mean L1 distance of shares (0 to 2) between synthetic and real rows "
        "over all 364 3-way and 91 2-way tables. One run of each system, in an environment of its own, on one thread, without bins or preprocessing. CPU seconds are of the whole process: imports, "
        f"compilation, fit and rows. A system has {LIMIT:,} CPU seconds, and {options.patience / 60:g} minutes on the clock; {options.at_once} ran at a time."
    )
    same = (
        "**One fit of the same measurements.** What `aim` measured above, merged codes and variances included, is given to our engine and to mbi's. The loss is half the sum of squared "
        f"differences between the model's tables and the measured ones, each over its variance. There are {cells:,} measured cells, so that of the truth itself the loss would be about {cells / 2:,.0f}: below that, noise is fitted."
    )
    first = table(["system", "3-way", "2-way", "CPU s", "MB"], makers)
    return "\n\n".join([about, first, same, table(["engine", "loss", "CPU s, whole process", "MB"], fits)])


if __name__ == "__main__":
    main()

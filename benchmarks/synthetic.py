"""Synthetic data of Adult: error, CPU time and memory of our methods, beside AIM as it was published, on the same engine and in one run.

    python -m benchmarks.synthetic --data FOLDER

FOLDER has adult.csv and adult-domain.json as the Apache-2.0 project mbi distributes them. Every cell is a process of its own, one at a time, on one thread.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import table, where, write_section
from discreet.accounting import rho_of_epsilon
from discreet.noise import SYSTEM_BITS
from discreet.synthetic.methods.aim import MEASURING, Aim, Rounds
from discreet.synthetic.methods.method_registry import METHODS
from tests.synthetic.memory import InMemory, domain_of

ORDERED = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
DELTA, ROWS_TIMED = 1e-9, 100_000
CASES = [  # method, epsilon, binned, people, the bar for 3-way tables, runs
    ("aim", 1, False, None, 0.157, 5),
    ("aim", 0.1, False, None, 0.315, 5),
    ("aim", 1, False, 1300, None, 5),
    ("independent", 1, False, 1300, None, 5),
    ("aim", 0.1, False, 1300, None, 5),
    ("independent", 0.1, False, 1300, None, 5),
    ("aim", 1, True, None, 0.112, 5),
    ("published", 1, False, None, None, 3),
    ("mst", 1, False, None, None, 3),
    ("independent", 1, False, None, None, 3),
    ("independent", 0.1, False, None, None, 3),
    ("resampled", 1, False, None, None, 3),
    ("published", 1, True, None, None, 3),
    ("aim", 10, False, None, 0.132, 3),
]
NAMES = {"published": "AIM as published, our engine", "resampled": "real rows, drawn with replacement"}


class Published(Aim):
    """Equal shares for one-column tables, nothing merged or smoothed, 16 rounds a column."""

    least_group = 0

    def measure(self, measurer: Any, marginals: Any) -> None:
        share = measurer.budget / Fraction(16 * len(measurer.domain.columns))
        for name in measurer.domain.names:
            measurer.noisy((name,), measurer.noise((name,), share * MEASURING))
        Rounds(measurer, self.weights(measurer.domain, marginals), share, 0).run()


def counts(rows: Any, sizes: list[int], columns: tuple[int, ...]) -> Any:
    shape = [sizes[column] for column in columns]
    codes = np.ravel_multi_index(tuple(rows[:, list(columns)].T), shape)
    return np.bincount(codes, minlength=math.prod(shape)) / len(rows)


def mean_error(rows: Any, real: Any, sizes: list[int], ways: int) -> float:
    sets = combinations(range(len(sizes)), ways)
    return float(np.mean([np.abs(counts(rows, sizes, c) - counts(real, sizes, c)).sum() for c in sets]))


def one_run(folder: Path, case: list[Any]) -> list[float]:
    method, epsilon, is_binned, people, seed = case
    sizes = json.loads((folder / "adult-domain.json").read_text())
    real = np.loadtxt(folder / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64)
    if is_binned:
        for place, (name, size) in enumerate(sizes.items()):
            if size > 42:
                real[:, place] = real[:, place] * 32 // size
                sizes[name] = 32
    generator = np.random.default_rng(seed)
    if people:
        real = real[generator.choice(len(real), people, replace=False)]
    seconds = rows_seconds = 0.0
    if method == "resampled":
        rows = real[generator.integers(0, len(real), len(real))]
    else:
        domain = domain_of(sizes, ordered=() if method == "published" else ORDERED)
        way = Published() if method == "published" else METHODS[method]
        measurer = InMemory(domain, real, rho=rho_of_epsilon(epsilon, delta=DELTA))
        begun = time.process_time()
        way.measure(measurer, dict.fromkeys(combinations(domain.names, 3), 1))
        model = way.model(domain, measurer.measurements)
        seconds = time.process_time() - begun
        rows = model.rows(round(model.total), SYSTEM_BITS)
        begun = time.process_time()
        model.rows(ROWS_TIMED, SYSTEM_BITS)
        rows_seconds = time.process_time() - begun
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    shape = list(sizes.values())
    return [mean_error(rows, real, shape, 2), mean_error(rows, real, shape, 3), seconds, rows_seconds, megabytes]


def measured(folder: Path, case: tuple[Any, ...], runs: int) -> tuple[Any, float]:
    """The means over runs, each in a process of its own."""
    outcomes = []
    for seed in range(runs):
        command = [
            sys.executable,
            "-m",
            "benchmarks.synthetic",
            "--data",
            str(folder),
            "--case",
            json.dumps([*case[:4], seed]),
        ]
        outcomes.append(json.loads(subprocess.check_output(command, env={**os.environ, "OMP_NUM_THREADS": "1"})))
        print(case, seed, outcomes[-1], file=sys.stderr)
    return np.mean(outcomes, axis=0), float(np.std([outcome[1] for outcome in outcomes]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--case")
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(one_run(arguments.data, json.loads(arguments.case))))
        return
    lines = []
    for case in CASES:
        method, epsilon, is_binned, people, bar, runs = case
        mean, deviation = measured(arguments.data, case, runs)
        data = "1,300 random people" if people else "in 32 bins" if is_binned else "as it is"
        lines.append(
            [
                f"{NAMES.get(method, method)}, {data}",
                "" if method == "resampled" else f"{epsilon:g}",
                f"{mean[0]:.4f}",
                f"{mean[1]:.4f}",
                f"{deviation:.4f} ({runs})",
                f"{bar:.3f}" if bar else "",
                *(("", "", "") if method == "resampled" else (f"{mean[2]:.1f}", f"{mean[3]:.2f}", f"{mean[4]:.0f}")),
            ]
        )
    header = [
        "method and data",
        "ε",
        "2-way",
        "3-way",
        "deviation (runs)",
        "bar",
        "fit, CPU s",
        "100,000 rows, CPU s",
        "MB",
    ]
    about = (
        f"Adult (48,842 people, 14 columns), δ = {DELTA:g}, add-remove, exact noise. Mean over several runs of the mean L1 distance of shares (0 to 2) between synthetic and real rows, over "
        f"all 91 2-way and 364 3-way tables; as many rows as the method estimates that there are. The bar is what was to be reached. {where()}"
    )
    write_section("synthetic", about + "\n\n" + table(header, lines))


if __name__ == "__main__":
    main()

"""Noise: numpy (unsafe), Discreet and OpenDP in one run, through their public functions, on a million int64."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp

import discreet
from benchmarks.report import table, where, write_section

COUNT = 10**6
SCALES = (1, 10, 10_000)

dp.enable_features("contrib")
zeros = np.zeros(COUNT, np.int64)
unsafe = np.random.default_rng()


def nanoseconds(run: Callable[[], object], *, repeats: int = 7) -> float:
    """The best of several runs, per sample."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best / COUNT * 1e9


def opendp_noise(make: Callable[..., dp.Measurement], metric: object, scale: float) -> Callable[[], object]:
    measurement = make(dp.vector_domain(dp.atom_domain(T="i64")), metric, scale=float(scale))
    values = zeros.tolist()
    return lambda: measurement(values)


def laplace_row(scale: int) -> list[float]:
    return [
        nanoseconds(lambda: zeros + unsafe.laplace(0, scale, COUNT)),
        nanoseconds(lambda: discreet.laplace(zeros, sensitivity=1, epsilon=1 / scale)),
        nanoseconds(opendp_noise(dp.m.make_laplace, dp.l1_distance(T="i64"), scale), repeats=1),
    ]


def gaussian_row(sigma: int) -> list[float]:
    rho = 1 / (2 * sigma**2)
    return [
        nanoseconds(lambda: zeros + unsafe.normal(0, sigma, COUNT)),
        nanoseconds(lambda: discreet.gaussian(zeros, sensitivity=1, rho=rho)),
        nanoseconds(opendp_noise(dp.m.make_gaussian, dp.l2_distance(T="i64"), sigma), repeats=1),
    ]


def import_seconds(module: str) -> float:
    """The median of nine fresh interpreters, less a bare one."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(9)]
    return sorted(runs)[4]


def main() -> None:
    plain_laplace = nanoseconds(lambda: unsafe.laplace(0, 1, COUNT))
    rows = []
    for name, row, scales, most, least in (
        ("Laplace, scale", laplace_row, SCALES, 3, 100),
        ("Gaussian, sigma", gaussian_row, SCALES, 13, 50),
    ):
        for scale in scales:
            numpy_ns, ours, theirs = row(scale)
            times_numpy, times_opendp = ours / plain_laplace, theirs / ours
            met = "yes" if times_numpy <= most and times_opendp >= least else "NO"
            rows.append(
                [
                    f"{name} {scale:g}",
                    f"{numpy_ns:.1f}",
                    f"{ours:.1f}",
                    f"{theirs:,.0f}",
                    f"{times_numpy:.2f}× (≤ {most})",
                    f"{times_opendp:,.0f}× (≥ {least})",
                    met,
                ]
            )
    header = [
        "ns a sample",
        "numpy (unsafe)",
        "**Discreet**",
        "OpenDP",
        "of numpy's Laplace",
        "faster than OpenDP",
        "met",
    ]
    bare, whole = import_seconds("numpy"), import_seconds("discreet")
    write_section(
        "noise",
        f"{where()} numpy {np.__version__}, OpenDP {dp.__version__ if hasattr(dp, '__version__') else '0.16'}; "
        f"{COUNT:,} int64 through each library's public function, noise added to the values; numpy's bare Laplace, "
        f"the yardstick of the ratios, took {plain_laplace:.1f} ns.\n\n"
        + table(header, rows)
        + f"\n\n`import discreet` takes {1000 * whole:.0f} ms (bar: 300), {whole / bare:.1f}× `import numpy` (bar: 4).",
    )


if __name__ == "__main__":
    main()

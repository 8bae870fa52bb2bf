"""`make soak`: the full counts, on fresh randomness, with the result written to docs/soak.md.

The suite draws a million seeded samples a sampler. Here the samplers draw from the real, unseeded source, a thousand
times as many, and forks are counted in the hundreds. A false alarm of a check is rarer than 1e-9.
"""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import stats

from discreet.noise import RandomBits, bernoulli_exp, discrete_gaussian, discrete_laplace
from tests.checks import FALSE_ALARM, _binned, children_share_no_noise
from tests.laws import Law, exp_of, gaussian_law, laplace_law

PAGE = Path(__file__).parent.parent / "docs" / "soak.md"
SAMPLES = 10**9
BATCH = 10**6
FORKS = 500


def follows(draw: Callable[[int, RandomBits], np.ndarray], law: Law) -> str:
    """Chi-square over all batches together."""
    bits = RandomBits()
    outputs = np.array(sorted(law))
    counts = np.zeros(len(outputs))
    for _ in range(SAMPLES // BATCH):
        samples = np.asarray(draw(BATCH, bits), np.int64)
        inside = np.clip(samples, outputs[0], outputs[-1]) - outputs[0]
        counts += np.bincount(inside, minlength=len(outputs))
    observed, expected = _binned(counts, np.array([float(law[output]) for output in outputs.tolist()]) * SAMPLES)
    p_value = stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(observed) - 1)
    assert p_value > FALSE_ALARM, f"chi-square p = {p_value:.1e}"
    return f"chi-square over {len(observed)} bins, p = {p_value:.3f}"


def forks() -> str:
    for _ in range(FORKS):
        children_share_no_noise(RandomBits)
    return "no word drawn twice"


def main() -> None:
    coin = exp_of(Fraction(-1))
    soaks: list[tuple[str, str, Callable[[], str]]] = [
        (
            f"coin exp(-1), {SAMPLES:,} flips",
            "system",
            lambda: follows(lambda n, b: bernoulli_exp(Fraction(1), n, b), {0: 1 - coin, 1: coin}),
        ),
        *(
            (
                f"discrete Laplace, scale {scale}, {SAMPLES:,} samples",
                "system",
                lambda scale=scale: follows(lambda n, b: discrete_laplace(scale, n, b), laplace_law(scale)),
            )
            for scale in (Fraction(1), Fraction(10), Fraction(22, 7))
        ),
        *(
            (
                f"discrete Gaussian, variance {variance}, {SAMPLES:,} samples",
                "system",
                lambda variance=variance: follows(
                    lambda n, b: discrete_gaussian(variance, n, b), gaussian_law(variance)
                ),
            )
            for variance in (Fraction(1), Fraction(100), Fraction(7, 3))
        ),
        (f"{FORKS} parents with two forked children each", "system", forks),
    ]
    rows, failed = [], False
    for name, seed, run in soaks:
        start = time.monotonic()
        try:
            result = run()
        except AssertionError as error:
            result, failed = f"FAILED: {error}", True
        print(f"{name}: {result} ({time.monotonic() - start:.0f} s)", flush=True)  # noqa: T201
        rows.append(f"| {name} | {seed} | {result} |")
    today = datetime.datetime.now(datetime.UTC).date()
    PAGE.write_text(
        "# Soak\n\nThe full counts, run by `make soak`; the suite runs a small part of them on every change. The seed "
        "`system` means fresh randomness from the operating system.\n\n"
        f"Last run: {today}.\n\n| what, how often | seed | result |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""mbi fed with our measurements: it fits a model to them, and ships nothing that would make measurements of its own."""

from __future__ import annotations

import sys

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)  # as mbi itself advises

import mbi  # noqa: E402 - the precision is set before

if __name__ == "__main__":
    measured, iterations, out = sys.argv[1:]
    saved = np.load(measured)
    rows = float(saved["rows"])
    sizes = {name.removeprefix("alone-"): saved[name].size for name in saved if name.startswith("alone-")}
    names = [name.removeprefix("counts-") for name in saved if name.startswith("counts-")]
    measurements = []
    for name in names:
        precision = 1 / np.sqrt(saved[f"variance-{name}"].ravel())
        noisy = saved[f"counts-{name}"].ravel() * precision
        query = mbi.WeightedQuery(precision)
        measurements.append(mbi.LinearMeasurement(noisy, tuple(name.split()), 1.0, query=query))
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    model = mbi.estimation.MirrorDescent().estimate(domain, measurements, known_total=rows, iters=int(iterations))
    np.savez(out, **{name: np.asarray(model.project(tuple(name.split())).datavector(flatten=False)) for name in names})

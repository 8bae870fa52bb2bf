"""Discreet's local protocols: one by one by name, or the default from the task to the estimate."""

from __future__ import annotations

import statistics
import time

import numpy as np

from benchmarks.peers.reports import REPEATS, Steps, measure, serve
from discreet.local import Task, simulate
from discreet.local.protocols.draws import Draws
from discreet.local.tasks.simulate import codes_of


def steps(cell: dict) -> dict:
    size = cell["size"]
    task = Task.frequency("zipf", domain=range(size), epsilon=cell["epsilon"], protocol=cell["protocol"])
    twin, draws, reports = task.protocol, Draws(), 0
    hashed = cell["protocol"] in ("cms", "hcms")

    def codes(values: np.ndarray) -> np.ndarray:
        """Sketches hash fingerprints: made for every value of the domain each time, and counted."""
        if not hashed:
            return codes_of(task, values)
        return np.array([task.code_of(value) for value in range(size)], np.uint64)[values]

    def encode(values: np.ndarray) -> object:
        return twin.encode(codes(values), draws, slots=np.arange(values.size))

    def aggregate(sent: object) -> object:
        nonlocal reports
        reports = len(sent)
        tally = twin.tally(sent)
        if cell["protocol"] == "olh":  # counted when it is estimated; the peers do so when they aggregate
            return twin.estimate(tally, reports, np.arange(size))
        return tally

    def estimate(tally: object, count: int) -> object:
        if cell["protocol"] == "olh":
            return tally
        return twin.estimate(tally, reports, codes(np.arange(count)))

    return measure(cell, Steps(encode=encode, aggregate=aggregate, estimate=estimate, cached=False))


def default(cell: dict) -> dict:
    """From the specification to the estimate of every value with its variance, through the public function."""
    values = np.load(cell["values"])
    spent, waited = [], []
    for _ in range(REPEATS):
        start, started = time.process_time(), time.perf_counter()
        task = Task.frequency("zipf", domain=range(cell["size"]), epsilon=cell["epsilon"])
        simulate(task, values)
        spent.append(time.process_time() - start)
        waited.append(time.perf_counter() - started)
    return {
        "seconds": statistics.median(spent),
        "waited": statistics.median(waited),
        "protocol": task.spec["protocol"],
        "variance": task.choice().chosen.variance,
    }


if __name__ == "__main__":
    serve({"steps": steps, "default": default})

"""Simulate many people at once: vectorised client and collector, with the same randomizer and the same estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadData
from discreet.local.collector.collector import Collector
from discreet.local.device.client import Sketch
from discreet.local.protocols.draws import Draws
from discreet.local.tasks.task import Task
from discreet.noise import RandomBits

_AT_ONCE = 1 << 20


def simulate(
    task: Task,
    values: Any,
    *,
    bits: RandomBits | None = None,
    on_progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Any:
    """Return the collector's estimate if each of `values` is one person's and is reported once from a device.

    `options` are those of `Collector.estimate`.
    """
    return collect(task, values, bits=bits, on_progress=on_progress).estimate(**options)


def collect(
    task: Task, values: Any, *, bits: RandomBits | None = None, on_progress: Callable[[int], None] | None = None
) -> Collector:
    """Return a collector with one report of each person."""
    draws, collector = Draws(bits), Collector(task)
    for start, codes in _codes(task, values):
        slots = np.arange(start, start + len(codes))
        collector.add_reports(task.protocol.encode(codes, draws, slots=slots))
        if on_progress is not None:
            on_progress(len(codes))
    return collector


def _codes(task: Task, values: Any) -> Iterator[tuple[int, Any]]:
    """Yield the codes of all people, a million at a time."""
    for start in range(0, len(values), _AT_ONCE):
        yield start, codes_of(task, values[start : start + _AT_ONCE])


def codes_of(task: Task, values: Any) -> Any:
    """Return the codes that the randomizer takes, for many values."""
    domain = task.spec["domain"]
    if "lower" in domain:
        return _grid_codes(task, np.asarray(values, np.float64))
    if "length" in domain:
        return [task.code_of(value) for value in values]
    kind = np.uint64 if task.randomizer.code_kind == "anything" else np.int64
    if len({type(value) for value in task.values[:1000]}) > 1:  # an array would convert numbers to texts
        return np.array([task.code_of(value) for value in values], kind)
    given = np.asarray(values)
    if "range" in domain and given.dtype.kind in "iu":
        return _numbered_codes(task, given, domain["range"])
    distinct, positions = np.unique(given, return_inverse=True)
    return np.array([task.code_of(value) for value in distinct.tolist()], kind)[positions.reshape(-1)]


def _numbered_codes(task: Task, given: Any, size: int) -> Any:
    """Return the numbers themselves, or their fingerprints, each computed once."""
    if given.size and (given.min() < 0 or given.max() >= size):
        raise BadData("A value is not in the task's domain.", next_step="Give numbers below the domain's size.")
    numbers = given.astype(np.int64)
    if task.spec["protocol"] not in Sketch.protocols:
        return numbers
    present = np.flatnonzero(np.bincount(numbers, minlength=size))
    codes = np.zeros(size, np.uint64)
    codes[present] = [task.code_of(value) for value in present.tolist()]
    return codes[numbers]


def _grid_codes(task: Task, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return positions on the grid. The client uses exact arithmetic; here it is floats, so ties may differ."""
    if not np.isfinite(values).all():
        raise BadData("A value is not a finite number.", next_step="Leave it out.")
    lower, upper = (float(Fraction(task.spec["domain"][end])) for end in ("lower", "upper"))
    steps = int(task.spec["parameters"]["steps"])
    shares = (np.clip(values, lower, upper) - lower) / (upper - lower)
    return np.floor(shares * steps + 0.5).astype(np.int64)

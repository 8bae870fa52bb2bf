"""What every runner of a local protocol does: encode, aggregate and estimate one cell, timed in CPU seconds.

The cell is a line of JSON on the command line, the reply a line of JSON on stdout. Standard library and numpy only, since
every virtual environment runs it. What would take too long is measured on a slice: the number of people, or of values
to estimate, grows until the slice takes the cell's `seconds`, and the last slice counts.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

REPEATS = 3


@dataclass(frozen=True)
class Steps:
    """One protocol of one library. `estimate` is for the first so many values; a `cached` one prepares all at first."""

    encode: Callable[[np.ndarray], Any]
    aggregate: Callable[[Any], Any]
    estimate: Callable[[Any, int], Any] = lambda _state, _count: None
    cached: bool = True


def timed(run: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = run(*arguments)
    return time.process_time() - start, result


def sliced(run: Callable[[int], Any], size: int, seconds: float) -> tuple[float, int, Any]:
    """CPU seconds for each, on how many, and what came out; the median of several if all of them are quick."""
    count = 1
    while True:
        spent, result = timed(run, count)
        if spent >= seconds or count == size:
            break
        count = min(size, count * max(2, min(32, int(seconds / max(spent, 1e-9)))))
    if spent < seconds:
        spent = statistics.median([spent, *(timed(run, count)[0] for _ in range(repeats(spent, seconds) - 1))])
    return spent / count, count, result


def repeats(spent: float, seconds: float) -> int:
    """As many as fit into a second, from 3 to 25: what takes milliseconds is disturbed by anything."""
    return max(REPEATS, min(25, int(min(seconds, 1.0) / max(spent, 1e-9))))


def measure(cell: dict, steps: Steps) -> dict:
    values = np.load(cell["values"])
    encode, encoded, reports = sliced(lambda count: steps.encode(values[:count]), values.size, cell["seconds"])
    aggregate, aggregated, state = sliced(lambda count: steps.aggregate(reports[:count]), encoded, cell["seconds"])
    if steps.cached:
        first, _ = timed(steps.estimate, state, 1)
        each, estimated, _ = sliced(lambda count: steps.estimate(state, count), cell["size"], cell["seconds"])
        estimate = first + each * cell["size"]
    else:
        runs = [timed(steps.estimate, state, cell["size"])[0]]
        runs += [timed(steps.estimate, state, cell["size"])[0] for _ in range(repeats(runs[0], cell["seconds"]) - 1)]
        estimate, estimated = statistics.median(runs), cell["size"]
    return {
        "encode": encode,
        "aggregate": aggregate,
        "estimate": estimate,
        "whole": estimated == cell["size"] and aggregated == values.size,
    }


def serve(actions: dict[str, Callable[[dict], dict]]) -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not mix with the reply
    cell = json.loads(sys.argv[1])
    reply = actions[cell["action"]](cell)
    reply["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in KiB
    print(json.dumps(reply), file=replies, flush=True)

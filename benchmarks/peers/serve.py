"""What every runner does: prepare one question on one folder of data, then do what each line of stdin says.

A line is an action and an epsilon, "ask 1.001"; the reply is one line of JSON. Standard library only, since every
virtual environment runs it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

REGIONS = [f"r{number:02d}" for number in range(50)]
DELTA = 1e-6

Action = Callable[[float], list]  # epsilon to rows: region, count, sum


def serve(prepare: Callable[[Path, str], dict[str, Action] | None]) -> None:
    """Reply in seconds, rows and peak memory; a failure is a reply too, and the last one."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not mix with the replies

    def reply(**fields: object) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in KiB
        print(json.dumps({**fields, "peak": peak}, default=float), file=replies, flush=True)

    try:
        start = time.perf_counter()
        actions = prepare(Path(sys.argv[1]), sys.argv[2])
        if actions is None:
            reply(failed="not offered")
            return
        reply(seconds=time.perf_counter() - start, actions=list(actions))
        for line in sys.stdin:
            action, epsilon = line.split()
            start = time.perf_counter()
            rows = actions[action](float(epsilon))
            reply(seconds=time.perf_counter() - start, rows=rows)
    except BaseException as error:  # a Rust panic is no Exception
        kind = type(error).__name__
        reply(failed="panics" if kind == "PanicException" else f"fails ({kind})")
        raise

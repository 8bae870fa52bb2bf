"""Processes that use a session and kill themselves at given points.

Run `python -m tests.sessions.dying CATALOG [early ]LABEL/COUNT …`.

Those that die early do while the session is opened, the others after that.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

from discreet.api.opening import open_curator
from discreet.sessions import Between
from tests.support.dying import die_at, one_after_another

EARLY = "early "
OPENED = {"rho": 0.05, "queries": 300, "alarms": 8}
BATCHES = [
    [{"ward": ward, "age": Between(first, first + more)} for first in range(6)] for ward in "ABC" for more in (0, 3)
]


def go(place: Path, label: str, count: int) -> None:
    """Ask batch after batch, and print each answer at once, until the process is killed."""
    with open_curator(place) as curator:
        if label.startswith(EARLY):
            die_at(curator, label.removeprefix(EARLY), count)
        session = curator.as_analyst("alice").session("visits", **OPENED)
        die_at(curator, label.removeprefix(EARLY), count)
        for batch in BATCHES:
            told = [answer.count for answer in session.answer_many(batch)]
            os.write(1, json.dumps(told).encode() + b"\n")


if __name__ == "__main__":
    for died_of in one_after_another(sys.argv[2:], partial(go, Path(sys.argv[1]))):
        os.write(1, f"died of {died_of}\n".encode())

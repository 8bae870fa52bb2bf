"""Processes that ask in a session, and kill themselves where they are told to: `python -m tests.sessions.dying CATALOG [early ]LABEL/COUNT …`.

Those that die early do while the session is opened, the others after that.
"""

import json
import os
import signal
import sys
from pathlib import Path

from discreet.opening import open_curator
from discreet.sessions import Between

OPENED = {"rho": 0.05, "questions": 300, "alarms": 8, "analyst": "alice"}
BATCHES = [
    [{"ward": ward, "age": Between(first, first + more)} for first in range(6)] for ward in "ABC" for more in (0, 3)
]


def go(place: Path, label: str, count: int, *, is_early: bool) -> None:
    """Batch after batch, told as soon as it is answered, as far as one may."""
    passed: list[str] = []

    def on_step(step: str) -> None:
        passed.append(step)
        if passed.count(label) > count:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_curator(place) as curator:
        if is_early:
            curator.ledger._step = on_step
        session = curator.session("visits", **OPENED)
        curator.ledger._step = on_step
        for batch in BATCHES:
            told = [answer.count for answer in session.answer_many(batch)]
            os.write(1, json.dumps(told).encode() + b"\n")


def main() -> None:
    """One child after another; nothing is open in this process, so that they can be forked."""
    place = Path(sys.argv[1])
    for death in sys.argv[2:]:
        label, _, count = death.rpartition("/")
        child = os.fork()
        if not child:
            go(place, label.removeprefix("early "), int(count), is_early=label.startswith("early "))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        os.write(1, f"died of {os.WTERMSIG(status)}\n".encode())


if __name__ == "__main__":
    main()

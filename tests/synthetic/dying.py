"""Processes that make synthetic data, and kill themselves where they are told to: `python -m tests.synthetic.dying CATALOG LABEL/COUNT …`."""

import hashlib
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from discreet.curator import Curator
from discreet.opening import open_curator

CATALOG = """
[source]
path = "."
[ledger]
path = "ledger.sqlite"
[budget]
epsilon = 10
delta = 1e-6
[budget.analysts.alice]
epsilon = 10
delta = 1e-6
[tables.visits]
privacy_unit = "person"
max_rows = 2
columns.person = { type = "integer" }
columns.ward = { type = "text", values = ["A", "B", "C"] }
columns.sex = { type = "text", values = ["F", "M"] }
columns.age = { type = "integer", lower = 0, upper = 9 }
"""
ASKED = {"rho": 0.05, "workload": 2, "name": "visits", "analyst": "alice", "method": "aim"}


def prepared(folder: Path) -> Path:
    """A catalog, a file with 600 people, and books that were begun."""
    rows = ["person,ward,sex,age"]
    rows += [f"{n // 2},{'ABC'[n % 3]},{'FM'[n % 3 % 2]},{(n * 7) % 10}" for n in range(1200)]
    (folder / "visits.csv").write_text("\n".join(rows) + "\n")
    place = folder / "discreet.toml"
    place.write_text(CATALOG)
    open_curator(place, new_books=True).close()
    return place


def synthesize(curator: Curator) -> None:
    """What dies here."""
    curator.synthesize("visits", **ASKED)


def go(place: Path, label: str, count: int, work: Callable[[Curator], object]) -> None:
    """As far as one may."""
    passed: list[str] = []

    def on_step(step: str) -> None:
        passed.append(step)
        if passed.count(label) > count:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_curator(place) as curator:
        curator.ledger._step = on_step
        work(curator)


def stored(place: Path) -> list[str]:
    """The steps that are on disk."""
    with closing(sqlite3.connect(place.parent / "ledger.sqlite")) as books:
        rows = books.execute("SELECT body FROM ledger_steps ORDER BY number").fetchall()
    return [hashlib.sha256(body[16:]).hexdigest() for (body,) in rows]  # behind the salt


def die_one_after_another(place: Path, deaths: Sequence[str], work: Callable[[Curator], object]) -> None:
    """Nothing is open in this process, so that children can be forked."""
    for death in deaths:
        label, _, count = death.rpartition("/")
        child = os.fork()
        if not child:
            go(place, label, int(count), work)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        told = {"signal": os.WTERMSIG(status), "steps": stored(place)}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    die_one_after_another(Path(sys.argv[1]), sys.argv[2:], synthesize)

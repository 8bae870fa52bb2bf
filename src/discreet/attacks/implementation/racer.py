"""A process that queries a shared ledger together with others: `python -m discreet.attacks.implementation.racer`.

It reads lines of JSON with the path of the ledger and the queries. It replies "ready", waits for "go", runs the queries
and writes the replies.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from discreet.api.local import Curator
from discreet.api.opening import open_curator
from discreet.attacks.lab.presence_game import presence_catalog
from discreet.catalog import parse_catalog
from discreet.errors import BudgetExceeded


class Reply(NamedTuple):
    """A request and its answer: a number, or None for a refusal."""

    person: int
    request: str
    answer: float | None


class Race(NamedTuple):
    """The work of one process: each thread sends its own list of requests, one after the other."""

    ledger: str
    people: int
    cap: float
    """The cap of the ledger."""
    price: float
    threads: Sequence[Sequence[tuple[int, str]]]


def open_shared_ledger(race: Race) -> Curator:
    """Open this process's own curator on the shared ledger, as every process of a server does."""
    text = (
        f'[source]\npath = "."\n[ledger]\npath = {json.dumps(race.ledger)}\n'
        f"[budget]\nepsilon = {race.cap!r}\n{presence_catalog(race.people)}"
    )
    return open_curator(frames={"people": _people(race.people)}, catalog=parse_catalog(text), create_ledger=True)


def run_race(curator: Curator, race: Race) -> list[Reply]:
    """Run all threads at the same time."""
    start = threading.Barrier(len(race.threads))

    def ask_all(requests: Sequence[tuple[int, str]]) -> list[Reply]:
        start.wait()
        return [_ask(curator, person, request, race.price) for person, request in requests]

    with ThreadPoolExecutor(len(race.threads)) as pool:
        return [asked for some in pool.map(ask_all, race.threads) for asked in some]


def _ask(curator: Curator, person: int, request: str, price: float) -> Reply:
    try:
        answer = curator.ask(
            f"SELECT COUNT(*) AS n FROM people WHERE id = {person}",
            epsilon=price,
            request_id=request,
        )
    except BudgetExceeded:
        return Reply(person, request, None)
    return Reply(person, request, float(answer.rows[0]["n"]))


def _people(many: int) -> Any:
    import pyarrow as pa  # noqa: PLC0415  heavy; only worlds need it

    return pa.table({"id": np.arange(0, many, 2)})


class Racer:
    """A handle of a racing process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "discreet.attacks.implementation.racer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def prepare(self, race: Race) -> None:
        """Send the work to the process, and wait until its curator is open."""
        self._write_line(json.dumps(race))
        self._read_line()

    def go(self) -> None:
        """Start the race."""
        self._write_line("go")

    def result(self) -> list[Reply]:
        """Return the replies that its threads received."""
        return [Reply(*asked) for asked in json.loads(self._read_line())]

    def close(self) -> None:
        """Close the input of the process, which ends it."""
        self._process.communicate()

    def _write_line(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _read_line(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            raise RuntimeError("A racing process ended early.")
        return line


def main() -> None:
    """Run one race per input line, until the input ends."""
    for line in sys.stdin:
        race = Race(*json.loads(line))
        with open_shared_ledger(race) as curator:
            _print("ready")
            sys.stdin.readline()
            _print(json.dumps(run_race(curator, race)))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

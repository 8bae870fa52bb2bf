"""One of several processes that ask the same curator's books at once: `python -m discreet.attacks.implementation.racer`.

It reads lines of JSON: where the books are, and what to ask. It answers "ready", waits for "go", and answers with what
it heard.
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


class Asked(NamedTuple):
    """A request and what came of it: a number, or None for a refusal."""

    person: int
    request: str
    answer: float | None


class Race(NamedTuple):
    """What one process is to do: every thread asks its own list, one after the other."""

    ledger: str
    people: int
    cap: float
    """The epsilon of the books."""
    price: float
    threads: Sequence[Sequence[tuple[int, str]]]


def open_existing_ledger(race: Race) -> Curator:
    """A curator of its own on the same books, as every process of a server has one."""
    text = (
        f'[source]\npath = "."\n[ledger]\npath = {json.dumps(race.ledger)}\n'
        f"[budget]\nepsilon = {race.cap!r}\n{presence_catalog(race.people)}"
    )
    return open_curator(frames={"people": _people(race.people)}, catalog=parse_catalog(text), create_ledger=True)


def run_race(curator: Curator, race: Race) -> list[Asked]:
    """All threads at once."""
    start = threading.Barrier(len(race.threads))

    def ask_all(requests: Sequence[tuple[int, str]]) -> list[Asked]:
        start.wait()
        return [_ask(curator, person, request, race.price) for person, request in requests]

    with ThreadPoolExecutor(len(race.threads)) as pool:
        return [asked for some in pool.map(ask_all, race.threads) for asked in some]


def _ask(curator: Curator, person: int, request: str, price: float) -> Asked:
    try:
        answer = curator.ask(
            f"SELECT COUNT(*) AS n FROM people WHERE id = {person}",
            epsilon=price,
            request_id=request,
        )
    except BudgetExceeded:
        return Asked(person, request, None)
    return Asked(person, request, float(answer.rows[0]["n"]))


def _people(many: int) -> Any:
    import pyarrow as pa  # noqa: PLC0415  heavy; only worlds need it

    return pa.table({"id": np.arange(0, many, 2)})


class Racer:
    """A process that races when it is told to."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "discreet.attacks.implementation.racer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def prepare(self, race: Race) -> None:
        """Returns when its curator is open."""
        self._say(json.dumps(race))
        self._hear()

    def go(self) -> None:
        """Begin, now."""
        self._say("go")

    def result(self) -> list[Asked]:
        """What its threads heard."""
        return [Asked(*asked) for asked in json.loads(self._hear())]

    def close(self) -> None:
        """It ends when nobody speaks to it any more."""
        self._process.communicate()

    def _say(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _hear(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            raise RuntimeError("A racing process ended early.")
        return line


def main() -> None:
    """Race by race, until there is no other line."""
    for line in sys.stdin:
        race = Race(*json.loads(line))
        with open_existing_ledger(race) as curator:
            _print("ready")
            sys.stdin.readline()
            _print(json.dumps(run_race(curator, race)))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

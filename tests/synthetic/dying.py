"""Processes that make synthetic data, and kill themselves where they are told to: `python -m tests.synthetic.dying CATALOG [--reuse] LABEL/COUNT …`."""

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from discreet.api.local import Curator
from discreet.api.opening import open_curator
from tests.support.dying import die_at, one_after_another

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
REUSE = "--reuse"
ASKED = {"rho": 0.05, "workload": 2, "name": "visits", "method": "aim"}


def prepared(folder: Path) -> Path:
    """A catalog, a file with 600 people, and books that were begun."""
    rows = ["person,ward,sex,age"]
    rows += [f"{n // 2},{'ABC'[n % 3]},{'FM'[n % 3 % 2]},{(n * 7) % 10}" for n in range(1200)]
    (folder / "visits.csv").write_text("\n".join(rows) + "\n")
    place = folder / "discreet.toml"
    place.write_text(CATALOG)
    open_curator(place, create_ledger=True).close()
    return place


def synthesize(curator: Curator, **further: object) -> None:
    """What dies here."""
    curator.as_analyst("alice").synthesize("visits", **ASKED, **further)


def on_disk(place: Path) -> dict[str, Any]:
    """The steps, how many questions are paid for, and how many answered."""
    with closing(sqlite3.connect(place.parent / "ledger.sqlite")) as books:
        rows = books.execute("SELECT body FROM ledger_steps ORDER BY number").fetchall()
        paid = books.execute("SELECT count(*) FROM ledger_paid").fetchone()
        answers = books.execute("SELECT count(answer) FROM ledger_questions").fetchone()
    steps = [hashlib.sha256(body[16:]).hexdigest() for (body,) in rows]  # behind the salt
    return {"steps": steps, "paid": paid[0], "answers": answers[0]}


def die_one_after_another(place: Path, deaths: Sequence[str], work: Callable[[Curator], object]) -> None:
    """Each as far as it may, then told."""

    def go(label: str, count: int) -> None:
        with open_curator(place) as curator:
            die_at(curator, label, count)
            work(curator)

    for died_of in one_after_another(deaths, go):
        os.write(1, json.dumps({"signal": died_of, **on_disk(place)}).encode() + b"\n")


if __name__ == "__main__":
    catalog, *deaths = (each for each in sys.argv[1:] if each != REUSE)
    die_one_after_another(Path(catalog), deaths, partial(synthesize, reuse=REUSE in sys.argv))

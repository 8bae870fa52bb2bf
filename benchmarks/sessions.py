"""Sessions: 100,000 adaptive range conjunctions over Adult in 2**16 cells, and how long a question takes over 2**22.

    python -m benchmarks.sessions --data FOLDER

FOLDER has adult.csv and adult-domain.json as the Apache-2.0 project mbi distributes them. Through the curator, with books on disk.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.report import table, where, write_section
from discreet.accounting import rho_of_epsilon
from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.measurement.measurer import Conjunction
from discreet.measurement.run_budget import count_noise, whole_units
from discreet.mechanisms import Adaptive
from discreet.sessions import Between, Session
from discreet.sessions.count_queries import QueryReader
from discreet.sessions.modes import ROWS
from discreet.sessions.session_hypotheses import Weights
from discreet.sessions.session_progress import Progress
from discreet.sessions.session_terms import terms_for
from tests.sessions.memory import progress_of
from tests.synthetic.memory import domain_of

ADULT = {
    "age": 8,
    "education-num": 8,
    "marital-status": 8,
    "hours-per-week": 8,
    "race": 4,
    "sex": 2,
    "income>50K": 2,
}
LARGE = {"a": 16, "b": 16, "c": 16, "d": 16, "e": 8, "f": 8}
DELTA, QUERIES, AT_ONCE, RUNS = 1e-9, 100_000, 1_000, 3
UPDATES, REPLAYS, FEWER = 32, 3, 10_000
"""Of updates from uniform: without replays 32 and 64 of 4 to 128 alarms gave the least error, with replays 32 did."""
CATALOG = """
[source]
path = "."
[ledger]
path = "ledger.sqlite"
[budget]
epsilon = 20
delta = 1e-6
[tables.people]
privacy_unit = "row"
rows_about = {rows}
"""


def adult(folder: Path) -> Any:
    """Codes of the seven columns, in so many values each."""
    sizes = json.loads((folder / "adult-domain.json").read_text())
    rows = np.loadtxt(folder / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64)
    codes = [rows[:, list(sizes).index(name)] * min(size, sizes[name]) // sizes[name] for name, size in ADULT.items()]
    return np.stack(codes, axis=1)


def generated(rows: int) -> Any:
    """Columns that hang together a little."""
    generator = np.random.default_rng(0)
    base = generator.random(rows)
    mixed = [(base * 0.7 + generator.random(rows) * 0.3) ** (1 + at / 3) for at in range(len(LARGE))]
    return np.stack([(part * size).astype(np.int64) for part, size in zip(mixed, LARGE.values(), strict=True)], axis=1)


def opened(folder: Path, rows: Any, sizes: dict[str, int]) -> Any:
    """A curator over rows of codes. Columns are c0, c1, …"""
    text = CATALOG.format(rows=len(rows))
    for at, size in enumerate(sizes.values()):
        text += f'columns.c{at} = {{ type = "integer", lower = 0, upper = {size - 1} }}\n'
    frame = pa.table({f"c{at}": rows[:, at] for at in range(len(sizes))})
    return open_curator(catalog=parse_catalog(text, base=folder), frames={"people": frame}, create_ledger=True)


class Replayed(Weights):
    """Even weights at first. After each alarm every count that was measured so far is put right, one after another, a few times: more than the
    textbook's one small step, and less than a model that was fitted to tables.
    """

    def __init__(self, domain: Any, rows: float) -> None:
        super().__init__(domain, rows, 0.0)
        self._measured: list[tuple[Any, int]] = []

    def learn(self, query: Any, counted: int) -> None:
        self._measured.append((query, counted))
        for each, count in self._measured * REPLAYS:
            wanted, now = (self._odds(number) for number in (count, self.expected(each)))
            self._rate = abs(math.log(wanted / now))
            super().learn(each, count)

    def _odds(self, count: float) -> float:
        share = min(max(count / self._rows, 1e-6), 1 - 1e-6)
        return share / (1 - share)


class FromUniform:
    """A session that starts from even weights and spends its whole budget on alarms, from which it learns."""

    def begin(self, measurer: Any, budget: Any, queries: int) -> tuple[Any, Any]:
        noise = count_noise(budget, measurer.domain, whole_units(budget.amount * ROWS))
        rows = max(measurer.counted(Conjunction((), ()), noise), 1)
        amount = budget.amount * (1 - ROWS)
        guard = terms_for(budget, measurer.domain, amount=amount, alarms=UPDATES, queries=queries)
        return Replayed(measurer.domain, rows), guard


class InMemory:
    """A session without a ledger."""

    def __init__(self, progress: Progress, domain: Any) -> None:
        self._progress, self._reader = progress, QueryReader(domain)

    @property
    def left(self) -> int:
        return self._progress.left

    def answer_many(self, queries: Any) -> list[Any]:
        counts = [self._reader.conjunction(query, most_cells=2**26) for query in queries]
        self._progress.ask([each for each in dict.fromkeys(counts) if each not in self._progress.answers])
        return [self._progress.answers[count] for count in counts]


class Asker:
    """Asks at random, and narrows or widens what had many rows in few cells: so what is asked hangs on what was answered."""

    def __init__(self, sizes: dict[str, int], seed: int, most_columns: int) -> None:
        self._sizes, self._most = list(sizes.values()), most_columns
        self._generator = np.random.default_rng(seed)
        self._dense: list[tuple[float, dict[int, tuple[int, int]]]] = []

    def batch(self, count: int) -> list[dict[int, tuple[int, int]]]:
        return [self._near() if self._dense and at % 2 else self._any() for at in range(count)]

    def learn(self, queries: list[dict[int, tuple[int, int]]], answers: list[Any]) -> None:
        cells = [math.prod(last - first + 1 for first, last in query.values()) for query in queries]
        told = [(answer.count / size, query) for answer, size, query in zip(answers, cells, queries, strict=True)]
        self._dense = sorted(self._dense + told, key=lambda each: -each[0])[:200]

    def _range(self, column: int) -> tuple[int, int]:
        first, last = sorted(self._generator.integers(0, self._sizes[column], 2).tolist())
        return first, last

    def _any(self) -> dict[int, tuple[int, int]]:
        count = int(self._generator.integers(1, self._most + 1))
        columns = sorted(self._generator.choice(len(self._sizes), count, replace=False).tolist())
        return {column: self._range(column) for column in columns}

    def _near(self) -> dict[int, tuple[int, int]]:
        query = dict(self._dense[int(self._generator.integers(len(self._dense)))][1])
        column = int(self._generator.integers(len(self._sizes)))
        if column in query or len(query) < self._most:
            query[column] = self._range(column)
        return query


def asked(session: Session | InMemory, exact: Any, asker: Asker, count: int) -> tuple[Any, float]:
    """Errors as shares of all rows, and the CPU seconds that questions took; questions that come again are not counted."""
    errors, seconds, known = [], 0.0, session.left
    axes = range(exact.ndim)
    marginals: dict[tuple[int, ...], Any] = {}
    while known - session.left < count:
        queries = asker.batch(min(AT_ONCE, count - (known - session.left)))
        begun = time.process_time()
        answers = session.answer_many(
            {f"c{column}": Between(*ends) for column, ends in query.items()} for query in queries
        )
        seconds += time.process_time() - begun
        for query, answer in zip(queries, answers, strict=True):
            columns = tuple(sorted(query))
            if columns not in marginals:
                marginals[columns] = exact.sum(axis=tuple(axis for axis in axes if axis not in columns))
            box = tuple(slice(query[column][0], query[column][1] + 1) for column in columns)
            errors.append(abs(float(marginals[columns][box].sum()) - answer.count))
        asker.learn(queries, answers)
    return np.array(errors) / exact.sum(), seconds


def histogram(rows: Any, sizes: dict[str, int]) -> Any:
    exact = np.zeros(list(sizes.values()), np.int64)
    np.add.at(exact, tuple(rows.T), 1)
    return exact


def on_adult(folder: Path, seed: int, mode: str, count: int) -> list[float]:
    rows = adult(folder)
    with tempfile.TemporaryDirectory() as place, opened(Path(place), rows, ADULT) as curator:
        begun = time.process_time()
        session = curator.session("people", epsilon=1, delta=DELTA, queries=QUERIES, mode=mode)
        fit = time.process_time() - begun
        errors, seconds = asked(session, histogram(rows, ADULT), Asker(ADULT, seed, 5), count)
        alarms = session.alarms_left
    return [float(errors.mean()), float(errors.max()), fit, 1000 * seconds / count, alarms]


def from_uniform(folder: Path, seed: int, count: int) -> list[float]:
    rows, budget = adult(folder), Adaptive(rho=rho_of_epsilon(1, delta=DELTA))
    domain = domain_of({f"c{at}": size for at, size in enumerate(ADULT.values())})
    progress = progress_of(rows, domain, mode=FromUniform(), budget=budget, queries=QUERIES)
    errors, seconds = asked(InMemory(progress, domain), histogram(rows, ADULT), Asker(ADULT, seed, 5), count)
    return [float(errors.mean()), float(errors.max()), 1000 * seconds / count]


def on_large(count: int) -> list[float]:
    rows = generated(200_000)
    with tempfile.TemporaryDirectory() as place, opened(Path(place), rows, LARGE) as curator:
        session = curator.session("people", epsilon=1, delta=DELTA, queries=QUERIES, workload=2)
        exact = histogram(rows, LARGE)
        asked(session, exact, Asker(LARGE, 0, 6), 2_000)  # its tables are counted once
        errors, seconds = asked(session, exact, Asker(LARGE, 1, 6), count)
    return [float(errors.mean()), float(errors.max()), 1000 * seconds / count]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    runs = [on_adult(folder, seed, "practical", QUERIES) for seed in range(RUNS)]
    print(runs)
    mean, worst = np.mean(runs, axis=0), np.max(runs, axis=0)
    textbook = on_adult(folder, 0, "textbook", 2_000)
    updates = [from_uniform(folder, seed, FEWER) for seed in range(RUNS)]
    print(updates)
    updated, furthest = np.mean(updates, axis=0), np.max(updates, axis=0)
    large = on_large(5_000)
    noise = math.sqrt(QUERIES / (2 * rho_of_epsilon(1, delta=DELTA)))
    people = len(adult(folder))
    gaussian = [noise * math.sqrt(2 / math.pi) / people, noise * math.sqrt(2 * math.log(QUERIES)) / people]
    lines = [
        ["Adult, practical", f"{mean[0]:.5f}", f"{worst[1]:.4f}", ".0008 / .012", f"{mean[3]:.2f}"],
        ["Adult, textbook (2,000 questions)", f"{textbook[0]:.4f}", f"{textbook[1]:.3f}", "", f"{textbook[3]:.2f}"],
        [
            f"Adult, updates from uniform ({FEWER:,} questions)",
            f"{updated[0]:.4f}",
            f"{furthest[1]:.3f}",
            "",
            f"{updated[2]:.2f}",
        ],
        ["Adult, Gaussian noise for each", f"{gaussian[0]:.3f}", f"{gaussian[1]:.2f}", "", ""],
        ["2²² cells, practical", f"{large[0]:.5f}", f"{large[1]:.4f}", "1 ms", f"{large[2]:.2f}"],
    ]
    about = (
        f"ε = 1, δ = {DELTA:g}. Adult (48,842 people) in 2¹⁶ cells: 100,000 different range conjunctions over 1 to 5 of 7 columns, half of them chosen by earlier answers, a thousand at a time, through the curator with its ledger on disk; "
        f"{RUNS} runs, the mean of their means and the largest error of all. Updates from uniform: even weights, {UPDATES} alarms that all of the price pays for, and after each of them every measured count put right {REPLAYS} times; in memory, with the noise of the same 100,000 queries. Gaussian noise for each query is computed. 2²² cells: 200,000 generated people, up to all 6 columns. The fit took {mean[2]:.0f} CPU s and the check failed "
        f"{sum(4 - run[4] for run in runs):.0f} times. {where()}"
    )
    header = ["", "mean error, of all rows", "largest", "bar", "CPU ms per query"]
    write_section("sessions", about + "\n\n" + table(header, lines))


if __name__ == "__main__":
    main()

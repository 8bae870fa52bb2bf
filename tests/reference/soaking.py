"""The full counts of the heart: random questions, statements, texts and crowds, with a line for each piece of work.

Each stops at the first difference, and names the seed and the question that show it.
"""

from __future__ import annotations

import sys
from collections import Counter
from types import TracebackType

from discreet.errors import QueryRefused
from tests.reference.comparing import compare, written
from tests.reference.crowds import crowd
from tests.reference.random_sql import Texts
from tests.reference.test_apart import hold_digests, not_told_apart
from tests.reference.test_large import fixture_queries, hold_together, random_queries
from tests.reference.test_promises import beyond_limits, broken_properties
from tests.reference.test_random_sql_is_read import hold_to_the_interpreter
from tests.reference.test_read_as_duckdb import hold_against_duckdb
from tests.reference.worlds import INTEGER_PEOPLE, parse_catalog
from tests.sql.checking import check_neighbours, planned
from tests.sql.test_fuzz import hold_against_neighbours
from tests.sql.worlds import HAND_MADE, catalog_of, neighbours_of

PIECE = 1_000


def _say(text: str) -> None:
    sys.stdout.write(f"  {text}\n")
    sys.stdout.flush()


def queries(count: int, *, seed: int) -> str:
    """Engine and interpreter give the same integers."""
    for piece in range(count // PIECE):
        found = compare(seed + piece, PIECE, stop=1)
        assert not found, f"{found[0]}\n{written(found[0].query)}"
        _say(f"{(piece + 1) * PIECE:,} of {count:,} questions")
    return "the same integers, every time"


def properties(worlds: int, *, seed: int) -> str:
    """Rows, values, people and digests of random questions are what the algebra says of them, and statements mean what the interpreter computes."""
    for number in range(worlds):
        at = seed + number
        assert not (broken := broken_properties([at], 40)), f"seed {at}: {broken[0]}"
        assert not (broken := beyond_limits([at], 40)), f"seed {at}: {broken[0]}"
        assert not (broken := not_told_apart([at], 40)[0]), f"seed {at}: {broken[0]}"
        hold_digests([at], 250)
        hold_to_the_interpreter(HAND_MADE, at, 100)
        if not (number + 1) % 10:
            _say(f"{number + 1} of {worlds} worlds")
    return "as properties, limits, ids, digests and the interpreter say"


def statements(world: str, count: int, *, seed: int) -> str:
    """No neighbour of a world moves an accepted statement further than it pays for."""
    accepted = 0
    for piece in range(count // PIECE):
        try:
            accepted += hold_against_neighbours(world, statements=PIECE, seed=seed + piece)
        except AssertionError as error:
            message = f"seed {seed + piece}: {error}\n{_statement(error.__traceback__)}"
            raise AssertionError(message) from error
        _say(f"{(piece + 1) * PIECE:,} of {count:,} statements, {accepted:,} accepted")
    return f"{accepted:,} accepted, all paid for"


def odd_statements(count: int, *, seed: int) -> str:
    """The same in the hand-made world, of legal but odd SQL with traps."""
    catalog, accepted = catalog_of(), 0
    engine, neighbours = neighbours_of(HAND_MADE, catalog)
    for number in range(count):
        sql = Texts(seed + number).statement()
        try:
            plan = planned(sql, catalog, engine)
            check_neighbours(plan, engine, neighbours)
            accepted += 1
        except AssertionError as error:
            message = f"seed {seed + number}: {error}\n{sql}"
            raise AssertionError(message) from error
        except QueryRefused:
            pass
        if not (number + 1) % PIECE:
            _say(f"{number + 1:,} of {count:,} odd statements, {accepted:,} accepted")
    for opened in (engine, *neighbours):
        opened.close()
    return f"{accepted:,} accepted, all paid for"


def _statement(trace: TracebackType | None) -> str:
    """The statement that a failed check was about: the last one that a frame calls `sql`."""
    last = ""
    while trace is not None:
        last = trace.tb_frame.f_locals.get("sql", last)
        trace = trace.tb_next
    return last


def texts(count: int, *, seed: int) -> str:
    """Rows of random SELECTs are DuckDB's."""
    outcomes: Counter[str] = Counter()
    for piece in range(count // PIECE):
        start = seed + piece * PIECE
        wrong, seen = hold_against_duckdb(range(start, start + PIECE))
        assert not wrong, wrong[0]
        outcomes.update(seen)
        _say(f"{(piece + 1) * PIECE:,} of {count:,} texts")
    return f"{outcomes['read']:,} read as DuckDB reads them, {count - outcomes['read']:,} refused by name"


def crowds(count: int, *, seed: int) -> str:
    """Halves of thousands of people add up, whatever the order of rows and the number of threads."""
    asked = 0
    for piece in range(count):
        for catalog in (parse_catalog(INTEGER_PEOPLE), catalog_of()):
            made = crowd(catalog, seed + piece)
            random_ones = random_queries(made, seed + piece, 200)
            drawn = fixture_queries(catalog, seed, 1_000) if "remarks" not in catalog.tables else random_ones
            wrong, number = hold_together(made, drawn, seed=seed + piece)
            assert not wrong, f"seed {seed + piece}: {wrong[0]}"
            asked += number
        _say(f"{piece + 1} of {count} crowds, {asked:,} questions")
    return f"{asked:,} questions, all of them the sums of their halves"

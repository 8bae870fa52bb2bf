"""No function takes longer than its record says, on the dearest values that are known: so nobody's rows are dearer than a plan has room for."""

from __future__ import annotations

import itertools
import random
import time

import duckdb
import pytest

from discreet.algebra.expressions import Call, Field, Literal
from discreet.algebra.registry import Function, all_functions
from discreet.algebra.value_properties import LARGEST_INTEGER, Value
from discreet.catalog import Type
from discreet.errors import TooLarge
from discreet.planning.call_sizes import in_call
from tests.algebra.cases import CONSTANTS, B, D, M, N, R, T, facts_of, literal_sql, signatures, sql_of
from tests.algebra.cases import POOLS as NASTY

SLACK = 4
"""Times the declared effort, which has room of its own: machines of tests are busy."""
ROWS, COMBINATIONS = 6_000, 4
MEASURED_LETTERS = 150_000
_STATEMENT = 3e6
"""Nanoseconds of a statement that has no rows."""
DEAR: dict[Type, list[Value]] = {
    N: [3, -7, LARGEST_INTEGER, 2**62, 10**6],
    R: [0.1, 100.0, 2.0**100, 2.0**-100, -7.25],
    D: [*NASTY[D][:2], NASTY[D][8]],
    M: NASTY[M][:3],
    B: [True, False],
    T: ["1" * 18, "Աx"],
}
PATTERNS: list[dict[int, Value]] = [{1: "%a_"}, {1: "%" + "a" * 45 + "_b"}, {1: "%a%a%a%b"}]


def texts(kinds: list[Type], constants: dict[int, Value], letters: str, longest: int) -> list[Value]:
    """Long texts, the second of them nearly half of the first in many places."""
    long = (letters * longest)[: longest - 1] + "b"
    half = (letters * longest)[: longest // 2] + "q"
    seen = itertools.chain([long], itertools.repeat(half))
    return [
        constants[at] if at in constants else next(seen) if kind is T else 100 if kind is N else DEAR[kind][0]
        for at, kind in enumerate(kinds)
    ]


def took(
    engine: duckdb.DuckDBPyConnection, record: Function, kinds: list[Type], values: list[Value], *, fixed: set[int], rows: int
) -> tuple[float, float]:  # fmt: skip
    """Nanoseconds of the processor for so many rows of these values, and as declared."""
    args = tuple(
        Literal(kind, value) if at in fixed else Field(at, facts_of(kind, [value], bounds=False, listed=False))
        for at, (kind, value) in enumerate(zip(kinds, values, strict=True))
    )
    names = [f"c{at}" for at in range(len(kinds))]
    columns = ", ".join(
        f"{literal_sql(kind, value)} AS {name}" for kind, value, name in zip(kinds, values, names, strict=True)
    )
    engine.execute(f"CREATE OR REPLACE TEMP TABLE t AS SELECT {columns} FROM range({rows})")
    begun = time.process_time()
    engine.execute(f"SELECT bit_xor(hash({sql_of(record, args, names)})) FROM t").fetchall()
    return (time.process_time() - begun) * 1e9, rows * in_call(Call(record, args))


def slowest(engine: duckdb.DuckDBPyConnection, record: Function, *, rows: int, combinations: int) -> float:
    """By how much a function takes longer than declared, at worst; the least of two measurements each."""
    worst = 0.0
    for kinds in signatures(record):
        for constants in CONSTANTS.get(record.name, [{}])[:3] + (PATTERNS if record.name in ("like", "ilike") else []):
            pools = [[constants[at]] if at in constants else DEAR[kind] for at, kind in enumerate(kinds)]
            choices = list(itertools.product(*pools))
            drawn = random.Random(1).sample(choices, min(combinations, len(choices)))
            given = [(list(values), rows) for values in drawn]
            if T in kinds:
                given += [
                    (texts(kinds, constants, letters, longest), MEASURED_LETTERS // longest)
                    for letters, longest in (("a", 256), ("aЖ😀ἈZ", 256), ("a", 2000), (" ", 2000))
                ]
            for values, count in given:
                shares = []
                for _ in range(2):
                    try:
                        nanoseconds, declared = took(engine, record, kinds, values, fixed=set(constants), rows=count)
                    except TooLarge:  # a text could become too long
                        break
                    shares.append(nanoseconds / (declared + _STATEMENT / SLACK))
                    if shares[-1] < 1:
                        break
                worst = max(worst, min(shares, default=0.0))
    return worst


@pytest.mark.parametrize("record", list(all_functions()), ids=lambda record: record.name)
def test_no_function_takes_longer_than_its_record_says(record: Function) -> None:
    with duckdb.connect(config={"threads": 1}) as engine:
        assert slowest(engine, record, rows=ROWS, combinations=COMBINATIONS) < SLACK


def test_a_function_that_is_declared_too_cheap_is_found() -> None:
    """The way of LOWER before: 20 µs for a text of one letter."""
    lower = next(record for record in all_functions() if record.name == "lower")
    fields = {name: getattr(lower, name) for name in lower.__dataclass_fields__}
    alphabet = "".join(map(chr, range(0x100, 0x300)))
    slow = Function(**{**fields, "engines": {"duckdb": f"translate({{0}}, '{alphabet}', '{alphabet}')"}})
    with duckdb.connect(config={"threads": 1}) as engine:
        nanoseconds, declared = took(engine, slow, [T], ["Աx"], fixed=set(), rows=ROWS)
    assert nanoseconds > declared

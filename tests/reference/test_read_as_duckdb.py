"""What SQL means to us is what it means to DuckDB: rows read by `discreet.sql`, computed by the interpreter, equal DuckDB's own."""

from pathlib import Path

import pytest

from discreet.errors import DiscreetError
from tests.reference.as_duckdb import WORLDS, difference, read
from tests.reference.random_rows import Selects

STATEMENTS = (Path(__file__).parent / "rows.sql").read_text().splitlines()
COUNT = 250
CODES = {"not-allowed", "unknown-name", "needs-bounds", "too-large", "joins-people"}


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_statement_reads_the_rows_that_duckdb_gives(sql):
    assert [found for seed in range(3) if (found := difference(sql, seed))] == []


def test_random_statements_read_the_rows_that_duckdb_gives_or_are_refused_by_name():
    wrong, outcomes = hold_against_duckdb(range(COUNT))
    assert wrong == []
    assert outcomes.pop("read") > COUNT // 4
    assert set(outcomes) <= CODES


def hold_against_duckdb(seeds):
    """The differences of random statements, and how many were read or refused."""
    wrong, outcomes = [], {}
    for seed in seeds:
        sql = Selects(seed).draw()
        try:
            found = [difference(sql, world % WORLDS) for world in (seed, seed + 1)]
            wrong += [part for part in found if part]
            code = "read"
        except DiscreetError as refusal:
            code = refusal.code
        outcomes[code] = outcomes.get(code, 0) + 1
    return wrong, outcomes


def test_a_text_that_reads_other_rows_is_noticed():
    """The comparison itself: two texts that differ in one row do not read alike."""
    one, _ = read("SELECT person FROM visits", 1)
    other, _ = read("SELECT person FROM visits WHERE visit IS NULL OR visit <> 100", 1)
    assert one != other or not any(row == (("number", 1.0),) for row in one)

"""Random SQL through the reader: refused by name or read; what is read is answered as the interpreter does, and as plain DuckDB does."""

from dataclasses import replace

import duckdb
import pytest

from discreet.algebra.query import ContributionBounds, MeasureKind
from discreet.errors import DiscreetError
from discreet.sql.reader.queries import read_query
from tests.reference.comparing import Bench
from tests.reference.promises import broken_limits, broken_relations
from tests.reference.random_sql import Texts
from tests.reference.worlds import World
from tests.sql.worlds import HAND_MADE, catalog_of, engine_of, random_world

CATALOG = catalog_of()
OTHERWISE = ("EXP(", "LN(", "SQRT(", " / ", "INTERVAL", "DATE_TRUNC", "9223372036854775807", "NOT IN (SELECT")
"""Where DuckDB means something else than docs/reference/sql.md says: infinities, timestamps, wider integers, NULLs of NOT IN."""


class Counts(Texts):
    """Statements that count rows, by a column or in all, so that plain DuckDB can be asked the same."""

    def select(self):
        text, sources, conditions = self.from_clause()
        if self.chance(0.5):
            conditions.append(self.expression("b", sources, 2))
        fields = [field for source in sources for kind in "tid" for field in source.named(kind)]
        keys = [self.pick(fields)] if fields and self.chance(0.4) else []
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        group = f" GROUP BY {keys[0]}" if keys else ""
        return f"SELECT {', '.join([*keys, 'COUNT(*)'])} FROM {text}{where}{group}"


def bench_of(world):
    engine = engine_of(world, CATALOG)
    rows = {name: [tuple(row.values()) for row in frame.to_pylist()] for name, frame in world.frames().items()}
    return Bench(World(CATALOG, rows), engine, salt="fixed")


def readings(texts, engine, count):
    for _ in range(count):
        text = texts.statement()
        try:
            yield text, read_query(text, CATALOG, engine)
        except DiscreetError:
            continue


def hold_to_the_interpreter(world, seed, count):
    """Random statements, answered by the engine as by the interpreter; how many were read."""
    bench, read = bench_of(world), 0
    for text, reading in readings(Texts(seed), bench.engine, count):
        read += 1
        for query in reading.queries:
            assert bench.wrong(query) == [], text
            assert [*broken_relations(bench.oracle, query.rows), *broken_limits(bench.oracle, query)] == [], text
    bench.engine.close()
    return read


@pytest.mark.parametrize("world", [HAND_MADE, random_world(3)])
def test_what_is_read_is_answered_as_the_interpreter_answers_it(world):
    assert hold_to_the_interpreter(world, 17, 80) > 25


def test_a_count_is_what_plain_duckdb_counts():
    """In a world where nothing is cut or clamped; rows of public tables that meet nobody aside, as the notes say."""
    world, compared = random_world(7, tame=True), 0
    bench, plain = bench_of(world), duckdb.connect()
    for name, frame in world.frames().items():
        plain.register(name, frame)
    for text, reading in readings(Counts(23, traps=0.0), bench.engine, 300):
        noted = any("Public rows" in note for note in reading.notes)
        if noted or any(word in text for word in OTHERWISE) or len(reading.queries) != 1:
            continue
        (query,) = reading.queries
        place = [measure.kind for measure in query.measures].index(MeasureKind.ROWS)
        (cells,) = bench.oracle.answer(replace(query, limits=ContributionBounds(rows=10**6)))
        try:
            counted = {tuple(row[:-1]): row[-1] for row in plain.execute(text).fetchall()}
        except duckdb.Error:
            continue
        ours = {key: cell[place] for key, cell in cells.items()}
        assert _declared(query, ours) == _declared(query, counted), text
        compared += 1
    bench.engine.close()
    assert compared > 90


def _declared(query, counts):
    """The groups that an answer may show."""
    shown = [(key, count) for key, count in counts.items() if count or not query.keys]
    return {
        key: count
        for key, count in shown
        if all(
            part is not None if own.values is None else part in own.values
            for own, part in zip(query.keys, key, strict=True)
        )
    }

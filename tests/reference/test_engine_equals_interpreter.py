"""The engine against the interpreter: random questions over random worlds give the same integers, and never fail.

`python -c "from tests.reference.comparing import compare; print(*compare(7, 100_000), sep='\\n')"` is the soak.
"""

from collections import Counter

import pytest

from discreet.algebra.grids import Grid
from discreet.algebra.query import MeasureKind
from discreet.engines import DuckEngine
from tests.reference.comparing import SALT, Bench, compare, differences, from_exact_rows, sizes_of, written
from tests.reference.folds import steps_of
from tests.reference.random_queries import Queries
from tests.reference.snapshot import read_snapshot, snapshot_of, stored_steps
from tests.reference.worlds import random_world

SEEDS, EACH = range(10), 150


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_gives_the_integers_of_the_interpreter(seed):
    assert [str(found) for found in compare(seed, EACH)] == []


@pytest.mark.parametrize("text_people", [False, True])
def test_the_engine_stores_what_the_rules_of_the_snapshot_say(text_people):
    for seed in range(15):
        world = random_world(seed, text_people=text_people, is_listed=seed % 3 == 2)
        engine = DuckEngine(world.catalog, salt=SALT, frames=world.frames())
        expected, stored = snapshot_of(world.catalog, world.rows, salt=SALT), read_snapshot(engine, world.catalog)
        for name in world.catalog.tables:
            for side in ("protected", "public"):
                ours, theirs = getattr(expected, side).get(name), getattr(stored, side).get(name)
                assert (ours, repr(_sorted(ours))) == (theirs, repr(_sorted(theirs))), (seed, name)
        for table in world.catalog.tables.values():
            pairs = [] if table.is_public else stored_steps(engine, table)
            assert all(
                steps_of(value, Grid(column.grid_step, *column.steps)) == steps for value, steps, column in pairs
            )
        engine.close()


def _sorted(rows):
    """By person, so that equal data print alike."""
    return sorted(rows.items()) if isinstance(rows, dict) else rows


def test_all_people_together_are_the_sum_of_each_alone():
    """Asked of the engine only: nobody's rows change what another's add. Distinct values are a union, between the largest and the sum."""
    for seed in range(6):
        world = random_world(500 + seed, people=2, text_people=bool(seed % 2), is_listed=seed % 3 == 2)
        everybody = DuckEngine(world.catalog, salt=SALT, frames=world.frames())
        alone = [DuckEngine(world.catalog, salt=SALT, frames=world.only(person).frames()) for person in world.persons]
        queries = Queries(500 + seed, world.catalog, sizes_of(world))
        for _ in range(25):
            query = queries.draw()
            together = from_exact_rows(everybody.run(query))
            parts = [from_exact_rows(engine.run(query)) for engine in alone]
            assert _not_summed(query, together, parts) == [], written(query)
        for engine in (everybody, *alone):
            engine.close()


def _not_summed(query, together, parts):
    """Cells whose measures are not the sums of the people's own."""
    wrong = []
    for number, cells in enumerate(together):
        own = [part[number] for part in parts]
        if set(cells) != {key for part in own for key in part} | ({()} & set(cells)):
            wrong.append((number, "other groups"))
            continue
        for key, cell in cells.items():
            each = [part[key] for part in own if key in part]
            for place, total in enumerate(cell):
                values = [person[place] for person in each]
                if place < len(query.measures) and query.measures[place].kind is MeasureKind.DISTINCT:
                    fits = max(values, default=0) <= total <= sum(values)
                elif isinstance(total, Counter):
                    fits = total == sum(values, Counter())
                else:
                    fits = total is None or total == sum(values)
                if not fits:
                    wrong.append((number, key, place, total, values))
    return wrong


def test_the_order_of_raw_rows_changes_nothing():
    for seed in range(3):
        world = random_world(700 + seed)
        queries = Queries(700 + seed, world.catalog, sizes_of(world))
        drawn = [queries.draw() for _ in range(30)]
        engines = [
            DuckEngine(frames.catalog, salt=SALT, frames=frames.frames()) for frames in (world, world.shuffled(seed))
        ]
        for query in drawn:
            first, second = (from_exact_rows(engine.run(query)) for engine in engines)
            assert first == second, written(query)
        for engine in engines:
            engine.close()


def test_a_wrong_number_is_found_and_brought_back_to_the_smallest_part():
    """The bench itself: an engine that miscounts one measure is noticed."""
    world = random_world(3)
    bench = Bench(world, None)
    query = Queries(3, world.catalog, sizes_of(world)).draw()
    expected = bench.oracle.answer(query)
    off = [
        {
            key: [*(part + Counter([0]) if isinstance(part, Counter) else part + 1 for part in cell[:-1]), cell[-1]]
            for key, cell in cells.items()
        }
        for cells in expected
    ]
    assert differences(query, expected, expected) == []
    assert all(not cells for cells in expected) or differences(query, expected, off) != []

"""What is to be told apart is: rows of a person by their ids, in the engine; and questions by their digests."""

import random
from dataclasses import fields, is_dataclass, replace
from enum import Enum

import pytest

from discreet.algebra.aggregates import Aggregate, Fold
from discreet.algebra.digest import canonical, query_tree
from discreet.algebra.expressions import Field, Literal
from discreet.algebra.relations import Join, JoinKind, PerPerson, Project, UnionAll, Windowed
from discreet.catalog import Type
from discreet.engines import DuckEngine
from discreet.errors import DiscreetError
from tests.reference.comparing import SALT, relations_in, sizes_of, world_of, written
from tests.reference.interpreter import Interpreter
from tests.reference.mutants.noticing import changed_by_what_is_read, repeated, table
from tests.reference.random_queries import Queries
from tests.reference.snapshot import snapshot_of
from tests.reference.worlds import EXTREMES, random_world

WORLDS, EACH = 5, 20
DIGESTS, VARIANTS = 600, 3
"""Counts of the suite; `make soak` has larger ones."""


def sparse(world, seed, *, share=0.7):
    """The same rows with most values NULL; people stay who they are."""
    rng = random.Random(seed)
    named = {name for name, declared in world.catalog.tables.items() if "person" in declared.columns}
    return replace(
        world,
        rows={
            name: [
                tuple(
                    value if (name in named and not at) or rng.random() > share else None
                    for at, value in enumerate(row)
                )
                for row in rows
            ]
            for name, rows in world.rows.items()
        },
    )


def not_told_apart(seeds, each):
    """Relations of random questions, most of their values NULL, whose owner and ids stand twice; and which kinds of relations there were."""
    found, seen = [], set()
    for seed in seeds:
        world = sparse(world_of(9_000 + seed, seed), seed, share=0.4 + 0.5 * (seed % 2))
        engine = DuckEngine(world.catalog, salt=SALT, frames=world.frames())
        queries = Queries(9_000 + seed, world.catalog, sizes_of(world))
        for _ in range(each):
            for relation in relations_in(queries.draw().rows):
                found += [*repeated(engine, relation), *changed_by_what_is_read(engine, relation)]
                seen.add((type(relation), getattr(relation, "how", None), relation.is_public))
        engine.close()
    return found, seen


def test_owner_and_ids_tell_rows_apart_in_the_engine_where_most_values_are_null():
    found, seen = not_told_apart(range(WORLDS), EACH)
    assert found == []
    assert {(Join, how, False) for how in JoinKind} | {(Windowed, None, False), (UnionAll, None, True)} <= seen


def sides(catalog):
    """Groups of one person by a key that is often NULL, by two, by none, and all rows."""
    visits, events = table(catalog, "visits"), table(catalog, "events")
    yield PerPerson(visits, (visits.field(2),), ())
    yield PerPerson(events, (events.field(1), events.field(2)), ())
    yield PerPerson(visits, (), ())
    yield events


@pytest.mark.parametrize("seed", range(4))
def test_owner_and_ids_tell_the_rows_of_full_joins_apart_where_all_keys_are_null(seed):
    world = sparse(random_world(seed), seed, share=1.0 if seed < 2 else 0.8)
    engine = DuckEngine(world.catalog, salt=SALT, frames=world.frames())
    several = list(sides(world.catalog))
    joins = [Join(a, b, JoinKind.FULL, (), Literal(Type.BOOLEAN, False)) for a in several for b in several]
    texts = [side for side in several if len(side.columns) > 1]
    joins += [
        Join(a, b, JoinKind.FULL, ((a.field(1), b.field(1)),), None) for a in texts for b in texts if _alike(a, b)
    ]
    deeper = [Join(join, several[0], JoinKind.FULL, (), Literal(Type.BOOLEAN, False)) for join in joins[:4]]
    stacks = [UnionAll((several[0], several[0])), UnionAll((joins[0], joins[0]))]
    assert [fault for part in (*joins, *deeper, *stacks) for fault in repeated(engine, part)] == []
    engine.close()


def _alike(a, b):
    return a.columns[1].properties.type is b.columns[1].properties.type


def test_a_public_aggregate_of_which_nothing_is_read_is_one_row():
    """It once was as many rows as were put together: without a column to show, there was nothing to put them together by."""
    world = random_world(1)
    engine = DuckEngine(world.catalog, salt=SALT, frames=world.frames())
    wards = table(world.catalog, "wards")
    together = PerPerson(wards, (), (Aggregate(Fold.ROWS, None),))
    assert len(world.rows["wards"]) > 1
    for relation in (together, Project(together, (Literal(Type.INTEGER, 1),))):
        assert [*repeated(engine, relation), *changed_by_what_is_read(engine, relation)] == []
    engine.close()


# Digests

_KEPT = {"properties", "shape", "table", "person", "unique", "size", "each_once", "function"}
"""What is derived, or public and the same for everybody who asks."""


def changed(node, rng):
    """A tree with one thing in it changed, as its constructors allow; None where nothing came of it."""
    if isinstance(node, Literal):
        return replace(node, value=rng.choice([value for value in (*EXTREMES[node.type], None) if value != node.value]))
    if isinstance(node, Field):
        return None
    if isinstance(node, bool):
        return not node
    if isinstance(node, int):
        return node + rng.choice([-1, 1])
    if isinstance(node, Enum):
        return rng.choice([other for other in type(node) if other is not node])
    if isinstance(node, tuple):
        return _changed_tuple(node, rng)
    if not is_dataclass(node):
        return None
    names = [part.name for part in fields(node) if part.init and part.name not in _KEPT]
    name = rng.choice(names)
    part = changed(getattr(node, name), rng)
    return None if part is None else replace(node, **{name: part})


def _changed_tuple(parts, rng):
    if not parts:
        return None
    at = rng.randrange(len(parts))
    if rng.random() < 0.15:
        return rng.choice([parts[:at] + parts[at + 1 :], (*parts, parts[at]), parts[::-1]])
    part = changed(parts[at], rng)
    return None if part is None else (*parts[:at], part, *parts[at + 1 :])


def variants(query, rng):
    """Questions that differ in one thing."""
    for _ in range(VARIANTS):
        try:
            variant = changed(query, rng)
        except (DiscreetError, ValueError, TypeError, IndexError):  # what cannot be built cannot be asked
            continue
        if variant is not None and variant != query:
            yield variant


def hold_digests(starts, per_world):
    """Random questions of a world for each start, and each beside others that differ from it in one thing; how many these were."""
    varied = 0
    for number, start in enumerate(starts):
        world, rng = world_of(7_000 + start, number), random.Random(start)
        oracle = Interpreter(snapshot_of(world.catalog, world.rows, salt=SALT), salt=SALT)
        drawn, known = Queries(7_000 + start, world.catalog, sizes_of(world)), {}
        for _ in range(per_world):
            query = drawn.draw()
            several = list(variants(query, rng))
            varied += len(several)
            for asked in (query, *several):
                first = known.setdefault(canonical(query_tree(asked)), asked)
                if first != asked:
                    assert oracle.answer(first) == oracle.answer(asked), f"{written(first)}\n{written(asked)}"
    return varied


def test_no_digest_is_shared_by_questions_whose_integers_differ():
    assert hold_digests(range(0, DIGESTS, 100), 100) > DIGESTS

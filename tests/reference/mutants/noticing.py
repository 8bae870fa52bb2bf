"""What notices a mistake: an engine beside the interpreter, neighbours beside the price, promises beside rows, a text beside DuckDB.

Every check gives the faults that it finds: none for the code as it is. Worlds and engines are opened once, unless what is stored is mutated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb
import pytest

from discreet.accounting import Composed
from discreet.algebra.expressions import Expression
from discreet.algebra.grids import Grid
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.relations import Relation, Scan
from discreet.algebra.table_scan import scan
from discreet.catalog import Catalog
from discreet.core.exact import exact
from discreet.engines import DuckEngine
from discreet.engines.exact_rows import ExactRows
from discreet.engines.sqlgen.render import Renderer, ids
from discreet.errors import DiscreetError
from tests.reference import as_duckdb
from tests.reference.comparing import SALT, Bench, written
from tests.reference.folds import steps_of
from tests.reference.interpreter import Interpreter
from tests.reference.promises import broken_expressions, broken_limits, broken_relations
from tests.reference.snapshot import read_snapshot, snapshot_of, stored_steps
from tests.reference.worlds import DATES, INTEGER_PEOPLE, INTEGERS, REALS, TEXTS, World, parse_catalog, random_world
from tests.sql import worlds as small
from tests.sql.checking import check_any_two, check_neighbours, every_key, groups, planned, run
from tests.sql.exactly import without_noise
from tests.support.laws import permute_and_flip_law

Check = Callable[[], Sequence[str]]
Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Mutant:
    """A mistake and what must notice it."""

    name: str
    apply: Callable[[Patch], None]
    check: Check


class Mutants(list[Mutant]):
    """The mistakes of one part of the house."""

    def caught_by(self, check: Check) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
        def registered(apply: Callable[[Patch], None]) -> Callable[[Patch], None]:
            self.append(Mutant(apply.__name__, apply, check))
            return apply

        return registered


# Short names for what questions are made of


def table(catalog: Catalog, name: str, *, most: int | None = None) -> Scan:
    """A table; one that each question bounds has as many rows of a person as count."""
    made = scan(catalog.tables[name], catalog, size=8)
    return made if made.is_public else replace(made, most=most or made.table.max_rows)


ROWS = Measure(kind=MeasureKind.ROWS)
ALL = ContributionBounds(rows=10**6)


def asked(
    rows: Relation, *measures: Measure, keys: Sequence[Expression | Key] = (), limits: ContributionBounds = ALL
) -> Query:
    """A question; keys without values are private."""
    pairs = tuple(key if isinstance(key, Key) else Key(key, None) for key in keys)
    return Query(rows=rows, keys=pairs, measures=measures or (ROWS,), limits=limits, sets=(tuple(range(len(pairs))),))


def total(
    value: Expression, steps: Grid, *, kind: MeasureKind = MeasureKind.TOTAL, centre: int = 0, coarser: int = 0
) -> Measure:
    return Measure(kind=kind, values=(value,), steps=(steps,), centres=(centre,), coarser=coarser)


# Worlds


def extremes() -> World:
    """A person for each of the extreme values, each with one visit; public tables with keys that repeat."""
    catalog = parse_catalog(INTEGER_PEOPLE)
    texts = [text for text in TEXTS if len(text) <= 4]
    rows = []
    for number in range(90):
        person = number + 1
        whole, real, text, day = (pool[number % len(pool)] for pool in (INTEGERS, REALS, texts, DATES))
        age, ok = [0, 1, 2, 5, None][number % 5], [True, False, None][number % 3]
        rows.append((person, number, "ABC"[number % 3], text, real, age, ok, day, whole, real, day))
    people = [(person, "FM"[person % 2], real, person * 1_000) for person, real in enumerate(REALS, start=1)]
    wards = [("A", 1, 0.5, None), ("A", 2, 0.1, None), ("B", 1, None, None), (None, 3, 1.0, None)]
    others: dict[str, list[tuple[Any, ...]]] = {"people": people, "wards": wards}
    return World(catalog, {name: others.get(name, []) for name in catalog.tables} | {"visits": rows})


def crowded() -> World:
    """Three people with as many rows as they can have, in few groups: every limit is reached, and ties are many."""
    catalog = parse_catalog(INTEGER_PEOPLE)
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in catalog.tables}
    day = date(2020, 3, 1)
    for person in (1, 2, 3):
        rows["visits"] += [(person, person, "A" if at else "B", "wxyz"[at], 2.75, 5, at != 1, day, 2**62 + at, 0.5 * at, day) for at in range(4)]  # fmt: skip
        rows["people"].append((person, None if person == 1 else "F", 2.1, 10**6 * person))
        rows["events"] += [(person, "xyzx"[at], 7 - at, None) for at in range(4)]
        rows["notes"] += [(person, f"n{at % 2}", at) for at in range(4)]
    rows["wards"] = [("A", 1, 0.5, None), ("A", 2, 0.1, None), ("B", 1, None, None)]
    return World(catalog, rows)


WORLDS: dict[str, Callable[[], World]] = {
    "extremes": extremes,
    "crowded": crowded,
    "listed": lambda: random_world(4, is_listed=True),
    "text people": lambda: random_world(5, text_people=True),
    **{f"random {seed}": lambda seed=seed: random_world(seed) for seed in range(4)},  # type: ignore[misc]
}
EVERY = tuple(WORLDS)


@cache
def world(name: str) -> World:
    return WORLDS[name]()


@cache
def bench(name: str) -> Bench:
    made = world(name)
    return Bench(made, DuckEngine(made.catalog, salt=SALT, frames=made.frames()))


@cache
def oracle(name: str) -> Interpreter:
    made = world(name)
    return Interpreter(snapshot_of(made.catalog, made.rows, salt=SALT), salt=SALT)


# Engine and interpreter


def answers_as_meant(query_of: Callable[[Catalog], Query], *names: str) -> Check:
    """The engine gives the integers of the interpreter."""

    def check() -> list[str]:
        wrong = []
        for name in names or EVERY:
            query = query_of(world(name).catalog)
            wrong += [f"{name}: {fault}" for fault in bench(name).wrong(query)[:1]]
        return wrong

    return check


def values_as_meant(expression_of: Callable[[Relation], Expression]) -> Check:
    """The values of an expression over the extremes, and which of them are NULL, are those of the interpreter."""

    def query(catalog: Catalog) -> Query:
        rows = table(catalog, "visits")
        value = expression_of(rows)
        return asked(rows, Measure(kind=MeasureKind.PRESENT, values=(value,)), keys=[value, rows.field(0)])

    return answers_as_meant(query, "extremes")


def stores_as_meant(*worlds: Callable[[], World]) -> Check:
    """A snapshot made anew has the rows, ranks, numbers and steps of the rules."""

    def check() -> list[str]:
        return [fault for opened in worlds for fault in _misstored(opened())]

    return check


def _misstored(made: World) -> Iterator[str]:
    engine = DuckEngine(made.catalog, salt=SALT, frames=made.frames())
    expected, stored = snapshot_of(made.catalog, made.rows, salt=SALT), read_snapshot(engine, made.catalog)
    for name, declared in made.catalog.tables.items():
        for side in ("protected", "public"):
            ours, theirs = getattr(expected, side).get(name), getattr(stored, side).get(name)
            if repr(_sorted(ours)) != repr(_sorted(theirs)):
                yield f"other rows of {name}"
        for value, steps, column in [] if declared.is_public else stored_steps(engine, declared):
            if steps_of(value, Grid(column.grid_step, *column.steps)) != steps:
                yield f"other steps of {name}.{column.name}"
    engine.close()


def _sorted(rows: Any) -> Any:
    return sorted(rows.items()) if isinstance(rows, dict) else rows


def tells_rows_apart(relation_of: Callable[[Catalog], Relation], *names: str) -> Check:
    """In the engine, no two rows of a person have the same ids."""

    def check() -> list[str]:
        made = {name: relation_of(world(name).catalog) for name in names or EVERY}
        return [f"{name}: {fault}" for name, part in made.items() for fault in repeated(bench(name).engine, part)]

    return check


def repeated(engine: DuckEngine, relation: Relation) -> list[str]:
    """Owners and ids that two rows share."""
    names = [*([] if relation.is_public else ["o"]), *ids(relation)]
    by = f" GROUP BY {', '.join(names)}" if names else ""
    rows = _selected(engine, relation, names, [*names, "count(*)"], f"{by} HAVING count(*) > 1")
    return [f"{row} in {written(relation)}" for row in rows]


def changed_by_what_is_read(engine: DuckEngine, relation: Relation) -> list[str]:
    """Whether a relation has another number of rows where nothing of it is read."""
    (whole,), (bare,) = (_selected(engine, relation, need, ["count(*)"]) for need in (None, ()))
    return [] if whole == bare else [f"{whole} rows, and {bare} where nothing is read, of {written(relation)}"]


def _selected(
    engine: DuckEngine, relation: Relation, need: Sequence[str] | None, shown: Sequence[str], behind: str = ""
) -> list[tuple[Any, ...]]:
    renderer = Renderer()
    text = renderer.relation(relation, need)
    with engine._public.holding(tuple(renderer.tables.values())), engine._snapshot.connection.cursor() as cursor:
        return cursor.execute(f"SELECT {', '.join(shown)} FROM ({text}){behind}").fetchall()


# Promises


def keeps_its_promises(relation_of: Callable[[Catalog], Relation], *names: str) -> Check:
    """Sizes, ids and properties of a relation hold for the rows that the interpreter computes."""

    def check() -> list[str]:
        made = {name: relation_of(world(name).catalog) for name in names or EVERY}
        return [fault for name, relation in made.items() for fault in broken_relations(oracle(name), relation)]

    return check


def keeps_its_properties(name: str, expression_of: Callable[[Relation], Expression], *names: str) -> Check:
    """The properties of an expression over a table hold for its values."""

    def check() -> list[str]:
        faults: list[str] = []
        for opened in names or EVERY:
            rows = table(world(opened).catalog, name)
            faults += broken_expressions(oracle(opened), rows, expression_of(rows))
        return faults

    return check


def keeps_its_limits(query_of: Callable[[Catalog], Query], *names: str) -> Check:
    """Nobody counts for more than the limits and ends say."""

    def check() -> list[str]:
        made = {name: query_of(world(name).catalog) for name in names or EVERY}
        return [fault for name, query in made.items() for fault in broken_limits(oracle(name), query)]

    return check


# Neighbours and prices


@cache
def _opened(kind: str) -> tuple[Catalog, list[DuckEngine]]:
    """Engines of which any two, or the first and any other, are neighbours."""
    world = small.HAND_MADE
    if kind == "removed":
        catalog = small.catalog_of()
        engine, neighbours = small.neighbours_of(world, catalog)
        return catalog, [engine, *neighbours]
    catalog = small.catalog_of(**(small.LISTED if kind == "listed" else small.REPLACED))
    if kind == "moved":
        return catalog, [small.engine_of(_late_visits(ward), catalog) for ward in "AB"]
    persons = (1, 2, 3, 5) if kind == "listed" else world.persons
    return catalog, [small.engine_of(world.without(person), catalog) for person in persons]


def _late_visits(ward: str) -> small.World:
    """Two wards alike, and one person whose two late visits, in one of them, take the nine tenths from most days to a few."""
    first, late, last = date(2020, 1, 1), date(2021, 12, 21), date(2021, 12, 31)
    days = {(person, own): first if person < 16 else late for person in range(18) for own in "AB"}
    visits = {
        2 * person + (own == "A"): [(person, own, None, None, None, None, day)] for (person, own), day in days.items()
    }
    moved = {100 + (ward == "A"): [(200 + number, ward, None, None, None, None, last) for number in range(2)]}
    return small.World(visits={**visits, **moved}, people={}, events={}, notes={})


def pays_for(sql: str, kind: str = "removed", **details: Any) -> Check:
    """No neighbour moves a question further than it pays for, and it pays what was asked; a refusal is no fault."""

    def check() -> list[str]:
        catalog, engines = _opened(kind)
        try:
            plan = planned(sql, catalog, engines[0], **details)
        except DiscreetError:
            return []
        charged = Composed.of(plan.releases).exact_pure_epsilon
        if charged is not None and charged > details.get("epsilon", 1):
            return [f"charged {charged}"]
        try:
            if kind == "removed":
                check_neighbours(plan, engines[0], engines[1:])
            else:
                check_any_two(plan, engines)
        except AssertionError as fault:
            return [str(fault) or "moves further than it pays for"]
        return []

    return check


def pays_for_winners(sql: str, *, epsilon: int) -> Check:
    """The law of the winners, drawn one after the other, moves by no more than what is charged for them."""

    def check() -> list[str]:
        catalog, engines = _opened("removed")
        plan = planned(sql, catalog, engines[0], mechanism="choose", epsilon=epsilon)
        charged = Composed.of(plan.releases).exact_pure_epsilon
        if charged is None or charged > epsilon:
            return [f"charged {charged}"]
        (query,), ((grouping,),) = plan.queries, plan.grouping_sets
        laws = [_winners(query, grouping.choices, run(plan, engine)[0][0]) for engine in engines]
        paid = float(sum(exact(choice.epsilon) for choice in grouping.choices))
        furthest = max(abs(math.log(laws[0][key] / law[key])) for law in laws for key in law)
        return [f"{furthest} where {paid} is paid"] if furthest > paid + 1e-9 else []

    return check


def _winners(query: Query, choices: Sequence[Any], rows: ExactRows) -> dict[tuple[int, ...], float]:
    """The probability of every sequence of winners."""
    assert query.choose is not None
    by_key = groups(rows)
    scores = [by_key.get(key, (0,) * 9)[query.choose.measure] for key in every_key(query, (0,))]
    law: dict[tuple[int, ...], float] = {(): 1.0}
    for choice in choices:
        longer: dict[tuple[int, ...], float] = {}
        for before, chance in law.items():
            left = [at for at in range(len(scores)) if at not in before]
            drawn = permute_and_flip_law([scores[at] for at in left], choice.rate)
            longer |= {(*before, left[at]): chance * float(part) for at, part in drawn.items()}
        law = longer
    return law


# Texts


def reads_as_duckdb(sql: str) -> Check:
    """The rows of a text are DuckDB's; a refusal is no fault."""

    def check() -> list[str]:
        try:
            return [fault for seed in range(4) if (fault := as_duckdb.difference(sql, seed))]
        except DiscreetError:
            return []

    return check


def answers_as_duckdb(sql: str) -> Check:
    """Without noise, the answer in a world without anything to clamp is DuckDB's; the column is called a."""

    def check() -> list[str]:
        catalog, tame = small.catalog_of(), small.random_world(7, tame=True)
        engine, plain = small.engine_of(tame, catalog), duckdb.connect()
        for name, frame in tame.frames().items():
            plain.register(name, frame)
        plan = planned(sql, catalog, engine)
        ours, theirs = without_noise(plan, run(plan, engine)).rows[0]["a"], plain.execute(sql).fetchall()[0][0]
        engine.close()
        plain.close()
        return [] if math.isclose(ours, theirs, rel_tol=1e-6) else [f"{ours} where DuckDB has {theirs}"]

    return check


def grid(low: int, high: int, step: Fraction | int = 1) -> Grid:
    return Grid(Fraction(step), low, high)


def close() -> None:
    """Let go of whatever was opened."""
    engines = [bench(name).engine for name in EVERY] + [
        engine for kind in ("removed", "replaced", "listed", "moved") for engine in _opened(kind)[1]
    ]
    for engine in itertools.chain(engines):
        engine.close()
    for cached in (world, bench, oracle, _opened):
        cached.cache_clear()

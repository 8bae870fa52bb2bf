"""Small worlds hide plans and ties: on thousands of people, halves add up, and order, threads and memory change nothing."""

import random
from contextlib import ExitStack

import numpy as np
import pytest

from discreet.algebra.aggregates import Aggregate, Fold, Frame, Order, RowFunction, Window
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.relations import Join, JoinKind, PerPerson, Scan, Windowed
from discreet.algebra.table_scan import scan
from discreet.errors import DiscreetError
from tests.reference.comparing import written
from tests.reference.crowds import PEOPLE, answered, crowd, not_summed, opened
from tests.reference.random_queries import Queries
from tests.reference.worlds import INTEGER_PEOPLE, parse_catalog
from tests.sql.checking import planned
from tests.sql.fixtures import accepted
from tests.sql.worlds import catalog_of

RANDOM, FIXTURES = 50, 50
"""Questions of each kind; `make soak` asks all fixtures of ten crowds."""


def hold_together(made, queries_of, *, seed):
    """What differs, of the questions that `questions_of` an engine gives; and how many these are."""
    first = np.random.default_rng(seed).random(PEOPLE) < 0.5
    with ExitStack() as stack:
        alone = stack.enter_context(opened(made, threads=1))
        crowded = stack.enter_context(opened(made.shuffled(seed), threads=8))
        halves = [stack.enter_context(opened(made.only(half), threads=2)) for half in (first, ~first)]
        wrong, count = [], 0
        for query in queries_of(alone):
            count += 1
            together, again = answered(alone, query), answered(crowded, query)
            if together != again:
                wrong.append(f"threads or order: {written(query)}")
            parts = [answered(half, query) for half in halves]
            wrong += [f"{fault}: {written(query)}" for fault in not_summed(query, together, parts)[:1]]
    return wrong, count


def random_queries(made, seed, count):
    drawn = Queries(seed, made.catalog, {name: len(frame) for name, frame in made.frames.items()})
    return lambda _: (drawn.draw() for _ in range(count))


def fixture_queries(catalog, seed, count):
    """Questions of fixtures, in another order for each seed; public tables of another size may refuse some."""
    texts = sorted({sql for _, sql, _ in accepted()})
    random.Random(seed).shuffle(texts)

    def queries(engine):
        for sql in texts[:count]:
            try:
                yield from planned(sql, catalog, engine).queries
            except DiscreetError:
                continue

    return queries


@pytest.mark.slow
def test_halves_of_a_crowd_add_up_whatever_the_order_and_threads():
    made = crowd(parse_catalog(INTEGER_PEOPLE), 1)
    assert hold_together(made, random_queries(made, 1, RANDOM), seed=1) == ([], RANDOM)


@pytest.mark.slow
def test_halves_of_a_crowd_add_up_in_the_questions_of_fixtures():
    made = crowd(catalog_of(), 2)
    wrong, count = hold_together(made, fixture_queries(made.catalog, 2, FIXTURES), seed=2)
    assert wrong == []
    assert count > 30


# More rows than fit the memory


def pairs_of(catalog):
    """Each person's events with each other: about a million rows."""
    made = scan(catalog.tables["events"], catalog)
    events = Scan(made.table, made.person, 14, made.unique, 0)
    return Join(events, events, JoinKind.INNER, (), None)


def cut_pairs(catalog):
    rows = pairs_of(catalog)
    return rows, (rows.field(1), rows.field(6)), ContributionBounds(rows=7)


def windowed_pairs(catalog):
    pairs = pairs_of(catalog)
    order = (Order(pairs.field(2)), Order(pairs.field(5), descending=True))
    running = Aggregate(Fold.SUM, pairs.field(6))
    rows = Windowed(
        pairs,
        (
            Window(RowFunction.ROW_NUMBER, None, 0, (), order, None),
            Window(running, None, 0, (pairs.field(1),), order[:1], Frame(-3, 0)),
        ),
    )
    return rows, (rows.field(9),), ContributionBounds(rows=10**6)


def grouped_pairs(catalog):
    pairs = pairs_of(catalog)
    folds = (Aggregate(Fold.ROWS, None), Aggregate(Fold.DISTINCT, pairs.field(2)))
    rows = PerPerson(pairs, tuple(pairs.field(at) for at in (1, 6, 7)), folds)
    return rows, (rows.field(4), rows.field(5)), ContributionBounds(rows=20, groups=4, rows_per_group=5)


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "memory"), [(cut_pairs, "50MB"), (windowed_pairs, "50MB"), (grouped_pairs, "100MB")])
def test_what_does_not_fit_the_memory_is_the_same(parts, memory, tmp_path):
    made = crowd(parse_catalog(INTEGER_PEOPLE), 1)
    rows, keys, limits = parts(made.catalog)
    query = Query(
        rows=rows, keys=tuple(Key(key, None) for key in keys), measures=(Measure(kind=MeasureKind.ROWS),), limits=limits,
        sets=(tuple(range(len(keys))),),
    )  # fmt: skip
    spilled = tmp_path / "spilled"
    with opened(made, threads=1) as roomy, opened(made, threads=2, spills_to=str(spilled), memory=memory) as narrow:
        assert answered(narrow, query) == answered(roomy, query)
        assert spilled.exists()  # it is made where memory runs out, and nowhere else

"""ValueProperties, sizes and limits that the algebra derives, held against what the interpreter computes; no engine is needed."""

from tests.reference.comparing import SALT, sizes_of, world_of
from tests.reference.interpreter import Interpreter
from tests.reference.promises import broken_expressions, broken_limits, broken_relations
from tests.reference.random_queries import Queries
from tests.reference.snapshot import snapshot_of

WORLDS, EACH = 15, 20
"""Counts of the suite; `make soak` has larger ones."""


def queries(seed, each):
    world = world_of(seed, seed)
    oracle = Interpreter(snapshot_of(world.catalog, world.rows, salt=SALT), salt=SALT)
    drawn = Queries(seed, world.catalog, sizes_of(world))
    return oracle, [drawn.draw() for _ in range(each)]


def broken_properties(seeds, each):
    """Rows and values outside of what is public about them, in random questions."""
    broken = []
    for seed in seeds:
        oracle, drawn = queries(seed, each)
        for query in drawn:
            broken += broken_relations(oracle, query.rows)
            expressions = [key.expression for key in query.keys] + [
                part for measure in query.measures for part in measure.parts
            ]
            broken += [
                wrong for expression in expressions for wrong in broken_expressions(oracle, query.rows, expression)
            ]
    return broken


def beyond_limits(seeds, each):
    """People who count for more than the limits of random questions say."""
    asked = (queries(seed, each) for seed in seeds)
    return [wrong for oracle, drawn in asked for query in drawn for wrong in broken_limits(oracle, query)]


def test_no_row_or_value_is_outside_of_what_is_public_about_it():
    assert broken_properties(range(WORLDS), EACH) == []


def test_nobody_counts_for_more_than_the_limits_say():
    assert beyond_limits(range(1_000, 1_000 + WORLDS), EACH) == []

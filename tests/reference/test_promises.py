"""Facts, sizes and limits that the algebra derives, held against what the interpreter computes; no engine is needed."""

from tests.reference.comparing import SALT, sizes_of, world_of
from tests.reference.interpreter import Interpreter
from tests.reference.promises import broken_expressions, broken_limits, broken_relations
from tests.reference.random_questions import Questions
from tests.reference.snapshot import snapshot_of

WORLDS, EACH = 30, 40


def questions(seed):
    world = world_of(seed, seed)
    oracle = Interpreter(snapshot_of(world.catalog, world.rows, salt=SALT), salt=SALT)
    drawn = Questions(seed, world.catalog, sizes_of(world))
    return oracle, [drawn.draw() for _ in range(EACH)]


def test_no_row_or_value_is_outside_of_what_is_public_about_it():
    broken = []
    for seed in range(WORLDS):
        oracle, drawn = questions(seed)
        for question in drawn:
            broken += broken_relations(oracle, question.rows)
            expressions = [key.expression for key in question.keys] + [
                part for measure in question.measures for part in measure.parts
            ]
            broken += [
                wrong for expression in expressions for wrong in broken_expressions(oracle, question.rows, expression)
            ]
    assert broken == []


def test_nobody_counts_for_more_than_the_limits_say():
    broken = []
    for seed in range(WORLDS):
        oracle, drawn = questions(1_000 + seed)
        broken += [wrong for question in drawn for wrong in broken_limits(oracle, question)]
    assert broken == []

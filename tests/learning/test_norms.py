"""How far one person can move what models look at: brute force over every neighbour, both relations, against what the noise was made for."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.loss import Neighbours
from discreet.engines.tables.residual_sums import Split
from discreet.errors import BadInput
from discreet.measurement.domain import Column, Domain
from discreet.measurement.feature_vectors import IMPURITY, LARGEST_WEIGHT, SCALE, WHOLE, Attribute, Design, impurity
from discreet.mechanisms import Exponential, Gaussian, PermuteAndFlip, PureAdaptive
from tests.support.laws import gaussian_law
from tests.support.memory_tables import measuring

RELATIONS = list(Neighbours)
NUMBERS = (-SCALE, -300, 0, SCALE)
DESIGNS = {
    "cells": Design((Attribute("a", 2), Attribute("b", 3), Attribute("c", 4))),
    "numbers": Design((Attribute("a", 2, (-SCALE, SCALE)), Attribute("c", 4, NUMBERS))),
    "both": Design((Attribute("a", 2), Attribute("b", 3), Attribute("c", 4, NUMBERS))),
}
CELLS = list(itertools.product(range(2), range(3), range(4), range(3)))


def domain_of(labels=3, *, rows=1, relation=Neighbours.ADD_REMOVE):
    columns = [Column(name, tuple(range(size))) for name, size in zip("abcy", (2, 3, 4, labels), strict=True)]
    return Domain(tuple(columns), rows, relation)


def vector(design, row):
    """What a row becomes, written down from the definition."""
    parts = [[SCALE]]
    for attribute in design.attributes:
        code = row["abc".index(attribute.column)]
        own = [SCALE * (code == other) for other in range(attribute.size)]
        parts.append(own if attribute.numbers is None else [attribute.numbers[code]])
    return np.array(list(itertools.chain.from_iterable(parts)), np.int64)


def longest(vectors, relation):
    """The largest square of a difference: to nothing, or of two."""
    whole = np.array(vectors, np.float64)
    squares = (whole**2).sum(axis=1)
    if relation is Neighbours.ADD_REMOVE:
        return squares.max()
    return (squares[:, None] + squares[None, :] - 2 * whole @ whole.T).max()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", DESIGNS)
def test_over_all_neighbours_products_move_by_what_their_noise_is_made_for(name, relation):
    design, domain = DESIGNS[name], domain_of(relation=relation)
    first, second = design.products
    moves = [measuring([row], domain)._exact_products(design)[first, second] for row in CELLS]
    for row, move in zip(CELLS, moves, strict=True):
        x = vector(design, row)
        assert np.array_equal(move, x[first] * x[second])
        whole = design.matrix(move)
        assert np.array_equal(whole, np.outer(x, x))  # what is not measured follows
    far = longest(moves, relation)
    assert far <= design.products_reach(relation)
    if relation is Neighbours.ADD_REMOVE:
        assert far == design.products_reach(relation)


def test_however_numbers_turn_products_against_each_other_replacing_a_row_stays_within_the_norm():
    """Products of numbers can point away from each other, which those of cells cannot: the norm has room for it."""
    rng = np.random.default_rng(23)
    for cells, numbers in [(6, 7), (3, 40), (12, 1), (0, 5), (5, 0)]:
        made = [Attribute(f"c{n}", 1) for n in range(cells)] + [Attribute(f"n{n}", 1, (0,)) for n in range(numbers)]
        design = Design(tuple(made))
        first, second = design.products
        same = np.full((2_000, 1 + cells), SCALE)
        one = np.hstack([same, np.full((2_000, numbers), SCALE)]).astype(float)
        shrunk = -SCALE * rng.random((2_000, 1)) * rng.choice([0.2, 0.6, 1, 1.0], (2_000, numbers))
        other = np.hstack([same, shrunk])
        moved = ((one[:, first] * one[:, second] - other[:, first] * other[:, second]) ** 2).sum(axis=1)
        assert moved.max() <= design.products_reach(Neighbours.REPLACE_ONE)


def passes(design, labels):
    """Weights that reach far, and some that do not."""
    rng = np.random.default_rng(7)
    rows = 1 if labels == 2 else labels
    far = np.zeros((rows, design.width), np.int64)
    far[0, 0] = LARGEST_WEIGHT
    yield far
    yield -far
    for size in (512, 20_000):
        yield rng.integers(-size, size, (rows, design.width))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("name", DESIGNS)
def test_over_all_neighbours_a_pass_moves_by_what_its_noise_is_made_for(name, labels, relation):
    design, domain = DESIGNS[name], domain_of(labels, relation=relation)
    rows = [row for row in CELLS if row[3] < labels]
    far = 0.0
    for weights in passes(design, labels):
        residuals = design.residuals(weights, "y", domain)
        moves = [measuring([row], domain)._exact_gradient(design, residuals).reshape(-1) for row in rows]
        far = max(far, longest(moves, relation))
        assert far <= design.gradient_reach(residuals, relation)
    if relation is Neighbours.ADD_REMOVE:
        assert far == design.gradient_reach(residuals, relation)


def test_the_classes_of_a_pass_are_worth_no_more_than_the_whole():
    design, domain = DESIGNS["both"], domain_of(3)
    for weights in passes(design, 3):
        residuals = design.residuals(weights, "y", domain)
        for row in CELLS:
            moved = measuring([row], domain)._tables.totals(residuals, (0,))[0].sum(axis=1)
            assert -moved.min() <= WHOLE
            assert moved[moved > 0].sum() <= -moved.min()  # shares are rounded down
            assert (moved.astype(float) ** 2).sum() <= 2 * WHOLE**2


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("most", [1, 5])
def test_a_persons_rows_multiply_the_norm(most, relation):
    domain, design = domain_of(2, rows=most, relation=relation), DESIGNS["both"]
    measurer = measuring([], domain)
    noise = measurer.products_noise(design, Fraction(1, 8))
    assert noise.sensitivity**2 >= most**2 * design.products_reach(relation)
    assert math.isclose(float(noise.rho), 1 / 8)
    passing = measurer.gradient_noise(design, "y", 1, Fraction(1, 8))
    assert float(passing.sensitivity) == pytest.approx(
        most * WHOLE * SCALE * 2 * (1 if relation is Neighbours.ADD_REMOVE else 2)
    )
    weaker = [
        Gaussian(sensitivity=each.sensitivity - 1, variance=each.variance, size=each.size) for each in (noise, passing)
    ]
    with pytest.raises(BadInput):
        measurer.products(design, weaker[0])
    with pytest.raises(BadInput):
        measurer.gradient(design, "y", np.zeros((1, design.width), np.int64), weaker[1])


def test_a_vector_with_a_joint_norm_is_as_private_as_its_rho_says():
    """Two numbers that one person moves together, by (3, 4): exact divergences against sensitivity 5."""
    noise = Gaussian.for_rho(sensitivity=5, rho=Fraction(1, 2), size=2)
    laws = {shift: gaussian_law(noise.variance, shift) for shift in (0, 3, 4)}
    for order in (2, 5):
        apart = sum(
            math.log(
                math.fsum(
                    float(p) ** order * float(laws[0].get(z, 0)) ** (1 - order)
                    for z, p in laws[shift].items()
                    if laws[0].get(z, 0)
                )
            )
            / (order - 1)
            for shift in (3, 4)
        )
        assert apart <= order * float(noise.rho) * (1 + 1e-9)
        assert apart >= order * float(noise.rho) * 0.99


# Splits


def splits():
    return [Split(0, (False, True)), *(Split(1, tuple(code == other for code in range(3))) for other in range(3))]


def scores(rows, domain, partition=()):
    return measuring(rows, domain)._split_scores(partition, splits(), "y")


ROWS = [(0, 0, 0, 0), (0, 1, 0, 1), (1, 2, 0, 1), (1, 0, 0, 0), (1, 1, 0, 2), (0, 2, 0, 2)]


@pytest.mark.parametrize("count", [0, 1, 3, 6])
def test_whoever_comes_makes_no_split_purer_and_none_much_less_so(count):
    domain, partition = domain_of(), ((Split(0, (False, True)),),)
    before = scores(ROWS[:count], domain, partition)
    for added in itertools.combinations_with_replacement(ROWS, 2):
        for people in ([added[0]], list(added)):
            moved = [
                new - old for old, new in zip(before, scores([*ROWS[:count], *people], domain, partition), strict=True)
            ]
            assert max(part.max() for part in moved) <= 0
            together = sum(-int(part.min()) for part in moved)
            assert together <= 2 * IMPURITY * len(people)


def test_a_split_of_people_who_are_replaced_moves_no_further_than_its_choice_is_made_for():
    domain = domain_of(relation=Neighbours.REPLACE_ONE)
    partition = ((Split(0, (False, True)),),)
    furthest = 0
    for gone, new in itertools.permutations(ROWS, 2):
        before, after = (scores([*ROWS[:3], row], domain, partition) for row in (gone, new))
        furthest = max(furthest, sum(int(np.abs(a - b).max()) for a, b in zip(before, after, strict=True)))
    assert 0 < furthest <= measuring([], domain)._split_moves


def test_impurity_is_rounded_down_from_the_fraction():
    for counts in itertools.product(range(5), repeat=3):
        total = sum(counts)
        exactly = total - Fraction(sum(count**2 for count in counts), total) if total else Fraction(0)
        assert impurity(np.array(counts)) == math.floor(IMPURITY * exactly)


def test_splits_are_chosen_monotonely_only_where_people_come_and_go():
    for relation, kind, budget in [
        (Neighbours.ADD_REMOVE, PermuteAndFlip, PureAdaptive(epsilon=1)),
        (Neighbours.REPLACE_ONE, PermuteAndFlip, PureAdaptive(epsilon=1)),
        (Neighbours.ADD_REMOVE, Exponential, None),
    ]:
        measurer = measuring(ROWS, domain_of(relation=relation), budget=budget)
        choice = measurer.split_choice(4, Fraction(1, 2))
        assert isinstance(choice, kind)
        assert choice.monotone is (relation is Neighbours.ADD_REMOVE)
        assert len(measurer.splits((), splits(), "y", choice)) == 1
        bolder = kind(sensitivity=choice.sensitivity, epsilon=choice.epsilon, size=4, monotone=True)
        if relation is Neighbours.REPLACE_ONE:
            with pytest.raises(BadInput):
                measurer.splits((), splits(), "y", bolder)


def test_a_level_of_splits_is_paid_for_once_whatever_the_number_of_parts():
    measurer = measuring(ROWS, domain_of(), budget=PureAdaptive(epsilon=1))
    choice = measurer.split_choice(4, Fraction(1, 4))
    first = tuple(measurer.splits((), splits(), "y", choice))
    second = tuple(measurer.splits((first,), splits(), "y", choice))
    assert len(second) == 2
    assert measurer.left == Fraction(1, 2)
    counts = measurer.parts((first, second), "y", measurer.parts_noise(2, "y", Fraction(1, 2)))
    assert counts.shape == (4, 3)
    assert measurer.left == 0


def every_hypothesis(codes):
    """All functions of two columns of two and three codes."""
    cells = codes[:, 0] * 3 + codes[:, 1]
    return (np.arange(64) >> cells[:, None] & 1).astype(bool)


def domain_of_two_classes(relation, rows):
    columns = (Column("a", (0, 1)), Column("b", (0, 1, 2)), Column("y", (0, 1)))
    return Domain(columns, rows, relation)


@pytest.mark.parametrize("rows", [1, 2])
def test_over_all_neighbours_errors_of_every_hypothesis_move_by_what_a_choice_is_made_for(rows):
    cells = list(itertools.product(range(2), range(3), range(2)))
    people = [list(own) for own in itertools.combinations_with_replacement(cells, rows)]
    domain = domain_of_two_classes(Neighbours.ADD_REMOVE, rows)
    others = [cells[0], cells[7], cells[7]]
    errors = np.array([measuring(others + own, domain)._errors(every_hypothesis, 64) for own in people])
    coming = errors - measuring(others, domain)._errors(every_hypothesis, 64)
    assert (coming.min(), coming.max()) == (0, rows)  # all one way: monotone
    replaced = errors[:, None, :] - errors[None, :, :]
    assert (replaced.min(), replaced.max()) == (-rows, rows)
    for relation in RELATIONS:
        measurer = measuring(others, domain_of_two_classes(relation, rows), budget=PureAdaptive(epsilon=1))
        choice = measurer.error_choice(64, Fraction(1))
        assert (choice.sensitivity, choice.monotone) == (rows, relation is Neighbours.ADD_REMOVE)
        assert 0 <= measurer.fewest_errors(every_hypothesis, "y", "all", choice) < 64
        assert measurer.left == 0


def test_a_choice_of_a_hypothesis_that_is_too_bold_is_refused():
    for relation, wrong in (
        (Neighbours.ADD_REMOVE, {"sensitivity": 1, "monotone": True}),
        (Neighbours.REPLACE_ONE, {"sensitivity": 2, "monotone": True}),
    ):
        measurer = measuring([], domain_of_two_classes(relation, 2), budget=PureAdaptive(epsilon=1))
        with pytest.raises(BadInput):
            measurer.fewest_errors(every_hypothesis, "y", "all", Exponential(epsilon=1, size=64, **wrong))
    with pytest.raises(BadInput):
        measurer.fewest_errors(every_hypothesis, "a", "all", measurer.error_choice(64, Fraction(1)))

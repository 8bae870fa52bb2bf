"""Trees, beliefs and fits against the whole joint law, on domains small enough to write it down."""

from itertools import combinations
from math import prod

import numpy as np
import pytest

from discreet.noise import SYSTEM_BITS
from discreet.synthetic.models.beliefs import Beliefs, added_up, calibrated, spread
from discreet.synthetic.models.codings import Coding, merged, without_negatives
from discreet.synthetic.models.fitting import Evidence, Fit
from discreet.synthetic.models.junction_trees import Tree, cells_of, neighbours_of
from discreet.synthetic.models.row_generation import rows_of

SIZES = (2, 3, 4, 2, 3)
EVEN = tuple(np.ones(size) for size in SIZES)
SHAPES = {
    "apart": [(0,), (1,), (2,), (3,), (4,)],
    "chain": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "star": [(0, 2), (1, 2), (2, 3), (2, 4)],
    "ring": [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)],
    "triples": [(0, 1, 2), (1, 3, 4)],
    "two parts": [(0, 3), (1, 2, 4)],
    "one clique": [(0, 1, 2, 3, 4)],
}
SUBSETS = [columns for k in (1, 2, 3, 4, 5) for columns in combinations(range(5), k)]


def joint_of(potentials):
    log = np.zeros(SIZES)
    for columns, potential in potentials.items():
        log += spread(potential, columns, tuple(range(5)))
    joint = np.exp(log - log.max())
    return joint / joint.sum()


def potentials_of(sets, seed=0):
    generator = np.random.default_rng(seed)
    return {columns: generator.normal(0, 2, [SIZES[column] for column in columns]) for columns in sets}


@pytest.mark.parametrize("sets", SHAPES.values(), ids=SHAPES)
def test_a_tree_holds_every_set_and_each_column_in_connected_cliques(sets):
    tree = Tree.of(sets, SIZES)
    assert all(tree.holding(columns) is not None for columns in sets)
    for column in range(5):
        tops = [i for i, clique in enumerate(tree.cliques) if column in clique and column not in tree.separators[i]]
        assert len(tops) == 1  # one place where it comes in: all others are below it without a break
    assert cells_of(neighbours_of(sets, 5), SIZES) == tree.cells(SIZES)
    assert all(tree.parents[i] < i for i in range(len(tree.cliques)))


@pytest.mark.parametrize("sets", SHAPES.values(), ids=SHAPES)
def test_every_table_of_a_model_is_that_of_its_joint_law(sets):
    potentials = potentials_of(sets)
    tree = Tree.of(sets, SIZES)
    beliefs = Beliefs(tree, SIZES, calibrated(tree, SIZES, potentials.items()))
    joint = joint_of(potentials)
    for columns in SUBSETS:
        np.testing.assert_allclose(beliefs.table(columns), added_up(joint, tuple(range(5)), columns), atol=1e-12)


def test_potentials_far_apart_neither_overflow_nor_vanish():
    tree = Tree.of([(0, 1), (1, 2)], SIZES)
    potentials = {(0, 1): np.full((2, 3), 5000.0), (1, 2): np.full((3, 4), -5000.0)}
    potentials[(0, 1)][0, 0] = 5600.0
    for share in calibrated(tree, SIZES, potentials.items()):
        assert np.isfinite(share).all()
        assert share.sum() == pytest.approx(1)


@pytest.mark.parametrize("sets", SHAPES.values(), ids=SHAPES)
def test_a_fit_solves_the_equations_of_its_optimum(sets):
    generator = np.random.default_rng(1)
    fit = Fit(EVEN, 1000.0, prior=0.05)
    for columns in [*sets, (0,)]:
        shape = [SIZES[column] for column in columns]
        counts = generator.uniform(-30, 2000 / prod(shape), shape)
        fit.add(Evidence(columns, counts, np.full(shape, 400.0)))
    beliefs = fit.solved(gap=1e-12, most=2000)
    for columns, evidence in fit.evidence.items():
        left = (evidence.counts - 1000 * beliefs.table(columns)) / (0.05 * evidence.variance)
        np.testing.assert_allclose(fit.potentials[columns], left, atol=1e-4)


def test_a_fit_of_exact_tables_of_a_model_gives_the_model():
    truth = joint_of(potentials_of(SHAPES["chain"], seed=2))
    fit = Fit(EVEN, 1e6, prior=1e-6)
    for columns in SHAPES["chain"]:
        counts = 1e6 * added_up(truth, tuple(range(5)), columns)
        fit.add(Evidence(columns, counts, np.ones_like(counts)))
    beliefs = fit.solved(gap=1e-6, most=500)
    np.testing.assert_allclose(beliefs.table((0, 4)), added_up(truth, tuple(range(5)), (0, 4)), atol=1e-4)


def test_two_measurements_of_a_table_count_by_their_precision():
    fit = Fit((np.ones(2),), 100.0)
    fit.add(Evidence((0,), np.array([20.0, 80.0]), np.array([1.0, 1.0])))
    fit.add(Evidence((0,), np.array([50.0, 50.0]), np.array([3.0, 3.0])))
    np.testing.assert_allclose(fit.evidence[(0,)].counts, [27.5, 72.5])
    np.testing.assert_allclose(fit.evidence[(0,)].variance, [0.75, 0.75])


@pytest.mark.parametrize("sets", SHAPES.values(), ids=SHAPES)
def test_rows_come_as_near_to_every_clique_as_whole_rows_can(sets):
    tree = Tree.of(sets, SIZES)
    beliefs = Beliefs(tree, SIZES, calibrated(tree, SIZES, potentials_of(sets).items()))
    codings = [Coding.of(np.arange(size), np.ones(size)) for size in SIZES]
    count = 5000
    rows = rows_of(beliefs, codings, count, SYSTEM_BITS)
    assert rows.shape == (count, 5)
    for columns in SUBSETS:
        shape = [SIZES[column] for column in columns]
        codes = np.ravel_multi_index(tuple(rows[:, list(columns)].T), shape)
        off = np.abs(np.bincount(codes, minlength=prod(shape)).reshape(shape) - count * beliefs.table(columns))
        assert off.max() < (15 if tree.holding(columns) is not None else 60)  # independent draws: up to 120


def test_a_code_without_share_is_never_drawn_and_a_code_stays_in_its_group():
    coding = Coding.of(np.array([0, 0, 1, 1, 2]), np.array([3.0, 0.0, 0.0, 0.0, 1.0]))
    beliefs = Beliefs(Tree.of([(0,)], (3,)), (3,), [np.array([0.5, 0.5, 0.0])])
    codes = np.bincount(rows_of(beliefs, [coding], 1000, SYSTEM_BITS)[:, 0], minlength=5)
    assert codes[1] == codes[4] == 0
    np.testing.assert_allclose(codes, [500, 0, 250, 250, 0], atol=3)


def test_rare_values_share_a_group_and_thin_neighbours_too():
    counts = np.array([50.0, 1, 60, 2, 3])
    assert merged(counts, least=10, is_ordered=False).tolist() == [1, 0, 2, 0, 0]
    assert merged(counts, least=10, is_ordered=True).tolist() == [0, 1, 1, 1, 1]
    assert merged(counts, least=0.5, is_ordered=False).tolist() == [0, 1, 2, 3, 4]
    assert merged(counts, least=1e9, is_ordered=True).tolist() == [0] * 5
    assert merged(counts, least=1e9, is_ordered=False).tolist() == [0] * 5


def test_counts_without_negatives_add_up_and_keep_their_order():
    counts = without_negatives(np.array([90.0, -20, 15, 5]), 60)
    np.testing.assert_allclose(counts, [60, 0, 0, 0])
    np.testing.assert_allclose(without_negatives(np.array([40.0, -9, 30]), 66), [38, 0, 28])
    assert without_negatives(np.array([-5.0, -7.0]), -3).sum() == pytest.approx(1)

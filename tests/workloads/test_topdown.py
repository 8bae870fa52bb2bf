"""Consistent counts: the closest integers, trees of regions, and exact totals."""

from itertools import product

import numpy as np
import pytest

from discreet import workloads
from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.workloads.releases.integer_rounding import _closest_reals, round_to_counts, round_to_totals
from discreet.workloads.releases.topdown import TopDown
from tests.support.sources import SeededBits
from tests.workloads import brute


def small_tree():
    """An uneven tree from unordered rows: 3 states, 7 counties, 20 blocks."""
    rng = np.random.default_rng(3)
    county = np.repeat(np.arange(7), [1, 5, 2, 4, 3, 4, 1])
    rows = rng.permutation(20)
    state = np.array(["b", "b", "a", "c", "c", "a", "c"])[county]
    return workloads.Tree.of({"state": state[rows], "county": county[rows] % 5, "block": np.arange(20)[rows]})


def test_the_closest_counts_are_those_of_an_exhaustive_search():
    rng = np.random.default_rng(1)
    for _ in range(60):
        values, caps = rng.normal(1, 2, 4), rng.integers(0, 4, 4)
        total = int(rng.integers(0, caps.sum() + 1))
        counts = round_to_totals(values, totals=np.array([total]), starts=np.array([0]), caps=caps)
        fitting = [c for c in product(*(range(cap + 1) for cap in caps)) if sum(c) == total]
        best = min(np.sum((np.array(c) - values) ** 2) for c in fitting)
        assert counts.sum() == total
        assert np.all((counts >= 0) & (counts <= caps))
        assert np.sum((counts - values) ** 2) <= best + 1e-9


def test_the_closest_numbers_are_those_of_least_squares_in_every_group():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 30, 50)
    starts, group = np.cumsum(sizes) - sizes, np.repeat(np.arange(50), sizes)
    values, caps = rng.normal(0, 10, group.size), rng.integers(0, 15, group.size).astype(float)
    totals = np.floor(np.add.reduceat(caps, starts) * rng.random(50))
    close = _closest_reals(values, totals, group, caps)
    assert np.allclose(np.add.reduceat(close, starts), totals)
    for g in range(50):  # by the conditions of Karush, Kuhn and Tucker
        own, c, top = close[group == g], values[group == g] - close[group == g], caps[group == g]
        inner = (own > 1e-9) & (own < top - 1e-9)
        shift = c[inner].mean() if inner.any() else None
        if shift is not None:
            assert np.allclose(c[inner], shift)
            assert np.all(c[(own <= 1e-9) & (top > 0)] <= shift + 1e-9)
            assert np.all(c[(own >= top - 1e-9) & (top > 0)] >= shift - 1e-9)


@pytest.mark.parametrize("total", [0, 1, 10**15])
def test_large_and_empty_totals_are_met(total):
    values = np.array([0.5, 0.5, -3.0, total / 3 + 0.1])
    counts = round_to_totals(values, totals=np.array([total]), starts=np.array([0]))
    assert counts.sum() == total
    assert counts.min() >= 0
    assert round_to_counts(np.array([[-5.0, -4.0]])).tolist() == [[0, 0]]


def test_estimated_cells_become_counts_with_the_rounded_total():
    plan = workloads.plan(workloads.ranges("age"), {"age": 20}, rho=0.1)
    estimate = plan.estimate(next(iter(brute.releases(plan, np.arange(20) % 3, times=1))))
    counts = estimate.counts()
    assert estimate.cells.min() < 0 <= counts.min()
    assert counts.sum() == round(estimate.cells.sum())
    tables = workloads.plan(workloads.marginals(1), {"a": 2, "b": 2}, rho=1)
    with pytest.raises(BadInput):
        tables.estimate(next(iter(brute.releases(tables, np.arange(4), times=1)))).counts()


def test_impossible_totals_are_refused():
    for total in (-1, 4):
        with pytest.raises(BadInput):
            round_to_totals(np.zeros(2), totals=np.array([total]), starts=np.array([0]), caps=np.array([1, 2]))


def test_a_tree_holds_every_block_once_whatever_the_order_of_its_rows():
    tree = small_tree()
    assert tree.sizes == (1, 3, 7, 20)
    rows = np.arange(20)[:, None] + 1
    leaves = np.zeros_like(rows)
    leaves[tree.leaves] = rows
    assert tree.sum_regions(leaves, start=3, end=0).tolist() == [[210]]
    assert sorted(np.bincount(tree.parents(3)).tolist()) == [1, 1, 2, 3, 4, 4, 5]


@pytest.mark.parametrize("shares", [None, [0, 2, 0, 1]])
def test_up_and_down_the_tree_is_least_squares(shares):
    tree, rng = small_tree(), np.random.default_rng(4)
    plan = TopDown.of(tree, cells=2, rho=0.1, shares=shares)
    noisy = [rng.integers(-20, 60, m.combination.kept) if m else None for m in plan.measurements]
    measured = [(m, n) for m, n in zip(plan.measurements, noisy, strict=True) if m]
    matrix = np.concatenate([brute.matrix_of(m.combination) / np.sqrt(m.variance) for m, _ in measured])
    right = np.concatenate([n / np.sqrt(m.variance) for m, n in measured])
    tables = plan.estimates(noisy)
    assert np.allclose(tables[-1].reshape(-1), np.linalg.lstsq(matrix, right, rcond=None)[0])
    for level in range(3):
        assert np.allclose(tables[level], tree.sum_regions(tables[-1], start=3, end=level))


@pytest.mark.parametrize("invariant", [None, "state", "block"])
def test_counts_are_consistent_non_negative_integers_and_keep_invariants(invariant):
    tree, rng = small_tree(), np.random.default_rng(5)
    exact = rng.poisson(3, (20, 5))
    neighbours = "replace-one" if invariant else "add-remove"
    plan = TopDown.of(tree, cells=5, rho=0.05, invariant=invariant, neighbours=neighbours)
    bits = SeededBits("regions")
    noisy = [m.release(exact.reshape(-1), bits) for m in plan.measurements]
    totals = tree.sum_regions(exact.sum(axis=1), start=3, end=tree.level(invariant)) if invariant else None
    tables = plan.counts(noisy, totals)
    for level, table in enumerate(tables):
        assert table.dtype == np.int64
        assert table.min() >= 0
        assert np.array_equal(table, tree.sum_regions(tables[-1], start=3, end=level))
    if invariant:
        assert np.array_equal(tables[tree.level(invariant)].sum(axis=1), totals)


@pytest.mark.parametrize("neighbours", list(Neighbours), ids=lambda relation: relation.value)
@pytest.mark.parametrize("rows", [1, 3])
def test_one_person_moves_each_level_no_further_than_its_sensitivity(rows, neighbours):
    tree = workloads.Tree.of({"state": [0, 0, 1], "block": [0, 1, 2]})
    for measurement in TopDown.of(tree, cells=2, rho=1).measurements:
        combination = measurement.combination
        l1, squares = brute.farthest(brute.matrix_of(combination), rows, neighbours)
        reach = combination.reach(neighbours)
        assert (l1, squares) == (rows * reach.total, rows**2 * reach.squares)


def test_least_squares_first_is_better_than_each_level_by_itself_and_clipped_blocks_overstate_the_whole():
    rng, bits = np.random.default_rng(6), SeededBits("clipped")
    state, county, block = np.indices((3, 8, 60)).reshape(3, -1)
    tree = workloads.Tree.of({"state": state, "county": county, "block": block})
    exact = rng.poisson(1.5, (1440, 4))
    plan = TopDown.of(tree, cells=4, rho=0.02)
    blocks = TopDown.of(tree, cells=4, rho=0.02, shares=[0, 0, 0, 1])
    clipped = np.maximum(blocks.measurements[-1].release(exact.reshape(-1), bits), 0)
    assert clipped.sum() > 1.3 * exact.sum()
    tables = plan.counts([m.release(exact.reshape(-1), bits) for m in plan.measurements])
    assert tables[0].sum() == pytest.approx(exact.sum(), rel=0.02)


def test_plans_without_a_guarantee_or_of_the_wrong_shape_are_refused():
    tree = small_tree()
    refused = [
        lambda: TopDown.of(tree, cells=2, rho=1, invariant="state"),
        lambda: TopDown.of(tree, cells=2, rho=1, invariant="town", neighbours="replace-one"),
        lambda: TopDown.of(tree, cells=2, rho=1, shares=[1, 1]),
        lambda: TopDown.of(tree, cells=2, rho=1, shares=[1, 1, 1, 0]),
        lambda: TopDown.of(tree, cells=2, rho=1).estimates([None] * 4),
        lambda: TopDown.of(tree, cells=2, rho=1)._known(np.zeros(3, np.int64)),
        lambda: workloads.Tree.of({}),
        lambda: workloads.Tree.of({"state": [1, 2], "block": [1]}),
        lambda: workloads.Tree.of({"state": [1, 1], "block": [1, 1]}),
    ]
    for attempt in refused:
        with pytest.raises(BadInput):
            attempt()

"""A quantile keeps its promise over groups, and the ends of its interval lie on their own side as often as they say."""

import itertools
import math
from collections import Counter
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.ledger.charges.release_json import mechanism_from_json, mechanism_to_json
from discreet.mechanisms import Histograms, Quantile
from tests.support.checks import counts_are_fair
from tests.support.laws import exp_of, exponential_law, log_ratio
from tests.support.sources import SeededBits, UntouchableBits

WORLDS = {
    "spread": np.arange(400),
    "one value": np.array([37]),
    "ties": np.array([50] * 300 + [60] * 5),
    "two heaps": np.array([10] * 200 + [390] * 200),
    "at the edge": np.array([0] * 100),
}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("q", [0.5, 0.1])
def test_the_ends_of_an_interval_miss_no_more_often_than_they_say(name, q):
    values, bits = WORLDS[name], SeededBits(f"{name} {q}")
    middle = Quantile(q=q, lower=0, upper=400, epsilon=1, whole=True)
    away = middle.error(0.9)
    low, high = (Quantile(q=q, lower=0, upper=400, epsilon=1, whole=True, shift=side * away) for side in (-1, 1))
    truth = np.quantile(values, q, method="inverted_cdf")
    too_high = sum(low.release(values, bits) > truth for _ in range(400))
    too_low = sum(high.release(values, bits) < truth for _ in range(400))
    assert max(too_high, too_low) <= 40 + 6.2 * math.sqrt(36)


def test_ends_without_a_shift_would_miss_and_the_test_above_would_see_it():
    values, bits = WORLDS["spread"], SeededBits("no shift")
    plain = Quantile(q=0.5, lower=0, upper=400, epsilon=1, whole=True)
    assert sum(plain.release(values, bits) > 199 for _ in range(400)) > 40 + 6.2 * math.sqrt(36)


POINTS = 4096


def of_many_points(q, **facts):
    return Quantile(q=q, lower=0, upper=POINTS - 1, epsilon=1, whole=True, neighbours="replace-one", **facts)


def worst_ratio(mechanism, here, there):
    """The largest log-ratio of the exact laws of the choice in one group: points with one score are summed at once."""
    rate = mechanism.selection.rate
    scores = [mechanism._scores(np.bincount(np.array(x, np.int64), minlength=POINTS)) for x in (here, there)]
    totals = [
        sum(count * exp_of(rate * score) for score, count in Counter(of_all.tolist()).items()) for of_all in scores
    ]
    return float(rate * int((scores[0] - scores[1]).max())) + log_ratio(totals[1], totals[0])


HEAPS = [(1,) * low + (POINTS - 2,) * high for low in (0, 1, 3, 9) for high in (0, 1, 3, 9)]
ENDS = (0, POINTS - 1)


def worst_loss_of_a_move(mechanism, heaps=HEAPS):
    """Someone leaves one group and enters another; the two choices are independent, so their losses add up."""
    leaves = max(worst_ratio(mechanism, (*heap, value), heap) for heap in heaps for value in ENDS)
    enters = max(worst_ratio(mechanism, heap, (*heap, value)) for heap in heaps for value in ENDS)
    return leaves + enters


@pytest.mark.parametrize("q", [0, 0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("shift", [0, -1, 2])
def test_someone_who_moves_to_another_group_loses_no_more_than_epsilon(q, shift):
    assert worst_loss_of_a_move(of_many_points(q, grouped=True, shift=shift)) <= 1 + 1e-12


@pytest.mark.parametrize(("q", "real"), [(0.1, 1.79), (0.25, 1.49), (0.9, 1.79)])
def test_at_the_price_of_a_single_group_that_person_would_lose_more(q, real):
    assert real < worst_loss_of_a_move(of_many_points(q)) <= 2 * max(q, 1 - q)
    assert worst_loss_of_a_move(of_many_points(q, grouped=True)) > 0.99  # so the grouped price is as low as it can be


@pytest.mark.parametrize("q", [0, 0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("grouped", [False, True])
def test_someone_whose_value_changes_within_a_group_loses_no_more_than_epsilon(q, grouped):
    mechanism = of_many_points(q, grouped=grouped)
    changes = list(itertools.permutations((0, 1, POINTS // 2, POINTS - 1), 2))
    worst = max(worst_ratio(mechanism, (*heap, old), (*heap, new)) for heap in HEAPS for old, new in changes)
    assert worst <= 1 + 1e-12


def test_a_group_more_costs_something_only_where_people_are_replaced():
    rates = {
        (neighbours, grouped): replace(
            of_many_points(0.1, rows=3, grouped=grouped), neighbours=neighbours
        ).selection.rate
        for neighbours in ("add-remove", "replace-one")
        for grouped in (False, True)
    }
    unit = Fraction(1, 10)  # scores are in tenths of a rank
    assert rates["add-remove", False] == rates["add-remove", True] == unit / (2 * 3 * Fraction(9, 10))
    assert rates["replace-one", False] == unit / (2 * 3)
    assert rates["replace-one", True] == unit / (2 * 3 * 2 * Fraction(9, 10))


def test_the_books_say_whether_a_quantile_was_grouped_and_older_books_are_still_read():
    mechanism = of_many_points(Fraction(1, 10), grouped=True)
    written = mechanism_to_json(mechanism)
    assert written["grouped"] is True
    assert mechanism_from_json(written) == mechanism
    older = {name: value for name, value in written.items() if name != "grouped"}
    assert mechanism_from_json(older) == of_many_points(Fraction(1, 10))


SMALL = {"lower": 0, "upper": 9, "epsilon": 1, "whole": True}
QUANTILES = [
    Quantile(q=q, shift=shift, **SMALL)
    for q in (0, 0.25, 0.5, Fraction(1, 3), 1)
    for shift in (0, -2, 2.5, -(10**30), 10**30)
]
counts_of_groups = st.lists(
    st.lists(st.sampled_from([0, 0, 0, 1, 2, 7]), min_size=10, max_size=10), min_size=1, max_size=4
)


@given(counts_of_groups, st.sampled_from(QUANTILES))
def test_runs_laid_out_are_the_candidates_and_their_scores(counts, mechanism):
    counts = np.array(counts, np.int64)
    (block,) = Histograms.of(counts).blocks
    runs = mechanism._runs(block)
    for group, row in enumerate(counts):
        here = slice(runs.starts[group], runs.starts[group + 1])
        lengths = runs.lengths[here]
        laid_out = [range(first, first + length) for first, length in zip(runs.first[here], lengths, strict=True)]
        assert list(itertools.chain(*laid_out)) == list(range(10))
        assert (np.repeat(-runs.gaps[here], lengths) == mechanism._scores(row)).all()
    assert not runs.lengths[runs.starts[-1] :].any()


@given(counts_of_groups, st.randoms(use_true_random=False))
def test_cells_in_any_order_and_in_pieces_are_the_same_histograms(counts, random):
    counts = np.array(counts, np.int64)
    cells = [(g, c, 1) for g, row in enumerate(counts.tolist()) for c, n in enumerate(row) for _ in range(n)]
    random.shuffle(cells)
    columns = np.array(cells, np.int64).reshape(-1, 3).T
    from_cells = Histograms.of_cells(*columns, groups=len(counts), candidates=10)
    for one, other in zip(from_cells.blocks, Histograms.of(counts).blocks, strict=True):
        assert all((getattr(one, f.name) == getattr(other, f.name)).all() for f in fields(one))


@pytest.mark.parametrize("q", [0, 0.5, Fraction(1, 3)])
@pytest.mark.parametrize("shift", [0, -2])
def test_many_groups_at_once_follow_the_law_of_each(q, shift):
    mechanism = Quantile(q=q, shift=shift, **SMALL)
    kinds = np.array([[0] * 10, [0, 3, 0, 0, 1, 0, 0, 0, 2, 0], [5, 0, 0, 0, 0, 0, 0, 0, 0, 1], [1] * 10])
    chosen = mechanism.choose_many(np.tile(kinds, (5000, 1)), SeededBits(f"{mechanism}"))
    for kind, row in enumerate(kinds):
        law = exponential_law(mechanism._scores(row).tolist(), mechanism.selection.rate)
        counts_are_fair(Counter(chosen[kind :: len(kinds)].tolist()), law)


def test_groups_fill_several_blocks_and_come_back_in_order():
    certain = Quantile(q=0.5, lower=0, upper=999, epsilon=1000, whole=True)
    middles = np.random.default_rng(0).integers(1, 999, 60)
    counts = np.ones((60, 1000), np.int64)
    counts[np.arange(60), middles] += 10_000
    histograms = Histograms.of(counts)
    assert len(histograms.blocks) > 2
    assert {block.candidates.size for block in histograms.blocks} <= {2**14, 2**13, 2**12}
    assert (certain.choose_many(histograms, SeededBits("blocks")) == middles).all()
    assert certain.choose_many(Histograms.of(counts[:0]), SeededBits("none")).size == 0


NOTHING = np.zeros(0, np.int64)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Histograms.of(np.zeros((2, 3))),
        lambda: Histograms.of(np.zeros(3, np.int64)),
        lambda: Histograms.of(np.array([[0, -1]])),
        lambda: Histograms.of([[1, 2]]),
        lambda: Histograms.of_cells(np.array([1]), np.array([0]), np.array([1]), groups=1, candidates=3),
        lambda: Histograms.of_cells(np.array([0]), np.array([3]), np.array([1]), groups=1, candidates=3),
        lambda: Histograms.of_cells(np.array([0]), NOTHING, np.array([1]), groups=1, candidates=3),
        lambda: Histograms.of_cells(np.array([0.0]), np.array([0]), np.array([1]), groups=1, candidates=3),
        lambda: Histograms.of_cells(NOTHING, NOTHING, NOTHING, groups=-1, candidates=3),
        lambda: QUANTILES[0].choose_many(np.zeros((2, 3), np.int64), UntouchableBits()),
    ],
)
def test_what_is_no_histogram_is_refused(make):
    with pytest.raises(DiscreetError):
        make()

"""Where exact meets noise: which groups appear, in which order, and that every value finds its own group."""

import time
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.algebra.released_expressions import KeyOf
from discreet.mechanisms import Laplace
from discreet.pipeline.release import release
from discreet.postprocessing.grouping_sets import GroupingSet
from discreet.postprocessing.plan import Plan
from tests.support.plans import (
    COUNT,
    MEDIAN,
    SUM,
    drawn,
    exact_rows,
    measured,
    plan_of,
    query,
    released,
    texts,
)
from tests.support.sources import SeededBits

TYPES = {
    "s": (["b", "a", "é", "", None], pa.string()),
    "i": ([3, -1, 0, 1, None], pa.int64()),
    "x": ([0.5, 1.0, 0.0, -2.5, None], pa.float64()),
    "d": ([date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31), None], pa.date32()),
    "b": ([True, False, None], pa.bool_()),
}


def still(plan):
    """The same plan with so little noise that there is none."""
    quiet = tuple(
        tuple(
            GroupingSet(
                p.keys,
                tuple((Laplace(sensitivity=1, epsilon=1000, size=2),) for _ in p.mechanisms),
                p.selection,
                p.selections,
            )
            for p in sets
        )
        for sets in plan.grouping_sets
    )
    return Plan(queries=plan.queries, grouping_sets=quiet, view=plan.view)


@pytest.mark.parametrize("name", TYPES)
def test_every_declared_value_appears_in_order_with_its_own_number(name):
    values, kind = TYPES[name]
    plan = still(plan_of(query([(name, values)]), released(KeyOf(0), measured())))
    there = pa.array([values[-1], values[0]], kind)
    (left,) = release(plan, [[exact_rows([there], [[7, 5]])]], SeededBits(1))[0]
    assert left.keys[0].to_pylist() == values
    assert left.keys[0].type == (pa.large_string() if kind == pa.string() else kind)
    assert left.measures[0][:, 0].tolist() == [5, *[0] * (len(values) - 2), 7]


def test_undeclared_values_and_an_undeclared_null_are_dropped():
    plan = still(plan_of(query([("s", ["a", "b"])]), released(KeyOf(0), measured())))
    (left,) = release(plan, [[exact_rows([texts("c", None, "b")], [[100, 200, 3]])]], SeededBits(1))[0]
    assert left.measures[0][:, 0].tolist() == [0, 3]


def test_a_product_has_its_last_key_turn_fastest():
    plan = still(plan_of(query([("s", ["b", "a"]), ("b", [False, True])]), released(KeyOf(0), KeyOf(1), measured())))
    keys = [texts("a", "b"), pa.array([False, True])]
    (left,) = release(plan, [[exact_rows(keys, [[4, 9]])]], SeededBits(1))[0]
    assert [array.to_pylist() for array in left.keys] == [["b", "b", "a", "a"], [False, True, False, True]]
    assert left.measures[0][:, 0].tolist() == [0, 9, 4, 0]


def test_values_are_told_apart_by_type():
    for name, values in (
        ("i", [1, True]),
        ("i", [1.0]),
        ("x", [1]),
        ("b", [1]),
        ("d", ["2024-01-01"]),
        ("s", ["a", "a"]),
    ):
        with pytest.raises(ValueError):
            plan_of(query([(name, values)]), released(KeyOf(0), measured()))
    plan = plan_of(query([("i", [0, 1])]), released(KeyOf(0), measured()))
    with pytest.raises(TypeError):
        release(plan, [[exact_rows([pa.array([True])], [[1]])]], SeededBits(1))


def test_private_groups_are_sorted_and_have_enough_people():
    plan = still(plan_of(query([("s", None), ("b", [True, False])]), released(KeyOf(0), KeyOf(1), measured())))
    keys = [texts("z", "é", "a", None, "few", "a"), pa.array([True, True, False, True, True, None])]
    exact = exact_rows(keys, [[1, 2, 3, 4, 5, 6]], people=[1000, 1000, 1000, 1000, 0, 1000])
    (left,) = release(plan, [[exact]], SeededBits(1))[0]
    assert [array.to_pylist() for array in left.keys] == [["a", "z", "é"], [False, True, True]]
    assert left.measures[0][:, 0].tolist() == [3, 1, 2]


def test_the_order_of_the_rows_of_the_data_changes_nothing():
    rng = np.random.default_rng(5)
    names, counts = np.array([f"k{at}" for at in range(300)]), rng.integers(0, 50, 300)
    plan = plan_of(query([("s", None)], [COUNT, SUM, MEDIAN]), released(KeyOf(0), measured()))

    def answer(order):
        back = np.argsort(order)
        bins = np.arange(300) % 201
        histogram = {2: (back[np.arange(300)], bins, counts)}
        exact = exact_rows(
            [texts(*names[order])], [counts[order], counts[order] * 3, counts * 0], counts[order], histogram
        )
        return release(plan, [[exact]], SeededBits("order"))[0][0]

    first, second = answer(np.arange(300)), answer(rng.permutation(300))
    assert first.keys[0].equals(second.keys[0])
    assert all((a == b).all() for a, b in zip(first.measures, second.measures, strict=True))
    assert 0 < first.groups < 300


def test_what_is_public_and_free_leaves_as_it_is_and_nothing_else_does():
    one = query([("s", ["a"])])
    with pytest.raises(ValueError, match="do not fit"):
        Plan(queries=(one,), grouping_sets=((GroupingSet((0,), ((),)),),), view=released(measured()))
    with pytest.raises(ValueError, match="do not fit"):
        Plan(queries=(query(),), grouping_sets=((GroupingSet((), ((),)),),), view=released(measured()))


def test_integers_of_any_size_get_their_noise_exactly():
    plan = plan_of(query([("s", ["a", "b"])], [SUM], rows=10**6), released(measured()))
    big = np.array([2**80, -(2**80)], object)
    (left,) = release(plan, [[exact_rows([texts("a", "b")], [big])]], SeededBits(3))[0]
    noise = (left.measures[0][:, 0] - big).tolist()
    assert all(0 < abs(one) < 10**6 for one in noise)


def test_whether_integers_are_wide_is_decided_by_what_could_be():
    """A total next to 2**63 is not clamped where its neighbour would not be."""
    plan = plan_of(query([], [SUM], rows=10**6), released(measured()), epsilon=Fraction(1, 1000))
    edge = [
        release(plan, [[exact_rows([], [[2**63 - 1]])]], SeededBits(at))[0][0].measures[0][0, 0] for at in range(20)
    ]
    assert max(edge) > 2**63 > min(edge)


def test_without_rows_every_declared_group_is_noise_alone():
    plan = plan_of(query([("s", ["a", "b"])], [COUNT, MEDIAN]), released(KeyOf(0), measured()))
    empty = np.zeros(0, np.int64)
    exact = exact_rows([texts()], [empty, empty], None, {1: (empty, empty, empty)})
    answer = drawn(plan, [[exact]], SeededBits(2))
    assert [row["c0"] for row in answer.rows] == ["a", "b"]
    private = plan_of(query([("s", None)], [COUNT, MEDIAN]), released(KeyOf(0), measured()))
    nobody = exact_rows([texts()], [empty, empty], empty, {1: (empty, empty, empty)})
    assert len(drawn(private, [[nobody]], SeededBits(2))) == 0
    assert drawn(private, [[nobody]], SeededBits(2)).to_arrow().num_rows == 0


def test_a_median_is_drawn_from_its_own_groups_values():
    plan = plan_of(query([("s", ["a", "b"])], [MEDIAN]), released(measured()), epsilon=50)
    there = np.array([0, 1]), np.array([20, 180]), np.array([500, 500])
    (left,) = release(plan, [[exact_rows([texts("b", "a")], [[0, 0]], None, {0: there})]], SeededBits(4))[0]
    assert np.abs(left.measures[0] - [[180], [20]]).max() <= 2


@pytest.mark.parametrize("values", [None, "declared"])
def test_a_million_groups_take_no_time(values):
    size = 10**6
    keys = pa.array(np.arange(size) * 7 % size)
    spread = [("i", None if values is None else range(size))]
    plan = plan_of(query(spread, [COUNT, SUM]), released(KeyOf(0), measured(), measured(1)))
    exact = exact_rows([keys], [np.ones(size, np.int64)] * 2, np.full(size, 30))
    began = time.perf_counter()
    answer = drawn(plan, [[exact]], SeededBits("many"))
    table = answer.to_arrow()
    assert time.perf_counter() - began < 20  # about one second; slow machines are not the point
    assert len(answer) == table.num_rows > 0.9 * size
    assert table.column_names == ["c0", "c1", "c1_low", "c1_high", "c2", "c2_low", "c2_high"]

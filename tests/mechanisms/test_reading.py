"""One value a person: whatever a person's value is, others are read the same, the same is paid, and the answer's law hardly moves."""

import gc
import math
from collections import deque
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
import pandas
import polars
import pytest

import discreet
from discreet import Neighbours
from discreet.errors import BadData
from discreet.mechanisms import Exponential, Laplace, Quantile
from discreet.mechanisms.values.value_reading import read_numbers
from tests.support.laws import exponential_law, laplace_law, max_log_ratio

NAN, INF = math.nan, math.inf
ODD = [
    None,
    NAN,
    INF,
    -INF,
    1.5,
    1.0,
    True,
    "x",
    (1, 2),
    [1],
    10**400,
    Decimal("sNaN"),
    Decimal("1e999999999"),
    1j,
    np.timedelta64(1),
    np.timedelta64("NaT"),
    pandas.NA,
]
"""What the value of one person may be among those of ordinary people."""
SMALL = [0, 3, 1.5, None, (1,), INF]
EPSILON = 1


class Book:
    """What was charged, as an account sees it."""

    def __init__(self):
        self.charged = None

    def charge(self, releases):
        self.charged = list(releases)


NUMBERS = {
    f"{function.__name__}, {whole}": lambda values, neighbours, book, function=function, whole=whole: function(
        values, lower=0, upper=3, epsilon=EPSILON, whole=whole == "whole", neighbours=neighbours, account=book
    )
    for function in (discreet.sum, discreet.mean, discreet.variance)
    for whole in ("whole", "real")
}
HISTOGRAMS = {
    "bins": {"edges": [0, 1, 3]},
    "categories": {"categories": [0, (1,), 3]},
    "pairs": {"categories": [(1, 2), (1, 3)]},
}
STATISTICS = NUMBERS | {
    name: lambda values, neighbours, book, bins=bins: discreet.histogram(
        values, epsilon=EPSILON, neighbours=neighbours, account=book, **bins
    )
    for name, bins in HISTOGRAMS.items()
}
everything = pytest.mark.parametrize("name", STATISTICS)
relations = pytest.mark.parametrize("neighbours", list(Neighbours))


@pytest.fixture
def integers(monkeypatch):
    """The exact integers that each draw was given, in order."""
    seen = []
    release = Laplace.release

    def watched(self, exact, *bits):
        seen.append(np.atleast_1d(exact).tolist())
        return release(self, exact, *bits)

    monkeypatch.setattr(Laplace, "release", watched)
    return seen


def outcome(name, values, neighbours, integers):
    """What is charged, what types come out, and the exact integers behind the noise."""
    integers.clear()
    book = Book()
    answer = STATISTICS[name](values, neighbours, book)
    types = [type(count) for count in answer.counts] if name in HISTOGRAMS else [type(answer.value)]
    return book.charged, types, [list(drawn) for drawn in integers]


def loss(charged, one, other):
    """The largest log ratio of the two laws: of discrete Laplace draws the distances by the scales, added up."""
    return sum(
        Fraction(abs(a - b)) / mechanism.scale
        for mechanism, these, those in zip(charged, one, other, strict=True)
        for a, b in zip(these, those, strict=True)
    )


def neighbours_of(people, relation):
    for person in ODD:
        if relation is Neighbours.ADD_REMOVE:
            yield [*people, person]
        else:
            for place in range(len(people)):
                yield [*people[:place], person, *people[place + 1 :]]


@everything
@relations
def test_no_value_of_one_person_changes_what_is_paid_what_comes_out_or_more_than_epsilon(name, neighbours, integers):
    for size in range(3):
        for people in combinations_with_replacement(SMALL, size):
            charged, types, exact = outcome(name, list(people), neighbours, integers)
            assert sum(mechanism.exact_pure_epsilon for mechanism in charged) <= EPSILON
            for other in neighbours_of(list(people), neighbours):
                charged_too, types_too, exact_too = outcome(name, other, neighbours, integers)
                assert (charged_too, types_too) == (charged, types)
                assert loss(charged, exact, exact_too) <= EPSILON


@lru_cache
def ratio(mechanism, one, other):
    return max_log_ratio(laplace_law(mechanism.scale, one), laplace_law(mechanism.scale, other))


@relations
def test_the_laws_of_two_neighbours_stay_within_epsilon(neighbours, integers):
    """The same with the probabilities themselves, where whole bounds keep them few."""
    for people in ([], [0], [3, None], [(1,), 1.5]):
        charged, _, exact = outcome("sum, whole", people, neighbours, integers)
        for other in neighbours_of(people, neighbours):
            _, _, exact_too = outcome("sum, whole", other, neighbours, integers)
            assert ratio(charged[0], exact[0][0], exact_too[0][0]) <= EPSILON + 1e-9


@pytest.fixture
def choices(monkeypatch):
    """The law of each choice that was made, in order."""
    laws = []

    def watched(self, scores, *_):
        laws.append(exponential_law(scores.tolist(), self.rate))
        return 0

    monkeypatch.setattr(Exponential, "release", watched)
    return laws


@pytest.mark.parametrize("q", [0, 0.3, 0.5])
def test_a_quantile_hardly_moves_whatever_one_person_s_value_is(q, choices):
    for people in ([], [0], [3, None], [1, 1.5, 2]):
        choices.clear()
        for values in [people, *neighbours_of(people, Neighbours.ADD_REMOVE)]:
            assert type(discreet.quantile(values, q, lower=0, upper=3, epsilon=EPSILON, whole=True)) is int
        assert all(max_log_ratio(choices[0], changed) <= EPSILON + 1e-9 for changed in choices[1:])
    choices.clear()
    replacing = Quantile(q=q, lower=0, upper=3, epsilon=EPSILON, neighbours="replace-one", whole=True)
    for odd in (1.0, NAN, INF, -INF, 0.0):
        replacing.release(np.array([1.0, odd, 2.0]))
    assert all(max_log_ratio(one, other) <= EPSILON + 1e-9 for one in choices for other in choices)


def test_the_type_of_a_quantile_is_what_was_asked_for():
    for values in ([1, 2], [1, 2.5], [1, None], pandas.Series([1, None])):
        assert type(discreet.quantile(values, 0.5, lower=0, upper=3, epsilon=1)) is float
    with pytest.raises(BadData):
        Quantile(q=0.5, lower=0, upper=3, epsilon=1).release(np.ones((2, 2)))


def test_one_ragged_person_counts_once_and_leaves_the_others_what_they_are():
    """numpy takes tuples of one length for a table, until one of another length comes."""
    people, pairs = [("ER", "f")] * 500, [("ER", "f"), ("ER", "m")]
    for values in (people, [*people, ("ER",)], [*people, ["ER", "f"]], [*people, ("ER", ["f"])]):
        assert discreet.histogram(values, epsilon=1e4, categories=pairs).counts == (500, 0)
    assert discreet.histogram([["ER"] * 3] * 9, epsilon=1e4, categories=["ER"]).counts == (0,)


def column_pairs():
    """The same people, of whom one has no number in the second."""
    for make in (pandas.Series, polars.Series):
        yield make([1, 2, 3]), make([1, 2, 3, None])
    for kind in ("Int64", "Float64", "int64[pyarrow]", object):
        yield pandas.Series([1, 2, 3], dtype=kind), pandas.Series([1, 2, 3, None], dtype=kind)
    yield np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, NAN])
    yield np.array([1, 2, 3], np.uint64), np.array([1, 2, 3, "x"], object)


@everything
@pytest.mark.parametrize("pair", list(column_pairs()), ids=lambda pair: f"{type(pair[0]).__module__} {pair[1].dtype}")
def test_a_missing_value_changes_the_type_of_a_column_and_nothing_else(name, pair, integers):
    """pandas makes floats of integers where one is missing."""
    with_all, lacking = (outcome(name, values, Neighbours.ADD_REMOVE, integers) for values in pair)
    assert lacking == with_all
    assert outcome(name, [1, 2, 3], Neighbours.ADD_REMOVE, integers) == with_all


@relations
def test_where_the_number_of_people_is_public_it_stays_what_it_is(neighbours, integers):
    everybody = outcome("sum, whole", [0, 3, "?"], neighbours, integers)[2]
    assert everybody == ([[3]] if neighbours is Neighbours.ADD_REMOVE else [[4]])  # 1, the middle of 0 and 3
    answer = discreet.mean([None] * 4, lower=0, upper=2, epsilon=1e4, whole=True, neighbours="replace-one")
    assert answer.value == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("far", [0, 2**60])
def test_lists_arrays_and_columns_are_the_same_numbers(far):
    low, high = Fraction(far), Fraction(far + 1000)
    people = [far + number for number in (-7, 0, 3, 999, 1001)]
    kinds = [people, tuple(people), deque(people), np.array(people), np.array(people, object), polars.Series(people)]
    scale = discreet.mechanisms.statistics.moments.Scale.between(low, high, whole=True)
    for values in kinds:
        assert scale.read(values, Neighbours.ADD_REMOVE).tolist() == [far, far, far + 3, far + 999, far + 1000]
    assert read_numbers(np.array([True, False]), Fraction(0), Fraction(5)).given.tolist() == [1, 0]
    assert read_numbers(
        [np.True_, np.float32(0.5), Decimal("0.5"), Fraction(9)], Fraction(0), Fraction(5)
    ).given.tolist() == [
        1,
        0.5,
        0.5,
        5,
    ]


REFUSED = [5, None, "12", b"12", {1, 2}, {1: 2}, iter([1]), np.float64(1), np.array(1), np.ones((3, 1))]


@pytest.mark.parametrize("values", REFUSED, ids=lambda values: type(values).__name__)
@everything
def test_what_is_not_one_value_a_person_is_refused_by_its_type_before_it_is_paid(name, values):
    book = Book()
    with pytest.raises(BadData):
        STATISTICS[name](values, Neighbours.ADD_REMOVE, book)
    assert book.charged is None


def reachable(thing):
    seen, waiting = {}, [thing]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type) or (isinstance(thing, dict) and "__builtins__" in thing):
            continue  # modules are no part of an answer
        seen[id(thing)] = thing
        waiting.extend(gc.get_referents(thing))
    return seen.values()


@pytest.mark.parametrize("name", NUMBERS)
@relations
def test_an_answer_carries_nothing_but_noisy_numbers(name, neighbours):
    """Who is handed a statistic is not handed the data with it."""
    for values in ([2.71828] * 30, np.full(30, 2.71828)):
        answer = STATISTICS[name](values, neighbours, None)
        kept = list(reachable(answer))
        assert not [thing for thing in kept if thing is values or isinstance(thing, np.ndarray)]
        assert not [thing for thing in kept if isinstance(thing, list) and len(thing) == 30]

"""The plain functions: the same kind out, bad input refused before anything is drawn, no default epsilon."""

import inspect
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.errors import DiscreetError
from discreet.mechanisms import Grid, RandomizedResponse
from discreet.mechanisms.statistics import plain
from discreet.mechanisms.values.value_kinds import Data
from tests.support.sources import SeededBits, UntouchableBits

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def seeded(monkeypatch):
    monkeypatch.setattr(plain, "_bits", SeededBits("plain"))


NOISY = {
    "laplace": lambda values: discreet.laplace(values, sensitivity=1, epsilon=0.5),
    "gaussian rho": lambda values: discreet.gaussian(values, sensitivity=1, rho=0.5),
    "gaussian epsilon": lambda values: discreet.gaussian(values, sensitivity=1, epsilon=1, delta=1e-6),
}
noisy = pytest.mark.parametrize("release", NOISY.values(), ids=NOISY)

ON_A_GRID = [
    lambda values: discreet.laplace(values, sensitivity=1, epsilon=0.5, granularity=0.25),
    lambda values: discreet.gaussian(values, sensitivity=1, rho=0.5, granularity=0.25),
]
noisy_on_a_grid = pytest.mark.parametrize("release", ON_A_GRID, ids=["laplace", "gaussian"])


@noisy
def test_the_kind_that_goes_in_comes_out(release):
    assert type(release(42)) is int
    assert type(release(42.0)) is float
    assert [type(x) for x in release([1, 2, 3])] == [int] * 3
    assert [type(x) for x in release([1.5, 2])] == [float] * 2
    assert type(release(np.int64(7))) is int
    assert type(release(np.float32(7))) is float
    assert release(2**100) > 2**99
    for shape in ((5,), (2, 3), (), (0,)):
        whole, real = release(np.zeros(shape, np.int32)), release(np.zeros(shape, np.float32))
        assert (whole.dtype, whole.shape) == (np.int64, shape)
        assert (real.dtype, real.shape) == (np.float64, shape)
    assert release([]) == []
    assert release(np.arange(10)[::2]).shape == (5,)


@noisy
def test_an_answer_is_near_the_truth_and_rarely_the_truth_itself(release, seeded):
    answers = [release(1000.5) for _ in range(50)]
    assert all(abs(answer - 1000.5) < 60 for answer in answers)
    assert sum(answer == 1000.5 for answer in answers) <= 2


def test_values_at_the_ends_of_int64_are_clamped_after_the_noise():
    limits = np.iinfo(np.int64)
    for value in (limits.min, limits.max):
        released = discreet.laplace(np.full(5000, value), sensitivity=1, epsilon=0.01)
        assert 0.4 < (released == value).mean() < 0.6  # half of the sums would overflow
        assert (np.sign(released.astype(float)) == np.sign(float(value))).all()


def test_unsigned_values_come_out_signed_and_never_wrap():
    released = discreet.laplace(np.array([0, 2**64 - 1], np.uint64), sensitivity=1, epsilon=0.5)
    assert released.dtype == np.int64
    assert abs(released[0]) < 200
    assert released[1] > 2**62


def test_a_large_real_keeps_its_size():
    assert discreet.laplace(1e18, sensitivity=1.0, epsilon=1.0) == pytest.approx(1e18)
    assert discreet.laplace(np.array([1e12]), sensitivity=1.0, epsilon=1.0)[0] == pytest.approx(1e12)


def test_reals_are_released_on_the_grid_that_was_asked_for():
    released = discreet.laplace(np.full(1000, 0.3), sensitivity=1.0, epsilon=0.01, granularity=0.25)
    assert (released * 4 == np.round(released * 4)).all()


@noisy_on_a_grid
def test_with_a_granularity_the_type_of_a_value_decides_nothing(release):
    for values in ([1, 2], [1, 2.0], [1.5, 2]):
        assert {type(x) for x in release(values)} == {float}
        assert all(x % 0.25 == 0 for x in release(values))
    for scalar in (5, 5.0, Fraction(5)):
        assert type(release(scalar)) is float
    assert release(np.array([1, 2])).dtype == release(np.array([1.0, 2.0])).dtype == np.float64


def test_choosing_prefers_the_best(seeded):
    winners = [discreet.choose(["tea", "water", "coffee"], [3, 1, 40], sensitivity=1, epsilon=1) for _ in range(100)]
    assert winners.count("coffee") > 95
    close = [discreet.choose("ab", np.array([0.1, 0.2]), sensitivity=1, epsilon=0.1) for _ in range(200)]
    assert 60 < close.count("a") < 140


def test_randomized_response_keeps_kind_and_rate(seeded):
    assert type(discreet.randomized_response(True, epsilon=1)) is bool
    assert type(discreet.randomized_response(1, epsilon=1)) is int
    for answers in ([True, False], [True, 0], [1, 0]):  # no answer decides the type of another's report
        assert {type(x) for x in discreet.randomized_response(answers, epsilon=1)} == {int}
    reports = discreet.randomized_response(np.ones(10**5, np.int8), epsilon=math.log(3))
    assert reports.dtype == np.int8
    assert abs(reports.mean() - 0.75) < 6.2 * math.sqrt(0.75 * 0.25 / 10**5)
    many = discreet.randomized_response(np.full(10**5, 2), epsilon=1, categories=4)
    truth = math.e / (math.e + 3)
    lie = (1 - truth) / 3
    assert np.abs(np.bincount(many) / 10**5 - [lie, lie, truth, lie]).max() < 0.01


def test_a_quantile_lies_within_its_bounds_and_near_the_truth(seeded):
    ages = np.arange(100).repeat(50)
    median = discreet.quantile(ages, 0.5, lower=0, upper=110, epsilon=1, whole=True)
    assert type(median) is int
    assert abs(median - 50) <= 3
    real = discreet.quantile([0.1, 0.2, 0.3] * 1000, 0.5, lower=0, upper=1.5, epsilon=1)
    assert abs(real - 0.2) < 0.01
    assert 0 <= discreet.quantile([], 0.5, lower=0, upper=10, epsilon=1) <= 10
    assert discreet.quantile([1e9, -1e9] * 100, 1, lower=0, upper=10, epsilon=5) <= 10


BAD_EPSILONS = [
    0,
    -1,
    -0.0,
    NAN,
    INF,
    -INF,
    1e-310,
    True,
    False,
    "1",
    None,
    [1],
    [],
    1j,
    Decimal("NaN"),
    np.float64("nan"),
]


@pytest.mark.parametrize("epsilon", BAD_EPSILONS, ids=repr)
def test_an_epsilon_that_is_no_privacy_parameter_is_refused_before_anything_is_drawn(epsilon, monkeypatch):
    monkeypatch.setattr(plain, "_bits", UntouchableBits())
    calls = [
        lambda: discreet.laplace(1, sensitivity=1, epsilon=epsilon),
        lambda: discreet.laplace(np.ones(3), sensitivity=1, epsilon=epsilon),
        lambda: discreet.choose("ab", [1, 2], sensitivity=1, epsilon=epsilon),
        lambda: discreet.randomized_response([1, 0], epsilon=epsilon),
        lambda: discreet.quantile([1, 2], 0.5, lower=0, upper=3, epsilon=epsilon),
    ]
    if epsilon is not None:
        calls.append(lambda: discreet.gaussian(1, sensitivity=1, rho=epsilon))
        calls.append(lambda: discreet.gaussian(1, sensitivity=1, epsilon=epsilon, delta=1e-6))
    for call in calls:
        with pytest.raises(DiscreetError) as caught:
            call()
        assert caught.value.code == "bad-epsilon"
        assert caught.value.next_step


@pytest.mark.parametrize("sensitivity", [0, -1, NAN, INF, True, "1", None, [1]], ids=repr)
def test_a_sensitivity_that_bounds_nothing_is_refused_before_anything_is_drawn(sensitivity, monkeypatch):
    monkeypatch.setattr(plain, "_bits", UntouchableBits())
    for call in (
        lambda: discreet.laplace(1, sensitivity=sensitivity, epsilon=1),
        lambda: discreet.gaussian([1.5], sensitivity=sensitivity, rho=1),
        lambda: discreet.choose("ab", [1, 2], sensitivity=sensitivity, epsilon=1),
    ):
        with pytest.raises(DiscreetError) as caught:
            call()
        assert caught.value.code == "bad-sensitivity"


BAD_DATA = [
    NAN,
    INF,
    -INF,
    [1.0, NAN],
    np.array([1.0, INF]),
    True,
    [True],
    "x",
    None,
    [[1]],
    np.array(["a"]),
    np.ones(2, bool),
    1j,
]


@pytest.mark.parametrize("values", BAD_DATA, ids=repr)
def test_data_that_are_no_finite_numbers_are_refused_before_anything_is_drawn(values, monkeypatch):
    monkeypatch.setattr(plain, "_bits", UntouchableBits())
    for call in (
        lambda: discreet.laplace(values, sensitivity=1, epsilon=1),
        lambda: discreet.gaussian(values, sensitivity=1, rho=1),
        lambda: discreet.choose(["tea"], values, sensitivity=1, epsilon=1),
    ):
        with pytest.raises(DiscreetError) as caught:
            call()
        assert caught.value.code == "bad-data"


@pytest.mark.parametrize("wrong", [True, [1], None, "1", {}])
def test_what_is_no_number_is_refused_also_where_an_equal_number_was_used_before(wrong, monkeypatch):
    """True equals 1, and a mechanism made for 1 is remembered."""
    discreet.laplace(5, sensitivity=1, epsilon=1)
    monkeypatch.setattr(plain, "_bits", UntouchableBits())
    for arguments in ({"sensitivity": wrong, "epsilon": 1}, {"sensitivity": 1, "epsilon": wrong}):
        for values in (5, 5.0, [5]):
            with pytest.raises(DiscreetError):
                discreet.laplace(values, **arguments)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: discreet.laplace(1, sensitivity=1, epsilon=1e-300), "scale-out-of-range"),
        (lambda: discreet.laplace(1, sensitivity=1, epsilon=1e300), "scale-out-of-range"),
        (lambda: discreet.laplace(1, sensitivity=2**60, epsilon=1), "scale-out-of-range"),
        (lambda: discreet.gaussian(1, sensitivity=1, rho=1e-300), "scale-out-of-range"),
        (lambda: discreet.gaussian(1, sensitivity=1e-300, rho=1), "scale-out-of-range"),
        (lambda: discreet.laplace(1.0, sensitivity=1, epsilon=1, granularity=0.3), "bad-granularity"),
        (lambda: discreet.laplace(1, sensitivity=1, epsilon=1, granularity=0.3), "bad-granularity"),
        (lambda: discreet.gaussian(1, sensitivity=1), "bad-input"),
        (lambda: discreet.gaussian(1, sensitivity=1, epsilon=1), "bad-input"),
        (lambda: discreet.gaussian(1, sensitivity=1, rho=1, epsilon=1, delta=1e-6), "bad-input"),
        (lambda: discreet.gaussian(1, sensitivity=1, epsilon=1, delta=0), "bad-delta"),
        (lambda: discreet.gaussian(1, sensitivity=1, epsilon=1, delta=1), "bad-delta"),
        (lambda: discreet.gaussian(1, sensitivity=1, epsilon=1, delta=NAN), "bad-delta"),
        (lambda: discreet.quantile([1], 0.5, lower=1, upper=0, epsilon=1), "bad-bounds"),
        (lambda: discreet.quantile([1], 0.5, lower=0, upper=0, epsilon=1), "bad-bounds"),
        (lambda: discreet.quantile([1], 0.5, lower=0, upper=INF, epsilon=1), "bad-bounds"),
        (lambda: discreet.quantile([1], 0.5, lower=1e18, upper=1e18 + 1024, epsilon=1), "bad-bounds"),
        (lambda: discreet.quantile([1], 1.5, lower=0, upper=1, epsilon=1), "bad-probability"),
        (lambda: discreet.choose("ab", [1], sensitivity=1, epsilon=1), "bad-data"),
        (lambda: discreet.choose("", [], sensitivity=1, epsilon=1), "bad-data"),
        (lambda: discreet.randomized_response([0, 2], epsilon=1), "bad-data"),
        (lambda: discreet.randomized_response([0.5], epsilon=1), "bad-data"),
        (lambda: discreet.randomized_response([0], epsilon=1, categories=1), "bad-data"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name_before_anything_is_drawn(call, code, monkeypatch):
    monkeypatch.setattr(plain, "_bits", UntouchableBits())
    with pytest.raises(DiscreetError) as caught:
        call()
    assert caught.value.code == code
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "choose", "randomized_response", "quantile"])
def test_no_privacy_parameter_has_a_value_nobody_chose(name):
    for parameter in inspect.signature(getattr(discreet, name)).parameters.values():
        if parameter.name in ("epsilon", "rho", "delta", "sensitivity"):
            assert parameter.default in (inspect.Parameter.empty, None)


def test_an_epsilon_may_be_any_kind_of_number():
    for epsilon in (1, 1.0, Fraction(1), Decimal("1.0"), np.float32(1), np.int64(1)):
        assert isinstance(discreet.laplace(5, sensitivity=1, epsilon=epsilon), int)


@pytest.mark.parametrize("secret", [987654.25, [987654.25, NAN], np.array([987654.25, INF])], ids=repr)
def test_error_texts_carry_no_data(secret):
    for epsilon in (-1, 1e-300):
        with pytest.raises(DiscreetError) as caught:
            discreet.laplace(secret, sensitivity=1, epsilon=epsilon)
        assert "987654" not in str(caught.value)


def test_nothing_is_rounded_before_the_grid():
    """A list of ints and floats keeps its large ints exactly: 2**60 + 127 and 2**60 + 129 are two steps apart."""
    grid = Grid.given(1)
    a, b = (Data.read([0.5, 2**60 + n]).onto(grid)[1] for n in (127, 129))
    assert b - a == 2
    assert Data.read([Fraction(2**60 + 127)]).onto(grid)[0] == 2**60 + 127
    assert discreet.laplace(Fraction(10**400), sensitivity=1, epsilon=1) == np.finfo(np.float64).max


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32])
def test_every_integer_type_is_taken(dtype):
    values = np.arange(5, dtype=dtype)
    assert discreet.laplace(values, sensitivity=1, epsilon=1).dtype == np.int64
    assert 0 <= discreet.quantile(values, 0.5, lower=0, upper=4, epsilon=1) <= 4
    assert discreet.randomized_response(values % 2, epsilon=1).dtype == dtype


@pytest.mark.parametrize(
    "values",
    [
        np.ma.array([1.0, NAN], mask=[0, 1]),
        np.array([[1, 2]]).view(np.matrix),
        np.array([1.0], np.longdouble),
        np.longdouble(1),
    ],
    ids=repr,
)
def test_arrays_that_hide_something_are_refused(values):
    with pytest.raises(DiscreetError):
        discreet.laplace(values, sensitivity=1, epsilon=1)


def test_real_values_between_whole_bounds_get_a_fine_grid(seeded):
    median = discreet.quantile([0.2, 0.3, 0.31, 0.4, 0.9] * 1000, 0.5, lower=0, upper=1, epsilon=5)
    assert abs(median - 0.31) < 0.01
    assert discreet.quantile([1, 10**400], 0.5, lower=0, upper=9, epsilon=5, whole=True) in range(10)


def test_categories_may_be_any_whole_number_and_always_fit(seeded):
    for categories in (np.int64(3), 3.0, Fraction(3)):
        assert set(discreet.randomized_response([0, 1, 2] * 50, epsilon=1, categories=categories)) == {0, 1, 2}
    wide = discreet.randomized_response(np.zeros(2000, np.int8), epsilon=0.1, categories=1000)
    assert wide.dtype == np.int64
    assert wide.max() > 127
    assert set(discreet.randomized_response(np.zeros(200, bool), epsilon=0.1, categories=3).tolist()) == {0, 1, 2}
    assert discreet.randomized_response([], epsilon=1) == []
    largest = RandomizedResponse(epsilon=1, categories=2**62)
    reports = largest.release(np.full(4000, 2**62 - 1), SeededBits("largest"))
    assert reports.min() >= 0
    quarters = np.bincount(reports[reports != 2**62 - 1] >> 60, minlength=4)
    assert quarters.min() > 0.8 * quarters.max()


@pytest.mark.parametrize("candidates", [None, {"a", "b"}, {"a": 1, "b": 2}, iter("ab")], ids=lambda x: type(x).__name__)
def test_candidates_must_have_an_order(candidates, monkeypatch):
    monkeypatch.setattr(plain, "_bits", UntouchableBits())
    with pytest.raises(DiscreetError):
        discreet.choose(candidates, [1, 2], sensitivity=1, epsilon=1)
